"""Tables of automata, maps of words, counter machines and classes: oracles, and the running of a reader's machine."""

from fractions import Fraction
from itertools import chain
from typing import Any

from attrs import frozen
from numpy.random import Generator

from fhx.compile import counters_to_rnn
from fhx.exercises.compare import MalformedError
from fhx.machines import DFA, GROWTH, NAMED, CounterMachine, all_words, complexity, syntactic_monoid
from fhx.machines.words import Symbol

__all__ = ["WORDS_GO_ROUND", "Among", "counts_sums", "maps_and_star", "small_machine", "table_of"]


WORDS_GO_ROUND = DFA(
    range(3), "ab", {(q, x): q_x[q] for x, q_x in (("a", (1, 1, 0)), ("b", (0, 2, 2))) for q in range(3)}, 0, [0]
)
"""No letter leads states round a circle, but a word does."""


@frozen
class Among:
    """Whether a word is in a language of ``GROWTH`` or of ``NAMED``, written by its name.

    Attributes:
        name: of the language.
    """

    name: str

    def __call__(self, word: str) -> bool:
        """Whether the word is a member."""
        return NAMED[self.name].accepts(word) if self.name in NAMED else bool(GROWTH[self.name].contains(word))


def table_of(dfa: DFA, symbol: Symbol) -> tuple[Fraction, int]:
    """The number and the digits of a symbol's table, the digits read as one integer in base 3."""
    order = [q for accepting in (True, False) for q in dfa.states if (q in dfa.accept) is accepting]
    text = "".join("2" * order.index(dfa.transitions[q, symbol]) + "0" for q in order)
    return Fraction(int(text, 3), 3 ** len(text)), len(text)


def maps_and_star(dfa: DFA) -> tuple[int, bool]:
    """How many maps words make, and whether the language is star-free."""
    return len(syntactic_monoid(dfa)), complexity(dfa).star_free


def small_machine(generator: Generator) -> tuple[DFA]:
    """A minimal machine of at most four states."""
    table = {(q, x): int(generator.integers(4)) for q in range(4) for x in "ab"}
    accept = [q for q in range(4) if generator.integers(2)]
    return (DFA(range(4), "ab", table, 0, accept).minimize(),)


def counts_sums(value: Any) -> bool:
    """True if the net of a counter machine accepts the words :math:`a^i b^j c^{i+j}` and no others.

    Raises:
        ValueError: not a counter machine, another alphabet, or a word on which it is wrong.
    """
    if not isinstance(value, CounterMachine):
        raise MalformedError("CounterMachine(states, alphabet, counters, transitions, start, accept, at_zero)", value)
    if set(value.alphabet) != set("abc"):
        raise ValueError(f"the alphabet is {''.join(map(str, value.alphabet))!r} and should be 'abc'")
    net = counters_to_rnn(value)
    long = (
        "a" * i + "b" * j + "c" * k for i, j, k in ((20, 30, 50), (20, 30, 49), (40, 0, 40), (0, 33, 34), (25, 25, 51))
    )
    for word in chain(all_words("abc", 8), long):
        i, j = word.count("a"), word.count("b")
        wanted = word == "a" * i + "b" * j + "c" * (i + j)
        if net.accepts(word) != wanted:
            named = repr(word) if len(word) < 20 else f"a^{i} b^{j} c^{word.count('c')}"
            raise ValueError(f"{named} is {'not ' * wanted}accepted and should {'not ' * (not wanted)}be")
    return True
