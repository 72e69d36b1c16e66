"""One net trained in full, as a truncated model and by truncated back-propagation."""

from itertools import combinations

from torch import Tensor

from fhx.experiments.cut_training import tasks as on
from fhx.experiments.cut_training.measures import distance, probe, truncated
from fhx.experiments.cut_training.training import chosen_learning_rate, trained
from fhx.experiments.experiment import Result


def truncate(name: str, kind: str, optimizer: str) -> Result:
    """Train in full, with the state forgotten every k steps, and with the gradient cut every k steps.

    Returns:
        ``rate``, the chosen one, and ``rates``, the mean validation metric of the other seeds by rate; ``at``, updates;
        and by variant, "full", "reset k" and "carried k", a list with an entry per seed of ``valid``, a curve, ``cut``,
        the test metric by k of the evaluation, "all" among them, ``from full``, the Frobenius distance of the recurrent
        weights from those of the net in full, and ``from start``, of those from the first ones, after each of the
        updates ``at``; of "full" also ``between seeds``, that distance for each pair of seeds.
    """
    updates, seeds = on.UPDATES[name], on.SEEDS[name]
    rate, rates = chosen_learning_rate(name, kind, optimizer, updates)
    variants: dict[str, tuple[int | None, bool]] = {"full": (None, True)}
    variants |= {f"reset {k}": (k, False) for k in on.KS[name]}
    variants |= {f"carried {k}": (k, True) for k in on.KS[name]}
    result: Result = {}
    full: list[Tensor] = []
    for variant, (k, carry) in variants.items():
        nets, log = trained(name, kind, seeds, [rate] * len(seeds), updates, optimizer, k=k, carry=carry)
        W, rows = log.weights, range(len(seeds))
        full = full or W
        result[variant] = {
            "valid": log.valid,
            "cut": [truncated(net, probe(name), on.KS[name]) for net in nets],
            "from full": [[distance(a[r], b[r]) for a, b in zip(W, full, strict=True)] for r in rows],
            "from start": [[distance(a[r], W[0][r]) for a in W] for r in rows],
        }
    pairs = [*combinations(range(len(seeds)), 2)]
    result["full"]["between seeds"] = [[distance(a[r], a[s]) for a in full] for r, s in pairs]
    return {"rate": rate, "rates": rates, "at": log.at, **result}
