r"""What bounds a step and a loss: constants of their derivatives of first and second order.

The weights :math:`\theta = (W, U, b)` are one long vector with the Euclidean norm, so matrices have the Frobenius norm.
Constants hold for the states that the runs reach, for all inputs with :math:`|x|_\infty \le B_x`, and for a convex set
of weights.
"""

from math import inf, sqrt
from typing import NamedTuple

import attrs
from jaxtyping import Float
from torch import Tensor

from fhx._checks import at_least_zero
from fhx.stability.norms import UP, AnyNorm, Norm, as_norm, row_sums

TANH_CURVE = 4 / (3 * sqrt(3))  # the largest |tanh''|
SIGMOID_CURVE = 1 / (6 * sqrt(3))  # of the logistic function


class Smooth(NamedTuple):
    r"""Bounds of an activation's :math:`|\sigma'|, |\sigma''|, |\sigma|`, and :math:`|\sigma(0)|`."""

    slope: float
    curve: float
    range: float
    at_zero: float


SMOOTH = {
    "tanh": Smooth(1.0, TANH_CURVE, 1.0, 0.0),
    "sigmoid": Smooth(0.25, SIGMOID_CURVE, 1.0, 0.5),
    "identity": Smooth(1.0, 0.0, inf, 0.0),
}


def _number(instance: object, field: "attrs.Attribute[float]", value: float) -> None:
    at_least_zero(field.name, value)


def _of_states(norm: AnyNorm) -> Norm:
    found = as_norm(norm)
    if found == "lyapunov":
        raise ValueError(f'norm must be 2 or "max", got {norm!r}')
    return found


@attrs.frozen
class Constants:
    r"""What bounds a step in one norm of states: a constant each for the derivatives of first and second order.

    Every derivative is measured as a (bi)linear map, from that norm of states and the Euclidean norm of weights to that
    norm of states.

    Args:
        rate: :math:`\lambda \ge \lVert \partial_h f \rVert`.
        by_input: :math:`L_x \ge \lVert \partial_x f \rVert`; inputs have the norm of the states.
        by_weights: :math:`L_\theta \ge \lVert \partial_\theta f \rVert`.
        by_states: :math:`M_{hh} \ge \lVert \partial_h^2 f \rVert`.
        by_state_and_weights: :math:`M_{h\theta} \ge \lVert \partial_h \partial_\theta f \rVert`.
        by_weights_twice: :math:`M_{\theta\theta} \ge \lVert \partial_\theta^2 f \rVert`.
        drive_bound: :math:`B \ge \sup_x |f(0, x)|`.
        state_bound: :math:`H \ge \sup_t |h_t|`.
        norm: of states: 2, or "max" (or inf).

    Raises:
        ValueError: a constant is negative or NaN, or the norm is unknown.
    """

    rate: float = attrs.field(validator=_number)
    by_input: float = attrs.field(validator=_number)
    by_weights: float = attrs.field(validator=_number)
    by_states: float = attrs.field(validator=_number)
    by_state_and_weights: float = attrs.field(validator=_number)
    by_weights_twice: float = attrs.field(validator=_number)
    drive_bound: float = attrs.field(validator=_number)
    state_bound: float = attrs.field(validator=_number)
    norm: Norm = attrs.field(default=2, converter=_of_states)

    @property
    def sensitivity(self) -> float:
        r""":math:`\Sigma = L_\theta / (1 - \lambda) \ge \lVert \partial_\theta h_t \rVert`; inf without contraction."""
        return self.by_weights / (1 - self.rate) * UP if self.rate < 1 else inf


@attrs.frozen
class LossConstants:
    r"""What bounds the slope of a loss :math:`\ell` of a state, and how fast the slope changes.

    Args:
        lipschitz: L, with :math:`|\ell(h) - \ell(h')| \le L |h - h'|` in the norm of the states.
        smoothness: M, with :math:`|\nabla \ell(h) - \nabla \ell(h')|_* \le M |h - h'|` in the dual norm.

    Raises:
        ValueError: a constant is negative or NaN.
    """

    lipschitz: float = attrs.field(validator=_number)
    smoothness: float = attrs.field(validator=_number)

    @classmethod
    def squared(cls, readout_norm: float, output_bound: float, target_bound: float) -> "LossConstants":
        r""":math:`\frac12 |g(h) - y|_2^2` of an affine readout g whose matrix has that norm, from states to the 2-norm.

        :math:`|g(h)|_2` and :math:`|y|_2` are bounded. For :math:`g(h) = C h` the first is at most
        :math:`\lVert C \rVert H`: the slope grows with the states.
        """
        return cls(readout_norm * (output_bound + target_bound) * UP, readout_norm**2 * UP)

    @classmethod
    def pseudo_huber(cls, readout_norm: float) -> "LossConstants":
        r""":math:`\sqrt{1 + |g(h) - y|_2^2} - 1` of an affine readout, whose slope is below 1 wherever the state is."""
        return cls(readout_norm, readout_norm**2 * UP)


def reach(U: Float[Tensor, "rows input"], b: Float[Tensor, " rows"], input_bound: float) -> Float[Tensor, " rows"]:
    r"""An upper bound of :math:`|U x + b|`, row by row, for :math:`|x|_\infty \le B_x`."""
    return (input_bound * row_sums(U) + b.abs()) * UP
