r"""The GRU's one-step gain in the max norm on the states :math:`|h|_\infty \le 1`, where runs from zero stay.

Write :math:`w_{k,j}` for the sum of row j of :math:`|W_k|`; :math:`R_j` and :math:`Z_j` for the most that reset and
update gate open; :math:`M_j = w_{n,j} + |b_{m,j}|` for the most that the reset gate scales. With

.. math::

   q_j = \sup_{0 \le r \le R_j} r \bigl(w_{n,j} + (1 - r) M_j w_{r,j}\bigr), \qquad
   \beta_j = \sup_{0 \le \nu \le 1} (1 + \nu) \bigl(Z_j w_{z,j} + (1 - \nu) q_j\bigr)

row j has gain at most :math:`\max(\beta_j, Z_j + (1 - Z_j) \beta_j)`: a mean of old state and candidate contracts if
the candidate does.
"""

from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Float
from torch import Tensor

from fhx._checks import non_negative
from fhx.cells import GRUCell
from fhx.cells.kinds import check_inherited
from fhx.dynamics import Box
from fhx.stability.caps import least
from fhx.stability.certificates import Condition, register_certificate
from fhx.stability.gates import ROUNDS, TINY, GatedCertificate, Range, arguments, gate_logits, opened
from fhx.stability.norms import EPS, UP, exact_weights, row_sums
from fhx.stability.rows import Gates, Levels, onto_balls, squared_shift


@dataclass(frozen=True, eq=False)
class GRUBounds:
    r"""What bounds a GRU's gain in the max norm where :math:`|h|_\infty \le 1`.

    Args:
        input_bound: :math:`B_x`, of every :math:`|x_t|_\infty`.
        reset: :math:`R_j`, the most that each unit's reset gate opens.
        update: :math:`Z_j`, the most that each unit keeps of its old state.
        w_r, w_z, w_n: the rows' sums of :math:`|W_r|, |W_z|, |W_n|`.
        b_m: :math:`|b_m|`.

    All are upper bounds in float64, of shape :math:`(d)`.
    """

    input_bound: float
    reset: Float[Tensor, " d"]
    update: Float[Tensor, " d"]
    w_r: Float[Tensor, " d"]
    w_z: Float[Tensor, " d"]
    w_n: Float[Tensor, " d"]
    b_m: Float[Tensor, " d"]

    @property
    def candidate(self) -> Float[Tensor, " d"]:
        r""":math:`q_j`, the gain of the candidate's argument: at :math:`r = R_j`, or where the parabola has its top."""
        by_reset = (self.w_n + self.b_m) * self.w_r
        total = self.w_n + by_reset
        top = torch.where(2 * by_reset * self.reset <= total, self.reset, total / (2 * by_reset))
        return top * (self.w_n + (1 - top) * by_reset) * UP

    @property
    def betas(self) -> Float[Tensor, " d"]:
        r""":math:`\beta_j`, the gain of what a step adds, per unit of :math:`1 - z`."""
        return beta(self.update * self.w_z, self.candidate)

    @property
    def row_rates(self) -> Float[Tensor, " d"]:
        """The gain of :math:`h_j`, j by j, of which ``rate`` is the largest."""
        added = self.betas
        return torch.maximum(added, self.update + (1 - self.update + EPS) * added) * UP

    @property
    def rate(self) -> float:
        """The largest of ``row_rates``."""
        return self.row_rates.max().item()


def beta(from_update: Float[Tensor, "d *m"], from_candidate: Float[Tensor, "d *m"]) -> Float[Tensor, "d *m"]:
    r""":math:`\sup_{0 \le \nu \le 1} (1 + \nu) (y + (1 - \nu) q)`, of degree 1 in (y, q):

    :math:`y + q + y^2 / (4 q)` if :math:`y \le 2 q`, and otherwise :math:`2 y`.
    """
    inside = from_update + from_candidate + from_update * (from_update / (4 * from_candidate))
    return torch.where(from_update < 2 * from_candidate, inside, 2 * from_update) * UP


