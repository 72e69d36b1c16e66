"""Nondeterministic finite automata as frozen values."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Iterator, Mapping, Reversible

from attrs import field, frozen

from fhx._checks import positive
from fhx.machines.dfa import DFA
from fhx.machines.search import breadth_first
from fhx.machines.validation import alphabet_in_order, check_nfa, frozen_target_sets, hashed, states_in_order
from fhx.machines.words import State, Symbol

__all__ = ["NFA", "letter_from_the_end"]


def _some(states: Iterable[State]) -> frozenset[State]:
    return frozenset(hashed(states, "states to start or to accept in"))


@frozen(repr=False)
class NFA:
    r"""A nondeterministic finite automaton :math:`(Q, \Sigma, \Delta, I, F)` without empty moves.

    It is in a **set** of states at a time,

    .. math:: S_0 = I, \qquad S_t = \bigcup_{q \in S_{t-1}} \Delta(q, x_t),

    and accepts a word of T symbols if :math:`S_T \cap F \ne \emptyset`.

    Args:
        states: :math:`Q`, a list, tuple or other ordered iterable, each state once.
        alphabet: :math:`\Sigma`, ordered too and not empty; a string is its characters.
        transitions: :math:`\Delta`, a mapping ``{(state, symbol): states}``; a pair that is missing leads nowhere.
        start: :math:`I`, the states to start in, any iterable.
        accept: :math:`F`, any iterable of states.

    Raises:
        TypeError: states or symbols without order (a set) or not hashable, or transitions that are not a mapping.
        ValueError: broken laws, all of them at once: a transition that leads outside or leaves from an unknown state or
            symbol, a start or an accepting state outside, a state or symbol listed twice, no state, no symbol.

    Source: Rabin and Scott (1959), "Finite automata and their decision problems".
    """

    states: tuple[State, ...] = field(converter=states_in_order)
    alphabet: tuple[Symbol, ...] = field(converter=alphabet_in_order)
    transitions: Mapping[tuple[State, Symbol], frozenset[State]] = field(converter=frozen_target_sets)
    start: frozenset[State] = field(converter=_some)
    accept: frozenset[State] = field(converter=_some)

    def __attrs_post_init__(self) -> None:
        check_nfa(self.states, self.alphabet, self.transitions, self.start, self.accept)

    def __repr__(self) -> str:
        def listed(some: Iterable[State]) -> list[State]:
            chosen = set(some)
            return [q for q in self.states if q in chosen]

        moves = {
            (q, a): listed(self.transitions[q, a])
            for q in self.states
            for a in self.alphabet
            if self.transitions.get((q, a))
        }
        return f"NFA({self.states}, {self.alphabet}, {moves}, {listed(self.start)}, {listed(self.accept)})"

    def step(self, states: Iterable[State], symbol: Symbol) -> frozenset[State]:
        """All states that the symbol leads to from some of these; a ValueError for a symbol outside the alphabet."""
        if symbol not in self.alphabet:
            raise ValueError(f"symbol {symbol!r} is outside the alphabet {self.alphabet}")
        return frozenset().union(*(self.transitions.get((q, symbol), ()) for q in states))

    def run(self, word: Iterable[Symbol]) -> Iterator[frozenset[State]]:
        r"""Yield the :math:`T + 1` sets :math:`S_0, \dots, S_T` of the run on a word of :math:`T` symbols.

        Raises:
            ValueError: on reaching a symbol outside the alphabet.
        """
        states = self.start
        yield states
        for symbol in word:
            states = self.step(states, symbol)
            yield states

    def accepts(self, word: Iterable[Symbol]) -> bool:
        r"""Whether :math:`S_T` holds an accepting state; a ValueError for a symbol outside the alphabet."""
        *_, last = deque(self.run(word), maxlen=1)
        return not last.isdisjoint(self.accept)

    def determinize(self) -> DFA:
        r"""The machine whose states are the sets that words lead to, at most :math:`2^{|Q|}`, breadth first.

        Source: the subset construction of Rabin and Scott (1959).
        """
        reached = breadth_first(self.start, lambda states: (self.step(states, a) for a in self.alphabet))
        moves = {(states, a): self.step(states, a) for states in reached for a in self.alphabet}
        accept = [states for states in reached if not states.isdisjoint(self.accept)]
        return DFA(reached, self.alphabet, moves, self.start, accept)

    @classmethod
    def from_dfa(cls, dfa: DFA) -> NFA:
        """The same machine, with one state at a time."""
        moves = {pair: [target] for pair, target in dfa.transitions.items()}
        return cls(dfa.states, dfa.alphabet, moves, [dfa.start], dfa.accept)

    def reverse(self) -> NFA:
        """The machine of all accepted words read backwards: transitions turned round, starts and ends exchanged."""
        back: dict[tuple[State, Symbol], list[State]] = {}
        for (q, a), targets in self.transitions.items():
            for target in targets:
                back.setdefault((target, a), []).append(q)
        return NFA(self.states, self.alphabet, back, self.accept, self.start)


def letter_from_the_end(d: int, alphabet: Reversible[Hashable] = "ab") -> NFA:
    r"""The words whose d-th last symbol is the first of the alphabet: d + 1 states, where a DFA needs :math:`2^d`.

    State 0 waits; at some such symbol the machine guesses that d - 1 symbols follow, and counts them.

    Raises:
        ValueError: d is not a positive integer, or the alphabet has fewer than two symbols.
    """
    d, symbols = positive("d", d), alphabet_in_order(alphabet)
    if len(symbols) < 2:
        raise ValueError(f"two symbols are needed, got {symbols}")
    moves: dict[tuple[State, Symbol], list[int]] = {(i, a): [i + 1] for i in range(1, d) for a in symbols}
    moves |= {(0, a): [0, 1] if a == symbols[0] else [0] for a in symbols}
    return NFA(range(d + 1), symbols, moves, [0], [d])
