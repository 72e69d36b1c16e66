"""The lecture notes' proof of Theorem 4.6 as a compiler, repaired: several net steps for each of the machine's."""

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from operator import index

from fhx.compile.lemma import step_to_rnn
from fhx.compile.turing_source import SourceLayout, source_step
from fhx.exact import Answer, HaltingNet, SimpleRNN, Step, variable
from fhx.exact.numbers import Number
from fhx.machines import Configuration, TuringMachine, Verdict

__all__ = ["LayeredTuringNet", "turing_to_layered_rnn"]

OVERHEAD = 3
"""End marks beside those for rewinding and for steps: one seen, one to find the word rewound, one for the answer."""


def turing_to_layered_rnn(tm: TuringMachine, base: int = 3, layers: int = 4) -> "LayeredTuringNet":
    r"""The net of the source's step, repaired: L net steps to a symbol of the word or to a step of the machine.

    The word is pushed on the left stack, rewound to the right one, and the machine runs. After k steps of the machine
    the answer comes with the end mark

    .. math:: T = |w| + k + 3,

    where 3 is for seeing the end, for finding the stack rewound, and for the answer itself. Every symbol and every end
    mark is followed by L - 1 zero vectors, as Lemma 4.4 needs for a step of depth L; so there are
    :math:`L\,(2 |w| + k + 3)` net steps. How many units there are says :func:`fhx.compile.turing_units`; most
    come from the sum over c in (4.33), a choice of two whole stacks to each rule and each symbol left of the head.

    Args:
        tm: any machine.
        base: B, of the stacks.
        layers: L, 4 as the source counts; 3 or 2 do, see :func:`fhx.compile.source_step`.

    Raises:
        ValueError: the base is no integer of at least 3, or L is not 2, 3 or 4.

    Source: the proof of Theorem 4.6 of the lecture notes, (4.27)-(4.34). :func:`fhx.compile.turing_to_rnn` needs
    one net step to a step of the machine, and no rewinding.
    """
    step, names = source_step(tm, base, layers), SourceLayout.of(tm)
    compiled = step_to_rnn(step, variable(names.yes) - variable(names.no), layers)
    w, c = compiled.V.dense()[0], compiled.c[0]
    net = HaltingNet(compiled.rnn, w, c, tm.input_alphabet, layers, compiled.code)
    return LayeredTuringNet(net, tm, base, step, names)


@dataclass(frozen=True)
class LayeredTuringNet:
    """A simple RNN that runs a Turing machine in several net steps to a step of the machine.

    Args:
        net: the simple RNN with its readout, which answers 1 or -1 once if the machine halts.
        machine: the machine.
        base: of the stacks.
        step: the recurrence that the net was compiled from.
        layout: which names of its state hold what.
    """

    net: HaltingNet
    machine: TuringMachine
    base: int
    step: Step
    layout: SourceLayout

    @property
    def rnn(self) -> SimpleRNN:
        """The simple RNN."""
        return self.net.rnn

    @property
    def units(self) -> int:
        """How many ReLU units the net has."""
        return self.rnn.size

    @property
    def layers(self) -> int:
        """L, how many net steps there are to a symbol of the word or to a step of the machine."""
        return self.net.steps_per_symbol

    def outputs(self, word: Iterable[Hashable]) -> Iterator[Number]:
        """The output after each symbol of the word and then after each EOS, for ever: 0, but for one 1 or -1.

        Raises:
            ValueError: a symbol is outside the input alphabet.
        """
        return self.net.outputs(word)

    def decide(self, word: Iterable[Hashable], max_steps: int) -> Verdict:
        """What the net says of a word, counted in steps of the machine.

        Raises:
            ValueError: a symbol is outside the input alphabet, or ``max_steps < 0``.
            TypeError: ``max_steps`` is not whole.
        """
        if index(max_steps) < 0:
            raise ValueError(f"a run has at least 0 steps, not {max_steps}")
        word = tuple(word)
        before = len(word) + OVERHEAD
        match self.net.answer(word, max_steps + before):
            case None:
                return Verdict(None, max_steps)
            case Answer(value, T):
                return Verdict(value == 1, T - before)

    def configurations(self, word: Iterable[Hashable]) -> Iterator[Configuration]:
        """The machine's configurations, read from the net's state once the word is rewound, until it has halted.

        Raises:
            ValueError: a symbol is outside the input alphabet, or a state holds no configuration.
        """
        word = tuple(word)
        whole = islice(self.net.run(word), 0, None, self.layers)
        for state in islice(whole, 2 * len(word) + OVERHEAD - 1, None):
            here = self.layout.configuration(self.net.decode(state), self.machine, self.base)
            if here is None:
                return
            yield here
