r"""One net trained in full and in three ways that are cut: what they are worth, and where the weights and gradients go.

From one start and on the same data in the same order a net is trained in full and, for each k of ``KS``,

* *truncated*: each output is read from :math:`h_t^k`, the state that the last k inputs make from zero;
* *reset*: the state is set to zero at every k-th step, so that in training an output sees between 1 and k inputs, and
  in its evaluation k;
* *carried*: the state goes on and the gradient is cut at every k-th step (truncated back-propagation).

Chorales are read in whole pieces; of words "full" is 70 steps of back-propagation with a carried state. The gradients
of all ways are compared with that in full at the start and where the net in full ends. As controls it is trained in
full twice more, from starts that are moved a little.

Nets are free or certified to contract at the rate 0.99: a simple cell by its 2-norm, an LSTM by the sum
:math:`\lambda_\Sigma`, with a forget gate that opens to 0.64 at most; see :func:`fhx.stability.project`. Outputs start
at the frequencies of the training split. A learning rate is chosen for the net in full, by the validation metric of
other seeds, and falls linearly to zero; nets are judged at the end. All nets read the same data in the same order, so
their seeds differ only in the initial weights. With 10,000 words the rarer ones are read as ``<unk>``, and 500 updates
read a sixth of the text, so a perplexity says nothing of how well such nets can do; the nets of
:mod:`fhx.experiments.language_models` do.
"""

from collections.abc import Iterable

from fhx.experiments import real_data as data
from fhx.experiments.cut_training import tasks as on
from fhx.experiments.cut_training.measures import distance, evaluate, truncated
from fhx.experiments.cut_training.nets import FORGET, KINDS, RATE, LanguageModel, SequenceModel
from fhx.experiments.cut_training.tasks import batches, language_model, sequence_model
from fhx.experiments.cut_training.training import TrainingLog, train, trained
from fhx.experiments.cut_training.truncation import WAYS, truncate
from fhx.experiments.experiment import Experiment, Point, Result

__all__ = [
    "EXPERIMENT",
    "KINDS",
    "WAYS",
    "LanguageModel",
    "SequenceModel",
    "TrainingLog",
    "batches",
    "distance",
    "evaluate",
    "language_model",
    "run",
    "sequence_model",
    "train",
    "trained",
    "truncate",
    "truncated",
]


def _points() -> list[Point]:
    def of(name: str, optimizer: str, kinds: Iterable[str]) -> list[Point]:
        return [{"task": name, "cell": kind, "optimiser": optimizer} for kind in kinds]

    free, stable = ("simple", "LSTM"), ("simple, stable", "LSTM, sum")
    return [
        *(point for optimizer in ("Adam", "SGD") for name in on.UNITS for point in of(name, optimizer, free)),
        *of("chorales", "Adam", stable),
    ]


def run(point: Point) -> Result:
    """Train the nets of a point in all ways: see :func:`truncate`."""
    return truncate(point["task"], point["cell"], point["optimiser"])


EXPERIMENT = Experiment(
    name="cut_training",
    question="Does a net learn the same, and end at the same weights, as a truncated model or by cut gradients?",
    settings={
        "seeds": {name: list(seeds) for name, seeds in on.SEEDS.items()},
        "seeds of the rates": {name: list(seeds) for name, seeds in on.OTHER_SEEDS.items()},
        "rates": on.LEARNING_RATES,
        "units": on.UNITS,
        "updates": on.UPDATES,
        "batch size of music": on.BATCH_SIZE,
        "text": data.TEXT,
        "contraction rate": RATE,
        "forget gate": FORGET,
        "vocabulary": data.TEXTS["words"],
        "cutoffs": data.CUTOFFS["words"],
        "steps": list(on.KS),
        "clip": data.CLIP,
        "shown steps": data.SHOWN,
    },
    points=_points(),
    run=run,
)
