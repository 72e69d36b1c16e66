"""Hypothesis strategies that draw machines and words, and the plainest program that runs a machine."""

from collections.abc import Hashable, Iterable, Sequence

from hypothesis import strategies as st

from fhx.machines import DFA, NFA

NAMINGS = (lambda i: i, lambda i: f"q{i}", lambda i: (i, -i))


@st.composite
def dfas(
    draw: st.DrawFn, max_states: int = 60, max_symbols: int = 5, alphabet: Sequence[Hashable] | None = None
) -> DFA:
    """Total machines: unreachable states, empty and full languages, one-symbol alphabets and one state among them.

    States are numbers, strings or pairs and the start is any of them. Without an alphabet it is of 1 to ``max_symbols``
    letters or numbers.
    """
    if alphabet is None:
        size = draw(st.integers(1, max_symbols))
        alphabet = draw(st.sampled_from(["abcdefghijklmnopqrstuvwxyz"[:size], range(size)]))
    n = draw(st.integers(1, max_states))
    state = st.integers(0, n - 1)
    name = draw(st.sampled_from(NAMINGS))
    targets = draw(st.lists(state, min_size=n * len(alphabet), max_size=n * len(alphabet)))
    pairs = [(name(q), symbol) for q in range(n) for symbol in alphabet]
    accept = draw(st.one_of(st.just(set()), st.just(set(range(n))), st.sets(state)))
    return DFA(
        [name(q) for q in range(n)],
        alphabet,
        {pair: name(target) for pair, target in zip(pairs, targets, strict=True)},
        name(draw(state)),
        {name(q) for q in accept},
    )


def words_over(alphabet: Sequence[Hashable], max_length: int = 30) -> st.SearchStrategy[list[Hashable]]:
    """Lists of symbols, the empty one too."""
    return st.lists(st.sampled_from(list(alphabet)), max_size=max_length)


def plainly_accepts(dfa: DFA, word: Iterable[Hashable]) -> bool:
    """Acceptance by one dictionary look-up a symbol, from the five parts alone."""
    state, table = dfa.start, dict(dfa.transitions)
    for symbol in word:
        state = table[state, symbol]
    return state in dfa.accept


@st.composite
def nfas(draw: st.DrawFn, states: int = 6, symbols: int = 3) -> NFA:
    """Nondeterministic machines of up to so many states and symbols; starts and ends may be none or many."""
    Q, letters = range(draw(st.integers(1, states))), "abc"[: draw(st.integers(1, symbols))]
    sets = st.sets(st.sampled_from(Q))
    moves = {(q, a): draw(sets) for q in Q for a in letters if draw(st.booleans())}
    return NFA(Q, letters, moves, draw(sets), draw(sets))
