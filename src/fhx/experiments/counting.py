r"""How far a trained net counts: the next symbols of :math:`a^n b^n` and :math:`a^n b^n c^n`, trained to n = 10.

Here only members are shown, and at every step the net says which symbols may come next, the end among them. So nothing
has to be remembered but the count. The reach of a net is the largest :math:`N` such that for every :math:`n \le N` all
its answers on the word of number :math:`n` are right; ten words, :math:`n = 1, \dots, 10`, are what it is trained on.
The learning rate of each language and cell is chosen first, by the loss of other seeds on these ten words.

This is the task of Gers and Schmidhuber (2001), with other nets and another way of training.
"""

from collections.abc import Mapping
from functools import cache, partial
from typing import Any

from fhx.dynamics import Realization
from fhx.experiments.comparison import kind_by_rate
from fhx.experiments.experiment import Experiment, Point, Result
from fhx.experiments.protocol import Ahead, Evidence
from fhx.experiments.recognition import CELLS, UNITS, chosen_learning_rate, load, reach, train, weights
from fhx.tasks import Sequences, Task, next_symbols

__all__ = ["COUNTS", "EXPERIMENT", "LEARNING_RATES", "NAMES", "evidence", "members", "net", "run", "task"]

NAMES = ("a^n b^n", "a^n b^n c^n")
"""Languages in which the next symbols are told by counting."""
COUNTS = range(1, 11)
"""The numbers n of the words to train on."""
LEARNING_RATES = (0.003, 0.01, 0.03)
"""Learning rates that are tried."""
UPDATES = 3000
"""Of each net."""
MAX_COUNT = 1000
"""The largest reach that is looked for."""
SEEDS = range(10)
"""Of the nets that are reported."""
OTHER_SEEDS = range(10, 13)
"""Of the nets that the learning rate is chosen by."""


@cache
def task(language: str) -> Task:
    """The ten words to train on."""
    return next_symbols(language, COUNTS)


@cache
def members(language: str, numbers: tuple[int, ...]) -> Sequences:
    """The words of the numbers, with what may come next."""
    return next_symbols(language, test_counts=numbers).test


def net(point: Point, result: Mapping[str, Any]) -> Realization:
    """The stored net of a point: that of the ten seeds that counts farthest."""
    return load(point["cell"], task(point["language"]), result["weights"])


def run(point: Point) -> Result:
    """Choose the rate, train the ten seeds, and see how far each counts.

    Returns:
        ``rates``, loss by rate; ``rate``, the chosen one; and lists with a number per seed: ``valid``, its loss, and
        ``reach``, 0 for a seed that diverged. ``weights`` are those of ``seed``, the first of those with the largest
        reach.
    """
    words, batch = task(point["language"]), len(COUNTS)
    rate, losses = chosen_learning_rate(point["cell"], words, LEARNING_RATES, OTHER_SEEDS, UPDATES, batch)
    result = train(point["cell"], words, rate, SEEDS, UPDATES, batch)
    part = partial(members, point["language"])
    reaches = [
        0 if seed in result.diverged else reach(model, part, MAX_COUNT)
        for seed, model in zip(SEEDS, result.models, strict=True)
    ]
    best = reaches.index(max(reaches))
    return {
        "rates": losses,
        "rate": rate,
        "diverged": len(result.diverged),
        "valid": result.best_valid.tolist(),
        "reach": reaches,
        "seed": SEEDS[best],
        "weights": weights(result.models[best]),
    }


def evidence(stored: Mapping[str, Any]) -> dict[str, Evidence]:
    """What is stored of each language: reaches, of one grid of rates, without a control and without curves."""
    return {
        language: Evidence(
            kinds={
                entry["point"]["cell"]: kind_by_rate(
                    entry["result"], entry["result"]["reach"], recommended_start=False, item_error=0.0
                )
                for entry in stored["points"]
                if entry["point"]["language"] == language
            },
            higher_is_better=True,
            control=None,
            baselines={"the words shown": max(COUNTS)},
            statements=(Ahead("LSTM", "GRU"),),
            shown=len(NAMES),
            gain=0.0,
        )
        for language in NAMES
    }


EXPERIMENT = Experiment(
    name="counting",
    question="How far does a net count that was trained up to n = 10?",
    settings={
        "seeds": list(SEEDS),
        "seeds of the rates": list(OTHER_SEEDS),
        "units": UNITS,
        "rates": LEARNING_RATES,
        "updates": UPDATES,
        "batch_size": len(COUNTS),
        "counts": list(COUNTS),
        "limit": MAX_COUNT,
    },
    points=[{"language": language, "cell": cell} for language in NAMES for cell in CELLS],
    run=run,
    evidence=evidence,
)
