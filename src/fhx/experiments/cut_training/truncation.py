"""One net trained in full, as a truncated model, with resets and by truncated back-propagation."""

from collections.abc import Sequence
from functools import partial
from itertools import combinations, islice, product

import torch
from torch import Tensor

from fhx.experiments.cut_training import tasks as on
from fhx.experiments.cut_training.measures import distance, probe, truncated
from fhx.experiments.cut_training.nets import Net
from fhx.experiments.cut_training.training import (
    How,
    TrainingLog,
    chosen_learning_rate,
    losses_of,
    new_nets,
    trained,
)
from fhx.experiments.experiment import Result
from fhx.experiments.real_data import TEXTS

WAYS: tuple[How, ...] = ("truncated", "reset", "carried")
"""How nets are cut."""
NUDGED = 20
"""Steps of the truncated net whose first update says how far the starts of the controls are moved."""
LITTLE = 0.01
"""By what part of that the second control is."""
WINDOW = 3
"""The window of a text on which gradients are compared, so that there are words before it."""


def truncate(name: str, kind: str, optimizer: str) -> Result:
    """Train in full, in the three ways that are cut, and in full from starts that were moved.

    The starts of these controls are moved in random directions: for "nudged" as far as the truncated model of 20 steps
    is from the net in full after one update, and for "nudged little" a hundredth of that.

    Returns:
        ``rate``, the chosen one, and ``rates``, the mean validation metric of the other seeds by rate; ``at``, updates;
        and by variant, "full", a control or one of ``WAYS`` and k, a list with an entry per seed of ``valid``, a curve,
        ``cut``, the test metric by k of the evaluation, "all" among them, ``from full``, the Frobenius distance of the
        recurrent weights from those of the net in full, and ``from start``, of those from the first ones, after each of
        the updates ``at``. Of "full" also ``between seeds``, that distance for each pair of seeds, and of nets that are
        cut ``gradient``, which :func:`errors` returns, at the "start" and where the net in full has its "end".
    """
    updates, seeds = on.UPDATES[name], on.SEEDS[name]
    rate, rates = chosen_learning_rate(name, kind, optimizer, updates)
    train = partial(trained, name, kind, seeds, [rate] * len(seeds), optimizer=optimizer)
    nets, log = train(updates)
    full, places = log.weights, {"start": new_nets(name, kind, seeds), "end": nets}

    def measured(nets: Sequence[Net], log: TrainingLog) -> Result:
        W, rows = log.weights, range(len(seeds))
        return {
            "valid": log.valid,
            "cut": [truncated(net, probe(name), on.KS) for net in nets],
            "from full": [[distance(a[r], b[r]) for a, b in zip(W, full, strict=True)] for r in rows],
            "from start": [[distance(a[r], W[0][r]) for a in W] for r in rows],
        }

    between = [[distance(a[r], a[s]) for a in full] for r, s in combinations(range(len(seeds)), 2)]
    in_full = measured(nets, log) | {"between seeds": between}
    result: Result = {"rate": rate, "rates": rates, "at": log.at, "full": in_full}
    for how, k in product(WAYS, on.KS):
        gradient = {place: errors(nets, name, how, k) for place, nets in places.items()}
        result[f"{how} {k}"] = measured(*train(updates, how=how, k=k)) | {"gradient": gradient}
    (_, once), (_, cut) = train(1), train(1, how="truncated", k=NUDGED)
    gaps = [distance(a, b) for a, b in zip(once.weights[-1], cut.weights[-1], strict=True)]
    for control, part in (("nudged", 1.0), ("nudged little", LITTLE)):
        result[control] = measured(*train(updates, nudges=[part * gap for gap in gaps]))
    return result


def errors(nets: Sequence[Net], name: str, how: How, k: int) -> list[float]:
    r"""How far the gradient with respect to W is from that in full, as a part of it, for each net.

    .. math:: \lVert \nabla_W p^k - \nabla_W p \rVert / \lVert \nabla_W p \rVert

    on the first batch of music, or on a window of a text.
    """
    pairs = zip(gradients(nets, name, how, k), gradients(nets, name), strict=True)
    return [distance(cut, full) / full.norm().item() for cut, full in pairs]


def gradients(nets: Sequence[Net], name: str, how: How = "carried", k: int | None = None) -> list[Tensor]:
    """The gradient with respect to W of each net, on the first batch of music, or on a window of a text."""
    before, batches = None, on.batches(name)
    for batch in islice(batches, WINDOW if name in TEXTS else 1):
        losses, before = losses_of(nets, batch, before, how, k)
    return list(torch.autograd.grad(losses.sum(), [net.cell.get_parameter("W") for net in nets]))
