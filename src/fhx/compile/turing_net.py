"""The net of a Turing machine: it reads a word, then end marks for ever, and answers when the machine halts."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import islice
from operator import index
from typing import Generic, Protocol, TypeVar

import torch
from attrs import frozen

from fhx.compile.turing_layout import Layout
from fhx.exact import Answer, Endless, Expression, HaltingNet, Pieces, SimpleRNN, Step, TorchHaltingNet
from fhx.exact.numbers import Number
from fhx.exact.word_reader import Word
from fhx.machines import Configuration, TuringMachine, Verdict

__all__ = ["TapeLayout", "TuringNet"]


class TapeLayout(Protocol):
    """Which names of a step's state hold what, and when."""

    def lead(self, length: int) -> int:
        """How many end marks after a word of that length bring the machine to its first configuration."""

    @property
    def lag(self) -> int:
        """How many end marks after the machine's last configuration the answer comes."""

    def configuration(self, state: Mapping[str, Number], tm: TuringMachine, base: int) -> Configuration | None:
        """The configuration that a state of the step holds; None before the first and after the last."""


L = TypeVar("L", bound=TapeLayout)


@frozen(repr=False)
class TuringNet(Generic[L]):
    """A simple RNN that runs a Turing machine, in L net steps for each of its steps: read a word, then EOS for ever.

    Args:
        net: the simple RNN with its readout, which answers 1 or -1 once if the machine halts.
        machine: the machine.
        base: of the stacks.
        step: the recurrence that the net was compiled from.
        out: its output.
        layout: which names of its state hold what.
    """

    net: HaltingNet
    machine: TuringMachine
    base: int
    step: Step
    out: Expression
    layout: L

    def __repr__(self) -> str:
        return f"TuringNet({self.rnn!r}, base {self.base}, {self.layers} layers)"

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
        """L: how many net steps there are per symbol of the word and per step of the machine."""
        return self.net.steps_per_symbol

    @cached_property
    def pieces(self) -> Pieces:
        """The step of a net with L = 1 made ready for long runs, with the same numbers as ``net``, the reference.

        Raises:
            ValueError: the net has more layers.
        """
        if not isinstance(self.layout, Layout):
            raise ValueError(f"only a net with one layer has pieces, and this one has {self.layers}")
        return Pieces(self.step, self.out, self.layout.stacks, self.base)

    def to_torch(self, dtype: torch.dtype = torch.float64) -> TorchHaltingNet:
        """The net as ``torch.nn.RNN``, its weights and states rounded: :class:`fhx.exact.TorchHaltingNet`.

        Raises:
            TypeError: ``dtype`` is not a floating-point type.
        """
        return self.net.to_torch(dtype)

    def outputs(self, word: Word) -> Endless[Number]:
        """The output after each symbol of the word and then after each EOS, for ever: 0, but for one 1 or -1.

        Raises:
            ValueError: a symbol is outside the input alphabet.
        """
        if self.layers > 1:
            return self.net.outputs(word)
        return self.pieces.outputs(self.net.columns(word), len(self.net.alphabet))

    def decide(self, word: Word, max_steps: int, progress: bool = False) -> Verdict:
        """The net's verdict on a word, counted in steps of the machine.

        Args:
            word: symbols of the machine's words.
            max_steps: how many steps to wait for.
            progress: show a bar of plain text on stderr, if L = 1.

        Raises:
            ValueError: a symbol is outside the input alphabet, or ``max_steps < 0``.
            TypeError: ``max_steps`` is not whole.
        """
        if index(max_steps) < 0:
            raise ValueError(f"a run has at least 0 steps, not {max_steps}")
        word = tuple(word)
        before = self.layout.lead(len(word)) + self.layout.lag
        if self.layers > 1:
            answer = self.net.answer(word, max_steps + before)
        else:
            columns = self.net.columns(word)
            answer = self.pieces.answer(columns, len(self.net.alphabet), max_steps + before, progress)
        match answer:
            case None:
                return Verdict(None, max_steps)
            case Answer(value, T):
                return Verdict(value == 1, T - before)

    def configurations(self, word: Word) -> Iterator[Configuration]:
        """The machine's configurations, read from the net's states, until it has halted.

        Raises:
            ValueError: a symbol is outside the input alphabet, or a state holds no configuration.
        """
        word = tuple(word)
        states = islice(self.net.run(word), 0, None, self.layers)
        for state in islice(states, len(word) + self.layout.lead(len(word)), None):
            here = self.layout.configuration(self.net.decode(state), self.machine, self.base)
            if here is None:
                return
            yield here
