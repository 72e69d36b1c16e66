"""All Lyapunov exponents of a run beside the QR factorisations alone, one for each step."""

from collections.abc import Iterator

import torch
from torch import Tensor

from benchmarks.harness import Pair
from fhx.cells import SimpleCell
from fhx.dynamics import lyapunov_spectrum


def pairs(tiny: bool, seed: int) -> Iterator[Pair]:
    """A chaotic simple cell, in both precisions, and factorisations of a matrix of the frame's shape."""
    batch, width, steps = (2, 4, 6) if tiny else (8, 128, 1000)
    for dtype, name in ((torch.float64, "float64"), (torch.float32, "float32")):
        generator = torch.Generator().manual_seed(seed)
        cell = SimpleCell(1, width, generator=generator, dtype=dtype)
        with torch.no_grad():
            cell.W.copy_(torch.randn(width, width, generator=generator, dtype=dtype) * 2 / width**0.5)
        inputs = torch.randn(steps, batch, 1, generator=generator, dtype=dtype)
        matrices = torch.randn(batch, width, width, generator=generator, dtype=dtype)
        yield Pair(
            f"Lyapunov spectrum, {name} / QR alone",
            f"simple cell, {width} units, {steps} steps, batch {batch}",
            lambda cell=cell, inputs=inputs: _spectrum(cell, inputs),
            lambda matrices=matrices: _factorize(matrices, steps),
            target=3,
        )


def _spectrum(cell: SimpleCell, inputs: Tensor) -> None:
    lyapunov_spectrum(cell, inputs)


def _factorize(matrices: Tensor, steps: int) -> None:
    for _ in range(steps):
        torch.linalg.qr(matrices)
