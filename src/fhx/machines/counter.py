"""Real-time counter machines as frozen values."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import combinations
from typing import NamedTuple, SupportsIndex

from attrs import field, frozen
from frozendict import frozendict

from fhx._checks import at_least
from fhx.machines.validation import Items, alphabet_in_order, hashed, states_in_order
from fhx.machines.words import State, Symbol

__all__ = ["CounterConfiguration", "CounterMachine", "CounterRule"]

SHOWN = 10
"""This many faults are spelt out; the rest are counted."""

Key = tuple[State, Symbol, str]
Target = tuple[State, tuple[int, ...]]


class CounterConfiguration(NamedTuple):
    """A machine at a moment: its state, and what its counters hold."""

    state: State
    counts: tuple[int, ...]


class CounterRule(NamedTuple):
    """A transition, its parts by name; ``tests`` has one of "0", "+" and "*" for each counter, ``moves`` a number."""

    state: State
    symbol: Symbol
    tests: str
    target: State
    moves: tuple[int, ...]

    def applies(self, counts: Iterable[int]) -> bool:
        """Whether the counters pass the tests: "0" for 0, "+" for at least 1, "*" for any number."""
        return all(test == "*" or (test == "0") == (c == 0) for test, c in zip(self.tests, counts, strict=True))


def _accept(accept: Iterable[State]) -> frozenset[State]:
    return frozenset(hashed(accept, "accepting states"))


def _number_of_counters(counters: SupportsIndex) -> int:
    return at_least("counters", counters, 0)


def _at_zero(at_zero: bool) -> bool:
    return bool(at_zero)


def _frozen(transitions: Items[Key, tuple[State, Sequence[int]]]) -> Mapping[Key, Target]:
    """The transitions, immutable, their moves as tuples; what has another form is kept, to be named as a fault."""
    if not isinstance(transitions, Mapping):
        form = "{(state, symbol, tests): (state, moves)}"
        raise TypeError(f"transitions is a mapping {form}, not {type(transitions).__name__}")
    return frozendict({key: _tupled(rule) for key, rule in transitions.items()})


def _tupled(rule: tuple[State, Sequence[int]]) -> Target:
    pair = isinstance(rule, tuple) and len(rule) == 2 and isinstance(rule[1], list | tuple)
    return (rule[0], tuple(rule[1])) if pair else rule  # type: ignore[return-value]  # a fault


@frozen(repr=False)
class CounterMachine:
    r"""A deterministic real-time counter machine :math:`(Q, \Sigma, k, \delta, q_0, F)`: one step for each symbol.

    It has a state and k **counters** :math:`c \in \{0, 1, 2, \dots\}^k`, all 0 at the start, and of each it sees only
    whether it is 0. A transition :math:`(q, a, \zeta) \mapsto (q', \mu)` has a test :math:`\zeta_i` and a move
    :math:`\mu_i \in \{-1, 0, 1\}` for each counter; where the tests hold, it leads from

    .. math:: (q, c) \quad\text{by } a \text{ to}\quad (q', c + \mu).

    No two transitions apply at once, and none may subtract from a counter that it has not tested to be positive, so a
    counter never falls below 0. Where none applies the machine **stops**, and rejects whatever follows. A word is
    accepted if the machine ends in :math:`F`, with all counters 0 if ``at_zero``.

    **What is no loss.** A counter of any sign is one that is not, and its sign in the state. A machine that moves
    counters by up to B keeps :math:`\lfloor c / B \rfloor` and, in the state, the remainder. A machine that ends with
    all counters 0 can have it in its state whether counter i is 0, if it keeps :math:`\max(c_i - 1, 0)`.

    Args:
        states: :math:`Q`, a list, tuple or other ordered iterable, each state once.
        alphabet: :math:`\Sigma`, ordered too and not empty; a string is its characters.
        counters: k, an integer of at least 0.
        transitions: :math:`\delta`, a mapping ``{(state, symbol, tests): (state, moves)}``; the tests are a string of k
            of the characters "0" (the counter is 0), "+" (it is not) and "*" (either), the moves k integers.
        start: :math:`q_0`.
        accept: :math:`F`, any iterable of states.
        at_zero: whether only words are accepted after which all counters are 0.

    Raises:
        TypeError: states or symbols without order (a set) or not hashable, or transitions that are not a mapping.
        ValueError: broken laws, all of them at once: a transition that leads outside or leaves from an unknown state or
            symbol, tests or moves that are not k of the right kind, a counter that may be 0 and is moved by -1, two
            transitions that apply at once, a start or an accepting state outside, a state or symbol listed twice, no
            state, no symbol. Or ``counters`` is not an integer of at least 0.

    Source: Fischer, Meyer and Rosenberg (1968), "Counter machines and counter languages", whose counters have a sign.
    """

    states: tuple[State, ...] = field(converter=states_in_order)
    alphabet: tuple[Symbol, ...] = field(converter=alphabet_in_order)
    counters: int = field(converter=_number_of_counters)
    transitions: Mapping[Key, Target] = field(converter=_frozen)
    start: State
    accept: frozenset[State] = field(converter=_accept)
    at_zero: bool = field(default=False, converter=_at_zero)

    def __attrs_post_init__(self) -> None:
        hashed((self.start, *self.transitions.values()), "start and the targets of transitions")
        if faults := list(dict.fromkeys(self._faults())):
            more = [f"and {len(faults) - SHOWN} more"] * (len(faults) > SHOWN)
            raise ValueError("this is not a counter machine: " + "; ".join(faults[:SHOWN] + more))

    def __repr__(self) -> str:
        accept = [q for q in self.states if q in self.accept]
        parts = (self.states, self.alphabet, self.counters, dict(self.transitions), self.start, accept, self.at_zero)
        return f"CounterMachine({', '.join(map(repr, parts))})"

    @cached_property
    def rules(self) -> tuple[CounterRule, ...]:
        """The transitions in their order."""
        return tuple(CounterRule(*key, *target) for key, target in self.transitions.items())

    @cached_property
    def _by_pair(self) -> Mapping[tuple[State, Symbol], tuple[CounterRule, ...]]:
        pairs = dict.fromkeys((rule.state, rule.symbol) for rule in self.rules)
        return {pair: tuple(rule for rule in self.rules if rule[:2] == pair) for pair in pairs}

    def rules_of(self, state: State, symbol: Symbol) -> tuple[CounterRule, ...]:
        """The transitions that leave from a state on a symbol, in their order."""
        return self._by_pair.get((state, symbol), ())

    def tested(self, state: State, symbol: Symbol) -> tuple[int, ...]:
        """Which counters, numbered from 0, some transition from this state on this symbol tests."""
        tests = [rule.tests for rule in self.rules_of(state, symbol)]
        return tuple(i for i in range(self.counters) if any(test[i] != "*" for test in tests))

    # Runs

    @property
    def first(self) -> CounterConfiguration:
        """The configuration before the first symbol: the start, and zeros."""
        return CounterConfiguration(self.start, (0,) * self.counters)

    def step(self, configuration: CounterConfiguration | None, symbol: Symbol) -> CounterConfiguration | None:
        """The configuration after a symbol; None if the machine stops or has stopped.

        Raises:
            ValueError: the symbol is outside the alphabet.
        """
        if symbol not in self.alphabet:
            raise ValueError(f"symbol {symbol!r} is outside the alphabet {self.alphabet}")
        if configuration is None:
            return None
        state, counts = configuration
        for rule in self.rules_of(state, symbol):
            if rule.applies(counts):
                moved = tuple(c + move for c, move in zip(counts, rule.moves, strict=True))
                return CounterConfiguration(rule.target, moved)
        return None

    def run(self, word: Iterable[Symbol]) -> Iterator[CounterConfiguration | None]:
        """Yield the T + 1 configurations of the run on a word of T symbols; None from where the machine has stopped.

        Raises:
            ValueError: on reaching a symbol outside the alphabet.
        """
        configuration: CounterConfiguration | None = self.first
        yield configuration
        for symbol in word:
            configuration = self.step(configuration, symbol)
            yield configuration

    def accepting(self, configuration: CounterConfiguration | None) -> bool:
        """Whether a word that leads to this configuration is accepted."""
        if configuration is None or configuration.state not in self.accept:
            return False
        return not (self.at_zero and any(configuration.counts))

    def accepts(self, word: Iterable[Symbol]) -> bool:
        """Whether the run on the word ends in an accepting configuration; a ValueError for an unknown symbol."""
        *_, last = deque(self.run(word), maxlen=1)
        return self.accepting(last)

    # Laws

    def _faults(self) -> Iterator[str]:
        for values, what in ((self.states, "state"), (self.alphabet, "symbol")):
            yield from (f"{what} {v!r} is listed {n} times" for v, n in Counter(values).items() if n > 1)
        if not self.states:
            yield "there are no states"
        if not self.alphabet:
            yield "the alphabet is empty"
        if self.start not in self.states:
            yield f"the start {self.start!r} is not a state"
        yield from sorted(f"the accepting {q!r} is not a state" for q in self.accept if q not in self.states)
        tests: dict[tuple[State, Symbol], list[str]] = {}
        for key, target in self.transitions.items():
            if faults := list(self._rule_faults(key, target)):
                yield from faults
            else:
                tests.setdefault(key[:2], []).append(key[2])
        for (state, symbol), listed in tests.items():
            for one, other in combinations(listed, 2):
                if all(s == t or "*" in s + t for s, t in zip(one, other, strict=True)):
                    yield (
                        f"two transitions from {state!r} on {symbol!r} apply at once, "
                        f"those with tests {one!r} and {other!r}"
                    )

    def _rule_faults(self, key: object, target: object) -> Iterator[str]:
        k = self.counters
        if not isinstance(key, tuple) or len(key) != 3:
            yield f"a transition leaves from {key!r}, which is not a triple (state, symbol, tests)"
            return
        state, symbol, tests = key
        where = f"the transition from {state!r} on {symbol!r} with tests {tests!r}"
        if state not in self.states:
            yield f"{where} leaves from {state!r}, which is not a state"
        if symbol not in self.alphabet:
            yield f"{where} reads {symbol!r}, which is not in the alphabet"
        right_tests = isinstance(tests, str) and len(tests) == k and set(tests) <= set("0+*")
        if not right_tests:
            yield f"{where} needs {k} tests, a string of '0', '+' and '*'"
        if not isinstance(target, tuple) or len(target) != 2:
            yield f"{where} leads to {target!r}, which is not a pair (state, moves)"
            return
        if target[0] not in self.states:
            yield f"{where} leads to {target[0]!r}, which is not a state"
        moves = target[1]
        if not isinstance(moves, tuple) or len(moves) != k or any(type(m) is not int or abs(m) > 1 for m in moves):
            yield f"{where} has the moves {moves!r}, which are not {k} of the integers -1, 0 and 1"
        elif right_tests:
            for i, (test, move) in enumerate(zip(tests, moves, strict=True)):
                if move < 0 and test != "+":
                    yield f"{where} subtracts from counter {i}, which may be 0"
