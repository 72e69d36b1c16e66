"""One net trained in full, as a truncated model, with resets and by truncated back-propagation."""

from collections.abc import Sequence
from functools import partial
from itertools import combinations, product

import torch
from torch import Tensor

from fhx.experiments.cut_training import tasks as on
from fhx.experiments.cut_training.measures import distance, probe, truncated
from fhx.experiments.cut_training.nets import Net
from fhx.experiments.cut_training.training import How, TrainingLog, chosen_learning_rate, losses_of, trained
from fhx.experiments.experiment import Result

WAYS: tuple[How, ...] = ("truncated", "reset", "carried")
"""How nets are cut."""
NUDGED = 20
"""Steps of the truncated net whose first update says how far the start of the control is moved."""


def truncate(name: str, kind: str, optimizer: str) -> Result:
    """Train in full, in the three ways that are cut, and in full from a start that was moved a little.

    That control, "nudged", starts in a random direction from the others, as far as the truncated model of 20 steps is
    from the net in full after one update.

    Returns:
        ``rate``, the chosen one, and ``rates``, the mean validation metric of the other seeds by rate; ``at``, updates;
        and by variant, "full", "nudged" or one of ``WAYS`` and k, a list with an entry per seed of ``valid``, a curve,
        ``cut``, the test metric by k of the evaluation, "all" among them, ``from full``, the Frobenius distance of the
        recurrent weights from those of the net in full, and ``from start``, of those from the first ones, after each of
        the updates ``at``. Of "full" also ``between seeds``, that distance for each pair of seeds, and of nets that are
        cut ``gradient``, where the net in full ends: the cosine of the gradient of the variant and of that in full, by
        the recurrent weights, and the quotient of their norms, both on the first batch.
    """
    updates, seeds = on.UPDATES[name], on.SEEDS[name]
    rate, rates = chosen_learning_rate(name, kind, optimizer, updates)
    train = partial(trained, name, kind, seeds, [rate] * len(seeds), optimizer=optimizer)
    nets, log = train(updates)
    full, whole = log.weights, gradients(nets, name)

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
        each = zip(gradients(nets, name, how, k), whole, strict=True)
        angles = [[cosine(a, b), (a.norm() / b.norm()).item()] for a, b in each]
        result[f"{how} {k}"] = measured(*train(updates, how=how, k=k)) | {"gradient": angles}
    (_, once), (_, cut) = train(1), train(1, how="truncated", k=NUDGED)
    gaps = [distance(a, b) for a, b in zip(once.weights[-1], cut.weights[-1], strict=True)]
    return {**result, "nudged": measured(*train(updates, nudges=gaps))}


def gradients(nets: Sequence[Net], name: str, how: How = "carried", k: int | None = None) -> list[Tensor]:
    """The gradient by the recurrent weights of each net, on the first batch."""
    losses, _ = losses_of(nets, next(on.batches(name)), None, how, k)
    return list(torch.autograd.grad(losses.sum(), [net.cell.get_parameter("W") for net in nets]))


def cosine(one: Tensor, other: Tensor) -> float:
    """Of the angle between two matrices, in the Frobenius inner product."""
    return torch.cosine_similarity(one.flatten(), other.flatten(), dim=0).item()
