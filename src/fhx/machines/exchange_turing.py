"""Turing machines of automata-lib and ours: its tape is infinite both ways, and its heads may stay."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Reversible
from string import ascii_letters, punctuation
from typing import Any

from automata.tm.dtm import DTM

from fhx._checks import check_kind
from fhx.machines.turing import Rule, TuringMachine
from fhx.machines.two_way import FIRST, SIDES, fold_tape
from fhx.machines.validation import in_order
from fhx.machines.words import State, Symbol

__all__ = ["turing_from_automata_lib", "turing_to_automata_lib"]

MARKS = "⊢" + punctuation + ascii_letters
"""The first of these that a machine does not use stands to the left of its first cell."""


def turing_to_automata_lib(tm: TuringMachine) -> DTM:
    r"""The machine ``tm`` as an ``automata.tm.dtm.DTM``, whose tape has no first cell: a mark stands left of ours.

    Two steps write the mark :math:`\vdash` on the cell to the left of the word and come back. From then on the rules
    are those of ``tm``, and one more for each of its states, :math:`\delta(q, \vdash) = (q, \vdash, \mathrm{R})`: where
    ``tm`` moves left from its first cell and stays, the other machine moves to the mark and back. So if ``tm`` halts
    after n steps the other does after

    .. math:: 2 + n + m

    steps, where m of the n are moves to the left from the first cell, one into a state that halts not counted. Words
    and verdicts are the same.

    Raises:
        TypeError: it is not a :class:`TuringMachine`.
        ValueError: a symbol of the tape is not a single character: all that are not.
    """
    check_kind(tm, TuringMachine, "turing_to_automata_lib")
    if strange := [symbol for symbol in tm.tape_alphabet if not (isinstance(symbol, str) and len(symbol) == 1)]:
        raise ValueError(f"symbols of automata-lib are single characters, and {_listed(strange)} are not")
    mark = next(character for character in MARKS if character not in tm.tape_alphabet)
    known = {*tm.states, tm.accept, tm.reject}
    left, begin = _fresh("mark", known), _fresh("begin", known)
    rules: dict[Any, dict[Any, Any]] = {  # its symbols are characters, as was seen above
        begin: {symbol: (left, symbol, "L") for symbol in tm.tape_alphabet},
        left: {tm.blank: (tm.start, mark, "R")},
    }
    for q in tm.states:
        rules[q] = {a: tm.transitions[q, a] for a in tm.tape_alphabet if (q, a) in tm.transitions}
        rules[q][mark] = (q, mark, "R")
    return DTM(
        states={*known, left, begin},
        input_symbols=set(map(str, tm.input_alphabet)),
        tape_symbols={*map(str, tm.tape_alphabet), mark},
        transitions=rules,
        initial_state=begin,
        blank_symbol=str(tm.blank),
        final_states={tm.accept},
    )


def turing_from_automata_lib(machine: DTM, alphabet: Reversible[str]) -> TuringMachine:
    r"""An ``automata.tm.dtm.DTM`` as a :class:`TuringMachine` with the same words and verdicts.

    Its tape is folded as by :func:`fold_tape`: the cell :math:`i \ge 0` holds the symbols of the cells i and
    :math:`-1-i`. A cell that was not visited is not touched: there the plain symbol a is read as the pair of a and
    the blank, so that words need no preparation. The first step marks the first cell. A rule that leaves the head where
    it is makes one step with the rule that follows it; if such rules go round for ever, the machine moves right for
    ever. So the steps are those of ``machine``, but for its rules that do not move and are followed by another.

    States in which ``machine`` accepts become one. It rejects where a rule is missing.

    Args:
        machine: the machine.
        alphabet: its input symbols, in the order that they are to have.

    Raises:
        TypeError: it is not a ``DTM``.
        ValueError: the alphabet has other symbols than the machine.
    """
    check_kind(machine, DTM, "turing_from_automata_lib")
    symbols = in_order(alphabet, "symbols of the alphabet")
    if set(symbols) != set(machine.input_symbols):
        raise ValueError(f"the machine reads {_listed(sorted(machine.input_symbols))}, the alphabet is {symbols}")
    known = {*machine.states}
    accept, reject, endless, begin = (_fresh(name, known) for name in ("accept", "reject", "endless", "begin"))
    moving = dict(_moving(machine, accept, reject, endless))
    if any(target == endless for target, _, _ in moving.values()):
        moving |= {(endless, a): (endless, a, "R") for a in machine.tape_symbols}
    start, blank = machine.initial_state, machine.blank_symbol
    if not machine.transitions.get(start):
        start = reject
    folded = fold_tape(TuringMachine(moving, start, accept, reject, blank, symbols)).transitions
    rules = dict[tuple[State, Symbol], Rule](folded)
    for a in dict.fromkeys((*symbols, blank)):
        rules |= {(state, a): rule for (state, cell), rule in folded.items() if cell == (a, blank)}
        if rule := folded.get(((start, SIDES[0]), (a, blank, FIRST))):
            rules[begin, a] = rule
    begun = begin if any(state == begin for state, _ in rules) else reject
    return TuringMachine(rules, begun, accept, reject, blank, symbols)


def _moving(machine: DTM, accept: State, reject: State, endless: State) -> Iterator[tuple[tuple[State, str], Rule]]:
    """The rules with moves L and R: one that stays goes on to the rule that follows it."""
    for q, a in [(q, a) for q, row in machine.transitions.items() for a in row]:
        state: Any = q
        symbol, seen = a, set[tuple[Any, str]]()
        while True:
            seen.add((state, symbol))
            state, symbol, move = machine.transitions[state][symbol]
            if state in machine.final_states:
                state = accept
            if move != "N" or state == accept:
                break
            if symbol not in machine.transitions.get(state, {}):
                state = reject
                break
            if (state, symbol) in seen:
                state = endless
                break
        yield (q, a), (state, symbol, "R" if move == "N" else move)


def _fresh(name: str, known: set[State]) -> str:
    """A name that is none of these, with primes behind it if need be; it is one of them then."""
    while name in known:
        name += "'"
    known.add(name)
    return name


def _listed(symbols: Iterable[object]) -> str:
    return ", ".join(map(repr, symbols))
