"""What is measured on a trained net: its metric in full or from the last k inputs, and where its weights are."""

from collections.abc import Sequence

import torch
from torch import Tensor

from fhx.dynamics import unroll
from fhx.experiments import real_data as data
from fhx.experiments.cut_training.nets import Net
from fhx.stability import truncated_states
from fhx.tasks import Sequences


def probe(name: str) -> Sequences:
    """What nets are measured on: the test music, or the first steps of the test text."""
    return data.cut(data.task(name).test, data.SHOWN) if name in data.TEXTS else data.task(name).test


@torch.no_grad()
def evaluate(net: Net, part: Sequences, window: int = 500) -> float:
    """The metric on whole sequences, from state zero, read ``window`` steps at a time with the state carried on."""
    x, h, total, count = part.inputs, None, 0.0, 0.0
    for start in range(0, part.steps, window):
        piece = slice(start, start + window)
        states = unroll(net.cell, net.embed(x[piece]), h)
        h = states[-1]
        sum_here, count_here = _total(net, states, part, piece)
        total, count = total + sum_here, count + count_here
    return total / count


@torch.no_grad()
def truncated(net: Net, part: Sequences, ks: Sequence[int]) -> dict[str, float]:
    """The metric of the net when it sees the last k inputs only, by k; ``"all"``: when it sees them all."""
    values = {"all": evaluate(net, part)}
    for k in ks:
        total, count = _total(net, truncated_states(net.cell, net.embed(part.inputs), k), part, slice(None))
        values[str(k)] = total / count
    return values


def _total(net: Net, states: Tensor, part: Sequences, piece: slice) -> tuple[float, float]:
    mask = part.mask[piece]
    values = net.metric(net.cell.hidden(states), part.targets[piece])
    return torch.where(mask, values, 0).sum().item(), float(mask.sum())


def distance(one: Tensor, other: Tensor) -> float:
    """The Frobenius distance of two matrices."""
    return torch.linalg.vector_norm(one - other).item()
