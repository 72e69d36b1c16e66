r"""The LSTM's one-step gain in the max norm on :math:`(h, c)`, by three conditions of which each one implies the next.

Runs from the zero state stay where :math:`|h_j| \le 1` and :math:`|c_j| \le 1 / (1 - F_j)`, with :math:`F_j` the most
that unit j's forget gate can open there. Write :math:`w_{k,j}` for the sum of row j of :math:`|W_k|`. On that set the
gain is at most

.. math:: \lambda = \max_j \max\bigl(\tfrac14 w_{o,j},\; F_j (1 + w_{f,j}) + \max(w_{z,j}, \tfrac14 w_{i,j})\bigr)

if this is below 1. It rests on :math:`o (1 - \tau^2) \kappa + o (1 - o) |\tau| w \le \max(\kappa, w / 4)` for
:math:`o, |\tau| \le 1`: a sigmoid gate and a tanh never have their largest slopes together.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from fhx._checks import non_negative
from fhx.cells import LSTMCell
from fhx.cells.kinds import check_inherited
from fhx.stability.gates import gate_logits, memory, opened
from fhx.stability.norms import UP, exact_weights, row_sums


@dataclass(frozen=True, eq=False)
class LSTMBounds:
    r"""What bounds an LSTM's gain in the max norm on the states that it reaches from zero.

    Args:
        input_bound: :math:`B_x`, of every :math:`|x_t|_\infty`.
        forget: :math:`F_j`, the most that each unit's forget gate opens.
        memory: :math:`1 / (1 - F_j)`, the bound of each :math:`|c_j|`; inf beyond the range of floats.
        w_i, w_f, w_z, w_o: the rows' sums of :math:`|W_i|, |W_f|, |W_z|, |W_o|`.

    All are upper bounds in float64, of shape :math:`(d)`.
    """

    input_bound: float
    forget: Float[Tensor, " d"]
    memory: Float[Tensor, " d"]
    w_i: Float[Tensor, " d"]
    w_f: Float[Tensor, " d"]
    w_z: Float[Tensor, " d"]
    w_o: Float[Tensor, " d"]

    @classmethod
    def largest(cls, bounds: Sequence["LSTMBounds"]) -> "LSTMBounds":
        """What bounds all of several LSTMs, of one size and one bound of inputs."""
        names = ("forget", "memory", "w_i", "w_f", "w_z", "w_o")
        rows = (torch.stack([getattr(one, name) for one in bounds]).amax(0) for name in names)
        return cls(bounds[0].input_bound, *rows)

    @property
    def forget_bound(self) -> float:
        """:math:`F = \\max_j F_j`."""
        return self.forget.max().item()

    @property
    def memory_bound(self) -> float:
        """:math:`1 / (1 - F)`, the bound of :math:`|c|_\\infty`."""
        return self.memory.max().item()

    @property
    def norms(self) -> dict[str, float]:
        r""":math:`\lVert W_k \rVert_\infty` for k = "i", "f", "z", "o": the largest row sums."""
        return {
            "i": self.w_i.max().item(),
            "f": self.w_f.max().item(),
            "z": self.w_z.max().item(),
            "o": self.w_o.max().item(),
        }

    @property
    def terms(self) -> dict[str, float]:
        r"""What each gate adds to F in the sum, :math:`\frac14 \lVert W_i \rVert_\infty`,
        :math:`\frac14 \lVert W_f \rVert_\infty / (1 - F)`, :math:`\lVert W_z \rVert_\infty`,
        :math:`\frac14 \lVert W_o \rVert_\infty`."""
        norm = self.norms
        by_memory = norm["f"] * self.memory_bound if norm["f"] else 0.0
        return {"i": norm["i"] / 4, "f": by_memory / 4, "z": norm["z"], "o": norm["o"] / 4}

    @property
    def four_condition_rate(self) -> float:
        r"""The least rate r that the four conditions certify:

        .. math::

           F + \max\bigl(\lVert W_i \rVert_\infty, \lVert W_o \rVert_\infty, 4 \lVert W_z \rVert_\infty,
           \lVert W_f \rVert_\infty / (1 - F)\bigr),

        below 1 where :math:`\lVert W_i \rVert_\infty, \lVert W_o \rVert_\infty < 1 - F`,
        :math:`\lVert W_z \rVert_\infty < \frac14 (1 - F)` and :math:`\lVert W_f \rVert_\infty < (1 - F)^2`: the budget
        1 - F of the sum in four equal parts.

        Source: Miller and Hardt (2019), "Stable recurrent models".
        """
        return (self.forget_bound + 4 * max(self.terms.values())) * UP

    @property
    def four_conditions(self) -> dict[str, bool]:
        """Which of the four conditions hold, by the names of the gates "i", "f", "z" and "o"."""
        return {gate: (self.forget_bound + 4 * term) * UP < 1 for gate, term in self.terms.items()}

    @property
    def sum_rate(self) -> float:
        r""":math:`F + \frac14 \lVert W_i \rVert_\infty + \lVert W_z \rVert_\infty
        + \frac14 \lVert W_f \rVert_\infty / (1 - F) + \frac14 \lVert W_o \rVert_\infty`."""
        return (self.forget_bound + sum(self.terms.values())) * UP

    @property
    def candidate(self) -> Float[Tensor, " d"]:
        r""":math:`\max(w_{z,j}, w_{i,j} / 4)`: what a change of h makes of the numbers written to c."""
        return torch.maximum(self.w_z, self.w_i / 4)

    @property
    def row_rates(self) -> Float[Tensor, " d"]:
        r"""The gain of :math:`h_j` and :math:`c_j`, j by j, of which ``rate`` is the largest:

        .. math::

           \max\Bigl(\tfrac14 w_{o,j},\; \sup_{0 \le f \le F_j} \bigl(f + f (1 - f) A_j\bigr)
           + \max(w_{z,j}, \tfrac14 w_{i,j})\Bigr), \qquad A_j = w_{f,j} / (1 - F_j).

        The supremum is :math:`F_j (1 + w_{f,j})` if :math:`(2 F_j - 1) A_j \le 1`, and otherwise
        :math:`(1 + A_j)^2 / (4 A_j) \ge 1`.
        """
        A = torch.where(self.w_f > 0, self.memory * self.w_f, 0.0)
        inside = (1 + A) * (1 + 1 / A) / 4
        kept = torch.where((2 * self.forget - 1) * A <= 1, self.forget * (1 + self.w_f), inside)
        return torch.maximum(self.w_o / 4, kept + self.candidate) * UP

    @property
    def rate(self) -> float:
        """The sharpest of the three, which is the largest of ``row_rates`` and never above ``sum_rate``."""
        return self.row_rates.max().item()


def lstm_bounds(cell: LSTMCell, input_bound: float = 1.0) -> LSTMBounds:
    r"""The numbers that certify an LSTM in the max norm on :math:`(h, c)`.

    Args:
        cell: any LSTM; biases of every sign are in.
        input_bound: :math:`B_x \ge 0` with :math:`|x_t|_\infty \le B_x` for all t.

    Raises:
        ValueError: a weight is not finite, the input bound is negative or not finite, the cell is not a
            LSTMCell, or its class overrides what this is about.
    """
    check_inherited(cell, LSTMCell, "these are bounds of its step")
    B = non_negative("input_bound", input_bound)
    W, U, b = exact_weights(cell, "W", "U", "b")
    d = cell.state_size
    forget = slice(d, 2 * d)
    logits = gate_logits(W[forget], U[forget], b[forget], B)
    w_i, w_f, w_z, w_o = row_sums(W).chunk(4)
    return LSTMBounds(B, opened(logits), memory(logits), w_i, w_f, w_z, w_o)
