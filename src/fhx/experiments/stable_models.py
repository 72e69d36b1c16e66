r"""Stable against unconstrained recurrent nets on real data, and full against truncated ones.

Part "compare" trains every kind of net on every task and measures it: chorales and folk tunes (first 128 frames of each
tune, in training, validation and test alike), digits by the pixel, and words of WikiText-2. Part "truncated" trains one
net from one start on the same data several times: in full, as a truncated model (the state is zero at every k-th step,
so a window of k inputs is all that it sees), and by truncated back-propagation (the state goes on, the gradient is
cut); and it follows how far their recurrent weights drift apart.

Stable is what a certificate says so of, with rate 0.99: a simple cell by its 2-norm; an LSTM by the paper's four
conditions, by their sum, or row by row, with a forget gate that opens to 0.64 at most. See
:mod:`fhx.experiments.stable_nets`.

Outputs start at the frequencies of the training split, by the biases of the readout. From outputs of 0 the first
updates would teach the state to say what those biases say, and drive the recurrent weights of unconstrained nets up.

Learning rates are chosen by the validation metric of other seeds, for words of one other seed after a quarter of the
updates, in "truncated" by the net in full. Rates fall linearly to zero. Nets of music and digits are judged as they
were at their best validation metric, nets of words and of "truncated" at the end. Metrics are nats a frame, accuracy,
and nats a word, whose exponential is the perplexity.

What differs from the paper (what of it the slides do not say is from memory: nets of hundreds of units, trained for
many passes by gradient descent). A net of words has one cell of 64 units and vectors of 64 numbers, reads the text once
or less, and is trained by Adam where nothing else is said; "full" is 70 steps of back-propagation with a carried state;
a truncated model is trained on windows from state zero, in which a word has at most k predecessors, itself among them,
and evaluated with exactly k. With 10,000 words the rarer ones are read as ``<unk>``, so that a perplexity there is not
one of the whole vocabulary; points of "all words" have that. All nets of words and of "truncated" read the same data in
the same order, so their seeds differ in the start alone.
"""

from collections.abc import Iterable, Mapping
from functools import partial
from itertools import combinations

import torch

from fhx.experiments import stable_tasks as on
from fhx.experiments.rates import best_rate
from fhx.experiments.stable_measures import certificates, distance, evaluate, exponent, gradients, truncated
from fhx.experiments.stable_nets import FORGET, KINDS, RATE, Player, ProjectedRows, Reader
from fhx.experiments.stable_training import CLIP, EVALUATIONS, chosen_rate, trained
from fhx.tasks import Sequences
from fhx.training import OBJECTIVES, Fit, fit

SETTINGS = {
    "seeds": {name: list(seeds) for name, seeds in on.SEEDS.items()},
    "seeds of the rates": {name: list(seeds) for name, seeds in on.OTHER_SEEDS.items()},
    "rates": on.RATES,
    "units": on.UNITS,
    "budgets": on.BUDGETS,
    "updates of truncated": on.TRUNCATED_UPDATES,
    "contraction rate": RATE,
    "forget gate": FORGET,
    "vocabulary": on.TEXTS,
    "cutoffs": on.CUTOFFS,
    "frames": on.FRAMES,
    "clip": CLIP,
    "shown steps": on.SHOWN,
    "pieces": on.PIECES,
    "runs": on.RUNS,
}


def points() -> list[dict]:
    """The comparison and truncated training on each task, then what costs more or adds less."""

    def compared(name: str, kinds: Iterable[str] = KINDS) -> list[dict]:
        return [{"part": "compare", "task": name, "cell": kind} for kind in kinds]

    def cut_short(name: str, optimiser: str, kinds: Iterable[str]) -> list[dict]:
        return [{"part": "truncated", "task": name, "cell": kind, "optimiser": optimiser} for kind in kinds]

    free, stable = ("simple", "LSTM"), ("simple, stable", "LSTM, sum")
    return [
        *compared("chorales"),
        *cut_short("chorales", "Adam", free),
        *compared("words"),
        *cut_short("words", "Adam", free),
        *compared("digits"),
        *compared("folk tunes"),
        *cut_short("chorales", "SGD", free),
        *cut_short("words", "SGD", free),
        *compared("all words", on.FINAL),
        *cut_short("chorales", "Adam", stable),
    ]


