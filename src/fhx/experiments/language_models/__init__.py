r"""Perplexities on the whole vocabulary of WikiText-2: free and certified nets after ten passes, and counted models.

Every kind of net is trained in the same way: with the first of five seeds a learning rate is chosen by one pass, then
a dropout by ten passes; with both all seeds are trained for ten passes. The weights of the best validation are judged.
(A dropout is not chosen by fewer passes than nets are trained for: the best after five passes was not the best after
ten.) Since the rate falls to zero, the end of a curve does not say what more passes would bring; so some kinds are
trained for twice as many, too (``LONGER``).

Two kinds are trained in a second size (``LARGE``), with three seeds and a rate of their own, and the dropout of the
first size: they are shown and not judged.

A certified net is projected after every 25th update and before each validation, so that its certificate holds whenever
it is judged; see ``KINDS``.

LSTMs that are trained to see the last 10 or 20 words only (``READ``) take the rate and the dropout of the one that
reads in full. Each word costs them as many steps, so they are for a GPU.

Gates of LSTMs start open for a window of words (Tallec and Ollivier 2018), state-side matrices orthogonal.

Beside them stand words counted on the whole training text (``KneserNey``), and published numbers.

On one core a pass takes two minutes, of the second size four to nine, and so a kind takes hours. Each pass of each
net is written down in the cache of the package, so a run that was stopped goes on, and one that is done is judged
again in minutes. Where there is a GPU, the nets of a kind are trained side by side on it, in minutes (eight kinds at
once took an H200 seven minutes); what they drop differs from what they would drop by themselves. ``FHX_DEVICE``
chooses. The stored clipped and certified nets, those with twice the passes and those of the second size were trained
on a CPU, all others on a GPU.
"""

from collections.abc import Mapping, Sequence
from math import exp
from time import process_time
from typing import Any

import numpy as np
import torch
from attrs import asdict
from torch import Tensor

from fhx._device import device
from fhx.experiments import real_data as data
from fhx.experiments.experiment import Experiment, Point, Result
from fhx.experiments.language_models import training
from fhx.experiments.language_models.counted import KneserNey
from fhx.experiments.language_models.measures import certificate, reactions_of
from fhx.experiments.language_models.net import KINDS, LanguageModel
from fhx.experiments.language_models.points import (
    DROPOUTS,
    FULL,
    LARGE,
    LARGE_RATES,
    LARGE_SEEDS,
    LARGER,
    LONGER,
    NETS,
    ORDERS,
    PASSES,
    RATES,
    READ,
    SEEDS,
    SIZE,
    TRIED,
)
from fhx.experiments.language_models.reading import Reading, losses
from fhx.experiments.language_models.side_by_side import losses_together, train_together
from fhx.experiments.language_models.training import Setting, Trained, evaluate, text, train
from fhx.experiments.language_models.verdicts import by_group, evidence
from fhx.tasks import Sequences, wikitext2

__all__ = [
    "EXPERIMENT",
    "KINDS",
    "PASSES",
    "PUBLISHED",
    "KneserNey",
    "LanguageModel",
    "Setting",
    "Trained",
    "by_group",
    "evaluate",
    "evidence",
    "perplexities",
    "run",
    "train",
]

KS, SHOWN = (1, 2, 5, 10, 20, 35, 70), 1000
"""How many of the last words nets are shown, to see how far back they look, and for how many words of each stream."""
PUBLISHED = {
    "RNN of Miller and Hardt (2019)": 146.7,
    "LSTM of Miller and Hardt (2019)": 92.3,
    "LSTM, 2 x 200, tied, 6 passes of PyTorch's example (its issue 415)": 130.32,
    "LSTM, 2 x 650, 40 passes of PyTorch's example (its issue 415)": 94.3,
}
"""Test perplexities on the whole vocabulary that others report."""


def run(point: Point) -> Result:
    """Count words, or choose the settings of one kind, train its seeds and judge them.

    Settings are chosen by nets of ``SIZE`` that read in full and ten times, whatever the point is; a point of another
    size chooses the rate by nets of its own.

    Returns:
        Of counted words what ``counted`` does. Of nets, by seed ``test``, in nats a word, ``valid`` and ``train``,
        curves at the updates ``at``, ``certificate``, the contraction rates of the layers, which certify only below 1,
        None where there is none, and ``reactions``, of recurrent nets; ``rate`` and ``dropout``; ``rates`` and
        ``dropouts``, the best validation loss by each that was tried; ``item error``, of blocks of the test text, and
        ``items``, the mean loss of each block by all nets; ``context``, by seed the loss on the first words of each
        stream of the test text by how many of the last words the net sees, "all" among them; ``parameters``;
        ``seconds`` of one core or of a GPU, those of the settings among them where this point chose them; and
        ``device``, which of the two.
    """
    if "order" in point:
        return counted(point["order"])
    full = {"model": point["model"], **SIZE}
    size = {name: point[name] for name in full}
    by_rate, seeds = _by_rate(full, RATES), SEEDS
    rate = _best(by_rate)
    tried = [Setting(rate, dropout, SEEDS[0]) for dropout in DROPOUTS]
    by_dropout = dict(zip(DROPOUTS, _trained(full, tried, PASSES["dropout"]), strict=True))
    dropout = _best(by_dropout)
    own = [*by_rate.values(), *by_dropout.values()] if point == full else []
    done = [by_dropout[dropout]] if own and PASSES["dropout"] == PASSES["trained"] else []
    if size != full:
        by_rate, seeds = _by_rate(size, LARGE_RATES), LARGE_SEEDS
        rate, own = _best(by_rate), [*by_rate.values()]
    read = {name: value for name, value in point.items() if name != "passes"}
    passes = point.get("passes", PASSES["trained"])
    fits = done + _trained(read, [Setting(rate, dropout, seed) for seed in seeds[len(done) :]], passes)
    tested = _losses(fits, text().test, Reading.of(point.get("read", "full")).sees)
    return {
        "test": [each.double().mean().item() for each in tested],
        "at": fits[0].at,
        "valid": [fit.valid for fit in fits],
        "train": [fit.train for fit in fits],
        "certificate": [certificate(fit.net) for fit in fits],
        "rate": rate,
        "dropout": dropout,
        "rates": {str(rate): min(fit.valid) for rate, fit in by_rate.items()},
        "dropouts": {str(dropout): min(fit.valid) for dropout, fit in by_dropout.items()},
        "item error": max(training.by_blocks(each).error for each in tested),
        "items": asdict(training.by_blocks(torch.stack([*tested]).double().mean(0))),
        "context": context(fits),
        **({"reactions": [reactions_of(fit.net) for fit in fits]} if fits[0].net.form else {}),
        "parameters": sum(p.numel() for p in fits[0].net.parameters()),
        "seconds": sum(fit.seconds for fit in (*own, *fits[len(done) :])),
        "device": device().type,
    }


