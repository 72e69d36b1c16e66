r"""What is measured on a trained net: how far back it looks, and of a recurrent one how its state reacts."""

import itertools
from collections.abc import Mapping
from math import log
from typing import Any

import torch
from torch import Tensor

from fhx.dynamics import lyapunov_spectrum, unroll
from fhx.experiments.feed_forward.causal import CausalNet
from fhx.experiments.feed_forward.training import with_context
from fhx.experiments.music_and_digits.nets import RecurrentNet
from fhx.stability import contraction_rate
from fhx.tasks import Sequences
from fhx.training import Objective

__all__ = ["context", "reactions"]

KS = (1, 2, 5, 10, 20, 35, 50)
"""Inputs that a net is shown, to see how far back it looks."""
EDGES = (0, 1, 2, 3, 5, 8, 12, 18, 27, 40, 64)
"""Edges of the bins of a distance, each from its edge to before the next one."""
LONG, MANY = 64, 50
"""Steps of the runs along which exponents and gradients are measured, and how many runs at most."""
LEAST = 1e-38
"""Smaller gradients count as this."""


@torch.no_grad()
def context(net: CausalNet, part: Sequences, objective: Objective) -> dict[str, float]:
    """The metric of a net that sees the last k inputs only, as if the sequence had started there, by k; and "all"."""
    found = {}
    for name, k in [*((str(k), k) for k in KS), ("all", part.steps)]:
        if objective.at == "end":
            outputs = net(part.inputs[-k:])
        else:
            outputs = net(part.inputs) if name == "all" else with_context(net, part.inputs, k)
        total, count = objective.total(objective.metric, outputs, part.targets, part.lengths)
        found[name] = (total / count).item()
    return found


def reactions(net: RecurrentNet, part: Sequences, objective: Objective) -> Mapping[str, Any]:
    r"""How the state of a recurrent net reacts to a change of a state or an input.

    Returns:
        ``certificate``, the contraction rate for inputs of at most 1; ``exponent``, the top Lyapunov exponent along
        runs, in nats a step; and by the distance i (``i``, the mean of a bin) two medians of logarithms over runs,
        ``by input``, of the norm of the gradient of the loss at the end of a run with respect to the input i steps
        before, and ``by state``, of that with respect to the state after that input. A memory that nobody reads has an
        exponent of 0, and its state does not count in the second.
    """
    ends = [part.steps - 1] if part.lengths is None else part.lengths - 1
    last = torch.as_tensor(ends).expand(len(part))
    rows = torch.nonzero(last >= LONG - 1).flatten()[:MANY]
    x = torch.stack([part.inputs[last[n] - LONG + 1 : last[n] + 1, n] for n in rows], 1)
    one_target = part.targets.ndim == 1
    targets = part.targets[rows] if one_target else torch.stack([part.targets[last[n], n] for n in rows])
    by_input, by_state = _gradients(net, x, targets, objective)
    bins = [slice(a, min(b, LONG)) for a, b in itertools.pairwise(EDGES) if a < LONG]
    return {
        "certificate": contraction_rate(net.cell, input_bound=1.0),
        "exponent": lyapunov_spectrum(net.cell, x, k=1, warmup=LONG // 8).mean().item(),
        "i": [(b.start + b.stop - 1) / 2 for b in bins],
        "by input": [by_input[b].median().item() for b in bins],
        "by state": [by_state[b].median().item() for b in bins],
    }


def _gradients(net: RecurrentNet, x: Tensor, targets: Tensor, objective: Objective) -> tuple[Tensor, Tensor]:
    """The logarithms of both norms for every distance and run."""
    x = x.detach().requires_grad_()
    h, states = x.new_zeros(x.shape[1], net.cell.state_width), []
    with torch.enable_grad():
        for step in x:
            h = unroll(net.cell, step[None], h)[-1]
            states.append(h)
        outputs = net.readout(net.cell.hidden(h))
        slopes = torch.autograd.grad(objective.loss(outputs, targets).sum(), [x, *states])
    norms = (slopes[0].norm(dim=-1), torch.stack([s.norm(dim=-1) for s in slopes[1:]]))
    by_input, by_state = (n.flip(0).log().clamp(min=log(LEAST)) for n in norms)
    return by_input, by_state
