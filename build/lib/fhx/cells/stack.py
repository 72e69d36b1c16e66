"""Cells on top of one another, as one cell."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, final

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from fhx._checks import positive
from fhx.cells.base import Cell, TorchLayer


@final
class Stack(Cell):
    r"""Cells on top of one another: each reads what the one below it shows at the same time.

    With layers :math:`f^1, \dots, f^L` and :math:`y^0_t = x_t`,

    .. math:: s^l_t = f^l(s^l_{t-1}, y^{l-1}_t), \qquad y^l_t = \mathrm{hidden}(s^l_t).

    The state is :math:`(s^1, \dots, s^L)` side by side, bottom first, and ``hidden`` is the top layer's. A stack is a
    cell, so stacks can be stacked.

    Args:
        cells: the layers, bottom first; kept as ``layers``.

    Raises:
        ValueError: there are none, one is not a cell, or one reads another width than the one below it shows.
    """

    def __init__(self, cells: Iterable[Cell]) -> None:
        cells = list(cells)
        if not cells:
            raise ValueError("a Stack needs at least one cell")
        for k, cell in enumerate(cells):
            if not isinstance(cell, Cell):
                raise ValueError(f"layer {k} of a Stack must be a Cell, got {type(cell).__name__}")
            if k and cell.input_size != cells[k - 1].state_size:
                raise ValueError(
                    f"layer {k} of a Stack has input_size {cell.input_size}, but layer {k - 1} below it shows "
                    f"{cells[k - 1].state_size} numbers (its state_size)"
                )
        super().__init__(cells[0].input_size, cells[-1].state_size)
        self.layers: Sequence[Cell] = nn.ModuleList(cells)  # type: ignore[assignment]  # torch's is not generic
        self._widths = [cell.state_width for cell in cells]
        self.state_width = sum(self._widths)

    @classmethod
    def repeat(cls, make: Callable[..., Cell], input_size: int, state_size: int, depth: int, **options: Any) -> "Stack":
        """Cells of one kind and ``state_size`` on top of one another.

        Args:
            make: a kind of cell, or what else makes one of ``(input_size, state_size, **options)``.
            input_size: of the bottom cell; the others read ``state_size`` numbers.
            state_size: of every cell.
            depth: how many there are.
            options: as for each cell; a generator goes from one to the next.

        Raises:
            ValueError: ``depth`` is not a positive integer, or what ``make`` raises.
        """
        sizes = [input_size, *[state_size] * (positive("depth", depth) - 1)]
        return cls(make(size, state_size, **options) for size in sizes)

    def drive(self, x: Float[Tensor, "*batch input"]) -> Float[Tensor, "*batch drive"]:
        """The bottom layer's drive; the other layers read the layer below them."""
        return self.layers[0].drive(x)

    def step(
        self, h: Float[Tensor, "*batch width"], drive: Float[Tensor, "*batch drive"]
    ) -> Float[Tensor, "*batch width"]:
        """The next states of all layers, from the bottom up."""
        states, below = [], None
        for layer, state in zip(self.layers, h.split(self._widths, -1), strict=True):
            states.append(layer.step(state, drive if below is None else layer.drive(below)))
            below = layer.hidden(states[-1])
        return torch.cat(states, -1)

    def jacobian(
        self, h: Float[Tensor, "*batch width"], drive: Float[Tensor, "*batch drive"]
    ) -> Float[Tensor, "*batch width width"]:
        """By blocks, from the layers' own Jacobians: lower triangular, since nothing flows downwards."""
        rows, shown = [], None
        for layer, state, below, layer_drive in self._visits(
            h, drive, drive
        ):  # the first layer's own input is not looked at
            row = layer.jacobian(state, layer_drive)
            if shown is not None:
                row = torch.cat((layer.input_jacobian(state, below) @ shown, row), -1)
            shown = layer.hidden(row.mT).mT  # the rows of what the layer shows, which is a part of its state
            rows.append(F.pad(row, (0, self.state_width - row.shape[-1])))
        return torch.cat(rows, -2)

    def input_jacobian(
        self, h: Float[Tensor, "*batch width"], x: Float[Tensor, "*batch input"]
    ) -> Float[Tensor, "*batch width input"]:
        """By the chain rule from the bottom up, from the layers' own input Jacobians."""
        rows, shown = [], None
        for layer, state, below, _ in self._visits(h, self.drive(x), x):
            row = layer.input_jacobian(state, below)
            row = row if shown is None else row @ shown
            shown = layer.hidden(row.mT).mT
            rows.append(row)
        return torch.cat(rows, -2)

    def _visits(self, h: Tensor, drive: Tensor, below: Tensor) -> Iterator[tuple[Cell, Tensor, Tensor, Tensor]]:
        """Each layer with its state, what it reads, ``below`` for the first, and its drive, bottom first."""
        for k, (layer, state) in enumerate(zip(self.layers, h.split(self._widths, -1), strict=True)):
            drive = layer.drive(below) if k else drive
            yield layer, state, below, drive
            below = layer.hidden(layer.step(state, drive))

    def hidden(self, state: Float[Tensor, "*batch width"]) -> Float[Tensor, "*batch d"]:
        """What the top layer shows."""
        return self.layers[-1].hidden(state[..., -self._widths[-1] :])

    def layer_matrices(self) -> list[Tensor]:
        """The layers' own, bottom first; the matrices between layers are input matrices."""
        return [W for layer in self.layers for W in layer.layer_matrices()]

    def layer_biases(self) -> list[Tensor]:
        """The layers' own, bottom first."""
        return [b for layer in self.layers for b in layer.layer_biases()]

    def torch_layers(self) -> list[TorchLayer]:
        """The layers' own, bottom first."""
        return [torch_layer for layer in self.layers for torch_layer in layer.torch_layers()]

    def extra_repr(self) -> str:
        return ", ".join(map(repr, self.layers))
