r"""Stable against unconstrained recurrent nets on real data, and full against truncated ones.

Part "compare" trains every kind of net on every task and measures it: chorales and folk tunes (first 128 frames of each
tune, in training, validation and test alike), digits by the pixel, and words of WikiText-2. Part "truncated" trains one
net from one start on the same data several times: in full, as a truncated model (the state is zero at every k-th step,
so a window of k inputs is all that it sees), and by truncated back-propagation (the state goes on, the gradient is
cut); and it follows how far their recurrent weights drift apart.

Stable is a net with a certificate of contraction at the rate 0.99: a simple cell by its 2-norm; an LSTM by the
paper's four conditions, by their sum, or row by row, with a forget gate that opens to 0.64 at most. It is projected
after every update, so that the certificate holds at any time: see :func:`fhx.stability.project`.

Outputs start at the frequencies of the training split, by the biases of the readout. From outputs of 0 the first
updates would teach the state what those biases say, and drive the recurrent weights of unconstrained nets up.

Learning rates are chosen by the validation metric of other seeds, for words of one other seed after a quarter of the
updates, in "truncated" by the net in full. Rates fall linearly to zero. Nets of music and digits are judged as they
were at their best validation metric, nets of words and of "truncated" at the end. Metrics are nats per frame,
accuracy, and nats per word, whose exponential is the perplexity.

What differs from the paper (as far as the slides do not say, from memory: nets of hundreds of units, trained for
many passes by gradient descent). A net of words has one cell of 64 units and vectors of 64 numbers, reads the text once
or less, and is trained by Adam where nothing else is said; "full" is 70 steps of back-propagation with a carried state;
a truncated model is trained on windows from state zero, in which a word has at most k predecessors, itself among them,
and evaluated with exactly k. With 10,000 words the rarer ones are read as ``<unk>``, so that a perplexity there is not
one of the whole vocabulary; points of "all words" have that. All nets of words and of "truncated" read the same data in
the same order, so their seeds differ only in the initial weights.
"""

from collections.abc import Iterable

from fhx.experiments import real_data as data
from fhx.experiments.experiment import Experiment, Point, Result
from fhx.experiments.real_data import cut, prior, task
from fhx.experiments.stable_models import tasks as on
from fhx.experiments.stable_models.comparison import compare
from fhx.experiments.stable_models.measures import certificates, distance, evaluate, exponent, gradients, truncated
from fhx.experiments.stable_models.nets import FORGET, KINDS, RATE, LanguageModel, ProjectedRows, SequenceModel
from fhx.experiments.stable_models.tasks import BUDGETS, batches, language_model, sequence_model
from fhx.experiments.stable_models.training import TrainingLog, train, trained
from fhx.experiments.stable_models.truncation import truncate

__all__ = [
    "BUDGETS",
    "EXPERIMENT",
    "KINDS",
    "LanguageModel",
    "ProjectedRows",
    "SequenceModel",
    "TrainingLog",
    "batches",
    "certificates",
    "compare",
    "cut",
    "distance",
    "evaluate",
    "exponent",
    "gradients",
    "language_model",
    "prior",
    "run",
    "sequence_model",
    "task",
    "train",
    "trained",
    "truncate",
    "truncated",
]


def _points() -> list[Point]:
    """The comparison and truncated training on each task, then what costs more or adds less."""

    def compared(name: str, kinds: Iterable[str] = KINDS) -> list[Point]:
        return [{"part": "compare", "task": name, "cell": kind} for kind in kinds]

    def cut_short(name: str, optimizer: str, kinds: Iterable[str]) -> list[Point]:
        return [{"part": "truncated", "task": name, "cell": kind, "optimiser": optimizer} for kind in kinds]

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


def run(point: Point) -> Result:
    """Train the nets of a point.

    Returns:
        For "compare" see :func:`compare`, for "truncated" :func:`truncate`.
    """
    if point["part"] == "truncated":
        return truncate(point["task"], point["cell"], point["optimiser"])
    return compare(point["task"], point["cell"])


EXPERIMENT = Experiment(
    name="stable_models",
    question="Do stable nets do as well as unconstrained ones on real data, and truncated ones as well as full ones?",
    settings={
        "seeds": {name: list(seeds) for name, seeds in on.SEEDS.items()},
        "seeds of the rates": {name: list(seeds) for name, seeds in on.OTHER_SEEDS.items()},
        "rates": on.LEARNING_RATES,
        "units": on.UNITS,
        "budgets": BUDGETS,
        "updates of truncated": on.TRUNCATED_UPDATES,
        "contraction rate": RATE,
        "forget gate": FORGET,
        "vocabulary": data.TEXTS,
        "cutoffs": data.CUTOFFS,
        "frames": data.FRAMES,
        "clip": data.CLIP,
        "shown steps": data.SHOWN,
        "pieces": on.PIECES,
        "runs": on.RUNS,
    },
    points=_points(),
    run=run,
)
