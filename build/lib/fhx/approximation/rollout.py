r"""How an error of one step grows when the step is repeated: :math:`e_t \le \Lambda e_{t-1} + \varepsilon`."""

from math import expm1, inf, isfinite, log, log1p

import torch
from jaxtyping import Float, Shaped
from torch import Tensor

from fhx._checks import at_least, non_negative, positive
from fhx.cells.function import Step
from fhx.dynamics import unroll

EPS = torch.finfo(torch.float64).eps


def rollout_bound(step_error: float, lipschitz: float, steps: int) -> float:
    r"""A bound on the error of an imitation after T steps, started from the same state.

    .. math:: \lVert \hat h_T - h_T \rVert \le \varepsilon\, (1 + \Lambda + \dots + \Lambda^{T-1}) =
       \varepsilon\, \frac{\Lambda^T - 1}{\Lambda - 1}, \qquad \varepsilon\, T \text{ at } \Lambda = 1.

    Let :math:`e_t` be the error after t steps and r the bound at T. If the states :math:`h_0, \dots, h_{T-1}` lie in K,
    and for states nearer to K than r and the inputs of the run
    :math:`\lVert \hat f(h, x) - f(h, x) \rVert \le \varepsilon` and
    :math:`\lVert f(h, x) - f(h', x) \rVert \le \Lambda \lVert h - h' \rVert`, then

    .. math:: e_t \le \lVert \hat f(\hat h_{t-1}, x_t) - f(\hat h_{t-1}, x_t) \rVert
       + \lVert f(\hat h_{t-1}, x_t) - f(h_{t-1}, x_t) \rVert \le \varepsilon + \Lambda e_{t-1},

    and by induction :math:`\hat h_{t-1}` is nearer to K than r, so that the assumption covers it. If f and
    :math:`\hat f` both map K into itself, for all inputs of the run, the assumption on K alone is enough.

    Args:
        step_error: :math:`\varepsilon`, error of one step on the neighbourhood of K, or on such a K, in any norm.
        lipschitz: :math:`\Lambda`, in the same norm.
        steps: T, at least 0.

    Returns:
        The bound; infinity where it is beyond the range of floats.

    Raises:
        ValueError: ``step_error`` or ``lipschitz`` is negative, or ``steps`` is not an integer of at least 0.
    """
    non_negative("step_error", step_error)
    non_negative("lipschitz", lipschitz)
    steps = at_least("steps", steps, 0)
    return step_error * _growth(lipschitz, steps) if step_error and steps else 0.0


def step_error_for(eps: float, lipschitz: float, steps: int) -> float:
    r"""The error of one step that suffices for an error of ``eps`` after T steps: the inverse of ``rollout_bound``.

    Args:
        eps: the error that is allowed at the end.
        lipschitz: of the step, as for ``rollout_bound``.
        steps: T.

    Raises:
        ValueError: a number is negative, or ``steps`` is not a positive integer.
    """
    non_negative("eps", eps)
    non_negative("lipschitz", lipschitz)
    return eps / _growth(lipschitz, positive("steps", steps))


def predicted_steps(step_error: float, threshold: float, exponent: float) -> float:
    r"""When the error should exceed a threshold, if errors grow like the system's Lyapunov exponent :math:`\lambda`.

    The T with :math:`\varepsilon\, (e^{\lambda T} - 1)/(e^\lambda - 1) = \theta`, the recursion with
    :math:`\Lambda = e^\lambda`:

    .. math:: T = \frac1\lambda \ln\Big(1 + \frac{\theta}{\varepsilon} (e^\lambda - 1)\Big) \approx
       \frac1\lambda \ln \frac{\theta}{\varepsilon} + \frac{\ln (e^\lambda - 1)}\lambda ,

    infinity if :math:`\lambda < 0` and the limit :math:`\varepsilon/(1 - e^\lambda)` is not above the threshold. A
    prediction, not a bound: the exponent is a mean over time and directions.

    Args:
        step_error: :math:`\varepsilon`, error of one step, above 0.
        threshold: :math:`\theta`, above 0.
        exponent: :math:`\lambda`, nats per step.

    Raises:
        ValueError: ``step_error`` or ``threshold`` is not positive, or the exponent is not finite.
    """
    if not (step_error > 0 and threshold > 0 and isfinite(exponent)):
        given = f"{step_error}, {threshold}, {exponent}"
        raise ValueError(f"step_error and threshold must be positive and the exponent finite, got {given}")
    ratio = threshold / step_error
    if exponent > 700:
        return log(ratio) / exponent + 1
    gain = ratio * expm1(exponent)
    if max(abs(exponent), abs(gain)) < EPS:  # the limit; both may be too small a number to be divided
        return ratio
    return inf if gain <= -1 else log1p(gain) / exponent


@torch.no_grad()
def rollout_errors(
    f: Step, imitation: Step, inputs: Shaped[Tensor, "time batch d_in"], h0: Float[Tensor, "*state"]
) -> Float[Tensor, "time batch"]:
    r"""The errors :math:`\lVert \hat h_t - h_t \rVert`, t = 1..T, of the imitation left to itself.

    Args:
        f, imitation: functions ``f(h, x)`` or cells.
        inputs, h0: as for ``unroll``; both start from ``h0``.

    Raises:
        ValueError: what ``unroll`` raises.
    """
    return (unroll(imitation, inputs, h0) - unroll(f, inputs, h0)).norm(dim=-1)


@torch.no_grad()
def passing_times(errors: Float[Tensor, "time batch"], threshold: float) -> Float[Tensor, " batch"]:
    """The first time t, counted from 1, at which each error is above the threshold or is not finite, or infinity.

    Raises:
        ValueError: the errors have another shape.
    """
    if errors.ndim != 2:
        raise ValueError(f"errors must have shape (time, batch), got {tuple(errors.shape)}")
    passed = ~(errors <= threshold)
    times = torch.arange(1, len(errors) + 1, dtype=errors.dtype)[:, None]
    never = errors.new_full((1, errors.shape[1]), inf)
    return torch.cat([torch.where(passed, times, inf), never]).amin(0)


def _growth(lipschitz: float, steps: int) -> float:
    if lipschitz == 1:
        return float(steps)
    if lipschitz < 0.5:
        return (1 - lipschitz**steps) / (1 - lipschitz)
    exponent = steps * log1p(lipschitz - 1)
    return inf if exponent > 700 else expm1(exponent) / (lipschitz - 1)
