r"""Feed-forward nets against recurrent ones of the same size, on chorales, digits by the pixel, and words.

The rivals of the simple (tanh) net and the LSTM are a temporal convolutional network ("TCN"), a small causal
Transformer ("attention"), and nets of two hidden layers of the last k inputs ("window k"). All nets on a task have as
many parameters as its LSTM within 2 %, words' vectors and softmax, which are the same for all, not counted; the widths
are found by :func:`widths`. All are trained by Adam with the same number of
updates on the same batches, with the same bound on the gradient, and a rate that falls linearly to zero. It is chosen
by the best validation metric of other seeds, for words of one other seed at the end of a quarter of the updates. Nets
of music and digits are judged as they were at their best validation metric, nets of words at the end. Outputs start at
the frequencies of the training split. No net has dropout, and no size, depth or taps was tuned.

Words are those of WikiText-2. A recurrent net carries its state from a window of 70 words to the next, "TCN" and
"window k" carry their last inputs, and none the gradient; "attention" has positions for 70 inputs and is trained on the
windows by themselves. For evaluation it reads pieces of half its positions, each with the half before. With
10,000 words the rarer ones are read as ``<unk>``, and the text is read less than once.

A result's points are ``{"task", "net"}``, and the result of each

- ``test``: the metric per seed: nats per frame, accuracy, nats per word (its exponential is the perplexity);
- ``at`` and ``valid``: updates, and the validation curve of each seed there (of words on 1,000 steps per stream);
- ``best update`` and ``diverged``, for music and digits, a number (or None) per seed;
- ``rate`` and ``rates``: the chosen one, and the validation metric of the other seeds by rate;
- ``parameters`` and ``all parameters``: of the net, and with vectors and softmax;
- ``units`` and ``inner``: its widths; ``receptive field``: the inputs that an output depends on, None if on all;
- ``context``: for each seed the test metric by k when the net sees the last k inputs only, as if the sequence had
  started there (a recurrent net from the state zero); ``"all"`` is the net as it is. Of words it is measured on the
  first steps of each stream, so compare within it;
- ``seconds per update``: of all seeds side by side, evaluations on the way included.
"""

from time import process_time

from fhx.experiments import real_data as data
from fhx.experiments.experiment import Experiment, Point, Result
from fhx.experiments.feed_forward import nets
from fhx.experiments.feed_forward.attention import CausalAttention
from fhx.experiments.feed_forward.causal import CausalNet, RecurrentNet, WindowNet
from fhx.experiments.feed_forward.convolution import TemporalConvolution
from fhx.experiments.feed_forward.nets import CausalLanguageModel, language_model, sequence_model, widths
from fhx.experiments.feed_forward.training import (
    context_curve,
    context_curve_of_words,
    evaluate,
    fitted,
    train,
    trained,
    with_context,
)
from fhx.experiments.learning_rates import best_learning_rate
from fhx.training import OBJECTIVES

__all__ = [
    "EXPERIMENT",
    "CausalAttention",
    "CausalLanguageModel",
    "CausalNet",
    "RecurrentNet",
    "TemporalConvolution",
    "WindowNet",
    "context_curve",
    "evaluate",
    "language_model",
    "run",
    "sequence_model",
    "train",
    "trained",
    "widths",
    "with_context",
]

SEEDS = range(5)
"""Of the nets that are reported."""
OTHER_SEEDS = {"chorales": range(5, 7), "digits": range(5, 7), "words": range(5, 6)}
"""Of the nets that the learning rate is chosen by."""
BUDGETS: dict[str, dict[str, int]] = {
    "chorales": {"updates": 360, "batch_size": 16},
    "digits": {"updates": 900, "batch_size": 32},
    "words": {"updates": 700},
}
"""How long the nets of each task are trained; the batches of words are those of ``real_data.TEXT``."""
LEARNING_RATES = {
    "chorales": (0.0015, 0.005, 0.015, 0.045, 0.135),
    "digits": (0.001, 0.003, 0.009, 0.027, 0.081),
    "words": (0.002, 0.006, 0.018, 0.054),
}
"""Learning rates that are tried."""
KS = {
    "chorales": (1, 2, 5, 10, 20, 35, 50),
    "digits": (1, 2, 5, 10, 20, 35, 50),
    "words": (1, 2, 5, 10, 20, 35, 70),
}
"""How many of the last inputs the nets of a task are shown, to see how far back they look."""
SHOWN = 500
"""Steps of each stream of the text that the context curves are measured on."""


