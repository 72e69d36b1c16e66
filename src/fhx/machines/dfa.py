"""Deterministic finite automata as frozen values."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Reversible

from attrs import evolve, field, frozen

from fhx.machines.equivalence import Comparison, compare, require_same_alphabet
from fhx.machines.library import LibraryDFA, parts, to_library, translate_regex
from fhx.machines.search import breadth_first
from fhx.machines.validation import alphabet_in_order, check_dfa, frozen_transitions, hashed, states_in_order
from fhx.machines.words import State, Symbol

__all__ = ["DFA", "State"]


def _accept(accept: Iterable[State]) -> frozenset[State]:
    return frozenset(hashed(accept, "accepting states"))


@frozen(repr=False)
class DFA:
    r"""A deterministic finite automaton :math:`(Q, \Sigma, \delta, q_0, F)`, total and with its states in order.

    A **run** on the word :math:`x_1 \dots x_T` is the sequence of states

    .. math:: q_t = \delta(q_{t-1}, x_t), \qquad t = 1, \dots, T,

    and the word is accepted if :math:`q_T \in F`; so the empty word is accepted if :math:`q_0 \in F`. States and
    symbols are any hashable values. Their order is part of the value, since units and matrices are numbered by it: two
    machines are equal if all five parts are, and :meth:`equivalent` if they accept the same words.

    Args:
        states: :math:`Q`, a list, tuple or other ordered iterable, each state once.
        alphabet: :math:`\Sigma`, ordered too and not empty; a string is its characters.
        transitions: :math:`\delta`, a mapping ``{(state, symbol): state}`` with every pair; stored immutable.
        start: :math:`q_0`.
        accept: :math:`F`, any iterable of states; stored as a frozenset.

    Raises:
        TypeError: states or symbols without order (a set) or not hashable, or transitions that are not a mapping.
        ValueError: broken laws, all of them at once: a missing transition, one that leads outside or leaves from an
            unknown state or symbol, a start or an accepting state outside, a state or symbol listed twice, no state,
            no symbol.
    """

    states: tuple[State, ...] = field(converter=states_in_order)
    alphabet: tuple[Symbol, ...] = field(converter=alphabet_in_order)
    transitions: Mapping[tuple[State, Symbol], State] = field(converter=frozen_transitions)
    start: State
    accept: frozenset[State] = field(converter=_accept)

    def __attrs_post_init__(self) -> None:
        hashed((self.start, *self.transitions.values()), "start and the targets of transitions")
        check_dfa(self.states, self.alphabet, self.transitions, self.start, self.accept)

    def __repr__(self) -> str:
        accept = [state for state in self.states if state in self.accept]
        transitions = {(q, a): self.transitions[q, a] for q in self.states for a in self.alphabet}
        return f"DFA({self.states}, {self.alphabet}, {transitions}, {self.start!r}, {accept})"

    # Runs

    def step(self, state: State, symbol: Symbol) -> State:
        r""":math:`\delta(q, x)`; a ValueError for a state or symbol that the machine does not have."""
        try:
            return self.transitions[state, symbol]
        except (KeyError, TypeError):
            if symbol not in self.alphabet:
                raise ValueError(f"symbol {symbol!r} is outside the alphabet {self.alphabet}") from None
            raise ValueError(f"{state!r} is not a state of this machine") from None

    def run(self, word: Iterable[Symbol]) -> Iterator[State]:
        r"""Yield the :math:`T + 1` states :math:`q_0, q_1, \dots, q_T` of the run on a word of :math:`T` symbols.

        Raises:
            ValueError: on reaching a symbol outside the alphabet.
        """
        state = self.start
        yield state
        for symbol in word:
            state = self.step(state, symbol)
            yield state

    def accepts(self, word: Iterable[Symbol]) -> bool:
        r"""Whether the run on the word ends in :math:`F`; a ValueError for a symbol outside the alphabet."""
        *_, last = deque(self.run(word), maxlen=1)
        return last in self.accept

    # Forms

    def reachable(self) -> tuple[State, ...]:
        """The states that some word leads to, breadth first from the start in the order of the alphabet."""
        return breadth_first(self.start, lambda state: (self.transitions[state, symbol] for symbol in self.alphabet))

    def canonical(self) -> DFA:
        r"""The reachable part with its states renamed :math:`0, \dots, n-1`, breadth first by alphabet.

        Two minimal machines with one alphabet in one order are equivalent exactly if their canonical forms are equal.
        """
        reached = self.reachable()
        number = {state: i for i, state in enumerate(reached)}
        transitions = {(number[q], a): number[self.transitions[q, a]] for q in reached for a in self.alphabet}
        accept = [number[q] for q in reached if q in self.accept]
        return DFA(range(len(reached)), self.alphabet, transitions, 0, accept)

    def minimize(self) -> DFA:
        """The smallest equivalent machine, by Hopcroft's algorithm in automata-lib.

        Unreachable states are left out, and states that no word tells apart are merged; each class bears the name of
        its first member breadth first, and the classes stand in that order.
        """
        reached = self.reachable()
        classes = to_library(self.canonical()).minify(retain_names=True).states
        leader = {reached[i]: reached[min(members)] for members in classes for i in members}
        states = [q for q in reached if leader[q] == q]
        transitions = {(q, a): leader[self.transitions[q, a]] for q in states for a in self.alphabet}
        return DFA(states, self.alphabet, transitions, self.start, self.accept.intersection(states))

    def equivalent(self, other: DFA) -> Comparison:
        """Whether the two accept the same words; if not, with a shortest word on which they differ.

        Returns:
            A :class:`Comparison`, true or false; its ``word`` is None or a string or tuple of symbols.

        Raises:
            ValueError: the alphabets differ as sets.
        """
        return compare(self, other)

    # Sets of words

    def __invert__(self) -> DFA:
        r"""The words that are not accepted: the same machine with :math:`F` replaced by :math:`Q \setminus F`."""
        return evolve(self, accept=frozenset(self.states) - self.accept)

    def __and__(self, other: DFA) -> DFA:
        return self._combine("intersection", other)

    def __or__(self, other: DFA) -> DFA:
        return self._combine("union", other)

    def __sub__(self, other: DFA) -> DFA:
        return self._combine("difference", other)

    def __xor__(self, other: DFA) -> DFA:
        return self._combine("symmetric_difference", other)

    def _combine(self, operation: str, other: DFA) -> DFA:
        """The minimal canonical machine of a set operation of automata-lib, over this machine's alphabet."""
        if not isinstance(other, DFA):
            return NotImplemented
        require_same_alphabet(self, other)
        other = evolve(other, alphabet=self.alphabet)
        machine = getattr(to_library(self.canonical()), operation)(to_library(other.canonical()))
        return DFA.from_automata_lib(machine, self.alphabet).canonical()

    # Other forms of machines

    @classmethod
    def from_regex(cls, regex: str, alphabet: Reversible[str]) -> DFA:
        r"""The minimal machine of a regular expression, its states :math:`0, \dots, n-1` breadth first.

        The expression is automata-lib's: ``ab``, ``a|b``, ``a*``, ``a+``, ``a?``, ``a{2,3}``, ``(a)``, ``[ab]``,
        ``.`` for any symbol, ``a&b`` for intersection and ``a^b`` for shuffle; a backslash makes a sign a symbol, and
        a space is a symbol too. The empty expression stands for the empty word.

        Raises:
            ValueError: an expression that cannot be read, or a symbol outside the alphabet.
        """
        symbols = alphabet_in_order(alphabet)
        return cls.from_automata_lib(translate_regex(regex, symbols), symbols).canonical()

    @classmethod
    def from_automata_lib(cls, machine: LibraryDFA, alphabet: Reversible[Symbol]) -> DFA:
        """A machine of automata-lib, made total, its reachable states breadth first under their own names.

        Args:
            machine: an ``automata.fa.dfa.DFA``, partial or total.
            alphabet: our symbols in their order. If all are single characters the machine reads those; else it reads
                the private characters U+F0000, U+F0001, ... that :meth:`to_automata_lib` gives to our symbols.

        Raises:
            ValueError: the machine reads other characters.
        """
        return cls(*parts(machine, alphabet_in_order(alphabet)))

    def to_automata_lib(self) -> LibraryDFA:
        """This machine as an ``automata.fa.dfa.DFA``; symbols that are not single characters become private ones."""
        return to_library(self)
