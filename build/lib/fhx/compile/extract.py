"""Theorem 4.5 as a compiler: a net whose states are finitely many becomes a finite automaton."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

from fhx._checks import check_kind, positive
from fhx.compile.names import unique
from fhx.exact import Recognizer
from fhx.exact.numbers import Number
from fhx.machines import DFA
from fhx.machines.words import Symbol, Word, as_word

__all__ = ["MAX_STATES", "StateExplosionError", "explore", "rnn_to_dfa", "search", "state_bound"]

MAX_STATES = 100_000
"""The most states that a search may meet, unless told otherwise."""

S = TypeVar("S", bound=Hashable)
Sparse = frozenset[tuple[int, Number]]


class StateExplosionError(ValueError):
    """A search met more states than it may; a ``remark`` ends its message.

    Attributes:
        max_states: how many were allowed.
        word: a shortest word that leads to the first state too many, or None.
        state: that state.
    """

    def __init__(self, max_states: int, word: Word | None, state: object, remark: str = "") -> None:
        self.max_states, self.word, self.state = max_states, word, state
        length = "" if word is None else f", after the {len(word)} symbols {_shortened(repr(word))}"
        super().__init__(f"there are more than {max_states} states: one too many was met{length}{remark}")


def rnn_to_dfa(recognizer: Recognizer, max_states: int | None = None) -> DFA:
    r"""The automaton of the net's reachable states, found breadth first and exactly.

    Its states are named after the units that are not 0, with their values where these are not 1: ``q1&a``, ``u1=2 u2``,
    and ``0`` for none. It need not be minimal.

    With SLUs and integer W, U, b and :math:`h_0` the search ends by Theorem 4.5, see ``state_bound``. For all other
    nets it need not end: fractions may grow longer and ReLUs larger for ever, and an irrational :math:`h_0` is beyond
    exact numbers. ``digit_net`` shows why the theorem needs an integer :math:`h_0`.

    Args:
        recognizer: any net.
        max_states: the most states; unless given, the theorem's bound where it holds, and 100,000 elsewhere.

    Raises:
        StateExplosionError: a ValueError; there are more states. It names the word and the longest number.
        TypeError: ``recognizer`` is not a Recognizer.
        ValueError: ``max_states`` is below 1; or the output after some word, a shortest one of which is named, is
            neither 0 nor 1.

    Source: Theorem 4.5 of the lecture notes.
    """
    check_kind(recognizer, Recognizer, "rnn_to_dfa")
    rnn, w, c = recognizer.rnn, recognizer.w, recognizer.c
    places = {symbol: place for place, symbol in enumerate(recognizer.alphabet)}
    pauses: list[int | None] = [None] * (recognizer.steps_per_symbol - 1)

    def step(state: Sparse, symbol: Symbol) -> Sparse:
        h = dict(state)
        for column in (places[symbol], *pauses):
            h = rnn.step(h, column)
        return frozenset(h.items())

    def output(state: Sparse) -> Number:
        return sum((w[j] * value for j, value in state), c)

    if max_states is None:
        max_states = state_bound(recognizer) if _theorem_holds(recognizer) else MAX_STATES
    positive("max_states", max_states)
    start = frozenset((j, value) for j, value in enumerate(rnn.h0) if value)
    found = search(step, start, recognizer.alphabet, output, max_states, _longest)
    labels = unique(_label(state, rnn.unit_names) for state in found.states)
    return found.named(dict(zip(found.states, labels, strict=True)))


def explore(
    step: Callable[[S, Symbol], S],
    start: S,
    alphabet: Iterable[Symbol],
    accepts: Callable[[S], Number],
    max_states: int = MAX_STATES,
) -> DFA:
    """The automaton of all states that a step function reaches, in breadth-first order and under their own names.

    Args:
        step: the state after a state and a symbol; exact, since states are told apart by equality.
        start: the state to start from.
        alphabet: the symbols, in order; a string is its characters.
        accepts: whether a state accepts: True or 1, False or 0.
        max_states: the most states.

    Raises:
        StateExplosionError: a ValueError; there are more states.
        ValueError: ``accepts`` is neither 0 nor 1 for some state; the error names a shortest word that leads there.
    """
    found = search(step, start, tuple(alphabet), accepts, max_states)
    return found.named({state: state for state in found.states})


class Found(NamedTuple, Generic[S]):
    """What a search found: the parts of an automaton whose first state is the start."""

    states: list[S]
    alphabet: tuple[Symbol, ...]
    transitions: dict[tuple[S, Symbol], S]
    accept: list[S]

    def named(self, names: Mapping[S, Hashable]) -> DFA:
        """The automaton with its states under these names."""
        states = [names[state] for state in self.states]
        transitions = {(names[state], a): names[target] for (state, a), target in self.transitions.items()}
        return DFA(states, self.alphabet, transitions, states[0], [names[state] for state in self.accept])


def search(
    step: Callable[[S, Symbol], S],
    start: S,
    alphabet: tuple[Symbol, ...],
    accepts: Callable[[S], Number],
    max_states: int,
    remark: Callable[[S], str] = lambda state: "",
) -> Found[S]:
    """As ``explore``; ``remark`` is what the error says about the first state too many."""
    came_from: dict[S, tuple[S, Symbol] | None] = {}
    found = Found[S]([], alphabet, {}, [])

    def word_to(state: S) -> Word:
        symbols = []
        while (path := came_from[state]) is not None:
            state, symbol = path
            symbols.append(symbol)
        return as_word(reversed(symbols), alphabet)

    def meet(state: S, path: tuple[S, Symbol] | None) -> None:
        came_from[state] = path
        if len(came_from) > max_states:
            raise StateExplosionError(max_states, word_to(state), state, remark(state))
        verdict = accepts(state)
        if verdict != 0 and verdict != 1:
            raise ValueError(f"the output after {word_to(state)!r} is {verdict}: neither 1 (accept) nor 0 (reject)")
        found.states.append(state)
        if verdict:
            found.accept.append(state)

    meet(start, None)
    for state in found.states:  # grows while it is read
        for symbol in alphabet:
            target = found.transitions[state, symbol] = step(state, symbol)
            if target not in came_from:
                meet(target, (state, symbol))
    return found


def state_bound(recognizer: Recognizer) -> int:
    r"""How many states Theorem 4.5 allows: :math:`2^d`, and one more if :math:`h_0 \notin \{0, 1\}^d`.

    For t > 0 each of the d units is an integer between 0 and 1; :math:`h_0` is any vector of integers. The source
    counts :math:`2^d` with d its input size, where it should be the number of units, and forgets :math:`h_0`.

    Args:
        recognizer: one with saturated linear units and integer weights.

    Raises:
        ValueError: the theorem does not apply to this net: it has ReLUs, or a number in W, U, b or :math:`h_0` is not
            whole.
    """
    if not _theorem_holds(recognizer):
        raise ValueError("the theorem needs SLUs, and integers in W, U, b and h_0")
    return 2**recognizer.units + any(value not in (0, 1) for value in recognizer.rnn.h0)


def _theorem_holds(recognizer: Recognizer) -> bool:
    return recognizer.rnn.activation == "slu" and recognizer.rnn.is_integer


def _label(state: Sparse, units: Sequence[str]) -> str:
    active = sorted(state)
    return " ".join(units[j] if value == 1 else f"{units[j]}={value}" for j, value in active) or "0"


def _longest(state: Sparse) -> str:
    value = max((value for _, value in state), key=_bits, default=0)
    return f"; its longest number, {_shortened(str(value))}, has {_bits(value)} bits"


def _bits(value: Number) -> int:
    return value.numerator.bit_length() + (value.denominator.bit_length() if value.denominator > 1 else 0)


def _shortened(text: str, length: int = 40) -> str:
    return text if len(text) <= length else f"{text[: length // 2]}...{text[-length // 2 :]}"
