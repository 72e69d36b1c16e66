"""A search for pairs of states that a step brings together as little as possible: a lower bound of the gain."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from fhx._checks import positive
from fhx.cells import Cell
from fhx.dynamics import Box
from fhx.stability.certificates import Certificate, certificate_in
from fhx.stability.lyapunov import lyapunov_norm
from fhx.stability.norms import AnyNorm, Norm

APART = 1e-3  # how far apart a pair starts, in radii; rounding moves its gain by 1e-13 of the longest radius


@dataclass(frozen=True, eq=False)
class Search:
    r"""The best pair that was found.

    Args:
        gain: :math:`|f(h, x) - f(h', x)| / |h - h'|`, a lower bound of the one-step gain up to rounding.
        h, other: :math:`h` and :math:`h'`, two states of the invariant set, in float64.
        x: the input.
        infinitesimal: the largest norm found of the Jacobian :math:`\partial f / \partial h`, the gain of pairs that
            lie arbitrarily near each other. On a convex set the supremum of either is that of the other.
    """

    gain: float
    h: Float[Tensor, " width"]
    other: Float[Tensor, " width"]
    x: Float[Tensor, " d_in"]
    infinitesimal: float


def adversarial_gain(
    cell: Cell, norm: AnyNorm | None = None, input_bound: float = 1.0, starts: int = 32, steps: int = 100, seed: int = 0
) -> Search:
    r"""Gradient ascent on the gain of a step, from many starts, over the set that :func:`contraction_rate` is for.

    First on the norm of the Jacobian, over states and inputs: each step moves every coordinate by the same part of its
    radius along the gradient's sign, parts that shrink to a hundredth, and stays inside. Then, from the best points and
    along the direction in which the Jacobian stretches most, on the gain of a pair.

    Args:
        cell: a cell that has a certificate; a linear or ReLU cell without a bounded invariant set is searched on
            :math:`|h|_\infty \le 1`, since its certificate holds everywhere.
        norm, input_bound: as for :func:`contraction_rate`.
        starts: half are corners, half lie inside.
        steps: of either ascent.
        seed: of the starts.

    Raises:
        ValueError: what :func:`contraction_rate` and :func:`invariant_set` raise, or there are no starts or no steps.
    """
    starts, steps = positive("starts", starts), positive("steps", steps)
    cell = deepcopy(cell).double().cpu().requires_grad_(False)
    found, norm = certificate_in(norm, cell, input_bound)
    size, operator, stretch = _measures(found, norm)
    box, inputs = _domain(found), Box.symmetric([max(found.input_bound, 1e-300)] * cell.input_size)
    both, width = box.product(inputs), box.width

    def jacobian_at(point: Tensor) -> Tensor:
        return cell.jacobian(point[:, :width], cell.drive(point[:, width:]))

    start = both.sample(starts, seed)
    corner = both.center + both.radius * (start - both.center).sign()
    start = torch.where(torch.arange(starts)[:, None] % 2 == 0, corner, start)
    points, gains = _ascend(lambda point: operator(jacobian_at(point)), start, both, steps)
    infinitesimal = gains.max().item()

    near = box.radius * APART
    h = torch.minimum(torch.maximum(points[:, :width], box.low + 2 * near), box.high - 2 * near)
    direction = stretch(jacobian_at(points))
    direction = direction / (direction.abs() / near).amax(1, keepdim=True).clamp(min=1e-300)

    def pair_gain(pair: Tensor) -> Tensor:
        h, other, x = pair.split([width, width, cell.input_size], 1)
        drive = cell.drive(x)
        apart = size(h - other)
        gain = size(cell.step(h, drive) - cell.step(other, drive)) / apart.clamp(min=1e-300)
        return torch.where(apart >= near.min() / 2, gain, 0 * gain)

    start = torch.cat([h, h + direction, points[:, width:]], 1)
    pairs, gains = _ascend(pair_gain, start, box.product(box).product(inputs), steps)
    h, other, x = pairs[gains.argmax()].split([width, width, cell.input_size])
    return Search(gains.max().item(), h, other, x, infinitesimal)


def _ascend(
    gain: Callable[[Tensor], Tensor], start: Tensor, box: Box, steps: int
) -> tuple[Float[Tensor, "starts width"], Float[Tensor, " starts"]]:
    """The best points on the paths from all starts, and their gains."""
    point, best, highest = start, start, gain(start)
    for part in torch.logspace(-0.5, -2.5, steps).tolist():
        point = point.detach().requires_grad_()
        (uphill,) = torch.autograd.grad(gain(point).sum() + 0 * point.sum(), point)
        point = torch.minimum(
            torch.maximum(point.detach() + part * box.radius * uphill.nan_to_num().sign(), box.low), box.high
        )
        reached = gain(point)
        best = torch.where((reached > highest)[:, None], point, best)
        highest = torch.maximum(reached, highest)
    return best, highest


def _domain(found: Certificate) -> Box:
    """The invariant set; without one the unit box, if the certificate holds for all states."""
    try:
        return found.invariant_set()
    except ValueError:
        if not found.everywhere:
            raise
        found.rate(found.default_norm)  # refuses a cell without a rate
        return Box.symmetric([1.0] * found.cell.state_width)


Size = Callable[[Tensor], Tensor]


def _measures(found: Certificate, norm: Norm) -> tuple[Size, Size, Size]:
    """The size of vectors, the norm of matrices, and the vectors that matrices stretch most."""
    if norm == "max":
        return _largest, lambda J: J.abs().sum(2).amax(1), _signs
    if norm == 2:
        return _length, lambda J: torch.linalg.matrix_norm(J, 2), _singular
    if norm == "weighted":
        w = found.weights()
        return lambda v: _largest(v / w), lambda J: (J.abs() @ w / w).amax(1), lambda J: _signs(J * w / w[:, None]) * w
    root = torch.linalg.cholesky(lyapunov_norm(found.matrix()))
    back = torch.linalg.inv(root.mT)

    def seen(J: Tensor) -> Tensor:
        return root.mT @ J @ back

    return (
        lambda v: _length(v @ root),
        lambda J: torch.linalg.matrix_norm(seen(J), 2),
        lambda J: _singular(seen(J)) @ back.mT,
    )


def _largest(v: Tensor) -> Tensor:
    return v.abs().amax(1)


def _length(v: Tensor) -> Tensor:
    return torch.linalg.vector_norm(v, dim=1)


def _signs(J: Tensor) -> Tensor:
    row = J.abs().sum(2).argmax(1)
    return J[torch.arange(len(J)), row].sign()


def _singular(J: Tensor) -> Tensor:
    return torch.linalg.svd(J)[2][:, 0]
