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

import torch
from jaxtyping import Float
from torch import Tensor

from fhx._checks import non_negative
from fhx.cells import GRUCell
from fhx.cells.kinds import check_inherited
from fhx.dynamics import Box
from fhx.stability.certificates import Condition, register_certificate
from fhx.stability.gates import GatedCertificate, gate_logits, opened
from fhx.stability.norms import EPS, UP, exact_weights, row_sums
from fhx.stability.rows import onto_balls


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


def beta(from_update: Float[Tensor, " d"], from_candidate: Float[Tensor, " d"]) -> Float[Tensor, " d"]:
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


class GRUCertificate(GatedCertificate):
    """See :class:`GRUBounds`."""

    cell: GRUCell

    def max_rate(self) -> float:
        """``GRUBounds.rate``."""
        return gru_bounds(self.cell, self.input_bound).rate

    def invariant_set(self) -> Box:
        r""":math:`|h|_\infty \le 1`."""
        return Box.symmetric([1.0] * self.cell.state_width)

    @torch.no_grad()
    def project(self, rate: float, condition: Condition, forget: float) -> None:
        r"""Rows of W_n and b_m to balls, update gates to a cap."""
        cell, bounds = self.cell, gru_bounds(self.cell, self.input_bound)
        wrong = bounds.row_rates > rate
        if not wrong.any():
            return
        Z = bounds.update.clamp(max=forget)
        allowed = (rate * (1 - self.margin) - Z) / (1 - Z)
        scale = (allowed / beta(Z * bounds.w_z, bounds.candidate)).clamp(max=1)
        limit = scale * bounds.b_m * (1 - self.margin)
        W = cell.W_n.double()
        W_z, U_z, b_z = self.closed((cell.W_z, cell.U_z, cell.b_z), scale * bounds.w_z, Z)
        new = {
            "W_n": onto_balls(W, self.within(scale * bounds.w_n, W)),
            "b_m": cell.b_m.double().clamp(-limit, limit),
            **{"W_z": W_z, "U_z": U_z, "b_z": b_z},
        }
        self.replace(new, wrong)


register_certificate(GRUCell, GRUCertificate)
