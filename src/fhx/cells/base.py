"""What every cell is: a step, its drive, and the widths of input and state."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.func import jacrev, vmap
from torch.nn import functional as F

from fhx._checks import positive
from fhx._modules import undrawn

PARTS = ("step", "drive")
CLOSED = {"jacobian": ("step",), "input_jacobian": PARTS, "torch_layers": PARTS}
"""Closed forms, and of what: a class that defines a part anew, itself or by a mixin, does not inherit the form."""


class TorchLayer(NamedTuple):
    """One layer of torch's own recurrent nets: which net, how it is made, and its weights by torch's names."""

    net: Callable[..., nn.RNNBase]
    options: Mapping[str, str]
    state_size: int
    weights: Mapping[str, Tensor]


class Cell(nn.Module, ABC):
    r"""The step :math:`f(h, x) = \mathrm{step}(h, \mathrm{drive}(x))` of a recurrence.

    Args:
        input_size: width of the input :math:`x`.
        state_size: :math:`d`, width of the hidden part of the state, which the readout sees.
        parts: the whole state has ``state_width`` = ``parts`` times ``state_size`` numbers.

    Raises:
        ValueError: a width is not a positive integer.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        """Who writes a step does not inherit closed forms of another one."""
        super().__init_subclass__(**options)
        bases = cls.__mro__
        place = {name: next(i for i, base in enumerate(bases) if name in vars(base)) for name in {*CLOSED, *PARTS}}
        for name, parts in CLOSED.items():
            if any(place[part] < place[name] for part in parts):
                setattr(cls, name, vars(Cell)[name])

    def __init__(self, input_size: int, state_size: int, parts: int = 1) -> None:
        super().__init__()
        self.input_size = positive("input_size", input_size)
        self.state_size = positive("state_size", state_size)
        self.state_width = positive("parts", parts) * self.state_size

    @abstractmethod
    def drive(self, x: Float[Tensor, "*batch input"]) -> Float[Tensor, "*batch drive"]:
        """The part of the step that reads the input only; ``x`` may hold all times at once."""

    @abstractmethod
    def step(
        self, h: Float[Tensor, "*batch width"], drive: Float[Tensor, "*batch drive"]
    ) -> Float[Tensor, "*batch width"]:
        """The next state from the state and the drive. The innermost loop: nothing is checked here."""

    def hidden(self, state: Float[Tensor, "*batch width"]) -> Float[Tensor, "*batch d"]:
        """The part of a state that a readout sees: here all of it."""
        return state

    def forward(
        self, h: Float[Tensor, "*batch width"], x: Float[Tensor, "*batch input"]
    ) -> Float[Tensor, "*batch width"]:
        """The next state :math:`f(h, x)`.

        Raises:
            ValueError: ``h`` or ``x`` has another width than the cell's.
        """
        self.check_state(h)
        return self.step(h, self.drive(x))

    def initial_state(self, *batch_shape: int) -> Float[Tensor, "*batch width"]:
        """Zeros of shape ``(*batch_shape, state_width)``, on the device and of the dtype of the parameters."""
        like: Tensor = next(self.parameters(), torch.empty(()))
        return torch.zeros(*batch_shape, self.state_width, dtype=like.dtype, device=like.device)

    def check_input(self, x: Tensor) -> None:
        """Raise a ``ValueError`` unless the last dimension of ``x`` is ``input_size``."""
        self._check("an input of width input_size", self.input_size, x)

    def check_state(self, h: Tensor) -> None:
        """Raise a ``ValueError`` unless the last dimension of ``h`` is ``state_width``."""
        self._check("a state of width state_width", self.state_width, h)

    def _check(self, what: str, width: int, value: Tensor) -> None:
        if value.ndim == 0 or value.shape[-1] != width:
            raise ValueError(f"{type(self).__name__} expects {what} = {width}, got shape {tuple(value.shape)}")

    def jacobian(
        self, h: Float[Tensor, "*batch width"], drive: Float[Tensor, "*batch drive"]
    ) -> Float[Tensor, "*batch width width"]:
        r""":math:`\partial f / \partial h`, of :math:`\mathrm{step}(h, \mathrm{drive})` for each element of the batch.

        Row :math:`i`, column :math:`j` holds the derivative of number :math:`i` of the next state by number :math:`j`
        of this one. Here by ``torch.func``; a cell with a closed form overrides it.
        """
        return _each(jacrev(self.step), h, drive)

    def input_jacobian(
        self, h: Float[Tensor, "*batch width"], x: Float[Tensor, "*batch input"]
    ) -> Float[Tensor, "*batch width input"]:
        r""":math:`\partial f / \partial x`, of :math:`f(h, x)` for each element of the batch."""
        return _each(jacrev(lambda x, h: self.step(h, self.drive(x))), x, h)

    def layer_matrices(self) -> list[Tensor]:
        """The matrices between the state and the next one, ``W`` first, each block of a gated cell by itself.

        They are parameters or views of parameters, which initialisers write to.

        Raises:
            ValueError: the cell does not name them.
        """
        raise ValueError(f"{type(self).__name__} does not say which matrices act on its state (layer_matrices)")

    def layer_biases(self) -> list[Tensor]:
        """The biases beside ``layer_matrices``, parameters or views of parameters; here none."""
        return []

    def torch_layers(self) -> list[TorchLayer]:
        """This cell as layers of torch's own recurrent nets, bottom first.

        Raises:
            ValueError: torch has no such net.
        """
        raise ValueError(f"torch has no recurrent net that repeats {self}")

    def to_torch(self) -> nn.RNNBase:
        """torch's own net that repeats this cell, with a copy of its weights; it reads ``(time, batch, feature)``.

        ``from_torch`` is the inverse. torch's nets have a bias on either side of the sum; the second one is zero
        wherever one is enough.

        Raises:
            ValueError: torch has no such net.
        """
        layers = self.torch_layers()
        first = layers[0]
        if any(layer[:3] != first[:3] for layer in layers):
            raise ValueError(f"torch stacks only cells of one kind, activation and state_size, not {self}")
        like = first.weights["weight_hh"]
        sizes = (self.input_size, first.state_size, len(layers))
        net = undrawn(first.net, *sizes, dtype=like.dtype, device=like.device, **first.options)
        with torch.no_grad():
            for k, layer in enumerate(layers):
                for name, value in layer.weights.items():
                    getattr(net, f"{name}_l{k}").copy_(value)
        return net

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.extra_repr()})"

    def extra_repr(self) -> str:
        return f"{self.input_size}, {self.state_size}"


