r"""What is measured on a trained net: how far back it looks, how its state reacts if it has one, and what it writes."""

from collections.abc import Mapping
from typing import Any

import torch

from fhx.experiments.causal.context import with_context
from fhx.experiments.causal.net import CausalNet
from fhx.experiments.music_and_digits.nets import RecurrentNet
from fhx.experiments.reactions import LONG
from fhx.experiments.reactions import reactions as reactions_of
from fhx.stability import contraction_rate
from fhx.tasks import Sequences
from fhx.training import Objective

__all__ = ["context", "reactions", "written"]

KS = (1, 2, 5, 10, 20, 35, 50)
"""Inputs that a net is shown, to see how far back it looks."""
MANY = 50
"""Runs along which exponents and gradients are measured, at most."""
GIVEN, WRITTEN = 8, 32
"""Frames of the test music that a net is given, and frames that it goes on for."""


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
    """How the state of a recurrent net reacts along the last steps of the sequences that are long enough.

    Returns:
        ``certificate``, the contraction rate for inputs of at most 1, and what
        :func:`fhx.experiments.reactions.reactions` does.
    """
    ends = [part.steps - 1] if part.lengths is None else part.lengths - 1
    last = torch.as_tensor(ends).expand(len(part))
    rows = torch.nonzero(last >= LONG - 1).flatten()[:MANY]
    x = torch.stack([part.inputs[last[n] - LONG + 1 : last[n] + 1, n] for n in rows], 1)
    one_target = part.targets.ndim == 1
    targets = part.targets[rows] if one_target else torch.stack([part.targets[last[n], n] for n in rows])
    found = reactions_of([net.cell], x, lambda shown: objective.loss(net.readout(shown), targets))
    return {"certificate": contraction_rate(net.cell, input_bound=1.0), **found}


@torch.no_grad()
def written(net: CausalNet, part: Sequences, k: int | None = None, seed: int = 0) -> list[list[int]]:
    """Music that goes on from the start of the first sequence, as the keys that are down in each frame.

    Every key of a frame is drawn by itself, with the probability that the net gives it.

    Args:
        net: its outputs are log-odds, one for each key.
        part: music; a net is given its first ``GIVEN`` frames, which are returned with the ``WRITTEN`` new ones.
        k: how many of the last frames the net sees; None for all.
        seed: of the draws.
    """
    generator = torch.Generator().manual_seed(seed)
    frames = part.inputs[:GIVEN, :1]
    for _ in range(WRITTEN):
        odds = net(frames if k is None else frames[-k:])[-1:]
        drawn = torch.rand(odds.shape, generator=generator) < odds.sigmoid()
        frames = torch.cat([frames, drawn.to(frames)])
    return [frame.nonzero().flatten().tolist() for frame in frames[:, 0]]
