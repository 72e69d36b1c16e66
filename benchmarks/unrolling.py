"""``unroll`` of each cell beside the loop that a good user of torch would write for it, and beside torch's own nets."""

from collections.abc import Callable, Iterator
from functools import partial

import torch
from torch import Tensor

import fhx
from benchmarks.harness import Pair
from fhx.cells import Cell, GRUCell, LinearCell, LSTMCell, SimpleCell, Stack
from fhx.dynamics import unroll


def simple_loop(cell: SimpleCell, inputs: Tensor) -> Tensor:
    h, states = inputs.new_zeros(inputs.shape[1], cell.state_size), []
    for drive in inputs @ cell.U.T + cell.b:
        h = torch.tanh(drive + h @ cell.W.T)
        states.append(h)
    return torch.stack(states)


def linear_loop(cell: LinearCell, inputs: Tensor) -> Tensor:
    h, states = inputs.new_zeros(inputs.shape[1], cell.state_size), []
    for drive in inputs @ cell.U.T + cell.b:
        h = drive + h @ cell.W.T
        states.append(h)
    return torch.stack(states)


def lstm_loop(cell: LSTMCell, inputs: Tensor) -> Tensor:
    h = c = inputs.new_zeros(inputs.shape[1], cell.state_size)
    states = []
    for drive in inputs @ cell.U.T + cell.b:
        i, f, z, o = (drive + h @ cell.W.T).chunk(4, -1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(z)
        h = torch.sigmoid(o) * torch.tanh(c)
        states.append(h)
    return torch.stack(states)


def gru_loop(cell: GRUCell, inputs: Tensor) -> Tensor:
    h, states = inputs.new_zeros(inputs.shape[1], cell.state_size), []
    for drive in inputs @ cell.U.T + cell.b:
        drive_r, drive_z, drive_n = drive.chunk(3, -1)
        from_r, from_z, from_n = (h @ cell.W.T).chunk(3, -1)
        r = torch.sigmoid(drive_r + from_r)
        z = torch.sigmoid(drive_z + from_z)
        n = torch.tanh(drive_n + r * (from_n + cell.b_m))
        h = (1 - z) * n + z * h
        states.append(h)
    return torch.stack(states)


def stack_loop(cell: Stack, inputs: Tensor) -> Tensor:
    for layer in cell.layers:
        inputs = gru_loop(layer, inputs)
    return inputs


def masked_loop(cell: SimpleCell, inputs: Tensor, lengths: Tensor) -> Tensor:
    h, states = inputs.new_zeros(inputs.shape[1], cell.state_size), []
    for t, drive in enumerate(inputs @ cell.U.T + cell.b):
        h = torch.where((t < lengths)[:, None], torch.tanh(drive + h @ cell.W.T), h)
        states.append(h)
    return torch.stack(states)


def pairs(tiny: bool, seed: int) -> Iterator[Pair]:
    """Rows for every cell, forward alone and with the gradient; a target for the loops, none for torch's own nets."""
    time, batch, d_in, d = (5, 2, 2, 3) if tiny else (64, 64, 8, 64)
    generator, device = torch.Generator().manual_seed(seed), fhx.device()
    inputs = torch.randn(time, batch, d_in, generator=generator).to(device)
    lengths = torch.randint(1, time + 1, (batch,), generator=generator).to(device)
    size = f"T={time}, batch {batch}, input {d_in}, d={d}"

    def make(kind: type[Cell], width: int = d_in) -> Cell:
        return kind(width, d, generator=generator, device=device)

    loops: list[tuple[str, Cell, Callable[..., Tensor]]] = [
        ("simple cell", make(SimpleCell), simple_loop),
        ("linear cell", make(LinearCell), linear_loop),
        ("LSTM", make(LSTMCell), lstm_loop),
        ("GRU", make(GRUCell), gru_loop),
        ("stack of 2 GRUs", Stack([make(GRUCell), make(GRUCell, d)]), stack_loop),
    ]
    for name, cell, loop in loops:
        yield from _rows(f"{name} / loop", size, cell, partial(_run, cell, inputs), partial(loop, cell, inputs))
    name, cell, _ = loops[0]
    ours, other = partial(_run, cell, inputs, lengths), partial(masked_loop, cell, inputs, lengths)
    yield from _rows(f"{name} with lengths / loop", size, cell, ours, other)
    small, one = SimpleCell(1, 4, generator=generator, device=device), inputs[:, :1, :1]
    ours, other = partial(_run, small, one), partial(simple_loop, small, one)
    yield from _rows("small simple cell / loop", f"T={time}, batch 1, input 1, d=4", small, ours, other)
    for name, cell, _ in loops:
        if not isinstance(cell, LinearCell):
            yield from _rows_beside_torch(f"{name} / torch.nn", size, cell, inputs)


def _rows(name: str, size: str, cell: Cell, ours: Callable[[], Tensor], other: Callable[[], Tensor]) -> Iterator[Pair]:
    weights = list(cell.parameters())
    yield Pair(f"{name}, forward", size, torch.no_grad()(ours), torch.no_grad()(other), target=1.5)
    yield Pair(
        f"{name}, gradient", size, partial(_gradient, ours, weights), partial(_gradient, other, weights), target=1.5
    )


def _rows_beside_torch(name: str, size: str, cell: Cell, inputs: Tensor) -> Iterator[Pair]:
    net = cell.to_torch()
    ours, other = partial(_run, cell, inputs), lambda: net(inputs)[0]
    yield Pair(f"{name}, forward", size, torch.no_grad()(ours), torch.no_grad()(other))
    weights = list(net.parameters())
    weights[:2] = reversed(weights[:2])  # the recurrent matrix first, as in ours: it is the one compared
    yield Pair(
        f"{name}, gradient", size, partial(_gradient, ours, [*cell.parameters()]), partial(_gradient, other, weights)
    )


def _run(cell: Cell, inputs: Tensor, lengths: Tensor | None = None) -> Tensor:
    return cell.hidden(unroll(cell, inputs, lengths=lengths))


def _gradient(run: Callable[[], Tensor], weights: list[Tensor]) -> Tensor:
    """Forward, then the gradient of a loss to all weights; returns the one to the first."""
    return torch.autograd.grad(run().square().mean(), weights)[0]
