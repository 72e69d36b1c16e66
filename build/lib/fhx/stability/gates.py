r"""How far a gate :math:`\sigma(W h + U x + b)` can open while :math:`|h|_\infty \le 1` and :math:`|x|_\infty \le B_x`,
and what certificates of gated cells share.

Row j of the argument is at most :math:`a_j = b_j + |W_{j,:}|_1 + B_x |U_{j,:}|_1`, which it reaches; the bias keeps its
sign. So the gate's unit j is at most :math:`\sigma(a_j)`.
"""

from abc import abstractmethod
from collections.abc import Mapping
from math import sqrt

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from fhx.cells import AffineCell
from fhx.stability.certificates import Certificate
from fhx.stability.norms import EPS, UP, Norm, row_sums
from fhx.stability.rows import onto_gates

Rows = tuple[Float[Tensor, "d d"], Float[Tensor, "d input"], Float[Tensor, " d"]]


def gate_logits(
    W: Float[Tensor, "rows d"], U: Float[Tensor, "rows input"], b: Float[Tensor, " rows"], input_bound: float
) -> Float[Tensor, " rows"]:
    """An upper bound of :math:`a_j` for each row, in float64."""
    from_state, from_input = row_sums(W), input_bound * row_sums(U)
    return b + from_state + from_input + 4 * EPS * (b.abs() + from_state + from_input)


def opened(logits: Float[Tensor, " d"]) -> Float[Tensor, " d"]:
    r"""An upper bound of :math:`\sigma(a)`."""
    return (logits.sigmoid() * UP).clamp(max=1)


def memory(logits: Float[Tensor, " d"]) -> Float[Tensor, " d"]:
    r"""An upper bound of :math:`1 / (1 - \sigma(a)) = 1 + e^a`, without the loss of digits of the left side."""
    return (1 + logits.exp() * (1 + 4 * EPS * logits.abs())) * UP


class GatedCertificate(Certificate):
    """A certificate in the max norm that rests on sums of rows of weights."""

    cell: AffineCell
    default_norm = "max"

    @abstractmethod
    def max_rate(self) -> float:
        """The rate in the max norm."""

    def rate(self, norm: Norm) -> float:
        r"""The rate in the max norm, and :math:`\sqrt n` times that in the 2-norm, of n numbers in the state."""
        if norm == "lyapunov":
            self.matrix()  # refuses
        return self.max_rate() if norm == "max" else sqrt(self.cell.state_width) * self.max_rate() * UP

    @property
    def margin(self) -> float:
        """What rounding can add to a bound, as a part of it: of sums in float64, and of the weights to their type."""
        cell = self.cell
        return 8 * (cell.state_size + cell.input_size + 16) * EPS + 2 * torch.finfo(cell.W.dtype).eps

    def within(self, radius: Float[Tensor, " d"], W: Float[Tensor, "d n"]) -> Float[Tensor, " d"]:
        """A smaller radius: a number that is subtracted from a row's weights leaves rounding errors of their size."""
        return (radius - self.margin * (radius + W.abs().sum(1))).clamp(min=0)

    def closed(self, gate: Rows, radius: Float[Tensor, " d"], opens: Float[Tensor, " d"]) -> Rows:
        """The nearest rows (W, U, b) of a gate that opens to no more than ``opens``, those of W no larger than the
        radius."""
        W, U, b = (weights.double() for weights in gate)
        limit = opens.clamp(min=1e-300).logit()
        size = limit.abs() + b.abs() + W.abs().sum(1) + self.input_bound * U.abs().sum(1)
        return onto_gates(W, U, b, self.input_bound, self.within(radius, W), limit - self.margin * size)

    def replace(self, new: Mapping[str, Tensor], rows: Bool[Tensor, " d"]) -> None:
        """Write these rows of the named weights."""
        for name, value in new.items():
            old = getattr(self.cell, name)
            old.copy_(torch.where(rows.reshape(-1, *[1] * (old.ndim - 1)), value, old))
