"""The explorer of Turing machines as nets: the page steps a compiled net's own rational weights over a typed word."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING, Any

from fhx.figures.controls import Button, Choice, Slider, Text
from fhx.figures.explorer import Explorer
from fhx.figures.turing_run import unit_groups
from fhx.figures.words import state_name

if TYPE_CHECKING:
    from fhx.compile import Layout, TuringNet
    from fhx.exact import Matrix

__all__ = ["turing_explorer"]

_LONGEST, _STEPS = 60, 500
_LAST = _LONGEST + 1 + _STEPS
_SAFE = 2**53  # beyond, a number in JSON is no longer exact in JavaScript


def turing_explorer(
    nets: Mapping[str, TuringNet[Layout]], words: Mapping[str, str] | None = None, name: str = "turing"
) -> Explorer:
    r"""Turing machines run by the nets compiled from them, over a word that the reader types.

    The page holds each net's own W, U, b, :math:`h_0`, w and c as integers over a common denominator, and computes
    without rounding, in integers of any length,

    .. math:: h_t = \mathrm{relu}(W h_{t-1} + U x_t + b), \qquad y_t = w \cdot h_t + c,

    over the word and then over EOS, up to the answer, or for 500 steps of the machine. It holds no table of the
    machine: state, symbol, head, both stacks and the tape are decoded from :math:`h_t`, and the rule used is what
    changed between two states. It shows the tape, all units by what they hold, and each component of the stacks as a
    point of the Cantor set with the margin of its top digit. A symbol outside the alphabet is named, and the net stops
    before it. Each machine keeps its own word. Where the reader wants less motion, the button goes to an end of the run
    and does not play it.

    Args:
        nets: for each name the net of a machine.
        words: for some machines the word to begin with; the empty word unless given.
        name: of the explorer, see :class:`Explorer`.

    Raises:
        ValueError: no net; symbols to be typed that are not single characters; several net steps per symbol; weights
            too long for the page; a first word longer than 60 or with a symbol outside the alphabet; a word for no net.
    """
    if not nets:
        raise ValueError(f"explorer {name!r} needs a net")
    if unknown := [key for key in words or {} if key not in nets]:
        raise ValueError(f"there is a word for {unknown[0]!r}, but no net: the nets are {', '.join(map(repr, nets))}")
    data = {key: _machine(key, net, (words or {}).get(key, "")) for key, net in nets.items()}
    first = data[next(iter(data))]["word"]
    return Explorer(
        name,
        controls=[
            Choice("machine", "Machine", list(data)),
            Text("word", f"Word (at most {_LONGEST} symbols)", default=first, max_length=_LONGEST),
            Slider("position", "Net step", min=0, max=_LAST, step=1, default=len(first) + 1),
            Button("play", "Play"),
        ],
        title="A Turing machine as a net: its tape and its units over a word",
        alt=(
            "The tape with the head, decoded from the net's state; the units of the net by state and symbol; and for "
            "each symbol of each stack its number as a point of the Cantor set. The text above tells the state, the "
            "rule used and the output, and the text below names all units that are not 0."
        ),
        view=("turing_net", "turing"),
        data={"machines": data, "steps": _STEPS},
        budget=150_000,
    )


def _machine(name: str, net: TuringNet[Layout], word: str) -> dict[str, Any]:
    """All that the page needs to know of a net."""
    tm, rnn, names, code = net.machine, net.rnn, net.layout, net.decoder
    if any(not isinstance(symbol, str) or len(symbol) != 1 for symbol in tm.input_alphabet):
        raise ValueError(f"{name}: words can be typed only if their symbols are characters: {tm.input_alphabet}")
    if net.steps_per_symbol != 1:
        raise ValueError(f"{name}: this net takes {net.steps_per_symbol} steps per symbol, and the page takes one")
    if len(word) > _LONGEST:
        raise ValueError(f"{name}: the first word has {len(word)} symbols, at most {_LONGEST} may be typed")
    if foreign := [symbol for symbol in word if symbol not in tm.input_alphabet]:
        raise ValueError(f"{name}: {foreign[0]!r} of the first word is outside the alphabet {tm.input_alphabet}")
    scale = _denominator([*rnn.W.entries.values(), *rnn.U.entries.values(), *rnn.b, *rnn.h0])
    coded = _denominator([*code.D.entries.values(), *code.d])
    read = _denominator([*net.w, net.c])
    rows = {part: i for i, part in enumerate(code.names)}
    states = list(dict.fromkeys(q for q, _ in names.pairs))
    groups = unit_groups(net)
    shown = (names.pairs, names.left, names.left_top, names.right, names.right_top)
    beside = {rows[part] for parts in shown for part in parts.values()}
    holding = [code.D.column(unit) for unit in range(rnn.units)]
    return {
        "alphabet": list(tm.input_alphabet),
        "word": word,
        "base": net.base,
        "states": [state_name(state) for state in states],
        "symbols": [state_name(symbol) for symbol in tm.tape_alphabet],
        "units": list(rnn.unit_names),
        "scale": scale,
        "W": _columns(name, rnn.W, scale),
        "U": _columns(name, rnn.U, scale),
        "b": _sparse(name, rnn.b, scale),
        "h0": _sparse(name, rnn.h0, scale),
        "out": {"scale": read, "w": _sparse(name, net.w, read), "c": int(net.c * read)},
        "code": {
            "scale": coded,
            "D": [
                _sparse(name, [code.D.row(i).get(j, 0) for j in range(rnn.units)], coded) for i in range(code.D.rows)
            ],
            "d": [int(value * coded) for value in code.d],
        },
        "load": rows[names.load],
        "pairs": [[states.index(q), tm.tape_alphabet.index(a), rows[part]] for (q, a), part in names.pairs.items()],
        "left": _stack(tm.tape_alphabet, rows, names.left, names.left_top),
        "right": _stack(tm.tape_alphabet, rows, names.right, names.right_top),
        "others": [unit for part in groups.values() for unit in part if not beside & set(holding[unit])],
    }


def _stack(
    symbols: Sequence[Hashable], rows: Mapping[str, int], numbers: Mapping[Hashable, str], tops: Mapping[Hashable, str]
) -> list[list[int]]:
    """For each component its symbol, and the rows of the code that hold its number and its top."""
    return [[symbols.index(a), rows[numbers[a]], rows[tops[a]]] for a in numbers]


def _denominator(values: Iterable[Any]) -> int:
    return lcm(*(Fraction(value).denominator for value in values))


def _columns(name: str, matrix: Matrix, scale: int) -> list[list[list[int]]]:
    """For each column its nonzero entries as pairs of row and numerator."""
    return [
        _sparse(name, [matrix.column(j).get(i, 0) for i in range(matrix.rows)], scale) for j in range(matrix.columns)
    ]


def _sparse(name: str, values: Iterable[Any], scale: int) -> list[list[int]]:
    """The nonzero values as pairs of place and numerator."""
    found = [[i, int(value * scale)] for i, value in enumerate(values) if value]
    if any(abs(n) >= _SAFE for _, n in found):
        raise ValueError(f"{name}: its weights over one denominator are longer than 53 bits")
    return found
