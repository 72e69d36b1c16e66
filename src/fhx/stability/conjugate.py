"""Cells made of a cell: seen from another origin, and with the readout as a part of the state."""

from collections.abc import Callable
from math import inf
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from fhx.cells import Cell
from fhx.cells.kinds import check_inherited, refuse_torch_net
from fhx.dynamics import Box
from fhx.stability.certificates import Certificate, certificate, register_certificate
from fhx.stability.norms import EPS, AnyNorm, Norm, as_norm, exact, max_norm, two_norm


@final
class Translated(Cell):
    r"""The same net in the coordinates :math:`g = h - h^*`: the step :math:`g \mapsto f(g + h^*, x) - h^*`.

    If :math:`h^*` is the fixed point of the input 0, the step takes 0 to 0. Distances are what they were, so the rate
    is that of f, in every norm. **The start moves too**: ``initial_state`` is :math:`-h^*`, where h is 0, and with
    it every run is that of f, shifted. ``hidden`` is what f's cell shows, so a readout sees what it saw.

    Args:
        cell: f; kept as ``cell``, and not copied.
        shift: :math:`h^*`, of ``state_width`` numbers, such as the state that :func:`fixed_point` finds.

    Raises:
        ValueError: the shift has another shape.
    """

    shift: Tensor

    def __init__(self, cell: Cell, shift: Float[Tensor, " width"]) -> None:
        refuse_torch_net(cell)
        super().__init__(cell.input_size, cell.state_size)
        if shift.shape != (cell.state_width,):
            raise ValueError(f"the shift must be a state of {cell.state_width} numbers, got shape {tuple(shift.shape)}")
        self.cell = cell
        self.state_width = cell.state_width
        self.register_buffer("shift", shift.detach().to(cell.initial_state()))

    def drive(self, x: Float[Tensor, "*batch input"]) -> Float[Tensor, "*batch drive"]:
        """The drive of f."""
        return self.cell.drive(x)

    def step(
        self, h: Float[Tensor, "*batch width"], drive: Float[Tensor, "*batch drive"]
    ) -> Float[Tensor, "*batch width"]:
        r""":math:`\mathrm{step}(g + h^*, \mathrm{drive}) - h^*`."""
        return self.cell.step(h + self.shift, drive) - self.shift

    def jacobian(
        self, h: Float[Tensor, "*batch width"], drive: Float[Tensor, "*batch drive"]
    ) -> Float[Tensor, "*batch width width"]:
        r"""That of f at :math:`g + h^*`."""
        return self.cell.jacobian(h + self.shift, drive)

    def hidden(self, state: Float[Tensor, "*batch width"]) -> Float[Tensor, "*batch d"]:
        r"""The hidden part of :math:`g + h^*`."""
        return self.cell.hidden(state + self.shift)

    def initial_state(self, *batch_shape: int) -> Float[Tensor, "*batch width"]:
        r""":math:`-h^*`, of shape ``(*batch_shape, state_width)``."""
        return self.cell.initial_state(*batch_shape) - self.shift

    def box(self, box: Box) -> Box:
        """A box of states of f, in these coordinates; rounded outwards."""
        shift = self.shift.detach().double().cpu()
        largest = (box.radius + box.center.abs() + shift.abs()).max().item()
        return Box(box.low - shift, box.high - shift).enlarged(2 * EPS * largest)


