r"""What a readout of a delay line pays for parity: hidden units, words and updates.

The last state of a delay line of 16 steps is the word itself, newest bit first. So whether the word has an odd number
of ones can be read from it without any recurrent weight, but not cheaply: a readout with one hidden layer of ReLU
units,

.. math:: y = A \max(0, B x + b) + a, \qquad x \in \{0, 1\}^{16}, \quad y \in \mathbb{R}^2,

is trained on some of the :math:`2^{16}` words and tested on others. The learning rate is 0.003 for all budgets: of
0.001, 0.003, 0.01 and 0.03 it was the best on the validation words for each of them, over three seeds that are not
used here (with the largest budget cut to 3,000 updates).
"""

from functools import cache

import torch
from torch import Tensor, nn

from fhx.dynamics import Realization
from fhx.experiments.experiment import Experiment, Point, Result
from fhx.tasks import Sequences, Task
from fhx.training import fit

__all__ = ["BITS", "BUDGETS", "EXPERIMENT", "make", "run", "task"]

BITS = 16
"""Of a word."""
BUDGETS = ((64, 4000, 500), (256, 4000, 5000), (256, 40000, 10000))
"""Hidden units, words to train on and updates."""
LEARNING_RATE = 0.003
"""The best on the validation words for each budget, see above."""
BATCH = 100
"""Words of an update."""
VALID = 1000
"""Words to validate with."""
TEST = 5000
"""Words to test on."""
SEEDS = range(5)
"""Of the nets that are reported."""


@cache
def task(words: int) -> Task:
    """The parity of ``words`` words to train on, and of 1,000 and 5,000 others to choose by and to test with.

    Inputs ``(1, N, 16)`` are the last states of a delay line that has read a word; no word occurs twice.
    """
    order = torch.randperm(2**BITS, generator=torch.Generator().manual_seed(0))
    bits = order[:, None] >> torch.arange(BITS) & 1
    valid, test, train = bits.split([VALID, TEST, len(bits) - VALID - TEST])

    def part(words: Tensor) -> Sequences:
        return Sequences(words[None].float(), words.sum(1) % 2)

    labels = ("even", "odd")
    return Task("parity of a word", part(train[:words]), part(valid), part(test), BITS, 2, "class at end", labels)


def make(units: int) -> nn.Module:
    """A new readout of the 16 bits with ``units`` hidden units; its inputs are states of the delay line already."""
    readout = nn.Sequential(nn.Linear(BITS, units), nn.ReLU(), nn.Linear(units, 2))
    return Realization(_given, readout, h0=torch.zeros(BITS))


def _given(h: Tensor, x: Tensor) -> Tensor:
    return x


def run(point: Point) -> Result:
    """The validation and the test accuracy of every seed, with the parameters that were best on validation."""
    result = fit(
        lambda: make(point["units"]),
        task(point["words"]),
        seeds=SEEDS,
        updates=point["updates"],
        batch_size=BATCH,
        learning_rate=LEARNING_RATE,
        progress=False,
    )
    return {"valid": result.best_valid.tolist(), "test": result.test.tolist(), "diverged": len(result.diverged)}


EXPERIMENT = Experiment(
    name="readout_budget",
    question="What does a readout of a delay line pay for parity, in hidden units, words and updates?",
    settings={
        "seeds": list(SEEDS),
        "bits": BITS,
        "rate": LEARNING_RATE,
        "batch_size": BATCH,
        "valid": VALID,
        "test": TEST,
    },
    points=[{"units": units, "words": words, "updates": updates} for units, words, updates in BUDGETS],
    run=run,
)
