"""The laws of a machine, and all the ways in which one breaks them."""

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping
from typing import Any

__all__ = ["check_dfa", "check_turing_machine", "hashed", "in_order"]

SHOWN = 10
"""So many faults are told in full; the rest are counted."""


def in_order(values: Iterable[Hashable], what: str) -> tuple[Hashable, ...]:
    """The values as a tuple, if they have an order; a TypeError for a set, which has none, and as :func:`hashed`."""
    if isinstance(values, set | frozenset):
        raise TypeError(f"the {what} must have an order, and a set has none: give a list, a tuple or a string")
    return hashed(values, what)


def hashed(values: Iterable[Hashable], what: str) -> tuple[Hashable, ...]:
    """The values as a tuple; a TypeError for what cannot be listed or hashed."""
    try:
        values = tuple(values)
        hash(values)
    except TypeError as error:
        raise TypeError(f"the {what} must be several hashable values: {error}") from error
    return values


def check_dfa(
    states: Collection[Hashable],
    alphabet: Collection[Hashable],
    transitions: Mapping[Any, Any],
    start: Hashable,
    accept: Iterable[Hashable],
) -> None:
    """Raise one ValueError that tells all the faults of a machine, if it has any."""
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


def check_turing_machine(
    transitions: Mapping[Any, Any], start: Hashable, accept: Hashable, reject: Hashable, alphabet: Collection[Hashable]
) -> None:
    """Raise one ValueError that tells all the faults of a machine, if it has any."""
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


def _refuse(what: str, faults: list[str]) -> None:
    if faults:
        more = [f"and {len(faults) - SHOWN} more"] * (len(faults) > SHOWN)
        raise ValueError(f"this is not a {what}: " + "; ".join(faults[:SHOWN] + more))


def _repeated(values: Iterable[Hashable], what: str) -> Iterator[str]:
    return (f"{what} {value!r} is listed {times} times" for value, times in Counter(values).items() if times > 1)


def _transition_faults(pair: Any, target: Any, states: set, symbols: set) -> Iterator[str]:
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


def _rule_faults(pair: Any, rule: Any, ends: tuple[Hashable, Hashable]) -> Iterator[str]:
    if not isinstance(pair, tuple) or len(pair) != 2:
        yield f"a rule leaves from {pair!r}, which is not a pair (state, symbol)"
    elif pair[0] in ends:
        yield f"a rule leaves from {pair[0]!r} on {pair[1]!r}, and in {pair[0]!r} the machine halts"
    if not isinstance(rule, tuple) or len(rule) != 3:
        yield f"the rule for {pair!r} is {rule!r}, which is not a triple (state, symbol, move)"
    elif rule[2] not in ("L", "R"):
        yield f"the rule for {pair!r} moves {rule[2]!r}, and a move is 'L' or 'R'"
