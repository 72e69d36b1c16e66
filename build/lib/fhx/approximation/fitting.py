r"""Fitting a hidden layer to a function: units put where it bends, then least squares for all weights together.

Coordinates are scaled so that the box is :math:`[-1, 1]^D`, and a unit there is :math:`\sigma(w \cdot z + c)`, with
:math:`|w| = 1` for ReLUs. What it is multiplied by is a linear least squares problem for given units, solved anew in
each step (variable projection); the units themselves move by Levenberg-Marquardt steps of the projected problem.

Source: Golub & Pereyra (1973) for variable projection, with the shorter Jacobian of Kaufman (1975).
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

REACH = 0.3  # how far apart, in half-widths of the box, the two slopes are that tell whether the function bends
TRIES = 20  # places looked at for each unit
DIFFERENCE = 1e-4  # half a central difference
RIDGE = {"relu": 1e-10, "tanh": 1e-13}  # added to the unit diagonal of the scaled Gram matrix while units move
RETRIES = 6
TANH_SLOPE = 0.7  # of the first tanh units: w has this length

Function = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class _Solved:
    """The linear part for some units: slopes of the units, scaled features, their factor, weights, residual, loss."""

    slopes: Float[Tensor, "N m"]
    features: Float[Tensor, "N p"]
    factor: Float[Tensor, "p p"]
    weights: Float[Tensor, "p d"]
    residual: Float[Tensor, "N d"]
    loss: float


@dataclass(frozen=True)
class HiddenLayer:
    """Units in scaled coordinates and a readout of :math:`1`, of z itself if ``carried``, and of the units."""

    units: Float[Tensor, "m row"]
    readout: Float[Tensor, "p d"]
    carried: bool


def place_units(f: Function, m: int, width: int, generator: torch.Generator) -> Float[Tensor, "m row"]:
    r"""Units, rows :math:`(w, c)`, whose kinks lie where the function bends, and across.

    For pairs of near points z, z' the difference of derivatives :math:`D = Df(z) - Df(z')` says how much f bends
    between them; its first right singular vector is w, a random point between them lies on the kink, and pairs are
    drawn with probabilities proportional to :math:`\lVert D \rVert`.
    """
    tries = TRIES * m
    z = 2 * torch.rand(tries, width, generator=generator, dtype=torch.float64) - 1
    near = z + REACH * torch.randn(tries, width, generator=generator, dtype=torch.float64)
    near = near.clamp(-1, 1)
    _, sizes, directions = torch.linalg.svd(_derivative(f, z) - _derivative(f, near), full_matrices=False)
    bends = sizes[:, 0] + 1e-9 * sizes.max() + torch.finfo(torch.float64).tiny
    chosen = torch.multinomial(bends, m, generator=generator)
    w = directions[chosen, 0]
    between = torch.rand(m, 1, generator=generator, dtype=torch.float64)
    on_kink = z[chosen] + between * (near[chosen] - z[chosen])
    return torch.cat([w, -(w * on_kink).sum(1, keepdim=True)], 1)


def _derivative(f: Function, z: Float[Tensor, "N width"]) -> Float[Tensor, "N d width"]:
    steps = DIFFERENCE * torch.eye(z.shape[1], dtype=z.dtype)
    return torch.stack([(f(z + e) - f(z - e)) / (2 * DIFFERENCE) for e in steps], -1)


def fit_layer(
    z: Float[Tensor, "N D"],
    y: Float[Tensor, "N d"],
    units: Float[Tensor, "m row"],
    tanh: bool,
    max_iterations: int,
) -> HiddenLayer:
    """Move the units so that the sum of squares becomes smaller, then solve for the readout without a ridge."""
    extended = torch.cat([z, torch.ones_like(z[:, :1])], 1)
    fixed = extended[:, -1:] if tanh else extended.roll(1, 1)  # the 1 in front
    units = TANH_SLOPE * units if tanh else units

    def activated(units: Tensor) -> tuple[Tensor, Tensor]:
        a = extended @ units.T
        values = a.tanh() if tanh else a.relu()
        slopes = 1 - values.square() if tanh else (a > 0).to(a.dtype)
        return torch.cat([fixed, values], 1), slopes

    def solved(units: Tensor) -> _Solved | None:
        features, slopes = activated(units)
        norms = features.norm(dim=0).clamp_min(1e-9)
        features = features / norms
        gram = features.T @ features
        gram.diagonal().add_(RIDGE["tanh" if tanh else "relu"])
        factor, failed = torch.linalg.cholesky_ex(gram)
        if failed:
            return None
        weights = torch.cholesky_solve(features.T @ y, factor)
        residual = y - features @ weights
        return _Solved(slopes, features, factor, weights / norms[:, None], residual, residual.square().sum().item())

    damping, now = 1e-2, solved(units)
    for _ in range(max_iterations):
        moved = now and _moved(units, now, extended, fixed.shape[1], solved, damping, tanh)
        if not moved:
            break
        units, now, damping = moved
    features, _ = activated(units)
    return HiddenLayer(units, _least_squares(features, y), not tanh)


Solver = Callable[[Tensor], _Solved | None]


def _moved(
    units: Tensor, now: _Solved, extended: Tensor, fixed: int, solved: Solver, damping: float, tanh: bool
) -> tuple[Tensor, _Solved, float] | None:
    """A step that makes the loss smaller, and the next damping; None if none was found."""
    m, k = units.shape
    tangents = (now.slopes[:, :, None] * extended[:, None, :]).reshape(len(extended), m * k)
    inside = torch.linalg.solve_triangular(now.factor, now.features.T @ tangents, upper=False)
    V = now.weights[fixed:]
    normal = (tangents.T @ tangents - inside.T @ inside).reshape(m, k, m, k) * (V @ V.T)[:, None, :, None]
    normal = normal.reshape(m * k, m * k)
    pull = ((tangents.T @ now.residual).reshape(m, k, -1) * V[:, None, :]).sum(-1).reshape(m * k, 1)
    sizes = normal.diagonal().clone()
    for _ in range(RETRIES):
        damped = normal.clone()
        damped.diagonal().add_(damping * sizes + 1e-12 * sizes.max())
        factor, failed = torch.linalg.cholesky_ex(damped)
        if not failed:
            tried = units + torch.cholesky_solve(pull, factor).reshape(m, k)
            if not tanh:  # a positive multiple of a ReLU is the same unit
                tried = tried / tried[:, :-1].norm(dim=1, keepdim=True).clamp_min(1e-9)
            new = solved(tried)
            if new is not None and new.loss < now.loss:
                return tried, new, max(damping / 4, 1e-8)
        damping *= 4
    return None


def _least_squares(features: Float[Tensor, "N p"], y: Float[Tensor, "N d"]) -> Float[Tensor, "p d"]:
    """The shortest solution; a unit that is never on gets no weight."""
    norms = features.norm(dim=0)
    norms = torch.where(norms > 1e-6 * norms.max(), norms, torch.inf)
    left, sizes, right = torch.linalg.svd(features / norms, full_matrices=False)
    kept = sizes > 1e-10 * sizes[0]
    weights = right[kept].T @ (left[:, kept].T @ y / sizes[kept, None])
    return weights / norms[:, None]
