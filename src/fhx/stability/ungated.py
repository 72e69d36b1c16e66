r"""Cells without gates, simple, linear and deep: layers :math:`\sigma(W_l a + \dots)` whose gain is at most the product
of their norms.
"""

from abc import abstractmethod
from collections.abc import Sequence
from math import inf, prod, sqrt
from typing import TypeVar

import torch
from jaxtyping import Float
from torch import Tensor

from fhx.cells import DeepCell, LinearCell, SimpleCell
from fhx.cells.activations import ACTIVATIONS, Activation, identity
from fhx.dynamics import Box
from fhx.stability.certificates import Certificate, Condition, check_kind, register_certificate
from fhx.stability.lyapunov import find_norm, weighted_gain
from fhx.stability.norms import EPS, UP, Norm, exact, exact_weights, max_norm, row_sums, slope_bound, two_norm
from fhx.stability.simple_constants import simple_constants
from fhx.stability.smoothness import Constants, reach

Same = TypeVar("Same", bound="OneLayerCertificate")
Ungated = SimpleCell | LinearCell | DeepCell
RANGES: dict[Activation, tuple[float, float]] = {torch.tanh: (-1.0, 1.0), torch.sigmoid: (0.0, 1.0)}


class UngatedCertificate(Certificate):
    """What simple, linear and deep cells share: layers of one activation."""

    cell: Ungated
    everywhere = True

    @property
    @abstractmethod
    def activation(self) -> Activation:
        """Of every layer."""

    def rate(self, norm: Norm) -> float:
        r""":math:`\prod_l L_\sigma \lVert W_l \rVert`, or the gain in the weighted or the Lyapunov norm."""
        if norm == "weighted":
            return super().rate(norm)
        if norm == "lyapunov":
            P = find_norm(self.matrix())
            return inf if P is None else weighted_gain(self.matrix(), P)
        measure, slope = two_norm if norm == 2 else max_norm, slope_bound(self.activation)
        return prod(slope * measure(W) for W in self.layers()) * UP

    def row_gains(self, weights: Float[Tensor, " width"]) -> Float[Tensor, " width"]:
        r""":math:`L_\sigma^n |W_n| \cdots |W_1| w`, which for the best w is that product's Perron root times w."""
        slope = slope_bound(self.activation)
        for W in self.layers():
            weights = slope * (W.cpu().abs() @ weights) * (1 + (W.shape[1] + 2) * EPS)
        return weights

    def invariant_set(self) -> Box:
        r"""The range of the activation, or :math:`|h|_\infty \le R` with R as in ``reach``."""
        low, high = RANGES.get(self.activation, (-inf, inf))
        width = self.cell.state_width
        return Box([low] * width, [high] * width) if high < inf else Box.symmetric([max(self.reach(), EPS)] * width)

    def reach(self) -> float:
        """R: a run from 0 satisfies |h_t| <= rate |h_(t-1)| + |f(0, x_t)| in every norm with a rate.

        Raises:
            ValueError: no norm is known in which the cell contracts.
        """
        zero_state = zero_state_bound(self.cell, self.input_bound)
        slope_bound(self.activation)  # refuses an activation without a bound
        length, W = convex_norm(zero_state), self.layers()
        found = [(prod(map(two_norm, W)) * UP, length), (prod(map(max_norm, W)) * UP, zero_state.max().item())]
        if self.activation is identity and len(W) == 1 and (P := find_norm(W[0])) is not None:
            found.append((weighted_gain(W[0], P), sqrt(two_norm(P)) * length * UP))
        reaches = [first / (1 - rate) * UP for rate, first in found if rate < 1]
        if not reaches:
            raise ValueError(
                f"the runs of {self.cell} are not known to stay in any bounded set: it contracts in no norm tried"
            )
        return min(reaches)

    def matrix(self) -> Float[Tensor, "width width"]:
        """W of a linear cell."""
        return super().matrix() if self.activation is not identity or len(self.layers()) > 1 else self.layers()[0]

    def layers(self) -> list[Float[Tensor, "rows columns"]]:
        """The matrices from the state to the next one, in float64."""
        return [exact(f"W of {self.cell}", W) for W in self.cell.layer_matrices()]


