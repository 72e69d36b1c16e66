"""The commuting square: a proof, pair by pair, that a compiled net does what its machine does."""

from collections.abc import Iterable, Mapping

from fhx.compile.automata import state_names
from fhx.compile.extract import StateExplosion
from fhx.compile.grid import grid_names, grid_places
from fhx.compile.size import grid_shape
from fhx.exact import Code, Recognizer
from fhx.exact.numbers import Number
from fhx.machines import DFA
from fhx.machines.dfa import State
from fhx.machines.words import Symbol

__all__ = ["commuting_square"]

NetState = Mapping[int, Number]


def commuting_square(
    dfa: DFA, recognizer: Recognizer, also: Iterable[NetState] = (), limit: int = 1_000_000
) -> tuple[State, Symbol | None] | None:
    r"""The first (state, symbol) at which net and machine part, or None: then they accept the same words.

    For every net state h in a set H and every symbol a this checks

    .. math:: \mathrm{decode}(\mathrm{step}(h, a)) = \delta(\mathrm{decode}(h), a),
       \qquad \mathrm{out}(h) = \mathbb{I}[\mathrm{decode}(h) \in F],

    where H holds :math:`h_0`, each unit on its own if that is the code of a state (in the nets of ``dfa_to_rnn`` so are
    all but the start, whether a word leads there or not), ``also``, and whatever the net reaches from these. With
    :math:`\mathrm{decode}(h_0) = q_0` it follows for all words by induction on their length.

    Args:
        dfa: the machine.
        recognizer: a net with a code of the machine's states, from ``dfa_to_rnn`` or ``dfa_to_grid_rnn``.
        also: more net states to begin with, sparse.
        limit: of net states.

    Returns:
        None; or (q, a), where from a code of q the symbol a does not lead to a code of :math:`\delta(q, a)`; or
        (q, None), where the readout is wrong at a code of q, or :math:`h_0` is no code of the start q.

    Raises:
        ValueError: the net has no code, or one of other names, or another alphabet than the machine.
        StateExplosion: H has more states than the limit.
    """
    if recognizer.alphabet != dfa.alphabet:
        raise ValueError(f"the machine reads {dfa.alphabet}, and the net {recognizer.alphabet}")
    code, readings = recognizer.code, _readings(dfa, recognizer.code)

    def reading(h: NetState) -> State | None:
        """The place of the state that h is a code of, or None."""
        return readings.get(_decoded(code, h))

    start = {j: value for j, value in enumerate(recognizer.rnn.h0) if value}
    if reading(start) != dfa.states.index(dfa.start):
        return dfa.start, None
    alone = ({j: 1} for j in range(recognizer.units))
    waiting = [start, *(h for h in [*alone, *map(dict, also)] if reading(h) is not None)]
    found = {frozenset(h.items()) for h in waiting}
    for h in waiting:  # grows while it is read
        q = dfa.states[reading(h)]
        if recognizer.c + sum(recognizer.w[j] * value for j, value in h.items()) != (q in dfa.accept):
            return q, None
        for place, a in enumerate(dfa.alphabet):
            after = h
            for symbol in (place, *[None] * (recognizer.steps_per_symbol - 1)):
                after = recognizer.rnn.step(after, symbol)
            if (reached := reading(after)) is None or dfa.states[reached] != dfa.transitions[q, a]:
                return q, a
            if (key := frozenset(after.items())) not in found:
                found.add(key)
                waiting.append(after)
        if len(found) > limit:
            raise StateExplosion(limit, None, h)
    return None


def _decoded(code: Code, h: NetState) -> frozenset[tuple[int, Number]]:
    """The step's state, sparse, {place: nonzero number}."""
    values = {i: value for i, value in enumerate(code.d) if value}
    for j, value in h.items():
        for i, weight in code.D.column(j).items():
            values[i] = values.get(i, 0) + weight * value
    return frozenset((i, value) for i, value in values.items() if value)


def _readings(dfa: DFA, code: Code | None) -> dict[frozenset[tuple[int, Number]], int]:
    """To the code of each state its place among the machine's states."""
    names = None if code is None else code.names
    if names == state_names(dfa):
        return {frozenset({(i, 1)}): i for i in range(len(dfa.states))}
    if names != grid_names(dfa):
        raise ValueError("the net's code is not one of this machine: it does not name its states, or rows and columns")
    rows, _ = grid_shape(len(dfa.states), len(dfa.alphabet))
    places = grid_places(dfa)
    return {frozenset({(places[q][0], 1), (rows + places[q][1], 1)}): i for i, q in enumerate(dfa.states)}