def run(point: Point) -> Result:
    """Choose a rate, train the seeds and measure them; what is returned is described above."""
    name, kind = point["task"], point["net"]
    units, inner = widths(name, kind)
    body = nets.net(name, kind, units, inner)
    return {
        **(words if name in data.TEXTS else small)(name, kind),
        "parameters": nets.parameters(body),
        "units": units,
        "inner": inner,
        "receptive field": body.receptive_field,
    }


def small(name: str, kind: str) -> Result:
    """Music or digits: all rates with the other seeds as one batch, then the reported seeds."""
    tried, others, budget, test = LEARNING_RATES[name], OTHER_SEEDS[name], BUDGETS[name], data.task(name).test
    seeds, each = [1000 * i + s for i in range(len(tried)) for s in others], [rate for rate in tried for _ in others]
    first = fitted(name, kind, seeds, each, budget["updates"], budget["batch_size"])
    rate, rates = best_learning_rate(
        tried, first.best_valid.tolist(), OBJECTIVES[data.task(name).kind].higher_is_better
    )
    began = process_time()
    last = fitted(name, kind, [*SEEDS], [rate] * len(SEEDS), budget["updates"], budget["batch_size"])
    return {
        "test": last.test.tolist(),
        "at": last.updates.tolist(),
        "valid": last.valid.tolist(),
        "best update": last.best_update.tolist(),
        "diverged": [last.diverged.get(seed) for seed in last.seeds],
        "rate": rate,
        "rates": rates,
        "seconds per update": (process_time() - began) / budget["updates"],
        "context": [context_curve(net, name, test, KS[name]) for net in last.models],
        "all parameters": nets.parameters(last.models[0]),
    }


def words(name: str, kind: str) -> Result:
    """WikiText-2: all rates with one other seed, then the reported seeds, on the same text in the same order."""
    tried, others, updates, test = (
        LEARNING_RATES[name],
        OTHER_SEEDS[name],
        BUDGETS[name]["updates"],
        data.task(name).test,
    )
    each = [rate for rate in tried for _ in others]
    _, _, curves = trained(name, kind, [*others] * len(tried), each, updates // 4, evaluations=1)
    rate, rates = best_learning_rate(tried, [curve[-1] for curve in curves])
    began = process_time()
    models, at, valid = trained(name, kind, SEEDS, [rate] * len(SEEDS), updates)
    seconds = process_time() - began
    return {
        "test": [evaluate(net, test) for net in models],
        "at": at,
        "valid": valid,
        "rate": rate,
        "rates": rates,
        "seconds per update": seconds / updates,
        "context": [context_curve_of_words(net, data.cut(test, SHOWN), KS[name]) for net in models],
        "all parameters": nets.parameters(models[0]),
    }


EXPERIMENT = Experiment(
    name="feed_forward",
    question="Do feed-forward nets do as well as recurrent ones of the same size?",
    settings={
        "seeds": [*SEEDS],
        "seeds of the rates": {name: list(seeds) for name, seeds in OTHER_SEEDS.items()},
        "budgets": BUDGETS,
        "rates": LEARNING_RATES,
        "windows": nets.WINDOWS,
        "taps": nets.TAPS,
        "levels": nets.LEVELS,
        "positions": nets.POSITIONS,
        "layers": nets.LAYERS,
        "heads": nets.HEADS,
        "vocabulary": data.TEXTS["words"],
        "vectors": nets.VECTOR,
        "cutoffs": data.CUTOFFS["words"],
        "text": data.TEXT,
        "shown steps": {"validation": data.SHOWN, "context": SHOWN},
        "tolerance": nets.TOLERANCE,
        "clip": data.CLIP,
    },
    points=[{"task": name, "net": kind} for name in BUDGETS for kind in nets.kinds(name)],
    run=run,
)