def run(point: Mapping) -> dict:
    """Train the nets of a point.

    Returns:
        For "compare" see :func:`compare`, for "truncated" :func:`truncate`.
    """
    if point["part"] == "truncated":
        return truncate(point["task"], point["cell"], point["optimiser"])
    return compare(point["task"], point["cell"])


def compare(name: str, kind: str) -> dict:
    """Choose a rate, train the seeds and measure them.

    Returns:
        ``test``, a number a seed; ``valid``, the curve of each seed at the updates ``at``; ``rate`` and ``rates``, the
        mean validation metric of the other seeds by rate; ``parameters``; and with an entry a seed ``certificate``,
        ``exponent``, ``gradient`` and ``cut``, the test metric by k, on the test set or, of words, on its first steps.
        See :mod:`~fhx.experiments.stable_measures`.
    """
    result, nets = (words if name in on.TEXTS else small)(name, kind)
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
    """What the measures read: the test set, or its beginning."""
    return on.cut(on.task(name).test, on.SHOWN) if name in on.TEXTS else on.task(name).test


def small(name: str, kind: str) -> tuple[dict, tuple[Player, ...]]:
    """Train on chorales, folk tunes or digits; all seeds, or all rates, as one batch."""
    problem, budget = on.task(name), on.BUDGETS[name]
    make = partial(on.player, name, kind)

    def fitted(seeds: list[int], rates: list[float]) -> Fit:
        return fit(
            make,
            problem,
            seeds=seeds,
            learning_rate=lambda update: 1 - (update - 1) / budget["updates"],
            clip=CLIP,
            evaluate_every=budget["updates"] // EVALUATIONS,
            optimizer=lambda parameters, lr: ProjectedRows(parameters, lr, rates, make()),
            progress=False,
            **budget,
        )

    others, tried = on.OTHER_SEEDS[name], on.RATES["Adam"][name]
    first = fitted([1000 * i + s for i in range(len(tried)) for s in others], [r for r in tried for _ in others])
    rate, rates = best_rate(tried, first.best_valid.tolist(), OBJECTIVES[problem.kind].higher_is_better)
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


def words(name: str, kind: str) -> tuple[dict, list[Reader]]:
    """Train on WikiText-2, one seed after a choice of the rate by another."""
    updates = on.BUDGETS[name]["updates"]
    rate, rates = chosen_rate(name, kind, "Adam", updates // 4)
    nets, course = trained(name, kind, on.SEEDS[name], [rate] * len(on.SEEDS[name]), updates, "Adam")
    test = [evaluate(net, on.task(name).test) for net in nets]
    return {"test": test, "at": course.at, "valid": course.valid, "rate": rate, "rates": rates}, nets


def truncate(name: str, kind: str, optimiser: str) -> dict:
    """Train in full, with the state forgotten every k steps, and with the gradient cut every k steps.

    Returns:
        ``rate`` and ``rates`` as for :func:`compare`; ``at``, updates; and by variant, "full", "reset k" and "carried
        k", a list with an entry a seed of ``valid``, a curve, ``cut``, the test metric by k of the evaluation, "all"
        among them, ``from full``, the Frobenius distance of the recurrent weights from those of the net in full, and
        ``from start``, of those from the first ones, after each of the updates ``at``; of "full" also ``between
        seeds``, that distance for each pair of seeds.
    """
    updates, seeds = on.TRUNCATED_UPDATES[name], on.SEEDS[name]
    rate, rates = chosen_rate(name, kind, optimiser, updates)
    variants = {"full": {}}
    variants |= {f"reset {k}": {"k": k, "carry": False} for k in on.TRAINED_K[name]}
    variants |= {f"carried {k}": {"k": k} for k in on.TRAINED_K[name]}
    result, full = {}, []
    for variant, options in variants.items():
        nets, course = trained(name, kind, seeds, [rate] * len(seeds), updates, optimiser, **options)
        W, rows = course.weights, range(len(seeds))
        full = full or W
        result[variant] = {
            "valid": course.valid,
            "cut": [truncated(net, probe(name), on.TRAINED_K[name]) for net in nets],
            "from full": [[distance(a[r], b[r]) for a, b in zip(W, full, strict=True)] for r in rows],
            "from start": [[distance(a[r], W[0][r]) for a in W] for r in rows],
        }
    pairs = [*combinations(range(len(seeds)), 2)]
    result["full"]["between seeds"] = [[distance(a[r], a[s]) for a in full] for r, s in pairs]
    return {"rate": rate, "rates": rates, "at": course.at, **result}
