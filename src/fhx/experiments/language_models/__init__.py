r"""Perplexities on the whole vocabulary of WikiText-2: free and certified nets after ten passes, and counted models.

Every kind of net is trained in the same way: with the first of five seeds a learning rate is chosen by one pass, then
a dropout by ten passes; with both all seeds are trained for ten passes. The weights of the best validation are judged.
(A dropout is not chosen by fewer passes than nets are trained for: the best after five passes was not the best after
ten.) Since the rate falls to zero, the end of a curve does not say what more passes would bring; so some kinds are
trained for twice as many, too (``LONGER``).

A certified net is projected after every 25th update and before each validation, so that its certificate holds whenever
it is judged; see ``KINDS``.

LSTMs that are trained to see the last 10 or 20 words only (``READ``) take the rate and the dropout of the one that
reads in full. Each word costs them as many steps, so they are for a GPU.

Gates of LSTMs start open for a window of words (Tallec and Ollivier 2018), state-side matrices orthogonal.

Beside them stand words counted on the whole training text (``KneserNey``), and published numbers.

On one core a pass takes two minutes, so a kind takes up to three hours. Each pass of each net is written down in the
cache of the package, so a run that was stopped goes on, and one that is done is judged again in minutes. Where there is
a GPU, the nets of a kind are trained side by side on it, in minutes (eight kinds at once took an H200 seven minutes);
what they drop differs from what they would drop by themselves. ``FHX_DEVICE`` chooses. The stored clipped and certified
nets, and those with twice the passes, were trained on a CPU, all others on a GPU.
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
from fhx.experiments.items import Items
from fhx.experiments.language_models import training
from fhx.experiments.language_models.counted import KneserNey
from fhx.experiments.language_models.measures import certificate, reactions_of
from fhx.experiments.language_models.net import KINDS, LanguageModel
from fhx.experiments.language_models.reading import Reading, losses
from fhx.experiments.language_models.side_by_side import losses_together, train_together
from fhx.experiments.language_models.training import Setting, Trained, evaluate, text, train
from fhx.experiments.protocol import Ahead, Evidence, Kind
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
    "evaluate",
    "evidence",
    "perplexities",
    "run",
    "train",
]

RATES = (0.001, 0.003, 0.01, 0.03, 0.1)
"""Learning rates that are tried."""
DROPOUTS = (0.1, 0.2, 0.4)
"""Dropouts that are tried."""
TRIED = 0.2
"""Dropout by which a rate is chosen."""
PASSES = {"rate": 1, "dropout": 10, "trained": 10}
"""Over the training text: to choose a rate, to choose a dropout, and of the nets that are reported."""
SEEDS = range(5)
"""Of the nets that are reported; the first one chooses the settings."""
ORDERS = (1, 2, 3, 4)
"""Words that are counted together."""
TRAINED = (
    *("simple", "simple, stable", "LSTM", "LSTM, clipped", "LSTM, four conditions", "LSTM, F = 0.64", "LSTM, stable"),
    *("frozen", "TCN", "minGRU"),
)
NETS = tuple((kind, 1, 128) for kind in TRAINED)
"""Nets that are compared: kind, layers and units of each; a rival is as large as layers of LSTMs."""
FULL = ("LSTM", 1, 128)
"""The one that is also trained to read in other ways."""
READ = ("truncated 10", "truncated 20")
"""Other ways to read in which it is trained, with the rate and the dropout that it has in full."""
LONGER = ("LSTM", "LSTM, stable", "frozen")
"""Kinds that are trained for twice as many passes too, with the same settings, as a verdict asks of all it is about."""
KS, SHOWN = (1, 2, 5, 10, 20, 35, 70), 1000
"""How many of the last words nets are shown, to see how far back they look, and for how many words of each stream."""
STATEMENTS = {
    "price": tuple(
        Ahead(*pair)
        for pair in (
            ("LSTM", "LSTM, stable"),
            ("simple", "simple, stable"),
            ("LSTM", "LSTM, clipped"),
            ("LSTM, clipped", "LSTM, stable"),
            ("LSTM", "LSTM, four conditions"),
            ("LSTM, stable", "LSTM, four conditions"),
            ("LSTM", "LSTM, F = 0.64"),
            ("LSTM, stable", "LSTM, F = 0.64"),
            ("LSTM, F = 0.64", "LSTM, four conditions"),
        )
    ),
    "contest": (Ahead("TCN", "LSTM"), Ahead("minGRU", "LSTM"), Ahead("LSTM", "simple")),
    "truncated": tuple(Ahead(*pair) for pair in (("LSTM", READ[0]), ("LSTM", READ[1]), (READ[1], "LSTM, stable"))),
}
"""What is judged: the price of certificates and of clipped vectors, the rivals, and nets that read in other ways.

