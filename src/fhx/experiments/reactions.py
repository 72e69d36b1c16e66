r"""How the state of a trained recurrent net reacts to a small change of a state or of an input."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from math import log
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from fhx.cells import Cell
from fhx.dynamics import lyapunov_spectrum, unroll

__all__ = ["LONG", "reactions"]

EDGES = (0, 1, 2, 3, 5, 8, 12, 18, 27, 40, 64)
"""Edges of the bins of a distance, each from its edge to before the next one."""
LONG = 64
"""Steps of the runs along which exponents and gradients are measured."""
LEAST = 1e-38
"""Smaller gradients count as this."""


def reactions(
    cells: Sequence[Cell], inputs: Float[Tensor, "time batch d_in"], loss: Callable[[Tensor], Tensor]
) -> Mapping[str, Any]:
    r"""What a change does to the layers of a net, from state zero.

    The Jacobian of a stack of layers is block triangular, so its exponents are those of the layers, each along what it
    reads; the largest is told.

    Args:
        cells: the layers; each reads the hidden part of the one below it.
        inputs: of the lowest, runs of one length.
        loss: of each run, from what the highest layer shows at the end, (batch, d).

    Returns:
        ``exponent``, the top Lyapunov exponent along the runs, in nats a step, their mean; and by the distance i
        (``i``, the mean of a bin) two medians of logarithms over runs and distances of the bin, ``by input``, of the
        norm of the gradient of the loss with respect to the input i steps before the end, and ``by state``, of that
        with respect to the states after that input. A memory that nobody reads has an exponent of 0, and its state does
        not count in the second.
    """
    by_input, by_state = _gradients(cells, inputs, loss)
    bins = [slice(a, min(b, len(inputs))) for a, b in itertools.pairwise(EDGES) if a < len(inputs)]
    return {
        "exponent": max(_exponents(cells, inputs)),
        "i": [(b.start + b.stop - 1) / 2 for b in bins],
        "by input": [by_input[b].median().item() for b in bins],
        "by state": [by_state[b].median().item() for b in bins],
    }


@torch.no_grad()
def _exponents(cells: Sequence[Cell], x: Tensor) -> list[float]:
    found = []
    for cell in cells:
        found.append(lyapunov_spectrum(cell, x, k=1, warmup=len(x) // 8).mean().item())
        x = cell.hidden(unroll(cell, x))
    return found


def _gradients(cells: Sequence[Cell], x: Tensor, loss: Callable[[Tensor], Tensor]) -> tuple[Tensor, Tensor]:
    """The logarithms of both norms for every distance and run."""
    x, layers, states = x.detach().requires_grad_(), len(cells), list[Tensor]()
    last = [x.new_zeros(x.shape[1], cell.state_width) for cell in cells]
    with torch.enable_grad():
        for shown in x:
            for k, cell in enumerate(cells):
                last[k] = unroll(cell, shown[None], last[k])[-1]
                shown = cell.hidden(last[k])
            states += last
        by_input, *rest = torch.autograd.grad(loss(shown).sum(), [x, *states])
    by_state = torch.cat([torch.stack(rest[k::layers]) for k in range(layers)], -1)
    logs = [slopes.norm(dim=-1).flip(0).log().clamp(min=log(LEAST)) for slopes in (by_input, by_state)]
    return logs[0], logs[1]
