"""The scan of a diagonal linear cell beside a loop, and Newton's sweeps beside torch's own net."""

import shutil
from collections.abc import Callable, Iterator
from functools import partial

import torch
from torch import Tensor, nn

import fhx
from benchmarks.harness import Pair
from benchmarks.methods import make_net, noise
from fhx.cells import LinearCell, SimpleCell
from fhx.dynamics import linear_states, parallel_unroll

LOOSE = 1e-5  # for single precision


def diagonal_loop(cell: LinearCell, inputs: Tensor) -> Tensor:
    """As fast as plain torch gets: all drives at once, and one product of numbers per step."""
    w, states = cell.W.diagonal(), []
    h = inputs.new_zeros(inputs.shape[1], cell.state_size)
    for drive in inputs @ cell.U.T + cell.b:
        h = drive + w * h
        states.append(h)
    return torch.stack(states)


def newton(cell: SimpleCell, inputs: Tensor) -> Tensor:
    return parallel_unroll(cell, inputs, method="newton", tolerance=LOOSE).states


def torchs(net: nn.RNN, inputs: Tensor) -> Tensor:
    return net(inputs)[0]


def pairs(tiny: bool, seed: int) -> Iterator[Pair]:
    """Scans forward and with the gradient, compiled where there is a C++ compiler; Newton, with a target on a GPU."""
    device, gpu = fhx.device(), fhx.device().type == "cuda"
    generator = torch.Generator().manual_seed(seed)
    time = 20 if tiny else 10_000
    for batch, width in ((2, 3),) if tiny else ((1, 16), (16, 16)):
        cell = make_net("diagonal", width, 0.9, generator).to(device, torch.float32)
        inputs, size = noise(cell, time, batch, generator), f"T={time}, batch {batch}, d={width}"
        loop = partial(diagonal_loop, cell, inputs)
        scan = partial(linear_states, cell, inputs)
        yield Pair(f"diagonal scan / loop, batch {batch}", size, _still(scan), _still(loop), target=0.5)
        yield Pair(f"diagonal scan / loop, batch {batch}, gradient", size, _slope(scan, cell), _slope(loop, cell))
        if not tiny and (gpu or shutil.which("c++")):  # compiling takes a minute
            compiled = partial(scan, compiled=True)
            yield Pair(f"compiled scan / loop, batch {batch}", size, _still(compiled), _still(loop), target=0.2)
    for batch, width in ((2, 3),) if tiny else ((1, 1), (1, 4), (16, 1), (16, 4)):
        cell = make_net("tanh", width, 0.9, generator).to(device, torch.float32)
        inputs, size = noise(cell, time, batch, generator), f"T={time}, batch {batch}, d={width}, tanh, rate 0.9"
        name = f"Newton / torch.nn.RNN, d={width}, batch {batch}"
        ours, other = partial(newton, cell, inputs), partial(torchs, cell.to_torch(), inputs)
        yield Pair(name, size, _still(ours), _still(other), target=0.1 if gpu else None)


def _still(run: Callable[[], Tensor]) -> Callable[[], Tensor]:
    return torch.no_grad()(run)


def _slope(run: Callable[[], Tensor], cell: LinearCell) -> Callable[[], Tensor]:
    """Forward, then the gradient to W, of which the loop reads the diagonal only."""
    return lambda: torch.autograd.grad(run().square().mean(), cell.W)[0].diagonal()
