"""The net of a Turing machine: it reads a word, then end marks for ever, and answers when the machine halts."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import islice
from typing import Generic, Protocol, TypeVar

from attrs import field, frozen

from fhx._checks import at_least
from fhx.compile.turing_layout import Layout
from fhx.exact import Expression, HaltingNet, Pieces, Step
from fhx.exact.numbers import Number
from fhx.exact.word_reader import Word
from fhx.machines import Configuration, TuringMachine, Verdict

__all__ = ["TapeLayout", "TuringNet"]


class TapeLayout(Protocol):
    """Which names of a step's state hold what, and when."""

    def start_delay(self, length: int) -> int:
        """How many end marks after a word of that length bring the machine to its first configuration."""

    @property
    def answer_delay(self) -> int:
        """How many end marks after the machine's last configuration the answer comes."""

    def configuration(self, state: Mapping[str, Number], tm: TuringMachine, base: int) -> Configuration | None:
        """The configuration that a state of the step holds; None before the first and after the last."""


L = TypeVar("L", bound=TapeLayout)


@frozen(repr=False)
class TuringNet(HaltingNet, Generic[L]):
    """A net that runs a Turing machine, in ``steps_per_symbol`` net steps for each of its steps.

    It answers once, if the machine halts: 1 or -1, or with whole weights a positive or a negative number.

    Args:
        rnn, w, c, alphabet, steps_per_symbol, decoder: as in :class:`fhx.exact.HaltingNet`.
        machine: the machine.
        base: of the stacks.
        step: the recurrence that the net was compiled from.
        out: its output.
        layout: which names of its state hold what.
    """

    machine: TuringMachine = field(kw_only=True)
    base: int = field(kw_only=True)
    step: Step = field(kw_only=True)
    out: Expression = field(kw_only=True)
    layout: L = field(kw_only=True)

    def __repr__(self) -> str:
        return f"TuringNet({self.rnn!r}, base={self.base}, steps_per_symbol={self.steps_per_symbol})"

    @cached_property
    def pieces(self) -> Pieces:
        """The step of a net with one step per symbol made ready for long runs, with the numbers of the net itself.

        Raises:
            ValueError: the net takes more steps per symbol.
        """
        if not isinstance(self.layout, Layout):
            raise ValueError("only a net with rational weights and one step per symbol has pieces")
        return Pieces(self.step, self.out, self.layout.stacks, self.base)

    def decide(self, word: Word, max_steps: int, progress: bool = False) -> Verdict:
        """The net's verdict on a word, counted in steps of the machine; by ``pieces`` if the net has them.

        Args:
            word: symbols of the machine's words.
            max_steps: the most steps to wait for.
            progress: show a bar of plain text on stderr, if there are pieces.

        Raises:
            ValueError: a symbol is outside the input alphabet, or ``max_steps`` is not an integer of at least 0.
        """
        word, steps = tuple(word), at_least("max_steps", max_steps, 0)
        before = self.layout.start_delay(len(word)) + self.layout.answer_delay
        if isinstance(self.layout, Layout):
            answer = self.pieces.answer(self.columns(word), len(self.alphabet), steps + before, progress)
        else:
            answer = self.answer(word, steps + before)
        return Verdict(None, steps) if answer is None else Verdict(answer.value > 0, answer.steps - before)

    def configurations(self, word: Word) -> Iterator[Configuration]:
        """The machine's configurations, read from the net's states, until it has halted.

        Raises:
            ValueError: a symbol is outside the input alphabet, or a state holds no configuration.
        """
        word = tuple(word)
        states = islice(self.run(word), 0, None, self.steps_per_symbol)
        for state in islice(states, len(word) + self.layout.start_delay(len(word)), None):
            here = self.layout.configuration(self.decode(state), self.machine, self.base)
            if here is None:
                return
            yield here
