"""A net with rational weights and a real start that looks words up in a list, and its exact runs."""

from collections.abc import Hashable, Mapping
from reprlib import repr as shortened
from typing import NamedTuple

from attrs import evolve, frozen

from fhx._checks import at_least
from fhx.compile.word_list import WordList
from fhx.exact import DigitStream, Endless, HaltingNet, LazyReal, LazyRun
from fhx.exact.network import check_units
from fhx.exact.numbers import Number
from fhx.exact.word_reader import Word
from fhx.machines import Verdict

__all__ = ["LanguageNet", "Lookup"]


class Lookup(NamedTuple):
    """The answer 1 or -1 (0: none yet), after how many end marks, and how many digits of each real it looked at."""

    value: int
    steps: int
    digits: int


@frozen(eq=False, repr=False)
class LanguageNet:
    r"""A simple ReLU RNN with rational weights and a start that holds a language L in real numbers.

    Its output is 0 while it reads a word w and then end marks, but for one: 1 after the T-th end mark if
    :math:`w \in L`, and -1 if not. Nets for languages over the same alphabet differ in nothing but :math:`h_0`.

    Attributes:
        empty: the net for the empty language, whose start is rational: it has the W, U, b and readout of this one.
        reals: the entries of :math:`h_0` that hold :math:`\langle L \rangle`, ``{unit: digits}``.
        words: L.
    """

    empty: HaltingNet
    reals: Mapping[int, DigitStream]
    words: WordList

    def __repr__(self) -> str:
        return f"LanguageNet(units={self.units}, alphabet={shortened(self.alphabet)})"

    @property
    def h0(self) -> tuple[Number | DigitStream, ...]:
        """What the net starts from: numbers, or digits where a number is real."""
        return tuple(self.reals.get(unit, value) for unit, value in enumerate(self.empty.rnn.h0))

    @property
    def alphabet(self) -> tuple[Hashable, ...]:
        """The symbols, without EOS."""
        return self.empty.alphabet

    @property
    def units(self) -> int:
        r"""How many units the net has, :math:`13 |\Sigma| + 13`."""
        return self.empty.units

    def run(self, word: Word) -> LazyRun:
        """The states, :math:`h_0` first, over the word and then over EOS for ever; it also counts digits.

        Raises:
            ValueError: in the run, a symbol is outside the alphabet, or the words of the language are out of order.
        """
        return LazyRun(self.empty.rnn, self.reals, self.empty.input_columns(word), max_digits=1)

    def outputs(self, word: Word) -> Endless[int]:
        """The output after each symbol of the word, and then after each EOS, for ever.

        Raises:
            ValueError: as for ``run``.
        """
        outputs = self.run(word).read_out(self.empty.w)
        next(outputs)
        return Endless(map(_settled, outputs))

    def look_up(self, word: Word, max_steps: int | None = None) -> Lookup:
        """Run until the answer, which comes within ``step_bound`` end marks, or for ``max_steps`` of them.

        Raises:
            ValueError: as for ``run``, or ``max_steps`` is not an integer of at least 0.
        """
        if max_steps is not None:
            max_steps = at_least("max_steps", max_steps, 0)
        word = tuple(word)
        run = self.run(word)
        outputs = enumerate(run.read_out(self.empty.w), start=-len(word))
        T, value = next((T, value) for T, value in outputs if value or max_steps == T)
        return Lookup(_settled(value), T, run.digits)

    def decide(self, word: Word, max_steps: int | None = None) -> Verdict:
        """Whether the word is in L, and after how many end marks; None if the answer took more than ``max_steps``.

        Raises:
            ValueError: as for ``look_up``.
        """
        value, steps, _ = self.look_up(word, max_steps)
        return Verdict(value == 1 if value else None, steps)

    def truncated(self, digits: int) -> HaltingNet:
        r"""The net with only the first ``digits`` digits of each real in its start, zeros after them: all is rational.

        Up to the T-th end mark its outputs are those of this net if ``digits`` is at least ``digit_bound(T)``.
        """
        start = list(self.empty.rnn.h0)
        for unit, stream in self.reals.items():
            start[unit] = stream.truncated(digits)
        return evolve(self.empty, rnn=evolve(self.empty.rnn, h0=start))

    def decode(self, state: Mapping[int, Number | LazyReal]) -> dict[str, Number | LazyReal]:
        """The state of the search by name, with the names given in :func:`language_to_rnn`.

        Raises:
            ValueError: a key of the state is not a unit.
        """
        decoder = self.empty.decoder
        check_units(state, self.units)
        rows = ((name, decoder.D.row(i).items(), decoder.d[i]) for i, name in enumerate(decoder.names))
        return {name: sum((state[j] * w for j, w in row if j in state), start=d) for name, row, d in rows}


def _settled(output: Number | LazyReal) -> int:
    """An output, which is a difference of bits."""
    if not isinstance(output, int):
        raise ValueError(f"an output is 0, 1 or -1, not {output}")
    return output
