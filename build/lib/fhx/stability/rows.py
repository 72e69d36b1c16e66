r"""Projections of rows of weights: nearest points, in the Euclidean norm, of sets that bound sums of absolute values.

Each is a soft threshold, :math:`\mathrm{soft}(u, s) = \mathrm{sign}(u) \max(|u| - s, 0)`, whose level s solves one
piecewise linear equation per row; its kinks are sorted, so the level is exact and not iterated for.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def soft(u: Float[Tensor, "rows n"], level: Float[Tensor, "rows 1"]) -> Float[Tensor, "rows n"]:
    """Every number brought nearer to 0 by its row's level, and not beyond."""
    return u.sign() * (u.abs() - level).clamp(min=0)


def level_for(
    sizes: Float[Tensor, "rows n"], weights: Float[Tensor, "rows n"], decay: float, target: Float[Tensor, " rows"]
) -> Float[Tensor, " rows"]:
    r"""For each row the least :math:`s \ge 0` with

    .. math:: \sum_k v_k \max(m_k - v_k s, 0) - \mathrm{decay} \cdot s \le \mathrm{target}.

    Args:
        sizes: :math:`m_k \ge 0`.
        weights: :math:`v_k \ge 0`.
        decay: at least 0; where it is 0, the target must be positive or 0.
        target: of each row.
    """
    order = (sizes / weights).argsort(descending=True)  # a weight of 0 adds nothing, wherever it comes
    v = weights.gather(1, order)
    m = sizes.gather(1, order)
    slope = v.square().cumsum(1) + decay
    height = (v * m).cumsum(1)
    nothing = torch.zeros_like(target)[:, None]
    slope = torch.cat([nothing + decay, slope], 1)  # with the k numbers of the largest kinks above the level
    height = torch.cat([nothing, height], 1)
    level = (height - target[:, None]) / slope
    level = torch.where(slope > 0, level, -torch.inf)  # no number left and no decay: below every target
    return level.amax(1).clamp(min=0)


def onto_balls(u: Float[Tensor, "rows n"], radius: Float[Tensor, " rows"]) -> Float[Tensor, "rows n"]:
    r"""The nearest rows with :math:`|u|_1 \le \mathrm{radius}`; a row that lies there stays as it is.

    Source: Duchi et al. (2008), "Efficient projections onto the l1-ball for learning in high dimensions".
    """
    return soft(u, level_for(u.abs(), torch.ones_like(u), 0.0, radius)[:, None])


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
    by_ball = level_for(W.abs(), torch.ones_like(W), 0.0, radius)
    sizes, weights = torch.cat([W, U], 1).abs(), torch.cat([torch.ones_like(W), torch.full_like(U, input_bound)], 1)
    together = level_for(sizes, weights, 1.0, limit - b)
    bound = W.abs().sum(1).minimum(radius)
    apart = level_for(U.abs(), torch.full_like(U, input_bound), 1.0, limit - b - bound)
    both = together >= by_ball
    nu = torch.where(both, together, apart)
    return soft(W, torch.where(both, together, by_ball)[:, None]), soft(U, input_bound * nu[:, None]), b - nu
