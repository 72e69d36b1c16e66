"""Theorem 4.5 as a compiler: a net whose states are finitely many becomes a finite automaton."""

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from fhx.compile.names import unique
from fhx.exact import Recognizer
from fhx.exact.numbers import Number
from fhx.machines import DFA
from fhx.machines.words import Symbol, as_word

__all__ = ["LIMIT", "StateExplosion", "explore", "rnn_to_dfa", "state_bound"]

LIMIT = 100_000

Sparse = frozenset[tuple[int, Number]]


class StateExplosion(ValueError):
    """A search met more states than its limit.

    Attributes:
        limit: how many states were allowed.
        word: a shortest word that leads to the first state too many, or None.
        state: that state.
    """

    def __init__(self, limit: int, word: Any, state: Any, remark: str = "") -> None:
        self.limit, self.word, self.state = limit, word, state
        length = "" if word is None else f", after the {len(word)} symbols {_shortened(repr(word))}"
        super().__init__(f"there are more than {limit} states: one too many was met{length}{remark}")


def rnn_to_dfa(recognizer: Recognizer, limit: int | None = None) -> DFA:
    r"""The automaton of the net's reachable states, found breadth first and exactly.

    Its states are called by the units that are not 0, with their values where these are not 1: ``q1&a``, ``u1=2 u2``,
    and ``0`` for none. It need not be minimal.

    With SLUs and integer W, U, b and :math:`h_0` the search ends by Theorem 4.5, see ``state_bound``. For all other
    nets it need not end: fractions may grow longer and ReLUs larger for ever, and an irrational :math:`h_0` is beyond
    exact numbers. ``digit_net`` shows why the theorem needs an integer :math:`h_0`.

    Args:
        recognizer: any net.
        limit: of states; 100,000 unless given, and none where the theorem holds.

    Raises:
        StateExplosion: a ValueError; there are more states than the limit. It names the word and the longest number.
        ValueError: the output after some word, a shortest one of which is named, is neither 0 nor 1.

    Source: Theorem 4.5 of the lecture notes.
    """
    rnn, w, c = recognizer.rnn, recognizer.w, recognizer.c
    places = {symbol: place for place, symbol in enumerate(recognizer.alphabet)}
    pauses = [None] * (recognizer.steps_per_symbol - 1)

    def step(state: Sparse, symbol: Symbol) -> Sparse:
        h = dict(state)
        for column in (places[symbol], *pauses):
            h = rnn.step(h, column)
        return frozenset(h.items())

    def output(state: Sparse) -> Number:
        return c + sum(w[j] * value for j, value in state)

    if limit is None:
        limit = state_bound(recognizer) if _theorem_holds(recognizer) else LIMIT
    start = frozenset((j, value) for j, value in enumerate(rnn.h0) if value)
    try:
        found = explore(step, start, recognizer.alphabet, output, limit)
    except StateExplosion as explosion:
        raise StateExplosion(explosion.limit, explosion.word, explosion.state, _longest(explosion.state)) from None
    labels = dict(zip(found.states, unique(_label(state, rnn.units) for state in found.states), strict=True))
    transitions = {(labels[state], symbol): labels[target] for (state, symbol), target in found.transitions.items()}
    return DFA(labels.values(), found.alphabet, transitions, labels[found.start], map(labels.get, found.accept))


def explore(
    step: Callable[[Any, Symbol], Hashable],
    start: Hashable,
    alphabet: Sequence[Symbol],
    accepts: Callable[[Any], Any],
    limit: int = LIMIT,
) -> DFA:
    """The automaton of all states that a step function reaches, in breadth-first order and under their own names.

    Args:
        step: the state after a state and a symbol; exact, since states are told apart by equality.
        start: the first state.
        alphabet: the symbols, in order; a string is its characters.
        accepts: whether a state accepts: True or 1, False or 0.
        limit: how many states there may be.

    Raises:
        StateExplosion: a ValueError; there are more states than the limit.
        ValueError: ``accepts`` is neither 0 nor 1 for some state; the error names a shortest word that leads there.
    """
    alphabet = tuple(alphabet)
    came_from: dict[Any, tuple[Any, Symbol] | None] = {}
    order, transitions, accepting = [], {}, []

    def word_to(state: Any) -> Any:
        symbols = []
        while came_from[state] is not None:
            state, symbol = came_from[state]
            symbols.append(symbol)
        return as_word(reversed(symbols), alphabet)

    def meet(state: Any, path: tuple[Any, Symbol] | None) -> None:
        came_from[state] = path
        if len(came_from) > limit:
            raise StateExplosion(limit, word_to(state), state)
        verdict = accepts(state)
        if verdict != 0 and verdict != 1:
            raise ValueError(f"the output after {word_to(state)!r} is {verdict}: neither 1 (accept) nor 0 (reject)")
        order.append(state)
        if verdict:
            accepting.append(state)

    meet(start, None)
    for state in order:  # grows while it is read
        for symbol in alphabet:
            target = transitions[state, symbol] = step(state, symbol)
            if target not in came_from:
                meet(target, (state, symbol))
    return DFA(order, alphabet, transitions, start, accepting)


def state_bound(recognizer: Recognizer) -> int:
    r"""How many states Theorem 4.5 allows: :math:`2^d`, and one more if :math:`h_0 \notin \{0, 1\}^d`.

    For t > 0 each of the d units is an integer between 0 and 1; :math:`h_0` is any vector of integers. The source
    counts :math:`2^d` with d its input size, where it should be the number of units, and forgets :math:`h_0`.

    Raises:
        ValueError: the theorem says nothing of this net: it has ReLUs, or a number in W, U, b or :math:`h_0` is not
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
