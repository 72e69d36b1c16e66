r"""What is measured on a trained net: certificates, exponent, gradient against distance, and truncated evaluation."""

import itertools
from collections.abc import Sequence
from math import log
from typing import Any

import torch
from torch import Tensor

from fhx.cells import LSTMCell
from fhx.dynamics import lyapunov_spectrum, unroll
from fhx.experiments.stable_models.nets import LanguageModel, Net
from fhx.stability import contraction_rate, lstm_bounds, truncated_states
from fhx.tasks import Sequences

EDGES = (0, 1, 2, 3, 5, 8, 12, 18, 27, 40, 60, 90, 135, 200)
"""Edges of the bins of the distance i, each from its edge to before the next one."""


def certificates(net: Net) -> dict[str, Any]:
    """Bounds on the one-step gain of a net, and ``input_bound``, the largest number that it may read.

    For a simple cell ``rate``, in the 2-norm; for an LSTM, in the max norm, ``rate`` (by rows), ``sum``, ``four
    conditions``, the forget gate's ``F`` and the largest row sums of its four matrices. Below 1 they certify.
    """
    bound = net.embed.weight.abs().max().item() if isinstance(net, LanguageModel) else 1.0
    rate = {"input_bound": bound, "rate": contraction_rate(net.cell, input_bound=bound)}
    if not isinstance(net.cell, LSTMCell):
        return rate
    bounds = lstm_bounds(net.cell, bound)
    return {
        **rate,
        "sum": bounds.sum_rate,
        "four conditions": bounds.four_condition_rate,
        "F": bounds.forget_bound,
        "norms": bounds.norms,
    }


@torch.no_grad()
def exponent(net: Net, inputs: Tensor, warmup: int = 0) -> float:
    """The top Lyapunov exponent along sequences of equal length, in nats per step, their mean."""
    return lyapunov_spectrum(net.cell, net.embed(inputs), k=1, warmup=warmup).mean().item()


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
    if part.targets.ndim == 1:
        each = {"all": part.steps, **{str(k): k for k in ks}}
        ends = {name: unroll(net.cell, net.embed(part.inputs[-k:]))[-1] for name, k in each.items()}
        return {name: net.metric(net.cell.hidden(h), part.targets).mean().item() for name, h in ends.items()}
    values = {"all": evaluate(net, part)}
    for k in ks:
        total, count = _total(net, truncated_states(net.cell, net.embed(part.inputs), k), part, slice(None))
        values[str(k)] = total / count
    return values


def _total(net: Net, states: Tensor, part: Sequences, piece: slice) -> tuple[float, float]:
    mask = part.mask[piece]
    values = net.metric(net.cell.hidden(states), part.targets[piece])
    return torch.where(mask, values, 0).sum().item(), float(mask.sum())


def windows(net: Net, part: Sequences, steps: int, every: int) -> tuple[Tensor, Tensor, Tensor]:
    """Pieces of sequences, side by side: the inputs of ``steps`` steps, the targets at the last, and the states before.

    A piece starts every ``every`` steps of each sequence that goes on long enough; where sequences have one target, the
    pieces are the last steps of each.
    """
    with torch.no_grad():
        states = unroll(net.cell, net.embed(part.inputs))
    before = torch.cat([torch.zeros_like(states[:1]), states])
    if part.targets.ndim == 1:
        return part.inputs[-steps:], part.targets, before[part.steps - steps]
    starts = range(0, part.steps - steps + 1, every)
    whole = [part.mask[start + steps - 1] for start in starts]
    inputs = [part.inputs[start : start + steps, rows] for start, rows in zip(starts, whole, strict=True)]
    targets = [part.targets[start + steps - 1, rows] for start, rows in zip(starts, whole, strict=True)]
    h = [before[start, rows] for start, rows in zip(starts, whole, strict=True)]
    return torch.cat(inputs, 1), torch.cat(targets), torch.cat(h)


def gradients(net: Net, part: Sequences, steps: int, every: int) -> dict[str, Any]:
    r"""How far the loss at :math:`t + i` depends on the input at t.

    Returns:
        Lists with a number per bin of i, namely ``i``, the mean of i; ``mean``, the mean of
        :math:`\lVert \nabla_{x_t} p_{t+i} \rVert_2` over pieces of the sequences and over the bin; ``log``, the mean of
        its natural logarithm (numbers below 1e-38 count as 1e-38); ``pieces``, how many there were. For words the
        derivative is with respect to their vectors.
    """
    inputs, targets, h = windows(net, part, steps, every)
    with torch.enable_grad():
        x = net.embed(inputs).detach().requires_grad_()
        last = unroll(net.cell, x, h)[-1]
        (slopes,) = torch.autograd.grad(net.loss(net.cell.hidden(last), targets).sum(), x)
    norms = torch.linalg.vector_norm(slopes, dim=-1).flip(0)
    bins = [slice(a, min(b, steps)) for a, b in itertools.pairwise(EDGES) if a < steps]
    return {
        "i": [(b.start + b.stop - 1) / 2 for b in bins],
        "mean": [norms[b].mean().item() for b in bins],
        "log": [norms[b].log().clamp(min=log(1e-38)).mean().item() for b in bins],
        "pieces": inputs.shape[1],
    }


def distance(one: Tensor, other: Tensor) -> float:
    """The Frobenius distance of two matrices."""
    return torch.linalg.vector_norm(one - other).item()
