r"""How the number of Nerode classes grows with the length of words: closed forms for the languages of the book."""

from collections.abc import Callable, Iterable
from itertools import chain, pairwise
from typing import SupportsIndex

from attrs import frozen

from fhx._checks import positive
from fhx.machines.dyck import bracket_pairs, well_nested
from fhx.machines.names import NameTable
from fhx.machines.words import Symbol

__all__ = ["GROWTH", "Growth", "dyck_growth"]

Predicate = Callable[..., object]


@frozen
class Growth:
    """How many classes a language has, in closed form, and what it takes to count them.

    Attributes:
        alphabet: its symbols.
        contains: whether a word belongs to it.
        viable: whether a member begins with a word.
        up_to: the number of classes with a word of at most n letters, :math:`C_L(n)`.
        exactly: that of classes with a word of n letters, :math:`c_L(n)`.
        suffixes: suffixes of so many letters tell all classes with a word of at most n letters apart.
    """

    alphabet: tuple[Symbol, ...]
    contains: Predicate
    viable: Predicate
    up_to: Callable[[int], int]
    exactly: Callable[[int], int]
    suffixes: Callable[[int], int]


def dyck_growth(k: SupportsIndex, m: SupportsIndex | None = None) -> Growth:
    r"""Brackets of k kinds, to the depth m or to any: the classes are the stacks, and one is for all faults.

    A word of n letters can leave any stack of :math:`h \le \min(n, m)` brackets with :math:`n - h` even: it begins with
    :math:`\frac{n - h}{2}` pairs. :func:`fhx.machines.dyck` proves that no two are equivalent. So for :math:`n \ge 1`

    .. math:: C(n) = 1 + \sum_{h \le \min(n, m)} k^h, \qquad
       c(n) = 1 + \sum_{h \le \min(n, m),\; n - h \text{ even}} k^h.

    Args:
        k: kinds of brackets.
        m: the largest depth; None for no bound.

    Raises:
        ValueError: k or m is not a positive integer.
    """
    pairs, m = bracket_pairs(k), None if m is None else positive("m", m)
    opening, kinds = {closing: opening for opening, closing in pairs}, len(pairs)

    def viable(word: Iterable[Symbol]) -> bool:
        stack: list[Symbol] = []
        for a in word:
            if a not in opening:
                stack.append(a)
            if (a in opening and (not stack or stack.pop() != opening[a])) or (m is not None and len(stack) > m):
                return False
        return True

    def highest(n: int) -> int:
        return n if m is None else min(n, m)

    return Growth(
        alphabet=tuple(chain(*pairs)),
        contains=lambda word: well_nested(word, kinds, m),
        viable=viable,
        up_to=lambda n: sum(kinds**h for h in range(highest(n) + 1)) + (n > 0),
        exactly=lambda n: sum(kinds**h for h in range(n % 2, highest(n) + 1, 2)) + (n > 0),
        suffixes=highest,
    )


def _equal_blocks(word: str, alphabet: str) -> bool:
    return word == "".join(a * word.count(alphabet[0]) for a in alphabet)


def _begins_equal_blocks(word: str, alphabet: str) -> bool:
    """Blocks in order; of those behind the first one, the last may be shorter than it, the others are as long."""
    first, *others = (word.count(a) for a in alphabet)
    full = all(c == first for c, following in pairwise(others) if following)
    return list(word) == sorted(word) and full and max(others) <= first


def _begins_marked(word: str) -> bool:
    left, mark, right = word.partition("#")
    return not mark or left[::-1].startswith(right)


GROWTH: NameTable[Growth] = NameTable(
    "language",
    {
        "parity": Growth(
            alphabet=("0", "1"),
            contains=lambda word: word.count("1") % 2 == 1,
            viable=lambda word: True,
            up_to=lambda n: 1 + (n > 0),
            exactly=lambda n: 1 + (n > 0),
            suffixes=lambda n: 0,
        ),
        "a^n b^n": Growth(
            alphabet=("a", "b"),
            contains=lambda word: _equal_blocks(word, "ab"),
            viable=lambda word: _begins_equal_blocks(word, "ab"),
            up_to=lambda n: 2 * n + 1,
            exactly=lambda n: n // 2 + 2 if n else 1,
            suffixes=lambda n: n,
        ),
        "dyck-1": dyck_growth(1),
        "a^n b^n c^n": Growth(
            alphabet=("a", "b", "c"),
            contains=lambda word: _equal_blocks(word, "abc"),
            viable=lambda word: _begins_equal_blocks(word, "abc"),
            up_to=lambda n: n + 1 + (n - 1) ** 2 // 4 + n // 2 + (n >= 3) + (n >= 1),
            exactly=lambda n: (n + 1) // 2 + n // 6 + (n % 6 != 1) + 1 if n else 1,
            suffixes=lambda n: 2 * n,
        ),
        "palindromes": Growth(
            alphabet=("a", "b"),
            contains=lambda word: word == word[::-1],
            viable=lambda word: True,
            up_to=lambda n: 2 ** (n + 1) - 1,
            exactly=lambda n: 2**n,
            suffixes=lambda n: n,
        ),
        "marked palindromes": Growth(
            alphabet=("a", "b", "#"),
            contains=lambda word: "#" in word and word == word[::-1] and word.count("#") == 1,
            viable=_begins_marked,
            up_to=lambda n: 2 ** (n + 1) + 2**n - 2 + (n >= 2),
            exactly=lambda n: 2**n + sum(2**h for h in range((n + 1) % 2, n, 2)) + (n >= 2),
            suffixes=lambda n: n + 1,
        ),
    },
)
r"""Languages with the numbers of their classes in closed form; ``dyck_growth`` has more.

PARITY has two classes. Where words are not viable, from n = 1 or, with a mark, 2 on, these are one class.

- :math:`a^n b^n`: each :math:`a^i` is a class, and for each r that of :math:`a^{r + j} b^j`, :math:`j \ge 1`, whose one
  suffix is :math:`b^r`; it begins at n = r + 2.
- :math:`a^n b^n c^n`: each :math:`a^i`; each :math:`a^i b^j` with :math:`1 \le j < i`, whose one suffix is
  :math:`b^{i - j} c^i`, which are :math:`\lfloor (n - 1)^2 / 4 \rfloor` up to n; and for each r the class whose one
  suffix is :math:`c^r`, of the words :math:`a^i b^i c^l`, :math:`i = r + l \ge 1`, of :math:`2 r + 3 l` letters.
- Palindromes over two letters: all words. Words u and v of one length are told apart by :math:`u^{\mathrm R}`. If v is
  longer, its letter in place :math:`|u| + 1` is not z, say; then z :math:`u^{\mathrm R}` makes a palindrome of u, and
  none of v: a palindrome :math:`v z u^{\mathrm R}` would be :math:`u z v^{\mathrm R}`.
- Marked palindromes, :math:`w \# w^{\mathrm R}`: each word without a mark is a class, and for each y that of the words
  with a mark whose one suffix is y, the first of which is :math:`y^{\mathrm R} \#`.
"""
