r"""What training finds: six formal languages, four cells, words ten times as long as those trained on.

A net reads a word and says after every symbol whether what it has read belongs to the language. It is trained on words
of up to 20 symbols and counts as right on a band of longer words if it is right after every symbol of every word. The
learning rate of each language and cell is chosen first, by the validation loss of other seeds with the same budget.

For languages that have to be counted in there is one more number, the reach: the largest :math:`N` such that for every
:math:`n \le N` all prefixes of :math:`a^n b^{n+2}` are decided correctly, of :math:`a^n b^{n+k} c^{n+2}` with
:math:`|k| \le 1`, or of :math:`n` opening brackets and :math:`n + 2` closing ones.
"""

from collections.abc import Mapping
from functools import cache, partial
from typing import Any

import torch

from fhx.dynamics import Realization
from fhx.experiments.comparison import kind_by_rate
from fhx.experiments.experiment import Experiment, Point, Result
from fhx.experiments.protocol import Ahead, Evidence
from fhx.experiments.recognition import CELLS, UNITS, chosen_learning_rate, load, reach, right, train, weights
from fhx.tasks import LANGUAGES, Sequences, Task, formal_language

__all__ = [
    "BANDS",
    "EXPERIMENT",
    "LEARNING_RATES",
    "LENGTHS",
    "NAMES",
    "TEST_SEED",
    "band",
    "evidence",
    "net",
    "probes",
    "run",
    "task",
]

NAMES = ("parity", "tomita-3", "tomita-6", "a^n b^n", "a^n b^n c^n", "dyck-1")
"""Three regular languages, and three that have to be counted in."""
LENGTHS = (1, 20)
"""Of the words to train on, shortest and longest."""
BANDS = {"1x": (1, 20), "2x": (21, 40), "5x": (41, 100), "10x": (101, 200)}
"""Lengths of the words to test on, from as long as those trained on to ten times as long."""
LEARNING_RATES = (0.003, 0.01, 0.03)
"""Learning rates that are tried."""
UPDATES = 2000
"""Of each net."""
BATCH = 32
"""Words of an update."""
SIZES = (4000, 500, 500)
"""Words to train on, to validate with and to test on."""
WORDS = 300
"""Of a band."""
MAX_COUNT = 500
"""The largest reach that is looked for."""
SEEDS = range(10)
"""Of the nets that are reported."""
OTHER_SEEDS = range(10, 13)
"""Of the nets that the learning rate is chosen by."""
TEST_SEED = 1_000_000
"""Of the words of the bands; far from all other seeds."""


@cache
def task(language: str) -> Task:
    """The words to train on; the same for all cells and seeds."""
    return formal_language(language, LENGTHS, SIZES)


@cache
def band(language: str, name: str) -> Sequences:
    """The 300 test words of a band of lengths; the same for all nets, and drawn by other seeds than the task's."""
    known = LANGUAGES[language]
    return known.sequences(known.words(WORDS, BANDS[name], TEST_SEED))


@cache
def probes(language: str, numbers: tuple[int, ...]) -> Sequences:
    """The words with the counts ``numbers``, and near misses.

    Raises:
        ValueError: the language does not count.
    """
    known = LANGUAGES[language]
    if known.probes is None:
        raise ValueError(f"{language} has no words with a count")
    return known.sequences([word for n in numbers for word in known.probes(n)])


def net(point: Point, result: Mapping[str, Any]) -> Realization:
    """The stored net of a point: that of the ten seeds with the least validation loss."""
    return load(point["cell"], task(point["language"]), result["weights"])


def run(point: Point) -> Result:
    """Choose the rate, train the ten seeds, and test each on every band.

    Returns:
        ``rates``, validation loss by rate; ``rate``, the chosen one; and a list with a number per seed: ``valid``, its
        validation loss; ``words``, by band the fraction of words that are right; ``right``, by band whether all are,
        which is false for a seed that diverged; ``reach``, or None. ``weights`` are those of ``seed``, the one with
        the least validation loss.
    """
    language, cell = point["language"], point["cell"]
    words = task(language)
    rate, losses = chosen_learning_rate(cell, words, LEARNING_RATES, OTHER_SEEDS, UPDATES, BATCH)
    result = train(cell, words, rate, SEEDS, UPDATES, BATCH)
    valid, alive = result.best_valid.tolist(), [seed not in result.diverged for seed in SEEDS]
    fractions = {
        name: [right(model, band(language, name)).double().mean().item() for model in result.models] for name in BANDS
    }
    counted = LANGUAGES[language].probes is not None
    reaches = [reach(model, partial(probes, language), MAX_COUNT) for model in result.models] if counted else None
    best = min(range(len(valid)), key=lambda i: (not alive[i], valid[i]))
    return {
        "rates": losses,
        "rate": rate,
        "diverged": len(result.diverged),
        "valid": valid,
        "words": fractions,
        "right": {name: [a and f == 1 for a, f in zip(alive, fractions[name], strict=True)] for name in BANDS},
        "reach": reaches,
        "seed": SEEDS[best],
        "weights": weights(result.models[best]),
    }


STATEMENTS = (Ahead("LSTM", "tanh"), Ahead("GRU", "tanh"), Ahead("LSTM", "relu"))
"""What is judged for each language."""


def evidence(stored: Mapping[str, Any]) -> dict[str, Evidence]:
    """What is stored of each language: the shares of the words of trained lengths that are right, of one grid of rates,
    without a control, without curves and without the error of the test words."""
    return {
        language: Evidence(
            kinds={
                entry["point"]["cell"]: kind_by_rate(
                    entry["result"], entry["result"]["words"]["1x"], recommended_start=False
                )
                for entry in stored["points"]
                if entry["point"]["language"] == language
            },
            higher_is_better=True,
            control=None,
            baselines={"always no": _always_no(language)},
            statements=STATEMENTS,
            shown=len(NAMES) * len(STATEMENTS),
            gain=0.0,
        )
        for language in NAMES
    }


def _always_no(language: str) -> float:
    """The share of the test words of trained lengths on which a net that never accepts is right."""
    return right(lambda inputs, lengths: -torch.ones(*inputs.shape[:2], 1), band(language, "1x")).double().mean().item()


EXPERIMENT = Experiment(
    name="formal_languages",
    question="Which formal languages does training find, on words ten times as long as those trained on?",
    settings={
        "seeds": list(SEEDS),
        "seeds of the rates": list(OTHER_SEEDS),
        "units": UNITS,
        "rates": LEARNING_RATES,
        "updates": UPDATES,
        "batch_size": BATCH,
        "lengths": LENGTHS,
        "sizes": SIZES,
        "bands": BANDS,
        "words of a band": WORDS,
        "limit": MAX_COUNT,
    },
    points=[{"language": language, "cell": cell} for language in NAMES for cell in CELLS],
    run=run,
    evidence=evidence,
)