@final
class WithReadout(Cell):
    r"""A cell and an affine readout as one cell with the state :math:`(h, y)`, and nothing left to read out:

    .. math:: h_t = f(h_{t-1}, x_t), \qquad y_t = V h_t + c,

    with what f's cell shows of :math:`h_t` in place of it where it hides a part. The step does not look at
    :math:`y_{t-1}`. With L the norm of V, and 1 for V = 0, its rate in

    .. math:: \lVert (h, y) \rVert = \max(|h|, |y| / L)

    is that of f: the new y are at most :math:`L \lambda |h - h'|` apart. In :math:`\max(|h|, |y|)` it is
    :math:`\max(1, L)` times that, which may be 1 or more. :func:`contraction_rate` is in the weighted norm. In a
    Lyapunov norm of h, y is measured by the 2-norm: :math:`|V h|_2 \le L |h|_2 \le L |h|_P`, since :math:`P \succeq I`.

    Args:
        cell: f; kept as ``cell``.
        readout: V and c, of as many inputs as the cell shows; kept as ``readout``.

    Raises:
        ValueError: the readout is not affine, or reads another number of inputs than the cell shows.
    """

    def __init__(self, cell: Cell, readout: nn.Linear) -> None:
        refuse_torch_net(cell)
        if not isinstance(readout, nn.Linear):
            raise ValueError(f"a readout must be a torch.nn.Linear, whose norm is known, not {readout}")
        check_inherited(readout, nn.Linear, "the norm of its weights need not bound its gain")
        if readout.in_features != cell.state_size:
            raise ValueError(f"the readout reads {readout.in_features} numbers, and the cell shows {cell.state_size}")
        super().__init__(cell.input_size, readout.out_features)
        self.cell, self.readout = cell, readout
        self.state_width = cell.state_width + readout.out_features

    def drive(self, x: Float[Tensor, "*batch input"]) -> Float[Tensor, "*batch drive"]:
        """The drive of f."""
        return self.cell.drive(x)

    def step(
        self, h: Float[Tensor, "*batch width"], drive: Float[Tensor, "*batch drive"]
    ) -> Float[Tensor, "*batch width"]:
        """The next state of f, and what is read out of it."""
        state = self.cell.step(h[..., : self.cell.state_width], drive)
        return torch.cat([state, self.readout(self.cell.hidden(state))], -1)

    def hidden(self, state: Float[Tensor, "*batch width"]) -> Float[Tensor, "*batch d"]:
        """:math:`y`."""
        return state[..., self.cell.state_width :]

    def lipschitz(self, norm: AnyNorm = 2) -> float:
        """L, the norm of V as a map from "max" to "max" (for "weighted" too: no weight is above 1), or from the 2-norm
        to the 2-norm; rounded upwards."""
        measure = max_norm if as_norm(norm) in ("max", "weighted") else two_norm
        return measure(exact("V of the readout", self.readout.weight))

    def box(self, box: Box) -> Box:
        """A box of states of f, with 0 and all that is read out of it; rounded outwards."""
        low, high = (self.cell.hidden(corner.to(self.readout.weight.device)).cpu() for corner in (box.low, box.high))
        V, c = (p.detach().double().cpu() for p in (self.readout.weight, self._bias()))
        middle, radius = F.linear((low + high) / 2, V, c), F.linear((high - low) / 2, V.abs())
        radius = radius + (len(low) + 8) * EPS * (F.linear(low.abs().maximum(high.abs()), V.abs(), c.abs()) + EPS)
        return box.product(Box((middle - radius).clamp(max=0), (middle + radius).clamp(min=0)))

    def _bias(self) -> Tensor:
        bias = self.readout.bias
        return self.readout.weight.new_zeros(self.readout.out_features) if bias is None else bias


class _OfACell(Certificate):
    """The certificate of a cell that is made of a cell: in the norm of the latter's, and where that holds."""

    cell: Translated | WithReadout

    def __init__(self, cell: Translated | WithReadout, input_bound: float = 1.0) -> None:
        super().__init__(cell, input_bound)
        self.inner = certificate(cell.cell, input_bound)
        self.default_norm, self.everywhere = self.inner.default_norm, self.inner.everywhere

    def rate(self, norm: Norm) -> float:
        return self.inner.rate(norm)

    def invariant_set(self) -> Box:
        return self.cell.box(self.inner.invariant_set())


class TranslatedCertificate(_OfACell):
    """That of the cell, in every norm; runs start from :math:`-h^*`."""

    def row_gains(self, weights: Float[Tensor, " width"]) -> Float[Tensor, " width"]:
        return self.inner.row_gains(weights)

    def matrix(self) -> Float[Tensor, "width width"]:
        return self.inner.matrix()

    def norm_function(self, norm: Norm) -> Callable[[Tensor], float]:
        return self.inner.norm_function(norm)


class WithReadoutCertificate(_OfACell):
    r"""That of the cell, in the norm :math:`\max(|h|, |y| / L)`."""

    cell: WithReadout

    def weights(self) -> Float[Tensor, " width"]:
        """Those of the cell, and L for every number that is read out."""
        L = self.cell.lipschitz("weighted") or 1.0
        return torch.cat([self.inner.weights(), torch.full((self.cell.state_size,), L, dtype=torch.float64)])

    def norm_function(self, norm: Norm) -> Callable[[Tensor], float]:
        inner, width, L = self.inner.norm_function(norm), self.cell.cell.state_width, self.cell.lipschitz(norm) or 1.0
        order = inf if norm in ("max", "weighted") else 2
        return lambda v: max(inner(v[:width]), torch.linalg.vector_norm(v[width:], order).item() / L)


register_certificate(Translated, TranslatedCertificate)
register_certificate(WithReadout, WithReadoutCertificate)