It is judged of nets that are stored. The last three were made after the runs, all others before.
"""
LOOKS = 4
"""How often it was judged: by the last tenth of the updates, and by twice the passes of one net, of some and of all."""
GAIN = 0.05
"""What twice the passes may add to a validation loss, in nats a word."""
PUBLISHED = {
    "RNN of Miller and Hardt (2019)": 146.7,
    "LSTM of Miller and Hardt (2019)": 92.3,
    "LSTM, 2 x 200, tied, 6 passes of PyTorch's example (its issue 415)": 130.32,
    "LSTM, 2 x 650, 40 passes of PyTorch's example (its issue 415)": 94.3,
}
"""Test perplexities on the whole vocabulary that others report."""


def run(point: Point) -> Result:
    """Count words, or choose the settings of one kind, train its seeds and judge them.

    Returns:
        Of counted words what ``counted`` does. Of nets, by seed ``test``, in nats a word, ``valid`` and ``train``,
        curves at the updates ``at``, ``certificate``, the contraction rates of the layers, which certify only below 1,
        None where there is none, and ``reactions``, of recurrent nets; ``rate`` and ``dropout``; ``rates`` and
        ``dropouts``, the best validation loss by each that was tried; ``item error``, of blocks of the test text, and
        ``items``, the mean loss of each block by all nets; ``context``, by seed the loss on the first words of each
        stream of the test text by how many of the last words the net sees, "all" among them; ``parameters``; and
        ``seconds`` of one core or of a GPU, all in all; ``device``, which of them.
    """
    if "order" in point:
        return counted(point["order"])
    full = {name: value for name, value in point.items() if name not in ("read", "passes")}
    passes = point.get("passes", PASSES["trained"])
    by_rate = _trained(full, [Setting(rate, TRIED, SEEDS[0]) for rate in RATES], PASSES["rate"])
    rates = {rate: min(fit.valid) for rate, fit in zip(RATES, by_rate, strict=True)}
    rate = min(rates, key=rates.__getitem__)
    tried = [Setting(rate, dropout, SEEDS[0]) for dropout in DROPOUTS]
    by_dropout = dict(zip(DROPOUTS, _trained(full, tried, PASSES["dropout"]), strict=True))
    dropouts = {dropout: min(fit.valid) for dropout, fit in by_dropout.items()}
    dropout = min(dropouts, key=dropouts.__getitem__)
    done = [by_dropout[dropout]] if point == full and PASSES["dropout"] == PASSES["trained"] else []
    read = {name: value for name, value in point.items() if name != "passes"}
    fits = done + _trained(read, [Setting(rate, dropout, seed) for seed in SEEDS[len(done) :]], passes)
    tested = _losses(fits, text().test, Reading.of(point.get("read", "full")).sees)
    return {
        "test": [each.double().mean().item() for each in tested],
        "at": fits[0].at,
        "valid": [fit.valid for fit in fits],
        "train": [fit.train for fit in fits],
        "certificate": [certificate(fit.net) for fit in fits],
        "rate": rate,
        "dropout": dropout,
        "rates": {str(rate): loss for rate, loss in rates.items()},
        "dropouts": {str(dropout): loss for dropout, loss in dropouts.items()},
        "item error": max(training.by_blocks(each).error for each in tested),
        "items": asdict(training.by_blocks(torch.stack([*tested]).double().mean(0))),
        "context": context(fits),
        **({"reactions": [reactions_of(fit.net) for fit in fits]} if fits[0].net.form else {}),
        "parameters": sum(p.numel() for p in fits[0].net.parameters()),
        "seconds": sum(fit.seconds for fit in (*by_rate, *by_dropout.values(), *fits[len(done) :])),
        "device": device().type,
    }


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


def evidence(stored: Mapping[str, Any]) -> dict[str, Evidence]:
    """What the stored nets of one layer say of each statement, under the name of both kinds; "frozen" is the control.

    A counted trigram stands beside them. Nets that read in another way had no settings of their own.
    """
    results = {tuple(entry["point"].values()): entry["result"] for entry in stored["points"]}
    twice = {name: results.get((name, *FULL[1:], 2 * PASSES["trained"]), {"valid": []}) for name, *_ in NETS}
    longer = {name: [min(curve) for curve in result["valid"]] for name, result in twice.items()}
    trained = [name for name, *size in NETS if size == [*FULL[1:]] and (name, *size) in results]
    kinds = {name: _kind(results[name, *FULL[1:]], longer[name]) for name in trained}
    kinds |= {how: _kind(results[(*FULL, how)], [], settings=0) for how in READ}
    stated = [one for made in STATEMENTS.values() for one in made if {one.one, one.other} <= kinds.keys()]
    return {
        f"words: {one}": Evidence(
            kinds=kinds,
            higher_is_better=False,
            control="frozen",
            baselines={"trigram": results["Kneser-Ney", 3]["test"][0]},
            statements=[one],
            shown=LOOKS * len(stated),
            gain=GAIN,
        )
        for one in stated
    }


def _kind(result: Result, longer: Sequence[float], settings: int = len(RATES) + len(DROPOUTS)) -> Kind:
    return Kind(
        scores=result["test"],
        at=result["at"],
        valid=result["valid"],
        rate=result["rate"],
        rates=RATES,
        tried={float(rate): value for rate, value in result["rates"].items()},
        settings=settings,
        regularizers=frozenset({"dropout"}),
        recommended_start=True,
        item_error=result["item error"],
        items=Items(**result["items"]) if "items" in result else None,
        longer=longer,
    )


EXPERIMENT = Experiment(
    name="language_models",
    question="What does a certificate of stability cost a language model that reads its text ten times?",
    settings={
        "rates": RATES,
        "dropouts": DROPOUTS,
        "passes": PASSES,
        "seeds": [*SEEDS],
        "seed of the settings": SEEDS[0],
        "context": {"words": KS, "steps": SHOWN},
        **training.SETTINGS,
    },
    points=[
        *({"model": "Kneser-Ney", "order": order} for order in ORDERS),
        *({"model": kind, "layers": layers, "units": units} for kind, layers, units in NETS),
        *({**dict(zip(("model", "layers", "units"), FULL, strict=True)), "read": read} for read in READ),
        *({"model": kind, "layers": 1, "units": 128, "passes": 2 * PASSES["trained"]} for kind in LONGER),
    ],
    run=run,
    evidence=evidence,
)
