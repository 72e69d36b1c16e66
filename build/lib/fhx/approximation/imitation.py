"""Imitating a step on a box by one hidden layer, and how far off the imitation is."""

from typing import get_args

import torch
from attrs import frozen
from jaxtyping import Float
from torch import Tensor
from torch.func import jacrev, vmap

from fhx._checks import one_of, positive
from fhx.approximation.fitting import HiddenLayer, fit_layer, place_units
from fhx.approximation.shallow import ShallowCell
from fhx.cells.activations import TanhOrRelu
from fhx.cells.function import Step
from fhx.dynamics import Box

SAMPLES_PER_UNIT, LEAST_SAMPLES = 16, 2000


@torch.no_grad()
def imitate(
    f: Step,
    states: Box,
    inputs: Box | None = None,
    *,
    units: int,
    activation: TanhOrRelu = "relu",
    samples: int | None = None,
    max_iterations: int = 30,
    seed: int = 0,
) -> ShallowCell:
    r"""A step with one hidden layer that comes close to f on a box of states and inputs, in float64.

    .. math:: \hat f(h, x) = V\, \sigma(A h + B x + c) + d \approx f(h, x), \qquad h \in K,\; x \in X.

    The sum of squares over a sample is made small, each coordinate of the state in units of its half-width in the box:
    first units are put where f bends, then all weights are moved together. With ReLUs one unit per coordinate of
    state and input is on in the whole box and a half-width beyond; those carry the affine part of f.

    The problem is not convex, and nothing proves how close it comes: measure it by ``imitation_errors``. In one
    dimension ``interpolant`` has a bound.

    Args:
        f: any function ``f(h, x)`` of ``(batch, d)`` and ``(batch, d_in)``, or a cell.
        states: K.
        inputs: X. None: f is called with zeros of width 1, which the imitation does not read.
        units: n. With ReLUs more than the box has coordinates.
        activation: "relu" or "tanh".
        samples: how many points of the box are looked at; max(2000, 16 n) if None.
        max_iterations: the most steps of the search.
        seed: of the sample and the first units.

    Raises:
        ValueError: a number is not positive, there are too few units or samples, the activation is unknown, or f does
            not return one finite state for each point.
    """
    one_of("activation", activation, get_args(TanhOrRelu))
    region = states if inputs is None else states.product(inputs)
    carried = region.width if activation == "relu" else 0
    free = positive("units", units) - carried
    if free < 1:
        raise ValueError(f"units must be more than the {carried} coordinates of the box, got {units}")
    samples = max(LEAST_SAMPLES, SAMPLES_PER_UNIT * units) if samples is None else positive("samples", samples)
    if samples <= units:
        raise ValueError(f"{units} units need more than {samples} samples")
    generator = torch.Generator().manual_seed(seed)
    width = states.width

    def scaled(z: Tensor) -> Tensor:
        return (_values(f, region.center + region.radius * z, width) - states.center) / states.radius

    z = (region.draw(samples, generator, faces=0.1) - region.center) / region.radius
    first = place_units(scaled, free, region.width, generator)
    layer = fit_layer(z, scaled(z), first, activation == "tanh", max_iterations)
    return _unscaled(layer, states, region, activation)


def _values(f: Step, points: Float[Tensor, "N both"], width: int) -> Float[Tensor, "N d"]:
    h, x = _split(points, width)
    y = f(h, x)
    if y.shape != h.shape or not y.isfinite().all():
        raise ValueError(f"f must return a finite state for each point, {tuple(h.shape)}, got {tuple(y.shape)}")
    return y.to(h.dtype)


def _split(points: Float[Tensor, "*batch both"], width: int) -> tuple[Tensor, Tensor]:
    """States and inputs; a zero where there are no inputs."""
    h, x = points[..., :width], points[..., width:]
    return h, x if x.shape[-1] else torch.zeros_like(points[..., :1])


def _unscaled(layer: HiddenLayer, states: Box, region: Box, activation: TanhOrRelu) -> ShallowCell:
    """The same function of the box's own coordinates; what is carried becomes units that are on in the box."""
    w = layer.units[:, :-1] / region.radius
    c = layer.units[:, -1] - w @ region.center
    constant, V = layer.readout[0], layer.readout[1:].T
    if layer.carried:
        own = torch.eye(region.width, dtype=w.dtype)
        w, c = torch.cat([own, w]), torch.cat([region.radius - region.low, c])
        slopes = V[:, : region.width] / region.radius
        V = torch.cat([slopes, V[:, region.width :]], 1)
        constant = constant - slopes @ (2 * region.radius)
    V = states.radius[:, None] * V
    A, B = w[:, : states.width], w[:, states.width :]
    B = B if B.shape[1] else torch.zeros_like(A[:, :1])
    return ShallowCell(V, A, B, c, states.center + states.radius * constant, activation)


@frozen
class ImitationErrors:
    r"""How far off an imitation is over a sample of the box: largest and root mean square.

    Attributes:
        sup, rms: of :math:`\lVert \hat f - f \rVert`, Euclidean norm, in units of the state.
        derivative_sup, derivative_rms: of :math:`\lVert D\hat f - Df \rVert`, largest singular value of the derivative
            by :math:`(h, x)`.
    """

    sup: float
    rms: float
    derivative_sup: float
    derivative_rms: float


@torch.no_grad()
def imitation_errors(
    f: Step, imitation: Step, states: Box, inputs: Box | None = None, *, samples: int = 20_000, seed: int = 12345
) -> ImitationErrors:
    """The errors of values and of derivatives on fresh points of the box, a twentieth of them or more on its faces.

    Largest errors are those of the sample, so they are not above the true ones.

    Args:
        f, imitation: functions ``f(h, x)`` that work under ``torch.func.vmap``, or cells.
        states, inputs: the box, as for ``imitate``.
        samples: how many points.
        seed: of the sample, which should not be that of the fit.

    Raises:
        ValueError: a number of samples that is not positive, or f does not return one finite state for each point.
    """
    region = states if inputs is None else states.product(inputs)
    points = region.sample(positive("samples", samples), seed, faces=0.1)
    off = (_values(imitation, points, states.width) - _values(f, points, states.width)).norm(dim=-1)

    def difference(point: Tensor) -> Tensor:
        h, x = _split(point[None], states.width)
        return (imitation(h, x) - f(h, x))[0]

    slopes = torch.linalg.matrix_norm(vmap(jacrev(difference), chunk_size=2048)(points), 2)
    return ImitationErrors(*(_largest_and_rms(off) + _largest_and_rms(slopes)))


def _largest_and_rms(values: Float[Tensor, " N"]) -> tuple[float, float]:
    return values.max().item(), values.square().mean().sqrt().item()