def gru_bounds(cell: GRUCell, input_bound: float = 1.0) -> GRUBounds:
    r"""The numbers that certify a GRU in the max norm.

    Args:
        cell: any GRU of torch's form, whose reset gate scales :math:`W_n h + b_m`.
        input_bound: :math:`B_x \ge 0` with :math:`|x_t|_\infty \le B_x` for all t.

    Raises:
        ValueError: a weight is not finite, the input bound is negative or not finite, the cell is not a
            GRUCell, or its class overrides what this is about.

    Source: derived here; Bonassi, Farina and Scattolini (2021) give conditions for the other form of the GRU.
    """
    check_inherited(cell, GRUCell, "these are bounds of its step")
    B = non_negative("input_bound", input_bound)
    W, U, b, b_m = exact_weights(cell, "W", "U", "b", "b_m")
    gates = slice(0, 2 * cell.state_size)
    reset, update = opened(gate_logits(W[gates], U[gates], b[gates], B)).chunk(2)
    w_r, w_z, w_n = row_sums(W).chunk(3)
    return GRUBounds(B, reset, update, w_r, w_z, w_n, b_m.abs())


def mean_gain(
    z: Range,
    n: Range,
    most: Float[Tensor, " d"],
    w: Float[Tensor, " d"],
    by_z: Float[Tensor, " d"],
    q: Float[Tensor, " d"],
) -> Float[Tensor, " d"]:
    r"""The largest value of

    .. math:: z w + z (1 - z) (H - n)\, \omega + (1 - z)(1 - n^2)\, q

    for z and n in their ranges. For fixed z it is a parabola in n with its top at :math:`-z \omega / 2 q`. Where that
    lies inside, the value is a cubic in z, with :math:`K = \omega^2 / 4 q`, whose derivative is

    .. math:: w + H \omega - q + 2 (K - H \omega)\, z - 3 K z^2;

    at the ends of n it is a parabola in z. So the largest value is among the values at these points and at the ends of
    z, all of which are taken; and at a top an error of the place counts with its square.

    Args:
        z, n: the ranges of update gate and candidate.
        most: H, the largest h.
        w: the weight of the unit.
        by_z: :math:`\omega`.
        q: as in ``row_gains``.
    """

    def value(at: Tensor) -> Tensor:
        at = z.clamp(at.nan_to_num(0.5))
        best = n.clamp((-at * by_z / (2 * q)).nan_to_num(0.0))
        return at * (w + (1 - at) * (most - best) * by_z) + (1 - at) * (1 - best) * (1 + best) * q

    def edge(at: Tensor) -> Tensor:
        return 0.5 + (w - (1 - at.square()) * q) / (2 * (most - at) * by_z)

    K = by_z * (by_z / (4 * q))
    half, constant = K - most * by_z, w + most * by_z - q
    root = (half.square() + 3 * K * constant).clamp(min=0).sqrt()
    places = (z.low, z.high, edge(n.low), edge(n.high), (half + root) / (3 * K), (half - root) / (3 * K))
    return value(torch.stack(places)).amax(0) * UP**2


