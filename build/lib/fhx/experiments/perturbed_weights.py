r"""Do compiled weights survive noise, and does fine-tuning bring them back?

Nets that recognise a regular language by construction are loaded into a ReLU cell with a logit for readout, positive
where they accept: :math:`y = s\,(2\,\mathrm{out}(h) - 1)` with :math:`s = 5`. Every parameter gets Gaussian noise,
whose standard deviation is a fraction of the largest number in its own matrix or vector; :math:`h_0` stays as it is.
Then the nets are trained for 500 updates on words of up to 20 symbols, and so are new nets of the same size. Before
and after it is counted which of them decide all words of 1 to 20 symbols correctly, all two million of them, and
which decide every prefix of 300 words of 200 symbols correctly.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

import torch
from torch import nn

from fhx.cells import SimpleCell
from fhx.compile import dfa_to_rnn
from fhx.dynamics import Realization
from fhx.exact import Recognizer, SimpleRNN
from fhx.experiments.experiment import Experiment, Point, Result
from fhx.experiments.recognition import right, train
from fhx.experiments.seeding import per_seed
from fhx.machines import DFA, NAMED
from fhx.tasks import LANGUAGES, Sequences, Task, formal_language

__all__ = [
    "EXPERIMENT",
    "NETS",
    "NOISE",
    "compiled",
    "depth",
    "language",
    "loaded",
    "long_words",
    "machine",
    "new",
    "perturbed",
    "run",
    "task",
]

NETS = ("parity, on paper", "parity", "(a|b)*abb", "tomita-4")
"""The compiled nets: one of parity by hand, and those of three automata."""
NOISE = (0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 1.0)
"""Standard deviations, as parts of the largest number in the same matrix or vector."""
SCALE = 5
"""s, the size of the logit of a compiled net."""
LENGTHS = (1, 20)
"""Of the words to train on, shortest and longest."""
SIZES = (4000, 500, 500)
"""Words to train on, to validate with and to test on."""
UPDATES = 500
"""Of the fine-tuning and of the new nets."""
LEARNING_RATE = 0.01
"""The learning rate at the start."""
BATCH = 32
"""Words of an update."""
WORDS = 300
"""Long words to test on."""
LONG = 200
"""Symbols of each of these."""
SEEDS = range(20)
"""Of the noise, and of new nets."""
TEST_SEED = 1_000_000
"""Of the long words; far from all other seeds."""


def language(net: str) -> str:
    """The name of the language that a net recognises."""
    return net.partition(",")[0]


def machine(net: str) -> DFA:
    """The machine of a net."""
    return NAMED[language(net)]


def compiled(net: str) -> Recognizer:
    r"""The exact net: that of the machine, or PARITY's with two units, :math:`p = u_1 - 2 u_2`.

    From :math:`p \in \{0, 1\}` and a bit :math:`x`, the new :math:`u_1 = p + x` and :math:`u_2 = \max(0, p + x - 1)`.
    """
    if net == "parity, on paper":
        return Recognizer(SimpleRNN([[1, -2], [1, -2]], [[0, 1], [0, 1]], [0, -1], [0, 0], "relu"), [1, -2], 0, "01")
    return dfa_to_rnn(machine(net))


def loaded(recognizer: Recognizer) -> Realization:
    """The same weights in a ReLU cell, with the logit for readout."""
    rnn, (cell, readout) = recognizer.rnn, _parts(recognizer)
    numbers = {
        cell.W: rnn.W.dense(),
        cell.U: rnn.U.dense(),
        cell.b: rnn.b,
        readout.weight: [[2 * SCALE * value for value in recognizer.w]],
        readout.bias: [SCALE * (2 * recognizer.c - 1)],
    }
    with torch.no_grad():
        for parameter, values in numbers.items():
            parameter.copy_(torch.tensor(values, dtype=parameter.dtype))
    return Realization(cell, readout, h0=torch.tensor([float(value) for value in rnn.h0]))


def new(recognizer: Recognizer) -> Realization:
    """A new net of the same size, with random weights."""
    return Realization(*_parts(recognizer))


def _parts(recognizer: Recognizer) -> tuple[SimpleCell, nn.Linear]:
    size = recognizer.units
    return SimpleCell(recognizer.rnn.input_size, size, "relu"), nn.Linear(size, 1)


@torch.no_grad()
def perturbed(recognizer: Recognizer, sd: float, generator: torch.Generator | None = None) -> Realization:
    """The loaded net with noise of this relative standard deviation."""
    net = loaded(recognizer)
    for parameter in net.parameters():
        noise = torch.randn(parameter.shape, generator=generator, dtype=parameter.dtype)
        parameter.add_(sd * parameter.abs().max() * noise)
    return net


@cache
def task(language: str) -> Task:
    """Words to train on, as for new nets; no zero vector before them, since a compiled net starts from its h_0."""
    return formal_language(language, LENGTHS, SIZES, empty=False)


@cache
def long_words(language: str) -> Sequences:
    """The 300 words of 200 symbols."""
    known = LANGUAGES[language]
    return known.sequences(known.words(WORDS, (LONG, LONG), TEST_SEED), empty=False)


@torch.no_grad()
def depth(net: Realization, machine: DFA, max_length: int) -> int:
    """The greatest length up to ``max_length`` such that net and machine agree on all words of 1 to that many symbols.

    The tree of all words is walked level by level, with a state of the net and one of the machine at each node.
    """
    index = {state: i for i, state in enumerate(machine.states)}
    table = torch.tensor([[index[machine.step(q, a)] for a in machine.alphabet] for q in machine.states])
    accepting = torch.tensor([q in machine.accept for q in machine.states])
    h, q = net.h0[None], torch.tensor([index[machine.start]])
    symbols = torch.eye(len(machine.alphabet))
    for length in range(1, max_length + 1):
        h = torch.cat([net.cell(h, x.expand(len(h), -1)) for x in symbols])
        q = table[q].T.flatten()
        if bool(((net.readout(h)[:, 0] > 0) != accepting[q]).any()):
            return length - 1
    return max_length


def run(point: Point) -> Result:
    """What the nets of twenty seeds decide correctly ``before`` training and ``after`` it.

    Returns:
        In ``before`` and ``after`` two lists with an entry per seed, ``depth``, the greatest length up to 20 such that
        all words so long are right, and ``long``, whether all long words are; and how many seeds ``diverged``. A noise
        of None stands for new nets of the same size.
    """
    recognizer, noise, name = compiled(point["net"]), point["noise"], language(point["net"])

    def make() -> Realization:
        return new(recognizer) if noise is None else perturbed(recognizer, noise)

    before = per_seed(make, SEEDS)
    result = train("relu", task(name), LEARNING_RATE, SEEDS, UPDATES, BATCH, make)
    answers = {"before": before, "after": result.models}
    return {when: _decided(point["net"], nets) for when, nets in answers.items()} | {"diverged": len(result.diverged)}


def _decided(net: str, nets: Sequence[Realization]) -> dict[str, list[Any]]:
    dfa, words = machine(net), long_words(language(net))
    return {
        "depth": [depth(model, dfa, LENGTHS[1]) for model in nets],
        "long": [bool(right(model, words).all()) for model in nets],
    }


EXPERIMENT = Experiment(
    name="perturbed_weights",
    question="Do compiled weights survive noise, and does fine-tuning bring them back?",
    settings={
        "seeds": list(SEEDS),
        "scale": SCALE,
        "lengths": LENGTHS,
        "sizes": SIZES,
        "updates": UPDATES,
        "rate": LEARNING_RATE,
        "batch_size": BATCH,
        "long words": WORDS,
        "length of long words": LONG,
    },
    points=[{"net": net, "noise": noise} for net in NETS for noise in (*NOISE, None)],
    run=run,
)
