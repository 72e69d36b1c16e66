r"""Constants in the 2-norm of all simple and linear cells with weights no larger than given."""

from math import inf, sqrt

from fhx._checks import all_at_least_zero, positive
from fhx.stability.norms import UP
from fhx.stability.smoothness import SMOOTH, Constants


def simple_constants(
    *,
    width: int,
    recurrent: float,
    inputs: float,
    drive: float,
    input_norm: float,
    activation: str = "tanh",
    h0_bound: float = 0.0,
) -> Constants:
    r"""Constants in the 2-norm of all simple cells with weights no larger than that, a convex set.

    With bounds s of :math:`|\sigma'|` and m of :math:`|\sigma''|`, w of :math:`\lVert W \rVert_2`, and
    :math:`\xi^2 = H^2 + X^2 + 1` for the bounds of state and input,

    .. math:: \lambda = s w, \quad L_\theta = s \xi, \quad M_{hh} = m w^2, \quad M_{h\theta} = m w \xi + s, \quad
       M_{\theta\theta} = m \xi^2.

    Args:
        width: d.
        recurrent: w, bound of :math:`\lVert W \rVert_2`.
        inputs: bound of :math:`\lVert U \rVert_2`.
        drive: bound of :math:`|U x + b|_2`; for a tanh it may be infinite.
        input_norm: X, bound of :math:`|x|_2`.
        activation: "tanh", "sigmoid", or "identity" for the linear cell.
        h0_bound: bound of :math:`|h_0|_2`.

    Raises:
        ValueError: an unknown activation, or a bound that is negative or NaN.
    """
    if activation not in SMOOTH:
        raise ValueError(f"the second derivative of {activation!r} is not bounded: use {', '.join(SMOOTH)}")
    all_at_least_zero(recurrent=recurrent, inputs=inputs, drive=drive, input_norm=input_norm, h0_bound=h0_bound)
    slope, curve, size, at_zero = SMOOTH[activation]
    root = sqrt(positive("width", width))
    rate = slope * recurrent
    drive_bound = min(size * root, slope * drive + at_zero * root) * UP
    state = max(h0_bound, min(size * root, drive_bound / (1 - rate) if rate < 1 else inf) * UP)
    xi = sqrt(state**2 + input_norm**2 + 1) * UP
    return Constants(
        rate=rate,
        by_input=slope * inputs,
        by_weights=slope * xi,
        by_states=curve * recurrent**2 * UP,
        by_state_and_weights=(curve * recurrent * xi if curve else 0.0) * UP + slope,
        by_weights_twice=curve * xi**2 * UP if curve else 0.0,
        drive_bound=drive_bound,
        state_bound=state,
    )
