"""Automata in the forms of other programs: AALpy's, and Graphviz's language of drawings, dot."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Reversible
from typing import TYPE_CHECKING, Any
from warnings import catch_warnings, simplefilter

from fhx._checks import check_kind
from fhx._extras import needs
from fhx.machines.dfa import DFA
from fhx.machines.words import State, Symbol

if TYPE_CHECKING:
    from aalpy import Dfa

__all__ = ["dfa_from_aalpy", "dfa_from_dot", "dfa_to_aalpy", "dfa_to_dot"]

START = "__start"
"""How the name begins of the node whose arrow shows where a machine starts; AALpy's has a 0 behind it."""


def dfa_to_aalpy(dfa: DFA) -> Dfa:
    """The machine ``dfa`` as an ``aalpy.Dfa``, with the same states and symbols.

    Raises:
        TypeError: it is not a :class:`DFA`.
        MissingExtraError: AALpy is missing, which the extra ``learn`` installs.
    """
    check_kind(dfa, DFA, "dfa_to_aalpy")
    with needs("learn"):
        from fhx.machines.teacher import Dfa, DfaState  # machines need no AALpy
    states = {state: DfaState(state, state in dfa.accept) for state in dfa.states}
    for (state, symbol), target in dfa.transitions.items():
        states[state].transitions[symbol] = states[target]
    return Dfa(states[dfa.start], list(states.values()))


def dfa_from_aalpy(machine: Dfa, alphabet: Reversible[Symbol]) -> DFA:
    """An ``aalpy.Dfa`` as a :class:`DFA`, with the same states in their order.

    Args:
        machine: the machine.
        alphabet: its symbols, in the order that they are to have.

    Raises:
        TypeError: it is not a machine of AALpy.
        ValueError: two states have one name, or a transition is missing or leads outside; all that are, at once.
    """
    with needs("learn"):
        from fhx.machines.teacher import Dfa, from_aalpy  # machines need no AALpy
    check_kind(machine, Dfa, "dfa_from_aalpy")
    return from_aalpy(machine, alphabet)


def dfa_to_dot(dfa: DFA) -> str:
    """The machine ``dfa`` in dot, for ``dot -Tsvg``, Graphviz online, and AALpy's ``load_automaton_from_file``.

    Accepting states are double circles, an arrow from nowhere leads to the start, and each transition has an arrow of
    its own. Names are those that ``str`` gives to states and symbols.

    Raises:
        TypeError: it is not a :class:`DFA`.
        ValueError: two states, or two symbols, look the same, or one looks like nothing.
    """
    check_kind(dfa, DFA, "dfa_to_dot")
    names, labels = _texts(dfa.states, "states"), _texts(dfa.alphabet, "symbols")
    lines = ["digraph dfa {", "rankdir=LR;"]
    places = {state: f"s{number}" for number, state in enumerate(dfa.states)}
    for state in dfa.states:
        shape = "doublecircle" if state in dfa.accept else "circle"
        lines.append(f"{places[state]} [label={_quoted(names[state])}, shape={shape}];")
    for state in dfa.states:
        for symbol in dfa.alphabet:
            target = dfa.transitions[state, symbol]
            lines.append(f"{places[state]} -> {places[target]} [label={_quoted(labels[symbol])}];")
    lines += [f'{START}0 [shape=none, label=""];', f'{START}0 -> {places[dfa.start]} [label=""];', "}"]
    return "\n".join(lines) + "\n"


def dfa_from_dot(text: str, alphabet: Reversible[str] | None = None) -> DFA:
    """The machine that a drawing in dot shows, as :func:`dfa_to_dot`, AALpy and many lecture notes draw it.

    A state is a node, called by its label or else by its name; it accepts if its shape is ``doublecircle``. An arrow
    from a node that is no state (one without a label and without a shape that is drawn, or named ``__start...``)
    shows the start. An arrow labelled ``a,b`` stands for two.

    Args:
        text: the drawing.
        alphabet: the symbols in their order; if None, those of the arrows, in the order of Unicode.

    Raises:
        MissingExtraError: pydot is missing, which the extra ``learn`` installs.
        ValueError: it cannot be read, or shows no machine: no start or several, two arrows for one symbol, two states
            with one label, or what a :class:`DFA` refuses, such as a missing transition.
    """
    with needs("learn"):
        import pydot  # machines need no drawings
    with catch_warnings():  # it imports its parser now, in whose words there is an old name
        simplefilter("ignore", DeprecationWarning)
        graphs = pydot.graph_from_dot_data(text)
    if not graphs:
        raise ValueError("the text is not a drawing in dot")
    names, accept, starts = dict[str, str](), list[str](), list[str]()
    nodes = {_text(node.get_name()) or "": node for node in graphs[0].get_nodes()}
    edges = [
        (_text(edge.get_source()) or "", _text(edge.get_destination()) or "", edge) for edge in graphs[0].get_edges()
    ]
    for name in dict.fromkeys([*nodes, *(end for source, target, _ in edges for end in (source, target))]):
        node = nodes.get(name)
        label, shape = (_text(node.get(key)) if node else None for key in ("label", "shape"))
        if name in ("node", "edge", "graph") or name.startswith(START) or shape in ("none", "point", "plaintext"):
            continue
        names[name] = name if label is None else label
        accept += [names[name]] if shape == "doublecircle" else []
    if twice := [label for label in names.values() if list(names.values()).count(label) > 1]:
        raise ValueError(f"two states are labelled {twice[0]!r}")
    rules = dict[tuple[str, str], str]()
    for source, target, edge in edges:
        if source not in names:
            starts += [names[target]] if target in names else []
            continue
        if target not in names:
            raise ValueError(f"an arrow leads from {names[source]!r} to what is no state, {target!r}")
        for symbol in _symbols(_text(edge.get("label")), names[source]):
            if rules.setdefault((names[source], symbol), names[target]) != names[target]:
                raise ValueError(f"two arrows leave {names[source]!r} with the label {symbol!r}")
    if len(set(starts)) != 1:
        raise ValueError(f"one arrow from nowhere must show the start, and there are {len(set(starts))}")
    symbols = sorted({symbol for _, symbol in rules}) if alphabet is None else alphabet
    return DFA(list(names.values()), symbols, rules, starts[0], accept)


def _symbols(label: str | None, state: str) -> Iterator[str]:
    if not label:
        raise ValueError(f"an arrow that leaves {state!r} has no label")
    parts = [part.strip() for part in label.split(",")]
    yield from parts if all(parts) else [label]


def _texts(values: Iterable[Hashable], kind: str) -> dict[State, str]:
    texts = {value: str(value) for value in values}
    if bad := [text for text in texts.values() if not text.strip() or list(texts.values()).count(text) > 1]:
        raise ValueError(f"{kind} are told apart by how they look, and {bad[0]!r} is nothing, or is there twice")
    if kind == "symbols" and (bad := [text for text in texts.values() if len(text) > 1 and "," in text]):
        raise ValueError(f"a comma in dot separates symbols, and {bad[0]!r} has one")
    return texts


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _text(written: Any) -> str | None:
    """What a quoted or plain text of dot says."""
    if not isinstance(written, str):
        return None
    inner = written[1:-1] if len(written) > 1 and written[0] == written[-1] == '"' else written
    return inner.replace('\\"', '"').replace("\\\\", "\\")
