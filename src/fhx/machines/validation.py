"""What a machine's parts are turned into, its laws, and all the ways in which it can break them."""

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Reversible
from itertools import chain
from typing import Protocol, TypeVar

from frozendict import frozendict

from fhx.machines.words import State, Symbol

__all__ = [
    "Items",
    "alphabet_in_order",
    "check_dfa",
    "check_nfa",
    "check_turing_machine",
    "frozen_rules",
    "frozen_target_sets",
    "frozen_transitions",
    "hashed",
    "in_order",
    "states_in_order",
]

SHOWN = 10
"""This many faults are spelt out; the rest are counted."""

K = TypeVar("K")
V = TypeVar("V")
K_co = TypeVar("K_co", covariant=True)
V_co = TypeVar("V_co", covariant=True)
Rule = tuple[State, Symbol, str]


class Items(Protocol[K_co, V_co]):
    """A mapping as a constructor takes it: ``Mapping`` is not covariant in its keys, and this is."""

    def items(self) -> Iterable[tuple[K_co, V_co]]:
        """The pairs of keys and values."""


def in_order(values: Iterable[Hashable], what: str) -> tuple[Hashable, ...]:
    """The values as a tuple; a TypeError for a set, which has no order, and otherwise as :func:`hashed`."""
    if isinstance(values, set | frozenset):
        raise TypeError(f"the {what} must have an order, and a set has none: give a list, a tuple or a string")
    return hashed(values, what)


def states_in_order(states: Reversible[Hashable]) -> tuple[Hashable, ...]:
    """The states of a machine, as :func:`in_order`."""
    return in_order(states, "states")


def alphabet_in_order(alphabet: Reversible[Hashable]) -> tuple[Hashable, ...]:
    """The symbols of an alphabet, as :func:`in_order`."""
    return in_order(alphabet, "symbols of the alphabet")


def hashed(values: Iterable[Hashable], what: str) -> tuple[Hashable, ...]:
    """The values as a tuple; a TypeError for anything that cannot be listed or hashed."""
    try:
        values = tuple(values)
        hash(values)
    except TypeError as error:
        raise TypeError(f"the {what} must be several hashable values: {error}") from error
    return values


def frozen_transitions(transitions: Items[tuple[State, Symbol], State]) -> Mapping[tuple[State, Symbol], State]:
    """The transitions of a DFA, immutable; a TypeError for anything but a mapping."""
    return _frozen(transitions, "{(state, symbol): state}")


def frozen_target_sets(
    transitions: Items[tuple[State, Symbol], Iterable[State]],
) -> Mapping[tuple[State, Symbol], frozenset[State]]:
    """The transitions of an NFA, immutable; a TypeError for anything but a mapping to several hashable states."""
    listed = _frozen(transitions, "{(state, symbol): states}")
    return frozendict({pair: frozenset(hashed(targets, f"targets of {pair!r}")) for pair, targets in listed.items()})


def frozen_rules(rules: Items[tuple[State, Symbol], Rule]) -> Mapping[tuple[State, Symbol], Rule]:
    """The transitions of a Turing machine, immutable; a TypeError for anything but a mapping."""
    return _frozen(rules, "{(state, symbol): (state, symbol, move)}")


def _frozen(transitions: Items[K, V], form: str) -> Mapping[K, V]:
    if not isinstance(transitions, Mapping):
        raise TypeError(f"transitions is a mapping {form}, not {type(transitions).__name__}")
    return frozendict(transitions)


def check_dfa(
    states: Collection[State],
    alphabet: Collection[Symbol],
    transitions: Mapping[tuple[State, Symbol], State],
    start: State,
    accept: Iterable[State],
) -> None:
    """Raise one ValueError that names all the faults of a machine, if it has any."""
    faults = [*_repeated(states, "state"), *_repeated(alphabet, "symbol")]
    faults += ["there are no states"] * (not states) + ["the alphabet is empty"] * (not alphabet)
    known, symbols = set(states), set(alphabet)
    if start not in known:
        faults.append(f"the start {start!r} is not a state")
    faults += sorted(f"the accepting {state!r} is not a state" for state in accept if state not in known)
    faults += (
        f"no transition from state {state!r} on symbol {symbol!r}"
        for state in dict.fromkeys(states)
        for symbol in dict.fromkeys(alphabet)
        if (state, symbol) not in transitions
    )
    for pair, target in transitions.items():
        faults += _transition_faults(pair, target, known, symbols)
    _refuse("total DFA", faults)


