"""What there is to draw of a Turing machine's run in its net."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from itertools import islice
from typing import TYPE_CHECKING

from attrs import frozen

from fhx.machines import fold_word, unfold_tape

if TYPE_CHECKING:
    from fhx.compile import Layout, TuringNet
    from fhx.exact.numbers import Number
    from fhx.machines import Configuration, TuringMachine

__all__ = ["Run", "unit_groups"]


def unit_groups(net: TuringNet[Layout]) -> dict[str, list[int]]:
    """The units of a machine's net by what they hold; a unit of several parts stands in the first of them."""
    names, code = net.layout, net.decoder
    parts: dict[str, Iterable[str]] = {
        "loading": (names.load, names.gap, names.first),
        "state & symbol": names.pairs.values(),
        "left stack": _by_symbol(names.left, names.left_top),
        "right stack": _by_symbol(names.right, names.right_top),
    }
    rows = {name: i for i, name in enumerate(code.names)}
    groups: dict[str, list[int]] = {}
    seen: set[int] = set()
    for part, members in parts.items():
        found = dict.fromkeys(unit for name in members for unit in sorted(code.D.row(rows[name])))
        groups[part] = [unit for unit in found if unit not in seen]
        seen.update(found)
    groups["others"] = [unit for unit in range(net.units) if unit not in seen]
    return {part: units for part, units in groups.items() if units}


def _by_symbol(*parts: Mapping[Hashable, str]) -> list[str]:
    return [part[symbol] for symbol in parts[0] for part in parts]


@frozen
class Run:
    """What there is to draw, one column per net step: the cells that are on the tape, and the head's if there is one.

    ``begin`` is the column of the machine's first configuration, ``first`` the topmost cell. The blank is the first
    symbol.
    """

    word: tuple[Hashable, ...]
    states: list[dict[int, Number]]
    outputs: list[Number]
    tapes: list[dict[int, Hashable]]
    heads: dict[int, int]
    symbols: list[Hashable]

    @classmethod
    def of(cls, net: TuringNet[Layout], word: tuple[Hashable, ...], steps: int, folded: TuringMachine | None) -> Run:
        shown = net.machine if folded is None else folded
        fed: tuple[Hashable, ...] = word
        if folded is not None:
            fed = cells = fold_word(folded, word)
            word = tuple(cell[0] for cell in cells)
        states: list[dict[int, Number]] = []
        outputs: list[Number] = []
        tapes: list[dict[int, Hashable]] = []
        heads: dict[int, int] = {}
        answers = net.outputs(fed)
        for t, state in enumerate(islice(net.run(fed), len(word) + 2 + steps)):
            here = net.layout.configuration(net.decode(state), net.machine, net.base)
            first, tape, head = 0, word[:t] if t <= len(word) else (), None
            if here is not None:
                first, tape, head = _seen(here, folded)
            states.append(state)
            tapes.append(dict(enumerate(tape, start=first)))
            if head is not None:
                heads[t] = head
            over = any(outputs)
            outputs.append(next(answers) if t else 0)
            if over:
                break
        on = {symbol for tape in tapes for symbol in tape.values()} | {shown.blank}
        return cls(word, states, outputs, tapes, heads, [a for a in shown.tape_alphabet if a in on])

    @property
    def begin(self) -> int:
        return len(self.word) + 1

    @property
    def first(self) -> int:
        return min([0, *self.heads.values(), *(cell for tape in self.tapes for cell in tape)])

    @property
    def cells(self) -> int:
        return 1 + max([0, *self.heads.values(), *(cell for tape in self.tapes for cell in tape)]) - self.first


def _seen(here: Configuration, folded: TuringMachine | None) -> tuple[int, tuple[Hashable, ...], int | None]:
    """The first cell on the tape, the symbols from there on, and the head."""
    if folded is None:
        return 0, here.tape, here.head
    there = unfold_tape(folded, here)
    return there.first, there.tape, there.head
