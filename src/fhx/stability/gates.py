r"""How far a gate :math:`\sigma(W h + U x + b)` can open while :math:`|x|_\infty \le B_x` and h lies in a box, and what
certificates of gated cells share.

In the box :math:`|h|_\infty \le 1` row j of the argument is at most :math:`a_j = b_j + |W_{j,:}|_1 + B_x |U_{j,:}|_1`,
which it reaches; the bias keeps its sign. So the gate's unit j is at most :math:`\sigma(a_j)`.
"""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import inf, sqrt

import torch
from jaxtyping import Bool, Float
from scipy.optimize import brentq
from torch import Tensor

from fhx.cells import AffineCell
from fhx.stability.certificates import Certificate, Condition
from fhx.stability.norms import EPS, UP, Norm, exact_weights, row_sums
from fhx.stability.rows import onto_gates

ROUNDS = 100  # of shrinking a box; each of them is one that no run from zero leaves
CLOSE = 1e-6  # how near to the last point where a cell is certified, as a part of the way
TINY = 1e-300  # half a side of a box that is a point
Rows = tuple[Float[Tensor, "d d"], Float[Tensor, "d input"], Float[Tensor, " d"]]


def gate_logits(
    W: Float[Tensor, "rows d"], U: Float[Tensor, "rows input"], b: Float[Tensor, " rows"], input_bound: float
) -> Float[Tensor, " rows"]:
    """An upper bound of :math:`a_j` for each row, in float64."""
    from_state, from_input = row_sums(W), input_bound * row_sums(U)
    return b + from_state + from_input + 4 * EPS * (b.abs() + from_state + from_input)


def opened(logits: Float[Tensor, " d"]) -> Float[Tensor, " d"]:
    r"""An upper bound of :math:`\sigma(a)`."""
    gate = logits.sigmoid()
    return torch.where(gate > 0, gate * UP, 1e-300).clamp(max=1)  # 0 is what underflows


def memory(logits: Float[Tensor, " d"]) -> Float[Tensor, " d"]:
    r"""An upper bound of :math:`1 / (1 - \sigma(a)) = 1 + e^a`, without the loss of digits of the left side."""
    return (1 + logits.exp() * (1 + 4 * EPS * logits.abs())) * UP


@dataclass(frozen=True, eq=False)
class Range:
    """Numbers that each lie between two others, of shape :math:`(d)`; rounded outwards."""

    low: Float[Tensor, " d"]
    high: Float[Tensor, " d"]

    def sigmoid(self) -> "Range":
        r""":math:`\sigma` of them."""
        return Range(self.low.sigmoid() / UP, opened(self.high))

    def tanh(self) -> "Range":
        """tanh of them."""
        return Range(_outwards(self.low.tanh(), -1).clamp(min=-1), _outwards(self.high.tanh(), 1).clamp(max=1))

    def times(self, other: "Range") -> "Range":
        """The products."""
        corners = torch.stack([a * b for a in (self.low, self.high) for b in (other.low, other.high)])
        return Range(_outwards(corners.amin(0), -1), _outwards(corners.amax(0), 1))

    def plus(self, other: "Range") -> "Range":
        """The sums."""
        low, high = self.low + other.low, self.high + other.high
        return Range(low - EPS * low.abs(), high + EPS * high.abs())

    def within(self, other: "Range") -> "Range":
        """What lies in the other range too."""
        return Range(self.low.maximum(other.low), self.high.minimum(other.high))

    @property
    def size(self) -> "Range":
        """Absolute values of them."""
        least = torch.where(self.low * self.high > 0, self.low.abs().minimum(self.high.abs()), 0.0)
        return Range(least, self.low.abs().maximum(self.high.abs()))

    def chunk(self, parts: int) -> list["Range"]:
        """Equal parts, one after the other."""
        return [Range(*pair) for pair in zip(self.low.chunk(parts), self.high.chunk(parts), strict=True)]

    def clamp(self, value: Float[Tensor, "*m d"]) -> Float[Tensor, "*m d"]:
        """The nearest numbers in the ranges."""
        return value.maximum(self.low).minimum(self.high)


def _outwards(value: Float[Tensor, " d"], sign: int) -> Float[Tensor, " d"]:
    """A little more (sign 1) or less (-1)."""
    return value + sign * 16 * EPS * value.abs()


