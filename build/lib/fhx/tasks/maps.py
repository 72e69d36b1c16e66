"""The step maps of dynamical systems, to be repeated, imitated or identified."""

from collections.abc import Callable
from functools import partial

import torch
from jaxtyping import Float
from torch import Tensor

from fhx._checks import positive

__all__ = ["henon_step", "logistic_orbit", "logistic_step", "lorenz_step", "pendulum_step"]


def logistic_step(h: Float[Tensor, "*shape"], x: Tensor | None = None, r: float = 4.0) -> Float[Tensor, "*shape"]:
    r"""The logistic map :math:`f(h, x) = r h (1 - h)`, which has no input: ``x`` is not read.

    For :math:`r = 4` its Lyapunov exponent is :math:`\ln 2`.
    """
    return r * h * (1 - h)


def logistic_orbit(x0: Tensor | float, r: float = 4.0, steps: int = 50) -> Tensor:
    r"""The states :math:`x_0, x_1, \dots, x_{\text{steps}}` of the logistic map, the time first.

    .. math:: x_{t+1} = r\, x_t (1 - x_t), \qquad 0 \le r \le 4, \quad 0 \le x_0 \le 1.

    For :math:`r = 4` two orbits separate by a factor of 2 per step on average (Lyapunov exponent :math:`\ln 2`), so
    after about 52 steps in float64 an orbit has nothing to do any more with that of the real number it started from.

    Args:
        x0: :math:`x_0`, of any shape; a number becomes float64.
        r: growth rate.
        steps: how often the map is applied.

    Returns:
        A tensor of shape ``(steps + 1, *x0.shape)``.

    Raises:
        ValueError: ``r``, an :math:`x_0` or ``steps`` is out of range.
    """
    if not 0 <= r <= 4:
        raise ValueError(f"r must lie between 0 and 4, else orbits leave [0, 1]; got {r}")
    positive("steps", steps)
    x = x0 if isinstance(x0, Tensor) else torch.tensor(x0, dtype=torch.float64)
    if not x.is_floating_point() or not bool(((x >= 0) & (x <= 1)).all()):
        raise ValueError("every x0 must be a floating number between 0 and 1")
    orbit = [x]
    for _ in range(steps):
        orbit.append(logistic_step(orbit[-1], None, r))
    return torch.stack(orbit)


def henon_step(
    h: Float[Tensor, "*batch 2"], x: Tensor | None = None, a: float = 1.4, b: float = 0.3
) -> Float[Tensor, "*batch 2"]:
    r"""The Hénon map :math:`f((u, v), x) = (1 - a u^2 + v, \; b u)`, which has no input: ``x`` is not read.

    Its Jacobian has determinant :math:`-b` everywhere, so the two exponents sum to :math:`\ln b`.

    Args:
        h: :math:`(u, v)`.
        x: not read.
        a, b: the parameters of the map.

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

    Args:
        h: :math:`(u, v, w)`.
        x: not read.
        dt: the time.
        sigma, rho, beta: the parameters of the system.

    Source: Lorenz (1963).
    """
    return _runge_kutta(partial(_lorenz_field, sigma=sigma, rho=rho, beta=beta), h, dt)


def _lorenz_field(h: Tensor, sigma: float, rho: float, beta: float) -> Tensor:
    u, v, w = h.unbind(-1)
    return torch.stack([sigma * (v - u), u * (rho - w) - v, u * v - beta * w], -1)


def pendulum_step(
    h: Float[Tensor, "*batch 2"], x: Float[Tensor, "*batch 1"], dt: float = 0.2, damping: float = 0.1
) -> Float[Tensor, "*batch 2"]:
    r"""A driven pendulum after a time ``dt`` of constant torque :math:`x`, by one Runge-Kutta step of order 4.

    .. math:: \dot\theta = \omega, \qquad \dot\omega = -\sin\theta - \gamma\, \omega + x.

    The state is :math:`(\theta, \omega)`, the angle from the lowest point in radians, not reduced to one turn, and its
    rate. Time is in units of :math:`\sqrt{l/g}`: a small swing takes :math:`2\pi`. The torque is in units of the one
    that holds the pendulum horizontal, :math:`m g l`. Without damping and torque the energy
    :math:`\omega^2/2 - \cos\theta` is kept, up to the error of the method.

    Args:
        h: the state.
        x: the torque.
        dt: the time.
        damping: :math:`\gamma`.
    """
    return _runge_kutta(partial(_pendulum_field, torque=x[..., 0], damping=damping), h, dt)


def _pendulum_field(h: Tensor, torque: Tensor, damping: float) -> Tensor:
    angle, rate = h.unbind(-1)
    return torch.stack([rate, -angle.sin() - damping * rate + torque], -1)


def _runge_kutta(field: Callable[[Tensor], Tensor], h: Tensor, dt: float) -> Tensor:
    """One step of the classical method of order 4 for :math:`h' = field(h)`."""
    k1 = field(h)
    k2 = field(h + dt / 2 * k1)
    k3 = field(h + dt / 2 * k2)
    k4 = field(h + dt * k3)
    return h + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