def _by_rate(point: Point, rates: Sequence[float]) -> dict[float, Trained]:
    """A net for each learning rate."""
    return dict(
        zip(rates, _trained(point, [Setting(rate, TRIED, SEEDS[0]) for rate in rates], PASSES["rate"]), strict=True)
    )


def _best(fits: Mapping[float, Trained]) -> float:
    """The setting with the lowest validation loss."""
    return min(fits, key=lambda value: min(fits[value].valid))


def _trained(point: Point, settings: Sequence[Setting], passes: int) -> list[Trained]:
    """Side by side where there is a GPU, else one after the other."""
    if device().type == "cpu":
        return [train(point, setting, passes) for setting in settings]
    return train_together(point, settings, passes, device())


def _losses(fits: Sequence[Trained], part: Sequences, k: int | None = None) -> Sequence[Tensor]:
    """The loss of every word of a text by each of the nets, (steps, streams)."""
    nets = [fit.net for fit in fits]
    if device().type == "cpu":
        return [losses(net, part, k) for net in nets]
    return losses_together(nets, part, device(), k).unbind()


def context(fits: Sequence[Trained]) -> list[dict[str, float]]:
    """The loss of each net that sees the last k words only, by k, and as it is, on the same words."""
    part, found = data.cut(text().test, SHOWN), [dict[str, float]() for _ in fits]
    for name, k in [*((str(k), k) for k in KS), ("all", None)]:
        for own, each in zip(found, _losses(fits, part, k), strict=True):
            own[name] = each.double().mean().item()
    return found


def counted(order: int) -> Result:
    """Count so many words in a row in the training text, and judge them on the test text.

    Returns:
        ``test``, nats a word; ``item error``; ``context``, the loss on the words that nets are shown, by how many words
        it sees; and ``parameters``, how many different rows of words occur.
    """
    began = process_time()
    problem = wikitext2(None, 1)
    read, new = (torch.cat([part.inputs[:, 0], part.targets[-1:, 0]]).numpy() for part in (problem.train, problem.test))
    model = KneserNey(read, problem.output_size, order)
    losses, shown = -torch.from_numpy(model.log_probabilities(new)), data.cut(text().test, SHOWN)
    streams = torch.cat([shown.inputs, shown.targets[-1:]]).T.numpy()
    return {
        "test": [losses.mean().item()],
        "item error": training.by_blocks(losses[:, None]).error,
        "context": [{str(order - 1): -np.mean([model.log_probabilities(stream) for stream in streams]).item()}],
        "parameters": model.rows,
        "seconds": process_time() - began,
    }


def perplexities(stored: Mapping[str, Any]) -> dict[str, float]:
    """The test perplexity of every model of the whole vocabulary, by name; of nets the mean of the seeds."""
    found = {}
    for entry in stored["points"]:
        point, test = entry["point"], entry["result"]["test"]
        if "order" in point:
            name = f"Kneser-Ney, {(n := point['order'])} word" + "s" * (n > 1)
        else:
            read = f", {point['read']}" if "read" in point else ""
            passes = f", {point['passes']} passes" if "passes" in point else ""
            name = f"{point['model']}, {point['layers']} x {point['units']}{read}{passes}"
        found[name] = sum(map(exp, test)) / len(test)
    return found | PUBLISHED


EXPERIMENT = Experiment(
    name="language_models",
    question="What does a certificate of stability cost a language model that reads its text ten times?",
    settings={
        "rates": RATES,
        "dropouts": DROPOUTS,
        "passes": PASSES,
        "seeds": [*SEEDS],
        "seed of the settings": SEEDS[0],
        "larger nets": {"rates": LARGE_RATES, "seeds": [*LARGE_SEEDS]},
        "context": {"words": KS, "steps": SHOWN},
        **training.SETTINGS,
    },
    points=[
        *({"model": "Kneser-Ney", "order": order} for order in ORDERS),
        *({"model": kind, **SIZE} for kind in NETS),
        *({"model": FULL, **SIZE, "read": read} for read in READ),
        *({"model": kind, **SIZE, "passes": 2 * PASSES["trained"]} for kind in LONGER),
        *({"model": kind, **LARGE} for kind in LARGER),
    ],
    run=run,
    evidence=evidence,
)
