"""Dynamical systems: the step maps themselves, and two that are to be identified from what they show of themselves."""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from recurrence.tasks.drawing import checked_sizes, checked_steps, floating, generator_of
from recurrence.tasks.sequences import Sequences, Task

__all__ = ["henon_step", "logistic_step", "lorenz", "lorenz_step", "pendulum", "pendulum_step"]


def logistic_step(h: Float[Tensor, "*batch 1"], x: Tensor | None = None, r: float = 4.0) -> Float[Tensor, "*batch 1"]:
    r"""The logistic map :math:`f(h, x) = r h (1 - h)`, which has no input: ``x`` is not read.

    For :math:`r = 4` its Lyapunov exponent is :math:`\ln 2`.
    """
    return r * h * (1 - h)


def henon_step(
    h: Float[Tensor, "*batch 2"], x: Tensor | None = None, a: float = 1.4, b: float = 0.3
) -> Float[Tensor, "*batch 2"]:
    r"""The Hénon map :math:`f((u, v), x) = (1 - a u^2 + v, \; b u)`, which has no input: ``x`` is not read.

    Its Jacobian has determinant :math:`-b` everywhere, so the two exponents sum to :math:`\ln b`.

    Source: Hénon (1976).
    """
    u, v = h.unbind(-1)
    return torch.stack([1 - a * u * u + v, b * u], -1)


def lorenz_step(
    h: Float[Tensor, "*batch 3"],
    x: Tensor | None = None,
    dt: float = 0.01,
    sigma: float = 10.0,
    rho: float = 28.0,
    beta: float = 8 / 3,
) -> Float[Tensor, "*batch 3"]:
    r"""The Lorenz system after a time ``dt``, by one Runge-Kutta step of order 4. No input: ``x`` is not read.

    .. math:: \dot u = \sigma (v - u), \qquad \dot v = u (\rho - w) - v, \qquad \dot w = u v - \beta w.

    The flow shrinks volumes at the constant rate :math:`\sigma + 1 + \beta`, minus the sum of its exponents.

    Source: Lorenz (1963).
    """

    def field(h: Tensor) -> Tensor:
        u, v, w = h.unbind(-1)
        return torch.stack([sigma * (v - u), u * (rho - w) - v, u * v - beta * w], -1)

    return _runge_kutta(field, h, dt)


def pendulum_step(
    h: Float[Tensor, "*batch 2"], x: Float[Tensor, "*batch 1"], dt: float = 0.2, damping: float = 0.1
) -> Float[Tensor, "*batch 2"]:
    r"""A driven pendulum after a time ``dt`` of constant torque :math:`x`, by one Runge-Kutta step of order 4.

    .. math:: \dot\theta = \omega, \qquad \dot\omega = -\sin\theta - \gamma\, \omega + x.

    The state is :math:`(\theta, \omega)`, the angle from the lowest point in radians, not reduced to one turn, and its
    rate. Time is in units of :math:`\sqrt{l/g}`: a small swing takes :math:`2\pi`. The torque is in units of the one
    that holds the pendulum horizontal, :math:`m g l`. Without damping and torque the energy
    :math:`\omega^2/2 - \cos\theta` is kept, up to the error of the method.
    """

    def field(h: Tensor) -> Tensor:
        angle, rate = h.unbind(-1)
        return torch.stack([rate, -angle.sin() - damping * rate + x[..., 0]], -1)

    return _runge_kutta(field, h, dt)


