r"""Projections of rows of weights: nearest points, in the Euclidean norm, of sets that bound sums of absolute values.

Each is a soft threshold, :math:`\mathrm{soft}(u, s) = \mathrm{sign}(u) \max(|u| - s, 0)`, whose level s solves one
piecewise linear equation per row; its kinks are sorted, so the level is exact and not iterated for.
"""

import torch
from attrs import frozen
from jaxtyping import Float
from torch import Tensor


def soft(u: Float[Tensor, "rows n"], level: Float[Tensor, "rows 1"]) -> Float[Tensor, "rows n"]:
    """Every number brought nearer to 0 by its row's level, and not beyond."""
    return u.sign() * (u.abs() - level).clamp(min=0)


@frozen
class Levels:
    r"""For each row the least :math:`s \ge 0` with

    .. math:: \sum_k v_k \max(m_k - v_k s, 0) - \mathrm{decay} \cdot s \le \mathrm{target},

    of numbers :math:`m_k \ge 0` with weights :math:`v_k \ge 0`, for as many targets as there may be.

    The left side is linear between the kinks :math:`m_k / v_k`, which are sorted once.
    """

    heights: Float[Tensor, "rows kinks"]
    slopes: Float[Tensor, "rows kinks"]
    values: Float[Tensor, "rows n"]

    @classmethod
    def of(
        cls, sizes: Float[Tensor, "rows n"], weights: Float[Tensor, "rows n"] | None = None, decay: float = 0.0
    ) -> "Levels":
        """Of rows of numbers and, where they are not all 1, their weights."""
        weights = torch.ones_like(sizes) if weights is None else weights
        kinks, order = torch.where(weights > 0, sizes / weights, 0.0).sort(1, descending=True)
        v, m = weights.gather(1, order), sizes.gather(1, order)
        slopes = torch.nn.functional.pad(v.square().cumsum(1), (1, 0)) + decay  # with the first k numbers above s
        heights = torch.nn.functional.pad((v * m).cumsum(1), (1, 0))
        return cls(heights, slopes, heights[:, :-1] - slopes[:, :-1] * kinks)

    def at(self, targets: Float[Tensor, "rows targets"]) -> Float[Tensor, "rows targets"]:
        """The levels; where the decay is 0 a target must be positive or 0."""
        above = torch.searchsorted(self.values, targets.contiguous(), right=True)
        return ((self.heights.gather(1, above) - targets) / self.slopes.gather(1, above)).clamp(min=0)


def onto_balls(u: Float[Tensor, "rows n"], radius: Float[Tensor, " rows"]) -> Float[Tensor, "rows n"]:
    r"""The nearest rows with :math:`|u|_1 \le \mathrm{radius}`; a row that lies there stays as it is.

    Source: Duchi et al. (2008), "Efficient projections onto the l1-ball for learning in high dimensions".
    """
    return soft(u, Levels.of(u.abs()).at(radius[:, None]))


@frozen
class Gates:
    r"""Rows (u, v, b) of gates' weights, and how they move onto the sets of :func:`onto_gates`."""

    sizes: Float[Tensor, "rows d"]
    input_sizes: Float[Tensor, "rows input"]
    b: Float[Tensor, " rows"]
    input_bound: float
    by_ball: Levels
    by_limit: Levels
    by_limit_apart: Levels

    @classmethod
    def of(
        cls,
        W: Float[Tensor, "rows d"],
        U: Float[Tensor, "rows input"],
        b: Float[Tensor, " rows"],
        input_bound: float,
    ) -> "Gates":
        """Of the rows."""
        sizes, input_sizes, by_input = W.abs(), U.abs(), torch.full_like(U, input_bound)
        together = Levels.of(torch.cat([sizes, input_sizes], 1), torch.cat([torch.ones_like(W), by_input], 1), 1.0)
        apart = Levels.of(input_sizes, by_input, 1.0)
        return cls(sizes, input_sizes, b, input_bound, Levels.of(sizes), together, apart)

    def levels(
        self, radius: Float[Tensor, "rows m"], limit: Float[Tensor, "rows m"]
    ) -> tuple[Float[Tensor, "rows m"], Float[Tensor, "rows m"]]:
        r"""The level :math:`s_0` of the ball alone, and :math:`\nu`, for m sets for each row."""
        left = limit - self.b[:, None]
        ball, together = self.by_ball.at(radius), self.by_limit.at(left)
        bound = self.sizes.sum(1, keepdim=True).minimum(radius)
        return ball, torch.where(together >= ball, together, self.by_limit_apart.at(left - bound))

    def squared_distance(
        self, radius: Float[Tensor, "rows m"], limit: Float[Tensor, "rows m"]
    ) -> Float[Tensor, "rows m"]:
        """How far the rows are from these sets, squared."""
        ball, nu = self.levels(radius, limit)
        return (
            squared_shift(self.sizes, ball.maximum(nu))
            + squared_shift(self.input_sizes, self.input_bound * nu)
            + nu.square()
        )


def squared_shift(sizes: Float[Tensor, "rows n"], levels: Float[Tensor, "rows m"]) -> Float[Tensor, "rows m"]:
    r"""How far rows of these sizes move, squared, where they are brought nearer to 0 by each of m levels."""
    return sizes[:, None].minimum(levels[:, :, None]).square().sum(2)


def onto_gates(
    W: Float[Tensor, "rows d"],
    U: Float[Tensor, "rows input"],
    b: Float[Tensor, " rows"],
    input_bound: float,
    radius: Float[Tensor, " rows"],
    limit: Float[Tensor, " rows"],
) -> tuple[Float[Tensor, "rows d"], Float[Tensor, "rows input"], Float[Tensor, " rows"]]:
    r"""The nearest rows (u, v, b) of a gate's weights, all of them together, with

    .. math:: |u|_1 \le \mathrm{radius}, \qquad b + |u|_1 + B_x |v|_1 \le \mathrm{limit}.

    By the conditions of Karush, Kuhn and Tucker, with multipliers :math:`\mu, \nu \ge 0` of the two, the nearest point
    is :math:`\mathrm{soft}(u, \mu + \nu),\ \mathrm{soft}(v, B_x \nu),\ b - \nu`. If the ball does not bind,
    :math:`\mu = 0` and :math:`\nu` solves one equation in all numbers; if it binds, :math:`\mu + \nu` is the level of
    the ball and :math:`\nu`, which is smaller, solves one without u.
    """
    ball, nu = Gates.of(W, U, b, input_bound).levels(radius[:, None], limit[:, None])
    return soft(W, ball.maximum(nu)), soft(U, input_bound * nu), b - nu[:, 0]
