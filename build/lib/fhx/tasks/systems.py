"""Dynamical systems as tasks: the next state of a map, and two systems of which only a part is observed."""

from typing import Literal

import torch
from torch import Tensor

from fhx._checks import non_negative, positive, positive_number
from fhx.tasks.arguments import checked_sizes, floating
from fhx.tasks.maps import logistic_orbit, lorenz_step, pendulum_step
from fhx.tasks.sequences import Sequences, Task

__all__ = ["logistic_map", "lorenz", "pendulum"]

Observed = Literal["u", "v", "w", "uv", "uw", "vu", "vw", "wu", "wv", "uvw", "uwv", "vuw", "vwu", "wuv", "wvu"]


def logistic_map(
    r: float = 4.0,
    steps: int = 50,
    sizes: tuple[int, int, int] = (200, 50, 50),
    seed: int = 0,
    dtype: torch.dtype | None = None,
) -> Task:
    r"""Orbits of the logistic map from random points; at each step the next value.

    Inputs ``(steps, N, 1)`` are :math:`x_0, \dots, x_{T-1}`, targets :math:`x_1, \dots, x_T` with
    :math:`x_{t+1} = r x_t (1 - x_t)` and :math:`x_0` uniform in [0, 1). Orbits are computed in float64.

    Args:
        r: growth rate, from 0 to 4.
        steps: length :math:`T` of a sequence.
        sizes: number of orbits for training, validation and test.
        seed: a seed.
        dtype: of the result; None: torch's default.

    Raises:
        ValueError: ``r``, ``steps`` or a size is out of range, or ``dtype`` is not floating.
    """
    generator = torch.Generator().manual_seed(seed)

    def draw(size: int) -> Sequences:
        x0 = torch.rand(size, 1, generator=generator, dtype=torch.float64)
        orbit = logistic_orbit(x0, r, steps).to(floating(dtype))
        return Sequences(orbit[:-1], orbit[1:])

    train, valid, test = (draw(size) for size in checked_sizes(sizes))
    return Task("logistic map", train, valid, test, input_size=1, output_size=1, kind="value per step")


def pendulum(
    steps: int = 100,
    sizes: tuple[int, int, int] = (200, 50, 50),
    seed: int = 0,
    dt: float = 0.2,
    damping: float = 0.1,
    torque: float = 0.25,
    hold: int = 5,
    dtype: torch.dtype | None = None,
) -> Task:
    r"""From the torque on a pendulum its angle: the rate :math:`\omega` is never shown.

    .. math:: h_t = (\theta_t, \omega_t) = f(h_{t-1}, x_t), \qquad y_t = \theta_t, \qquad h_0 = (0, 0),

    with :math:`f` as in :func:`pendulum_step`. The torque is redrawn from :math:`N(0, \tau^2)` every ``hold`` steps.
    Inputs ``(steps, N, 1)`` are torques, targets ``(steps, N, 1)`` angles in radians, computed in float64.

    Always answering 0 costs the mean square of the angle, with the default values about 0.18. A linear filter explains
    about nine tenths of that (:func:`linear_delay_r2`).

    Args:
        steps: length of a sequence.
        sizes: number of sequences for training, validation and test.
        seed: a seed.
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
    steps, hold = positive("steps", steps), positive("hold", hold)
    positive_number("dt", dt)
    positive_number("torque", torque)
    non_negative("damping", damping)
    generator, dtype = torch.Generator().manual_seed(seed), floating(dtype)

    def draw(size: int) -> Sequences:
        levels = torch.randn(-(-steps // hold), size, 1, generator=generator).double()
        inputs = torque * levels.repeat_interleave(hold, 0)[:steps]
        h, angles = inputs.new_zeros(size, 2), []
        for x in inputs:
            h = pendulum_step(h, x, dt, damping)
            angles.append(h[:, :1])
        return Sequences(inputs.to(dtype), torch.stack(angles).to(dtype))

    train, valid, test = (draw(size) for size in checked_sizes(sizes))
    return Task("pendulum", train, valid, test, 1, 1, kind="value per step", labels=("angle",))


def lorenz(
    steps: int = 200,
    sizes: tuple[int, int, int] = (200, 50, 50),
    seed: int = 0,
    dt: float = 0.05,
    observed: Observed = "u",
    dtype: torch.dtype | None = None,
) -> Task:
    r"""From what is seen of a Lorenz system, what will be seen a time ``dt`` later.

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
        seed: a seed.
        dt: time of a step.
        observed: which of "u", "v" and "w" are seen, in this order.
        dtype: of inputs and targets; None: torch's default.

    Raises:
        ValueError: ``steps`` or a size is below 1, ``dt`` is not positive, ``observed`` names no coordinate, an unknown
            one or one twice, or ``dtype`` is not floating.
    """
    steps = positive("steps", steps)
    positive_number("dt", dt)
    if not observed or len(set(observed)) < len(observed) or not set(observed) <= set("uvw"):
        raise ValueError(f"observed must name some of 'u', 'v' and 'w', each once, not {observed!r}")
    generator, dtype, sizes = torch.Generator().manual_seed(seed), floating(dtype), checked_sizes(sizes)
    orbit = [_flow(torch.randn(sum(sizes), 3, generator=generator).double(), 20.0)]
    for _ in range(steps):
        orbit.append(_flow(orbit[-1], dt))
    seen = torch.stack(orbit)[..., ["uvw".index(name) for name in observed]]
    spread, mean = torch.std_mean(seen[:-1, : sizes[0]], (0, 1), correction=0)
    seen = ((seen - mean) / spread).to(dtype)
    train, valid, test = (Sequences(part[:-1], part[1:]) for part in seen.split(sizes, 1))
    width = len(observed)
    return Task("lorenz", train, valid, test, width, width, kind="value per step", labels=tuple(observed))


def _flow(h: Tensor, time: float) -> Tensor:
    pieces = -(-time // 0.01)
    for _ in range(int(pieces)):
        h = lorenz_step(h, dt=time / pieces)
    return h
