r"""Tapes that are infinite both ways, folded onto tapes with a first cell."""

from collections.abc import Iterable
from itertools import product
from typing import NamedTuple

from fhx.machines.turing import Configuration, Rule, TuringMachine
from fhx.machines.words import State, Symbol

__all__ = ["FIRST", "TwoWay", "fold_tape", "fold_word", "unfold_tape"]

FIRST = "first"
"""The mark on the first cell of a folded tape."""

SIDES = ("right", "left")
FLIPPED = {"L": "R", "R": "L"}


class TwoWay(NamedTuple):
    r"""A machine on a tape that is infinite both ways, at a moment.

    Cells are numbered by the integers; the head starts on cell 0. ``tape`` has no blanks at its ends, and its first
    symbol is on the cell ``first``, which is 0 for an empty tape.
    """

    state: State
    tape: tuple[Symbol, ...]
    first: int
    head: int | None


def fold_tape(tm: TuringMachine) -> TuringMachine:
    r"""The machine on a tape with a first cell that does what ``tm`` does on a tape infinite both ways, step for step.

    The tape is folded between the cells :math:`-1` and :math:`0`: cell :math:`i \ge 0` holds the pair of the symbols
    of the cells :math:`i` and :math:`-1-i`, and a third part, :data:`FIRST`, if :math:`i = 0`. The state is a pair of
    the machine's state and the side that the head is on. On the left side its moves are mirrored,

    .. math:: (q, \text{right}): D \mapsto D, \qquad (q, \text{left}): \mathrm{L} \leftrightarrow \mathrm{R},

    and on the first cell a move to the left changes sides: there it stays, as every move to the left does at the left
    end, so that the fold costs no step. The states in which the machine halts have no side.

    Args:
        tm: a machine, its tape now taken to be infinite both ways. :func:`fold_word` writes its words for the result.
    """
    words: list[Symbol] = [(a, tm.blank, FIRST) for a in dict.fromkeys((*tm.input_alphabet, tm.blank))]
    words += [(a, tm.blank) for a in tm.input_alphabet]
    rules: dict[tuple[State, Symbol], Rule] = {}
    for ((q, a), rule), side, other, mark in product(tm.transitions.items(), SIDES, tm.tape_alphabet, ((), (FIRST,))):
        rules[(q, side), (*_cell(side, a, other), *mark)] = _folded(tm, rule, side, other, mark)
    start = tm.start if tm.start in (tm.accept, tm.reject) else (tm.start, "right")
    return TuringMachine(rules, start, tm.accept, tm.reject, (tm.blank, tm.blank), words)


def fold_word(tm: TuringMachine, word: Iterable[Symbol]) -> tuple[tuple[Symbol, ...], ...]:
    """A word of ``tm`` as a word of ``fold_tape(tm)``: the first cell marked, nothing to its left.

    The empty word becomes one blank first cell.
    """
    first, *rest = list(word) or [tm.blank]
    return ((first, tm.blank, FIRST), *((symbol, tm.blank) for symbol in rest))


def unfold_tape(tm: TuringMachine, configuration: Configuration) -> TwoWay:
    """A configuration of ``fold_tape(tm)`` as one of ``tm``; its head is None in a state that has no side.

    Raises:
        ValueError: it is not a configuration of the folded machine.
    """
    state, tape, head = configuration
    left, right = [_parts(cell)[1] for cell in reversed(tape)], [_parts(cell)[0] for cell in tape]
    cells = {i - len(left): symbol for i, symbol in enumerate(left + right) if symbol != tm.blank}
    first, last = min(cells, default=0), max(cells, default=-1)
    symbols = tuple(cells.get(i, tm.blank) for i in range(first, last + 1))
    if state in (tm.accept, tm.reject):
        return TwoWay(state, symbols, first, None)
    q, side = _parts(state)
    return TwoWay(q, symbols, first, head if side == "right" else -1 - head)


def _parts(value: Symbol) -> tuple[Symbol, ...]:
    if not isinstance(value, tuple):
        raise ValueError(f"{value!r} is neither a state nor a cell of a folded machine")
    return value


def _cell(side: str, here: Symbol, other: Symbol) -> tuple[Symbol, Symbol]:
    return (here, other) if side == "right" else (other, here)


def _folded(tm: TuringMachine, rule: Rule, side: str, other: Symbol, mark: tuple[Symbol, ...]) -> Rule:
    target, written, move = rule
    move = move if side == "right" else FLIPPED[move]
    crosses = mark and move == "L"
    if target not in (tm.accept, tm.reject):
        target = (target, SIDES[1 - SIDES.index(side)] if crosses else side)
    return target, (*_cell(side, written, other), *mark), move