def _runge_kutta(field: Callable[[Tensor], Tensor], h: Tensor, dt: float) -> Tensor:
    """One step of the classical method of order 4 for :math:`h' = field(h)`."""
    k1 = field(h)
    k2 = field(h + dt / 2 * k1)
    k3 = field(h + dt / 2 * k2)
    k4 = field(h + dt * k3)
    return h + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def pendulum(
    steps: int = 100,
    sizes: tuple[int, int, int] = (200, 50, 50),
    seed: int | torch.Generator = 0,
    dt: float = 0.2,
    damping: float = 0.1,
    torque: float = 0.25,
    hold: int = 5,
    dtype: torch.dtype | None = None,
) -> Task:
    r"""The torque on a pendulum goes in, its angle is asked for: the rate :math:`\omega` is never shown.

    .. math:: h_t = (\theta_t, \omega_t) = f(h_{t-1}, x_t), \qquad y_t = \theta_t, \qquad h_0 = (0, 0),

    with :math:`f` as in :func:`pendulum_step`. The torque is redrawn from :math:`N(0, \tau^2)` every ``hold`` steps.
    Inputs ``(steps, N, 1)`` are torques, targets ``(steps, N, 1)`` angles in radians, computed in float64.

    Always answering 0 costs the mean square of the angle, with the default values about 0.18. A linear filter explains
    about nine tenths of that (:func:`linear_delay_r2`).

    Args:
        steps: length of a sequence.
        sizes: number of sequences for training, validation and test.
        seed: a seed, or a generator to draw from.
        dt: time of a step.
        damping: :math:`\gamma`, at least 0.
        torque: :math:`\tau`, standard deviation of the torque. With the default values none of 4,000 sequences went
            over the top (up to 2.8 radians); from 0.3 on some do, and then angles grow without bound.
        hold: steps for which a torque stays.
        dtype: of inputs and targets; None: torch's default.

    Raises:
        ValueError: a number of steps or a size is below 1, ``dt`` or ``torque`` is not positive, ``damping`` is
            negative or ``dtype`` is not floating.
    """
    steps, hold = checked_steps("steps", steps), checked_steps("hold", hold)
    _check_positive(dt=dt, torque=torque)
    if not damping >= 0:
        raise ValueError(f"damping must not be negative, got {damping}")
    generator, dtype = generator_of(seed), floating(dtype)

    def draw(size: int) -> Sequences:
        levels = torch.randn(-(-steps // hold), size, 1, generator=generator, device=generator.device).double()
        inputs = torque * levels.repeat_interleave(hold, 0)[:steps]
        h, angles = inputs.new_zeros(size, 2), []
        for x in inputs:
            h = pendulum_step(h, x, dt, damping)
            angles.append(h[:, :1])
        return Sequences(inputs.to(dtype), torch.stack(angles).to(dtype))

    parts = [draw(size) for size in checked_sizes(sizes)]
    return Task("pendulum", *parts, input_size=1, output_size=1, kind="value per step", labels=("angle",))


def lorenz(
    steps: int = 200,
    sizes: tuple[int, int, int] = (200, 50, 50),
    seed: int | torch.Generator = 0,
    dt: float = 0.05,
    observed: str = "u",
    dtype: torch.dtype | None = None,
) -> Task:
    r"""What is seen of a Lorenz system goes in, what will be seen a time ``dt`` later is asked for.

    The state :math:`(u, v, w)` follows the flow of :func:`lorenz_step`, in Runge-Kutta steps of at most 0.01, from
    points near the origin which first run for 20 units of time, onto the attractor. Inputs
    ``(steps, N, len(observed))`` are the coordinates named by ``observed`` at times :math:`0, \dots, (T - 1)\, dt`,
    targets of the same shape those at :math:`dt, \dots, T\, dt`. Each is standardised with its mean and standard
    deviation over all steps of the training inputs. With all three seen no memory is needed; with one, the others have
    to be inferred from its past.

    Always answering 0 costs about 1. Repeating the input costs the mean square of a coordinate's change, with the
    default ``dt`` about 0.07 for ``u``, 0.12 for ``v`` and 0.20 for ``w``.

    Args:
        steps: length :math:`T` of a sequence.
        sizes: number of sequences for training, validation and test.
        seed: a seed, or a generator to draw from.
        dt: time of a step.
        observed: which of "u", "v" and "w" are seen, in this order.
        dtype: of inputs and targets; None: torch's default.

    Raises:
        ValueError: ``steps`` or a size is below 1, ``dt`` is not positive, ``observed`` names no coordinate, an unknown
            one or one twice, or ``dtype`` is not floating.
    """
    steps = checked_steps("steps", steps)
    _check_positive(dt=dt)
    if not observed or len(set(observed)) < len(observed) or not set(observed) <= set("uvw"):
        raise ValueError(f"observed must name some of 'u', 'v' and 'w', each once, not {observed!r}")
    generator, dtype, sizes = generator_of(seed), floating(dtype), checked_sizes(sizes)
    start = torch.randn(sum(sizes), 3, generator=generator, device=generator.device).double()
    orbit = [_flow(start, 20.0)]
    for _ in range(steps):
        orbit.append(_flow(orbit[-1], dt))
    seen = torch.stack(orbit)[..., ["uvw".index(name) for name in observed]]
    spread, mean = torch.std_mean(seen[:-1, : sizes[0]], (0, 1), correction=0)
    seen = ((seen - mean) / spread).to(dtype)
    parts = [Sequences(part[:-1], part[1:]) for part in seen.split(sizes, 1)]
    width = len(observed)
    return Task("lorenz", *parts, input_size=width, output_size=width, kind="value per step", labels=tuple(observed))


def _flow(h: Tensor, time: float) -> Tensor:
    pieces = -(-time // 0.01)
    for _ in range(int(pieces)):
        h = lorenz_step(h, dt=time / pieces)
    return h


def _check_positive(**values: float) -> None:
    for name, value in values.items():
        if not 0 < value < float("inf"):
            raise ValueError(f"{name} must be a positive number, got {value}")
