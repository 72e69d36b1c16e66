"""The commuting square: a proof, pair by pair, that a compiled net does what its machine does."""

from collections.abc import Iterable, Mapping
from itertools import chain

from fhx._checks import check_kind
from fhx.compile.automata import state_names
from fhx.compile.extract import StateExplosionError
from fhx.compile.grid import grid_names, grid_places
from fhx.compile.size import grid_shape
from fhx.exact import Recognizer, StateDecoder
from fhx.exact.numbers import Number
from fhx.machines import DFA
from fhx.machines.dfa import State
from fhx.machines.words import Symbol

__all__ = ["find_disagreement"]

NetState = Mapping[int, Number]


def find_disagreement(
    dfa: DFA, recognizer: Recognizer, also: Iterable[NetState] = (), max_states: int = 1_000_000
) -> tuple[State, Symbol | None] | None:
    r"""The first (state, symbol) at which net and machine disagree, or None: then they accept the same words.

    For every net state h in a set H and every symbol a this checks

    .. math:: \mathrm{decode}(\mathrm{step}(h, a)) = \delta(\mathrm{decode}(h), a),
       \qquad \mathrm{out}(h) = \mathbb{I}[\mathrm{decode}(h) \in F],

    where H holds :math:`h_0`, each unit on its own if that is the code of a state (in the nets of ``dfa_to_rnn`` so are
    all but the start, whether a word leads there or not), ``also``, and whatever the net reaches from these. With
    :math:`\mathrm{decode}(h_0) = q_0` it follows for all words by induction on their length.

    Args:
        dfa: the machine.
        recognizer: a net that decodes to the machine's states, from ``dfa_to_rnn`` or ``dfa_to_grid_rnn``.
        also: more net states to start from, sparse.
        max_states: the most net states.

    Returns:
        None; or (q, a), where from a code of q the symbol a does not lead to a code of :math:`\delta(q, a)`; or
        (q, None), where the readout is wrong at a code of q, or :math:`h_0` is not a code of the start q.

    Raises:
        TypeError: ``dfa`` is not a DFA, or ``recognizer`` not a Recognizer.
        ValueError: the net has no decoder, or one of other names, or another alphabet than the machine.
        StateExplosionError: H has more states.
    """
    check_kind(dfa, DFA, "find_disagreement")
    check_kind(recognizer, Recognizer, "find_disagreement")
    if recognizer.alphabet != dfa.alphabet:
        raise ValueError(f"the machine reads {dfa.alphabet}, and the net {recognizer.alphabet}")
    decoder = recognizer.decoder
    places = _codes(dfa, decoder)

    def place_of(h: NetState) -> int | None:
        """The place of the state that h is a code of, or None."""
        return places.get(_decoded(decoder, h))

    start: NetState = {j: value for j, value in enumerate(recognizer.rnn.h0) if value}
    if place_of(start) != dfa.states.index(dfa.start):
        return dfa.start, None
    alone: Iterable[NetState] = ({j: 1} for j in range(recognizer.units))
    waiting = [start, *(h for h in chain(alone, also) if place_of(h) is not None)]
    found = {frozenset(h.items()) for h in waiting}
    for h in waiting:  # grows while it is read
        q = dfa.states[places[_decoded(decoder, h)]]
        if sum((recognizer.w[j] * value for j, value in h.items()), recognizer.c) != (q in dfa.accept):
            return q, None
        for place, a in enumerate(dfa.alphabet):
            after: NetState = h
            for symbol in (place, *[None] * (recognizer.steps_per_symbol - 1)):
                after = recognizer.rnn.step(after, symbol)
            if (reached := place_of(after)) is None or dfa.states[reached] != dfa.transitions[q, a]:
                return q, a
            if (key := frozenset(after.items())) not in found:
                found.add(key)
                waiting.append(after)
        if len(found) > max_states:
            raise StateExplosionError(max_states, None, h)
    return None


def _decoded(decoder: StateDecoder, h: NetState) -> frozenset[tuple[int, Number]]:
    """The step's state, sparse, {place: nonzero number}."""
    values = {i: value for i, value in enumerate(decoder.d) if value}
    for j, value in h.items():
        for i, weight in decoder.D.column(j).items():
            values[i] = values.get(i, 0) + weight * value
    return frozenset((i, value) for i, value in values.items() if value)


def _codes(dfa: DFA, decoder: StateDecoder) -> dict[frozenset[tuple[int, Number]], int]:
    """For the code of each state its place among the machine's states."""
    names = decoder.names
    if names == state_names(dfa):
        return {frozenset({(i, 1)}): i for i in range(len(dfa.states))}
    if names != grid_names(dfa):
        raise ValueError("the net decodes to other names than those of this machine's states, or rows and columns")
    rows, _ = grid_shape(len(dfa.states), len(dfa.alphabet))
    places = grid_places(dfa)
    return {frozenset({(places[q][0], 1), (rows + places[q][1], 1)}): i for i, q in enumerate(dfa.states)}
