"""In one dimension an imitation with a proved error: the piecewise linear interpolant."""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from fhx.approximation.shallow import ShallowCell


@torch.no_grad()
def interpolant(f: Callable[[Tensor, Tensor], Tensor], knots: Float[Tensor, " knots"]) -> ShallowCell:
    r"""The piecewise linear function that agrees with f at the knots :math:`t_0 < \dots < t_n`, with n ReLUs.

    .. math:: \hat f(h) = f(t_0) + \sum_{k=0}^{n-1} (s_k - s_{k-1})\, \mathrm{relu}(h - t_k), \qquad
       s_k = \frac{f(t_{k+1}) - f(t_k)}{t_{k+1} - t_k}, \quad s_{-1} = 0.

    Left of the knots it is constant, and right of them it goes on with the last slope. ``interpolation_bound`` bounds
    its error in between. Its input, of width 1, is not read.

    Args:
        f: a step ``f(h, x)`` whose state has one number and whose input is not read.
        knots: n + 1 increasing numbers.

    Raises:
        ValueError: there are fewer than two knots, or they do not increase, or f does not return one number for each.
    """
    knots = torch.as_tensor(knots, dtype=torch.float64)
    if knots.ndim != 1 or len(knots) < 2 or not (knots.diff() > 0).all():
        raise ValueError("knots must be at least two increasing numbers")
    values = f(knots[:, None], torch.zeros_like(knots[:, None]))
    if values.shape != (len(knots), 1):
        raise ValueError(f"f must return one number for each state, {len(knots), 1}, got {tuple(values.shape)}")
    slopes = values.diff(dim=0) / knots.diff()[:, None]
    bends = slopes.diff(dim=0, prepend=torch.zeros_like(slopes[:1]))
    ones = torch.ones_like(bends)
    return ShallowCell(bends.T, ones, torch.zeros_like(ones), -knots[:-1], values[0])


def interpolation_bound(
    width: float, lipschitz: float | None = None, curvature: float | None = None, derivative: bool = False
) -> float:
    r"""A bound on the error of the piecewise linear interpolant between knots that are at most ``width`` apart.

    With w the width: :math:`|\hat f - f| \le L w / 2` if f has the Lipschitz constant L, and :math:`\le M w^2 / 8` and
    :math:`|\hat f' - f'| \le M w / 2` if :math:`|f''| \le M`.

    Proof. Let t be between the knots :math:`a, b` and :math:`s = (t - a)/(b - a)`. The error is
    :math:`(1 - s)(f(t) - f(a)) + s\,(f(t) - f(b))`, at most :math:`2 s (1 - s) L w`; Rolle's theorem gives
    :math:`f''(\xi)(t - a)(t - b)/2` for it; and :math:`f'(t)` minus the mean of :math:`f'` over the piece is at most
    the mean of :math:`M |t - u|`.

    Args:
        width: w.
        lipschitz: L, if f has one.
        curvature: M, if f has a second derivative.
        derivative: bound the error of the derivative, inside the pieces.

    Raises:
        ValueError: a number is negative, or neither L nor M is given, or M is missing for the derivative.
    """
    for name, value in (("width", width), ("lipschitz", lipschitz), ("curvature", curvature)):
        if value is not None and not value >= 0:
            raise ValueError(f"{name} must not be negative, got {value}")
    if derivative:
        if curvature is None:
            raise ValueError("the error of the derivative has a bound only with the curvature")
        return curvature * width / 2
    bounds = [] if lipschitz is None else [lipschitz * width / 2]
    bounds += [] if curvature is None else [curvature * width**2 / 8]
    if not bounds:
        raise ValueError("a bound needs a Lipschitz constant or the curvature")
    return min(bounds)
