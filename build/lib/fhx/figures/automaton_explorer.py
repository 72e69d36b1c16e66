"""The explorer of automata as nets: the page steps a compiled net's own weights over a word that the reader types."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fhx.compile import dfa_to_rnn
from fhx.figures.controls import Choice, Slider, Text
from fhx.figures.explorer import Explorer
from fhx.figures.layout import Diagram, lay_out
from fhx.figures.routes import Route
from fhx.figures.words import state_name, unit_name
from fhx.machines import NAMED

if TYPE_CHECKING:
    from fhx.exact import Matrix, Recognizer
    from fhx.exact.numbers import Number
    from fhx.machines import DFA

__all__ = ["automaton_explorer", "interesting_word"]

_LONGEST, _WIDTH, _TEXT = 24, 316.0, 13.0


def automaton_explorer(
    name: str = "automata",
    machines: Mapping[str, tuple[DFA, Recognizer]] | None = None,
    words: Mapping[str, str] | None = None,
) -> Explorer:
    r"""Machines and the nets compiled from them, over a word that the reader types.

    The page holds each net's own W, U, b, :math:`h_0`, w and c, and computes, in integers and at every change,

    .. math:: h_t = \sigma(W h_{t-1} + U x_t + b), \qquad y_t = w \cdot h_t + c.

    It shows the verdict, the machine's diagram with the state decoded from the net, the units by state and symbol, and
    all units over the word so far. A symbol outside the alphabet ends the steps, and there is no verdict. Another
    machine reads the same word where its alphabet allows that, and else the last word that it read.

    Args:
        name: of the explorer, see :class:`Explorer`.
        machines: for each name a machine and a net compiled from it; those of chapter 3 unless given.
        words: for some machines the word to begin with; :func:`interesting_word` unless given.

    Raises:
        ValueError: no machine; symbols that are not single characters; a net with another alphabet, without a code,
            with weights that are not integers, or whose code does not tell the machine's states apart; a first
            word longer than 24; a machine that cannot be drawn.
    """
    if machines is None:
        machines, words = _of_the_book(), {**_FIRST_WORDS, **(words or {})}
    if not machines:
        raise ValueError(f"explorer {name!r} needs a machine")
    chosen = {key: (words or {}).get(key) for key in machines}
    data = {key: _machine(key, dfa, net, chosen[key]) for key, (dfa, net) in machines.items()}
    first = data[next(iter(data))]["word"]
    return Explorer(
        name,
        controls=[
            Choice("machine", "Machine", list(data)),
            Text("word", f"Word (at most {_LONGEST} letters)", default=first, max_length=_LONGEST),
            Slider("position", "Symbols read", min=0, max=_LONGEST, step=1, default=len(first)),
        ],
        title="A finite automaton as a net: its units over a word",
        alt=(
            "The machine's diagram with its present state lit; the units of the net by state and symbol; and all units "
            "over the word so far. The text above tells the active unit, the state and the output."
        ),
        view="automaton",
        data={"machines": data},
    )


_FIRST_WORDS = {"(a|b)*abb": "babaabb", "PARITY": "10110", "divisible by 3": "10010", "without 000": "0010010001"}


def _of_the_book() -> dict[str, tuple[DFA, Recognizer]]:
    names = "(a|b)*abb", "PARITY", "divisible by 3", "without 000", "word problem of S₃"
    return {name: (NAMED[name], dfa_to_rnn(NAMED[name])) for name in names}


def interesting_word(dfa: DFA, length: int = 8) -> str:
    """A word that goes where it has not been, and then on to acceptance if that is possible.

    Each of the first ``length`` symbols takes the transition that was taken least, among equals the first one in the
    order of the alphabet; the shortest way to an accepting state follows.

    Args:
        dfa: the machine.
        length: of the walk before the way to acceptance.
    """
    taken = dict.fromkeys(dfa.transitions, 0)
    state, word = dfa.start, ""
    for _ in range(length):
        counts = {symbol: taken[state, symbol] for symbol in dfa.alphabet}
        symbol = min(counts, key=lambda a: counts[a])
        taken[state, symbol] += 1
        word += str(symbol)
        state = dfa.transitions[state, symbol]
    ways = [(state, word)]
    seen = {state}
    for q, way in ways:  # grows while it is read, breadth first
        if q in dfa.accept:
            return way
        for a in dfa.alphabet:
            if (target := dfa.transitions[q, a]) not in seen:
                seen.add(target)
                ways.append((target, way + str(a)))
    return word


def _machine(name: str, dfa: DFA, net: Recognizer, word: str | None) -> dict[str, Any]:
    """All that the page needs to know of a machine and its net."""
    rnn = net.rnn
    if any(not isinstance(symbol, str) or len(symbol) != 1 for symbol in dfa.alphabet):
        raise ValueError(f"{name}: a word can be typed only where all symbols are single characters: {dfa.alphabet}")
    if tuple(net.alphabet) != tuple(dfa.alphabet):
        raise ValueError(f"{name}: the net reads {net.alphabet}, and the machine reads {dfa.alphabet}")
    if not (rnn.is_integer and all(isinstance(value, int) for value in (*net.w, net.c))):
        raise ValueError(f"{name}: the page computes with integers, and this net has other weights")
    word = interesting_word(dfa)[:_LONGEST] if word is None else word
    if len(word) > _LONGEST:
        raise ValueError(f"{name}: the first word has {len(word)} symbols, at most {_LONGEST} fit on a phone")
    codes, decoder = _codes(name, dfa, net, word), net.decoder
    units = {unit: i for i, unit in enumerate(rnn.unit_names)}
    pairs = [[units.get(f"{q}&{a}") for a in dfa.alphabet] for q in decoder.names[: len(dfa.states)]]
    table = None if any(unit is None for row in pairs for unit in row) else pairs
    inside = {unit for row in table or () for unit in row}
    diagram = lay_out(dfa, _WIDTH, _TEXT)
    return {
        "alphabet": list(dfa.alphabet),
        "word": word,
        "units": [unit_name(unit) for unit in rnn.unit_names],
        "W": _columns(rnn.W),
        "U": _columns(rnn.U),
        "b": list(rnn.b),
        "h0": list(rnn.h0),
        "w": [[i, value] for i, value in enumerate(net.w) if value],
        "c": net.c,
        "activation": rnn.activation,
        "steps": net.steps_per_symbol,
        "states": [state_name(state) for state in dfa.states],
        "codes": codes,
        "D": _rows(decoder.D),
        "d": list(decoder.d),
        "table": table,
        "others": [i for i in range(rnn.units) if i not in inside],
        "diagram": _drawn(diagram, dfa),
    }


def _codes(name: str, dfa: DFA, net: Recognizer, word: str) -> list[list[Number] | None]:
    """For each state what the net decodes to after a word that leads there; None where no word does.

    Raises:
        ValueError: the net has no decoder, it decodes to the same for two states, or to another along ``word``.
    """
    try:
        decode = net.decoder.decode
    except ValueError as error:
        raise ValueError(f"{name}: {error}, so its states are not those of the machine") from error

    def said(read: str) -> list[list[Number]]:
        return [list(decode(h).values()) for h in list(net.run(read))[:: net.steps_per_symbol]]

    ways = {dfa.start: ""}
    for state in dfa.reachable():  # breadth first, so that each has its way by now
        for symbol in dfa.alphabet:
            ways.setdefault(dfa.transitions[state, symbol], ways[state] + str(symbol))
    codes = {state: said(way)[-1] for state, way in ways.items()}
    if len({tuple(code) for code in codes.values()}) < len(codes):
        raise ValueError(f"{name}: the net decodes to the same for two states of the machine")
    for t, (state, code) in enumerate(zip(dfa.run(word), said(word), strict=True)):
        if code != codes[state]:
            raise ValueError(f"{name}: after {word[:t]!r} the machine is in state {state}, and the net in another")
    return [codes.get(state) for state in dfa.states]


def _columns(matrix: Matrix) -> list[list[list[Number]]]:
    """For each column its nonzero entries as pairs of row and value."""
    return [[[i, value] for i, value in matrix.column(j).items()] for j in range(matrix.columns)]


def _rows(matrix: Matrix) -> list[list[list[Number]]]:
    rows: list[list[list[Number]]] = [[] for _ in range(matrix.rows)]
    for (i, j), value in matrix.entries.items():
        rows[i].append([j, value])
    return rows


def _drawn(diagram: Diagram, dfa: DFA) -> dict[str, Any]:
    """The diagram as paths, y downwards; states by their place in ``dfa.states``."""
    at = {state: k for k, state in enumerate(dfa.states)}
    height = diagram.size[1]

    def drawn(way: Route) -> dict[str, Any]:
        a, b, c, d = ((x, height - y) for x, y in way.curve)
        return {
            "d": "M{:.1f} {:.1f}C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}".format(*a, *b, *c, *d),
            "head": _head(c, d),
        }

    return {
        "width": diagram.size[0],
        "height": height,
        "radius": diagram.radius,
        "circles": [[at[q], x, height - y, int(q in dfa.accept)] for q, (x, y) in diagram.circles.items()],
        "edges": [
            {
                "from": at[edge.source],
                "to": at[edge.target],
                "symbols": list(edge.symbols),
                "word": edge.word,
                "at": [edge.route.word[0], height - edge.route.word[1]],
                **drawn(edge.route),
            }
            for edge in diagram.edges
        ],
        "start": drawn(diagram.start),
    }


def _head(before: tuple[float, float], tip: tuple[float, float]) -> str:
    """An arrow's head as a triangle."""
    length = math.dist(before, tip)
    x, y = ((tip[k] - before[k]) / length for k in (0, 1))
    left, right = ((tip[0] - 7 * x - side * 3.3 * y, tip[1] - 7 * y + side * 3.3 * x) for side in (1, -1))
    return "M{:.1f} {:.1f}L{:.1f} {:.1f}L{:.1f} {:.1f}Z".format(*tip, *left, *right)