def check_nfa(
    states: Collection[State],
    alphabet: Collection[Symbol],
    transitions: Mapping[tuple[State, Symbol], Iterable[State]],
    start: Iterable[State],
    accept: Iterable[State],
) -> None:
    """Raise one ValueError that names all the faults of a machine, if it has any."""
    faults = [*_repeated(states, "state"), *_repeated(alphabet, "symbol")]
    faults += ["there are no states"] * (not states) + ["the alphabet is empty"] * (not alphabet)
    known, symbols = set(states), set(alphabet)
    faults += sorted(f"the start {state!r} is not a state" for state in start if state not in known)
    faults += sorted(f"the accepting {state!r} is not a state" for state in accept if state not in known)
    for pair, targets in transitions.items():
        each = (_transition_faults(pair, target, known, symbols) for target in targets)
        faults += dict.fromkeys(chain.from_iterable(each))
    _refuse("NFA", faults, "an")


def check_turing_machine(
    transitions: Mapping[tuple[State, Symbol], Rule],
    start: State,
    accept: State,
    reject: State,
    alphabet: Collection[Symbol],
) -> None:
    """Raise one ValueError that names all the faults of a machine, if it has any."""
    faults = [*_repeated(alphabet, "symbol"), *["the input alphabet is empty"] * (not alphabet)]
    if accept == reject:
        faults.append(f"{accept!r} is to accept and to reject")
    named = {accept, reject}
    for pair, rule in transitions.items():
        faults += _rule_faults(pair, rule, (accept, reject))
        named |= {part[0] for part in (pair, rule) if isinstance(part, tuple) and part}
    if start not in named:
        faults.append(f"the start {start!r} has no rules, and none leads to it")
    _refuse("Turing machine", faults)


def _refuse(what: str, faults: list[str], article: str = "a") -> None:
    if faults:
        more = [f"and {len(faults) - SHOWN} more"] * (len(faults) > SHOWN)
        raise ValueError(f"this is not {article} {what}: " + "; ".join(faults[:SHOWN] + more))


def _repeated(values: Iterable[Hashable], what: str) -> Iterator[str]:
    return (f"{what} {value!r} is listed {times} times" for value, times in Counter(values).items() if times > 1)


def _transition_faults(pair: object, target: State, states: set[State], symbols: set[Symbol]) -> Iterator[str]:
    if not isinstance(pair, tuple) or len(pair) != 2:
        yield f"a transition leaves from {pair!r}, which is not a pair (state, symbol)"
        return
    state, symbol = pair
    if state not in states:
        yield f"a transition leaves from {state!r} on {symbol!r}, and {state!r} is not a state"
    if symbol not in symbols:
        yield f"a transition leaves from {state!r} on {symbol!r}, and {symbol!r} is not in the alphabet"
    if target not in states:
        yield f"the transition from {state!r} on {symbol!r} leads to {target!r}, which is not a state"


def _rule_faults(pair: object, rule: object, ends: tuple[State, State]) -> Iterator[str]:
    if not isinstance(pair, tuple) or len(pair) != 2:
        yield f"a rule leaves from {pair!r}, which is not a pair (state, symbol)"
    elif pair[0] in ends:
        yield f"a rule leaves from {pair[0]!r} on {pair[1]!r}, and in {pair[0]!r} the machine halts"
    if not isinstance(rule, tuple) or len(rule) != 3:
        yield f"the rule for {pair!r} is {rule!r}, which is not a triple (state, symbol, move)"
    elif rule[2] not in ("L", "R"):
        yield f"the rule for {pair!r} moves {rule[2]!r}, and a move is 'L' or 'R'"