class OneLayerCertificate(UngatedCertificate):
    """Simple and linear cells, whose one matrix can be projected, and whose second derivatives are bounded."""

    cell: SimpleCell | LinearCell

    @torch.no_grad()
    def project(self, rate: float, condition: Condition, forget: float) -> None:
        """The singular values of W are clipped."""
        if self.rate(2) <= rate:
            return
        (W,) = self.layers()
        left, values, right = torch.linalg.svd(W)
        n = len(W)
        margin = 4 * (n + 16) * EPS + sqrt(n) * torch.finfo(self.cell.W.dtype).eps
        kept = values.clamp(max=rate / slope_bound(self.activation) * (1 - margin))
        self.cell.W.copy_((left * kept) @ right)

    def constants(self: Same, others: Sequence[Same], h0_bound: float) -> Constants:
        """Constants in the 2-norm, of the largest sizes of weights among all cells."""
        weights = [exact_weights(one.cell, "W", "U", "b") for one in (self, *others)]
        return simple_constants(
            width=self.cell.state_size,
            recurrent=max(two_norm(W) for W, _, _ in weights),
            inputs=max(two_norm(U) for _, U, _ in weights),
            drive=max(convex_norm(reach(U, b, self.input_bound)) for _, U, b in weights),
            input_norm=sqrt(self.cell.input_size) * self.input_bound * UP,
            activation=_name(self.activation),
            h0_bound=h0_bound,
        )


class SimpleCertificate(OneLayerCertificate):
    """Simple cells."""

    cell: SimpleCell

    @property
    def activation(self) -> Activation:
        return self.cell.activation


class LinearCertificate(OneLayerCertificate):
    """Linear cells: simple ones without an activation."""

    cell: LinearCell

    @property
    def activation(self) -> Activation:
        return identity


class DeepCertificate(UngatedCertificate):
    """Deep cells; one with layer norms is refused."""

    cell: DeepCell

    def __init__(self, cell: DeepCell, input_bound: float = 1.0) -> None:
        super().__init__(cell, input_bound)
        if cell.norms is not None:
            raise ValueError(f"no contraction is certified for {cell}: the gain of a layer norm has no bound here")

    @property
    def activation(self) -> Activation:
        return self.cell.activation


def zero_state_bound(cell: Ungated, input_bound: float) -> Float[Tensor, " d"]:
    r"""An upper bound of :math:`|f(0, x)|`, number by number, for activations with :math:`|\sigma(a)| \le |a|`.

    Args:
        cell: a simple, linear or deep cell.
        input_bound: of :math:`|x|_\infty`.

    Raises:
        ValueError: a weight is not finite, or the cell's class overrides what this is about.
    """
    check_kind(cell)
    W = [exact(f"W of {cell}", W) for W in cell.layer_matrices()]
    U, b = exact(f"U of {cell}", cell.U), [exact(f"b of {cell}", b) for b in cell.layer_biases()]
    reached = input_bound * row_sums(U) + b[0].abs()
    for k in range(1, len(W)):
        reached = W[k].abs() @ reached + b[k].abs()
    return reached * (1 + (len(W) * W[0].shape[0] + 16) * EPS)


def convex_norm(rows: Float[Tensor, " rows"]) -> float:
    """An upper bound of the 2-norm, a convex function of the weights."""
    return rows.norm().item() * (1 + len(rows) * EPS)


def _name(activation: Activation) -> str:
    names = {value: name for name, value in ACTIVATIONS.items()}
    return names.get(activation, getattr(activation, "__name__", "an activation"))


register_certificate(SimpleCell, SimpleCertificate)
register_certificate(LinearCell, LinearCertificate)
register_certificate(DeepCell, DeepCertificate)