def uniform_parameter(
    shape: tuple[int, ...],
    low: float,
    high: float,
    generator: torch.Generator | None,
    dtype: torch.dtype | None,
    device: torch.device | str | None,
) -> nn.Parameter:
    """Uniform numbers, drawn on the generator's device and then moved; on the meta device none are drawn.

    Raises:
        ValueError: the dtype is not a real floating-point type.
    """
    if dtype is not None and not dtype.is_floating_point:
        raise ValueError(f"a cell's dtype must be a real floating-point type, got {dtype}")
    place = torch.get_default_device() if device is None else device
    if torch.device(place).type == "meta":
        return nn.Parameter(torch.empty(shape, dtype=dtype, device="meta"))
    value = torch.empty(shape, dtype=dtype, device=generator.device if generator else "cpu")
    value.uniform_(low, high, generator=generator)
    return nn.Parameter(value.to(place))


class DrivenCell(Cell):
    r"""A cell with the drive :math:`U x + b`, which is added to :math:`W h`, the first thing made of the state.

    ``W`` has shape (rows, :math:`d`), ``U`` (rows, :math:`d_{in}`) and ``b`` (rows). All start uniform in
    :math:`\pm 1/\sqrt d`, as in torch.

    Args:
        input_size: :math:`d_{in}`, width of the input.
        state_size: :math:`d`, width of the hidden part of the state.
        rows: of ``W``, ``U`` and ``b``.
        parts: see ``Cell``.
        generator: where the weights are drawn from; torch's default generator if None, as for torch's own modules. They
            are drawn on the generator's device, then moved, so that a seed gives the same weights on every device.
        dtype, device: of the parameters; torch's defaults if None.

    Raises:
        ValueError: a width is not a positive integer, or the dtype is not a real floating-point type.
    """

    def __init__(
        self,
        input_size: int,
        state_size: int,
        rows: int,
        parts: int = 1,
        *,
        generator: torch.Generator | None = None,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> None:
        super().__init__(input_size, state_size, parts)
        self.W = self._uniform((rows, self.state_size), generator, dtype, device)
        self.U = self._uniform((rows, self.input_size), generator, dtype, device)
        self.b = self._uniform((rows,), generator, dtype, device)

    def _uniform(
        self,
        shape: tuple[int, ...],
        generator: torch.Generator | None,
        dtype: torch.dtype | None,
        device: torch.device | str | None,
        fan_in: int | None = None,
    ) -> nn.Parameter:
        bound = (fan_in or self.state_size) ** -0.5
        return uniform_parameter(shape, -bound, bound, generator, dtype, device)

    def drive(self, x: Float[Tensor, "*batch input"]) -> Float[Tensor, "*batch rows"]:
        """:math:`U x + b`, for all times at once if ``x`` holds them.

        Raises:
            ValueError: ``x`` has another width than ``input_size``.
        """
        self.check_input(x)
        return F.linear(x, self.U, self.b)


class AffineCell(DrivenCell):
    r"""A cell that reads its input through :math:`U x + b` and its state through :math:`W h`.

    With :math:`k` = ``blocks`` blocks of rows (one for each gate or candidate) ``W`` has shape :math:`(k d, d)`, ``U``
    :math:`(k d, d_{in})` and ``b`` :math:`(k d)`. All start uniform in :math:`\pm 1/\sqrt d`, as in torch. The state is
    ``parts`` vectors of :math:`d` numbers side by side.

    Args:
        input_size: :math:`d_{in}`, width of the input.
        state_size: :math:`d`, width of the hidden part of the state.
        generator: where the weights are drawn from; torch's default generator if None, as for torch's own modules. They
            are drawn on the generator's device, then moved, so that a seed gives the same weights on every device.
        dtype, device: of the parameters; torch's defaults if None.

    Raises:
        ValueError: a width is not a positive integer, or the dtype is not a real floating-point type.
    """

    blocks: ClassVar[int] = 1
    parts: ClassVar[int] = 1

    def __init__(
        self,
        input_size: int,
        state_size: int,
        *,
        generator: torch.Generator | None = None,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> None:
        rows = self.blocks * positive("state_size", state_size)
        super().__init__(input_size, state_size, rows, self.parts, generator=generator, dtype=dtype, device=device)

    def layer_matrices(self) -> list[Tensor]:
        """The blocks of rows of ``W``, as views."""
        return list(self.W.chunk(self.blocks))

    def layer_biases(self) -> list[Tensor]:
        """``b``."""
        return [self.b]

    def _torch_weights(self) -> dict[str, Tensor]:
        return {"weight_ih": self.U, "weight_hh": self.W, "bias_ih": self.b, "bias_hh": torch.zeros_like(self.b)}


def _each(f: Callable[[Tensor, Tensor], Tensor], a: Tensor, b: Tensor) -> Tensor:
    """``f``, which maps two vectors to a matrix, for every element of the batch."""
    for _ in a.shape[:-1]:
        f = vmap(f)
    return f(a, b)
