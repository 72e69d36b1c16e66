r"""What too few states cannot tell apart: words that lead to one state, and the mistake that follows.

Two words that lead a deterministic machine to one state have one verdict with every end. A machine of few states can
so be caught, whatever it is: with finitely many on :math:`a^n b^n`, and with polynomially many on the marked
palindromes :math:`w \# w^{\mathrm R}`, since of words :math:`w` of n letters there are :math:`2^n`.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, Protocol

from attrs import frozen

from fhx._checks import at_least, check_kind, positive
from fhx.machines.counter import CounterMachine
from fhx.machines.dfa import DFA
from fhx.machines.words import Symbol, Word, as_word

__all__ = [
    "StepMachine",
    "configuration_bound",
    "equal_blocks_mistake",
    "palindrome_length",
    "palindrome_mistake",
    "state_counts",
]


class Steps(Protocol):
    """A first state, a step, and which states accept; a :class:`fhx.machines.CounterMachine` is one."""

    @property
    def first(self) -> Any: ...
    @property
    def step(self) -> Callable[[Any, Any], Any]: ...
    @property
    def accepting(self) -> Callable[[Any], bool]: ...


@frozen
class StepMachine:
    """Any deterministic machine that reads words, seen from outside: a net with the numbers of its state, for example.

    Attributes:
        first: the state before the first symbol, hashable like all others.
        step: from a state and a symbol to the next state.
        accepting: whether a state accepts.
    """

    first: Hashable
    step: Callable[[Any, Any], Hashable]
    accepting: Callable[[Any], bool]

    @classmethod
    def from_dfa(cls, dfa: DFA) -> "StepMachine":
        """A finite automaton."""
        return cls(dfa.start, dfa.step, dfa.accept.__contains__)


def state_counts(machine: Steps, alphabet: Sequence[Symbol], length: int) -> list[int]:
    r"""How many states the words of t symbols lead to, for :math:`t = 0, \dots, n`: its **state complexity**.

    Args:
        machine: a :class:`fhx.machines.CounterMachine` or a :class:`fhx.machines.StepMachine`.
        alphabet: the symbols of the words.
        length: n.

    Raises:
        ValueError: ``length`` is not an integer of at least 0.

    Source: Merrill (2019), "Sequential neural networks as automata".
    """
    states, counts = {machine.first}, [1]
    for _ in range(at_least("length", length, 0)):
        states = {machine.step(state, symbol) for state in states for symbol in alphabet}
        counts.append(len(states))
    return counts


def equal_blocks_mistake(machine: Steps, max_states: int, letters: Sequence[Symbol] = "ab") -> Word | None:
    r"""A word on which a machine is wrong about :math:`a^n b^n`, if it has no more states than are allowed.

    Among the words :math:`a^0, \dots, a^m` two, of i and of j > i letters, lead to one of m states. Then
    :math:`a^i b^i` and :math:`a^j b^i` have one verdict, and only the first word is in the language.

    Args:
        machine: of any kind.
        max_states: m, how many states are looked for.
        letters: a and b.

    Returns:
        The word, which is accepted and should not be, or rejected and should not be. None if the words
        :math:`a^0, \dots, a^m` lead to different states.

    Raises:
        ValueError: ``max_states`` is not a positive integer.
    """
    a, b = letters
    state, found = machine.first, dict[Hashable, int]()
    for j in range(positive("max_states", max_states) + 1):
        i = found.setdefault(state, j)
        if i < j:
            accepted = machine.accepting(_after(machine, state, [b] * i))
            return as_word([a] * (j if accepted else i) + [b] * i, letters)
        state = machine.step(state, a)
    return None


def palindrome_mistake(
    machine: Steps, max_length: int, letters: Sequence[Symbol] = "ab", marker: Symbol = "#"
) -> Word | None:
    r"""A word on which a machine is wrong about :math:`w \# w^{\mathrm R}`, if it merges two words w of one length.

    If u and v lead to one state, so do :math:`u \# u^{\mathrm R}` and :math:`v \# u^{\mathrm R}`, of which the first
    is in the language, and the second, since they have one length, is not. Words are tried by length; as long as none
    merge there are as many states as words, so what is kept is at most one word for each state.

    Args:
        machine: of any kind, with both letters and the marker among its symbols.
        max_length: the longest w that is tried: :func:`fhx.machines.palindrome_length` is enough for a counter machine.
        letters: of w.
        marker: #.

    Returns:
        The word, or None if all words w of each length lead to different states.

    Raises:
        ValueError: ``max_length`` is not an integer of at least 0.
    """
    level: dict[Hashable, tuple[Symbol, ...]] = {machine.first: ()}
    for _ in range(at_least("max_length", max_length, 0)):
        longer: dict[Hashable, tuple[Symbol, ...]] = {}
        for state, u in level.items():
            for letter in letters:
                v = (*u, letter)
                after = machine.step(state, letter)
                if (other := longer.setdefault(after, v)) != v:
                    end = (marker, *reversed(v))
                    accepted = machine.accepting(_after(machine, after, end))
                    return as_word((*(other if accepted else v), *end), (*letters, marker))
        level = longer
    return None


def configuration_bound(machine: CounterMachine, length: int) -> int:
    r"""How many configurations words of n symbols can lead to: :math:`|Q|\,(n + 1)^k + 1`, the last for a stop.

    Raises:
        TypeError: not a counter machine.
        ValueError: ``length`` is not an integer of at least 0.
    """
    check_kind(machine, CounterMachine, "configuration_bound")
    n = at_least("length", length, 0)
    return len(machine.states) * (n + 1) ** machine.counters + 1


def palindrome_length(machine: CounterMachine, letters: int = 2) -> int:
    r"""The least n for which there are more words of n letters than configurations after them.

    So :func:`fhx.machines.palindrome_mistake` finds a mistake of every counter machine, with a w no longer than this.

    Raises:
        TypeError: not a counter machine.
        ValueError: ``letters`` is not an integer of at least 2.
    """
    check_kind(machine, CounterMachine, "palindrome_length")
    letters, n = at_least("letters", letters, 2), 0
    while letters**n <= configuration_bound(machine, n):
        n += 1
    return n


def _after(machine: Steps, state: Any, word: Iterable[Symbol]) -> Any:
    for symbol in word:
        state = machine.step(state, symbol)
    return state
