"""Part "compare": every kind of net trained on a task, and measured."""

from collections.abc import Sequence
from functools import partial

import torch

from fhx.experiments import real_data as data
from fhx.experiments.experiment import Result
from fhx.experiments.learning_rates import best_learning_rate
from fhx.experiments.stable_models import tasks as on
from fhx.experiments.stable_models.measures import certificates, evaluate, exponent, gradients, truncated
from fhx.experiments.stable_models.nets import Net, ProjectedRows, SequenceModel
from fhx.experiments.stable_models.training import chosen_learning_rate, trained
from fhx.tasks import Sequences
from fhx.training import OBJECTIVES, Fit, fit


def compare(name: str, kind: str) -> Result:
    """Choose a rate, train the seeds and measure them.

    Returns:
        ``test``, a number per seed; ``valid``, the curve of each seed at the updates ``at``; ``rate`` and ``rates``,
        the mean validation metric of the other seeds by rate; ``parameters``; and with an entry per seed
        ``certificate``, ``exponent``, ``gradient`` and ``cut``, the test metric by k, on the test set or, of words,
        on its first steps. See the functions of these names.
    """
    result, nets = (words if name in data.TEXTS else small)(name, kind)
    part, (steps, many) = probe(name), on.RUNS[name]
    long = torch.nonzero(part.mask[steps - 1]).flatten()[:many]
    runs = part.inputs[:steps, long]
    return {
        **result,
        "parameters": sum(p.numel() for p in nets[0].parameters()),
        "certificate": [certificates(net) for net in nets],
        "exponent": [exponent(net, runs, warmup=steps // 10) for net in nets],
        "gradient": [gradients(net, part, *on.PIECES[name]) for net in nets],
        "cut": [truncated(net, part, on.KS[name]) for net in nets],
    }


def probe(name: str) -> Sequences:
    """What the measures read: the test set, or its first steps."""
    return data.cut(data.task(name).test, data.SHOWN) if name in data.TEXTS else data.task(name).test


def small(name: str, kind: str) -> tuple[Result, Sequence[SequenceModel]]:
    """Train on chorales, folk tunes or digits; all seeds, or all rates, as one batch."""
    problem, budget = data.task(name), on.BUDGETS[name]
    make = partial(on.sequence_model, name, kind)

    def fitted(seeds: list[int], rates: list[float]) -> Fit[SequenceModel]:
        return fit(
            make,
            problem,
            seeds=seeds,
            learning_rate=lambda update: 1 - (update - 1) / budget["updates"],
            clip=data.CLIP,
            evaluate_every=budget["updates"] // data.EVALUATIONS,
            optimizer=lambda parameters, lr: ProjectedRows(parameters, lr, rates, make()),
            updates=budget["updates"],
            batch_size=budget["batch_size"],
            progress=False,
        )

    others, tried = on.OTHER_SEEDS[name], on.LEARNING_RATES["Adam"][name]
    first = fitted([1000 * i + s for i in range(len(tried)) for s in others], [r for r in tried for _ in others])
    rate, rates = best_learning_rate(tried, first.best_valid.tolist(), OBJECTIVES[problem.kind].higher_is_better)
    last = fitted([*on.SEEDS[name]], [rate] * len(on.SEEDS[name]))
    result = {
        "test": last.test.tolist(),
        "at": last.updates.tolist(),
        "valid": last.valid.tolist(),
        "best update": last.best_update.tolist(),
        "diverged": [last.diverged.get(seed) for seed in last.seeds],
        "rate": rate,
        "rates": rates,
    }
    return result, last.models


def words(name: str, kind: str) -> tuple[Result, Sequence[Net]]:
    """Train on WikiText-2, one seed after a choice of the rate by another."""
    updates = on.BUDGETS[name]["updates"]
    rate, rates = chosen_learning_rate(name, kind, "Adam", updates // 4)
    nets, log = trained(name, kind, on.SEEDS[name], [rate] * len(on.SEEDS[name]), updates, "Adam")
    test = [evaluate(net, data.task(name).test) for net in nets]
    return {"test": test, "at": log.at, "valid": log.valid, "rate": rate, "rates": rates}, nets