class GRUCertificate(GatedCertificate):
    """In the max norm with weights; see :class:`GRUBounds` for what needs none."""

    cell: GRUCell

    @cached_property
    def _reached(self) -> tuple[Range, Range, Range, Range, Range]:
        r"""Where runs from zero keep h, and the ranges there of r, z, n and of :math:`m = W_n h + b_m`.

        From the box :math:`|h_j| \le 1` on, the next one is :math:`[\min(0, n_j), \max(0, n_j)]`: a new state lies
        between the old one and the candidate.
        """
        W, U, b, b_m = (weights.cpu() for weights in exact_weights(self.cell, "W", "U", "b", "b_m"))
        d, B = self.cell.state_size, self.input_bound
        one, none = torch.ones(d, dtype=torch.float64), torch.zeros_like(U[2 * d :])
        h = Range(-one, one)
        from_input = arguments(torch.zeros_like(W[2 * d :]), U[2 * d :], b[2 * d :], h, B)
        for _ in range(ROUNDS):
            r, z = arguments(W[: 2 * d], U[: 2 * d], b[: 2 * d], h, B).sigmoid().chunk(2)
            m = arguments(W[2 * d :], none, b_m, h, 0.0)
            n = r.times(m).plus(from_input).tanh()
            smaller = Range(n.low.clamp(max=0), n.high.clamp(min=0)).within(h)
            moved = (smaller.low - h.low).maximum(h.high - smaller.high).max()
            h = smaller
            if moved <= 1e-12:
                break
        return h, r, z, n, m

    def row_gains(self, weights: Float[Tensor, " width"]) -> Float[Tensor, " width"]:
        r"""With :math:`\omega_{k,j} = (|W_k| w)_j` and M the bound of :math:`|m_j|`, number by number

        .. math::

           q &= \sup_r \bigl( r\, \omega_n + r (1 - r)\, M\, \omega_r \bigr), \\
           T &= \sup_{z, n, h} \bigl( z w + z (1 - z)\, |h - n|\, \omega_z + (1 - z)(1 - n^2)\, q \bigr)

        over the ranges that gates and candidate have where runs from zero stay.
        """
        h, r, z, n, m = self._reached
        by_r, by_z, by_n = (self._sizes @ weights).chunk(3)
        by_r = m.size.high * by_r
        top = r.clamp(((by_n + by_r) / (2 * by_r)).nan_to_num(1.0))
        q = top * (by_n + (1 - top) * by_r) * UP
        above = mean_gain(z, n, h.high, weights, by_z, q)
        below = mean_gain(z, Range(-n.high, -n.low), -h.low, weights, by_z, q)
        return above.maximum(below)

    def invariant_set(self) -> Box:
        r"""The box in which ``row_gains`` hold."""
        h = self._reached[0]
        return Box(h.low.clamp(max=-TINY), h.high.clamp(min=TINY))

    def _opens(self) -> float:
        return gru_bounds(self.cell, self.input_bound).update.max().item()

    def project_rows(self, rate: float, condition: Condition, forget: float) -> None:
        r"""Rows of W_n and b_m to balls, update gates to caps, where they have to move least."""
        cell, bounds = self.cell, gru_bounds(self.cell, self.input_bound)
        wrong = (bounds.row_rates > rate) | (bounds.update > forget)
        if not wrong.any():
            return
        allowed = rate * (1 - self.margin)
        W, gate = cell.W_n.double(), (cell.W_z.double(), cell.U_z.double(), cell.b_z.double())
        gates, sizes, levels = Gates.of(*gate, self.input_bound), W.abs(), Levels.of(W.abs())

        def scale(Z: Tensor) -> Tensor:
            by_candidate = bounds.candidate[:, None].expand(Z.shape)
            added = beta(Z * bounds.w_z[:, None], by_candidate)
            return ((allowed - Z) / (1 - Z) / added).nan_to_num(1.0, 1.0).clamp(0, 1)  # 0 / 0: nothing is added

        def squared_distance(arguments: Tensor) -> Tensor:
            part = scale(arguments.sigmoid())
            moved = squared_shift(sizes, levels.at(part * bounds.w_n[:, None]))
            moved = moved + ((1 - part) * bounds.b_m[:, None]).square()
            return moved + gates.squared_distance(part * bounds.w_z[:, None], arguments)

        highest = torch.tensor(min(forget, allowed), dtype=torch.float64).logit()
        Z = least(squared_distance, gates, gate_logits(*gate, self.input_bound).minimum(highest)).sigmoid()
        part = scale(Z[:, None])[:, 0]
        limit = part * bounds.b_m * (1 - self.margin)
        W_z, U_z, b_z = self.closed((cell.W_z, cell.U_z, cell.b_z), part * bounds.w_z, Z)
        new = {
            "W_n": onto_balls(W, self.within(part * bounds.w_n, W)),
            "b_m": cell.b_m.double().clamp(-limit, limit),
            **{"W_z": W_z, "U_z": U_z, "b_z": b_z},
        }
        self.replace(new, wrong)


register_certificate(GRUCell, GRUCertificate)
