"""One net trained in full, as a truncated model, with resets and by truncated back-propagation."""

from collections.abc import Sequence
from itertools import combinations

import torch
from torch import Tensor

from fhx.experiments.cut_training import tasks as on
from fhx.experiments.cut_training.measures import distance, probe, truncated
from fhx.experiments.cut_training.nets import Net
from fhx.experiments.cut_training.training import How, chosen_learning_rate, losses_of, trained
from fhx.experiments.experiment import Result

WAYS: tuple[How, ...] = ("truncated", "reset", "carried")
"""How nets are cut."""


def truncate(name: str, kind: str, optimizer: str) -> Result:
    """Train in full and in the three ways that are cut.

    Returns:
        ``rate``, the chosen one, and ``rates``, the mean validation metric of the other seeds by rate; ``at``, updates;
        and by variant, "full" or one of ``WAYS`` and k, a list with an entry per seed of ``valid``, a curve, ``cut``,
        the test metric by k of the evaluation, "all" among them, ``from full``, the Frobenius distance of the recurrent
        weights from those of the net in full, and ``from start``, of those from the first ones, after each of the
        updates ``at``. Of "full" also ``between seeds``, that distance for each pair of seeds, and of the others
        ``gradient``, where the net in full ends: the cosine of the gradient of the variant and of that in full, by the
        recurrent weights, and the quotient of their norms, both on the first batch.
    """
    updates, seeds = on.UPDATES[name], on.SEEDS[name]
    rate, rates = chosen_learning_rate(name, kind, optimizer, updates)
    variants: dict[str, tuple[How, int | None]] = {"full": ("carried", None)}
    variants |= {f"{how} {k}": (how, k) for how in WAYS for k in on.KS}
    result: Result = {}
    full: list[Tensor] = []
    for variant, (how, k) in variants.items():
        nets, log = trained(name, kind, seeds, [rate] * len(seeds), updates, optimizer, how=how, k=k)
        W, rows = log.weights, range(len(seeds))
        result[variant] = {
            "valid": log.valid,
            "cut": [truncated(net, probe(name), on.KS) for net in nets],
            "from full": [[distance(a[r], b[r]) for a, b in zip(W, full or W, strict=True)] for r in rows],
            "from start": [[distance(a[r], W[0][r]) for a in W] for r in rows],
        }
        if variant == "full":
            full, trained_in_full = W, nets
            whole = gradients(nets, name, how, k)
        else:
            each = zip(gradients(trained_in_full, name, how, k), whole, strict=True)
            result[variant]["gradient"] = [[cosine(a, b), (a.norm() / b.norm()).item()] for a, b in each]
    pairs = [*combinations(range(len(seeds)), 2)]
    result["full"]["between seeds"] = [[distance(a[r], a[s]) for a in full] for r, s in pairs]
    return {"rate": rate, "rates": rates, "at": log.at, **result}


def gradients(nets: Sequence[Net], name: str, how: How, k: int | None) -> list[Tensor]:
    """The gradient by the recurrent weights of each net, on the first batch."""
    losses, _ = losses_of(nets, next(on.batches(name)), None, how, k)
    return list(torch.autograd.grad(losses.sum(), [net.cell.get_parameter("W") for net in nets]))


def cosine(one: Tensor, other: Tensor) -> float:
    """Of the angle between two matrices, in the Frobenius inner product."""
    return torch.cosine_similarity(one.flatten(), other.flatten(), dim=0).item()