def arguments(
    W: Float[Tensor, "rows d"], U: Float[Tensor, "rows input"], b: Float[Tensor, " rows"], h: Range, input_bound: float
) -> Range:
    r"""Where :math:`W h + U x + b` lies for h in a box and :math:`|x|_\infty \le B_x`: every end is reached."""
    middle, radius = (h.high + h.low) / 2, (h.high - h.low) / 2
    center, apart = W @ middle + b, W.abs() @ radius + input_bound * row_sums(U)
    sizes = W.abs() @ (middle.abs() + radius) + b.abs() + apart
    apart = apart + (W.shape[1] + 16) * EPS * sizes
    return Range(center - apart, center + apart)


def gate_and_tanh(gate: Range, tau: Range, kappa: Float[Tensor, " d"], w: Float[Tensor, " d"]) -> Float[Tensor, " d"]:
    r"""The largest value of

    .. math:: o\, (1 - \tau^2)\, \kappa + o\, (1 - o)\, \tau\, w

    for :math:`o` in the gate's range and :math:`\tau \ge 0` in its own.

    For fixed :math:`o` it is a parabola in :math:`\tau` with its top at :math:`(1 - o) w / 2 \kappa`. Where that lies
    inside, the value is :math:`o \kappa + o (1 - o)^2 K` with :math:`K = w^2 / 4 \kappa`, whose local maximum is at
    :math:`\tfrac13 (2 - \sqrt{1 - 3 \kappa / K})`; on the edges of :math:`\tau` it is a parabola in :math:`o`. So the
    largest value is among the values at these points and at the ends of the gate's range. Every value tried is one that
    is taken; and at a top an error of the place counts with its square.
    """

    def value(o: Tensor) -> Tensor:
        o = gate.clamp(o.nan_to_num(0.5))
        best = tau.clamp(((1 - o) * w / (2 * kappa)).nan_to_num(1.0))
        return (o * ((1 - best) * (1 + best) * kappa + (1 - o) * best * w)).nan_to_num(inf, inf)

    def edge(t: Tensor) -> Tensor:
        return 0.5 + (1 - t.square()) * kappa / (2 * t * w)

    inside = (2 - (1 - 12 * (kappa / w).square()).clamp(min=0).sqrt()) / 3
    places = (gate.low, gate.high, edge(tau.low), edge(tau.high), inside)
    return value(torch.stack(places)).amax(0) * UP**2


def farthest(excess_at: Callable[[float], float]) -> float:
    r"""How far to go from 0, where the excess is not positive, towards 1, where it is: as far as it stays so.

    To a millionth of the way, by Brent's method, for which an excess above 1 is 1.
    """
    near = [0.0]

    def value(part: float) -> float:
        found = excess_at(part)
        if found <= 0:
            near.append(part)
        return min(found, 1.0)

    brentq(value, 0.0, 1.0, xtol=CLOSE)
    return max(near)


class GatedCertificate(Certificate):
    """A certificate in a weighted max norm that rests on sums of rows of weights."""

    cell: AffineCell
    default_norm = "weighted"

    def rate(self, norm: Norm) -> float:
        r"""In the max norm, in the weighted one, and :math:`\sqrt n` times the former in the 2-norm, of n numbers."""
        if norm == 2:
            return sqrt(self.cell.state_width) * super().rate("max") * UP
        return super().rate(norm)

    @torch.no_grad()
    def project(self, rate: float, condition: Condition, forget: float) -> None:
        """By "weighted" on the way to the nearest weights that "rows" certify, and no further than has to be."""
        if condition != "weighted":
            return self.project_rows(rate, condition, forget)
        excess = self._excess(rate, forget)
        if excess <= 0:
            return None
        start = {name: weights.clone() for name, weights in self.cell.named_parameters()}
        self.project_rows(rate, "rows", forget)
        end = {name: weights.clone() for name, weights in self.cell.named_parameters()}

        def excess_at(part: float) -> float:
            for name, weights in self.cell.named_parameters():
                weights.copy_(torch.lerp(end[name], start[name], part))
            return type(self)(self.cell, self.input_bound)._excess(rate, forget)

        excess_at(farthest(excess_at))
        return None

    def _excess(self, rate: float, forget: float) -> float:
        """How much the weighted rate or a gate is too large: 0 or less where neither is."""
        return max(self.rate("weighted") - rate, self._opens() - forget)

    @abstractmethod
    def project_rows(self, rate: float, condition: Condition, forget: float) -> None:
        """Move the cell's weights to the nearest ones that a condition other than "weighted" certifies."""

    @abstractmethod
    def _opens(self) -> float:
        """The most that the gates which keep old numbers open to."""

    @cached_property
    def _sizes(self) -> Float[Tensor, "rows d"]:
        """|W|, a little enlarged, so that a product with it is rounded upwards."""
        (W,) = exact_weights(self.cell, "W")
        return W.cpu().abs() * (1 + (W.shape[1] + 2) * EPS)

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
