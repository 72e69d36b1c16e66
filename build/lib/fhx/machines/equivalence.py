"""Whether two machines accept the same words, decided, with a shortest word on which they differ."""

from collections import deque

from attrs import frozen

from fhx.machines.words import Automaton, State, Symbol, Word, as_word

__all__ = ["Comparison", "compare", "require_same_alphabet"]

Pair = tuple[State, State]


@frozen
class Comparison:
    """True if two machines are equivalent.

    Attributes:
        word: a shortest word that one accepts and the other rejects; None if there is none.
    """

    word: Word | None

    def __bool__(self) -> bool:
        return self.word is None


def require_same_alphabet(left: Automaton, right: Automaton) -> None:
    """Raise a ValueError unless the two machines read the same symbols, in whatever order."""
    if set(left.alphabet) != set(right.alphabet):
        raise ValueError(f"two machines must have one alphabet, and these have {left.alphabet} and {right.alphabet}")


def compare(left: Automaton, right: Automaton) -> Comparison:
    r"""Hopcroft and Karp's algorithm with a queue: the two states that a word leads to must agree on acceptance.

    Pairs of states are visited breadth first, and a pair that follows from the earlier ones by transitivity is left
    out, so at most :math:`|Q_1| + |Q_2| - 1` are visited. The word found is still a shortest one: if a word tells apart
    the two ends of a chain of pairs, it tells apart some pair of the chain, which was met no later.
    """
    from scipy.cluster.hierarchy import DisjointSet  # half a second of imports, for this function only

    require_same_alphabet(left, right)
    merged = DisjointSet([*((0, q) for q in left.states), *((1, q) for q in right.states)])
    merged.merge((0, left.start), (1, right.start))
    reached_by: dict[Pair, tuple[Pair, Symbol] | None] = {(left.start, right.start): None}
    queue = deque(reached_by)
    while queue:
        p, q = pair = queue.popleft()
        if (p in left.accept) != (q in right.accept):
            return Comparison(as_word(_path_to(pair, reached_by), left.alphabet))
        for symbol in left.alphabet:
            successor = left.transitions[p, symbol], right.transitions[q, symbol]
            if merged.merge((0, successor[0]), (1, successor[1])):
                reached_by[successor] = pair, symbol
                queue.append(successor)
    return Comparison(None)


def _path_to(pair: Pair, reached_by: dict[Pair, tuple[Pair, Symbol] | None]) -> list[Symbol]:
    symbols = []
    while (step := reached_by[pair]) is not None:
        pair, symbol = step
        symbols.append(symbol)
    return symbols[::-1]
