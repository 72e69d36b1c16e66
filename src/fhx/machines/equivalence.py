"""Whether two machines accept the same words, decided, with a shortest word on which they differ."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fhx.machines.words import Symbol, Word, as_word

if TYPE_CHECKING:
    from fhx.machines.dfa import DFA

__all__ = ["Comparison", "compare", "require_same_alphabet"]


@dataclass(frozen=True)
class Comparison:
    """True if two machines are equivalent.

    Attributes:
        word: a shortest word that one accepts and the other rejects; None if there is none.
    """

    word: Word | None

    def __bool__(self) -> bool:
        return self.word is None


def require_same_alphabet(left: DFA, right: DFA) -> None:
    """Raise a ValueError unless the two machines read the same symbols, in whatever order."""
    if set(left.alphabet) != set(right.alphabet):
        raise ValueError(f"two machines must have one alphabet, and these have {left.alphabet} and {right.alphabet}")


def compare(left: DFA, right: DFA) -> Comparison:
    r"""Hopcroft and Karp's algorithm with a queue: states that a word leads to must accept alike.

    Pairs of states are visited breadth first, and a pair that follows from the earlier ones by transitivity is left
    out, so at most :math:`|Q_1| + |Q_2| - 1` are visited. The word found is still a shortest one: if a word tells apart
    the two ends of a chain of pairs it tells apart some pair of the chain, which was met no later.
    """
    require_same_alphabet(left, right)
    classes = Classes()
    classes.join((0, left.start), (1, right.start))
    reached_by: dict[Pair, tuple[Pair, Symbol] | None] = {(left.start, right.start): None}
    queue = deque(reached_by)
    while queue:
        p, q = pair = queue.popleft()
        if (p in left.accept) != (q in right.accept):
            return Comparison(as_word(_path_to(pair, reached_by), left.alphabet))
        for symbol in left.alphabet:
            successor = left.transitions[p, symbol], right.transitions[q, symbol]
            if classes.join((0, successor[0]), (1, successor[1])):
                reached_by[successor] = pair, symbol
                queue.append(successor)
    return Comparison(None)


Pair = tuple[Hashable, Hashable]


class Classes:
    """Union-find: which values were joined, each by itself at first."""

    def __init__(self) -> None:
        self.parent: dict[Hashable, Hashable] = {}

    def root(self, value: Hashable) -> Hashable:
        """The member that stands for a value's class; the way to it is halved."""
        parent = self.parent
        while (above := parent.setdefault(value, value)) != value:
            parent[value] = value = parent[above]
        return value

    def join(self, a: Hashable, b: Hashable) -> bool:
        """Make two classes one; whether they were two."""
        a, b = self.root(a), self.root(b)
        self.parent[a] = b
        return a != b


def _path_to(pair: Pair, reached_by: dict[Pair, tuple[Pair, Symbol] | None]) -> list[Symbol]:
    symbols = []
    while (step := reached_by[pair]) is not None:
        pair, symbol = step
        symbols.append(symbol)
    return symbols[::-1]
