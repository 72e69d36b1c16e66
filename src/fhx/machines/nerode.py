r"""How many states a language asks for: its Nerode classes on short words, counted and in closed form.

Words u and v are **equivalent** for a language L if no w tells them apart: :math:`uw \in L` if and only if
:math:`vw \in L`. Let :math:`C_L(n)` be the number of classes with a word of at most n letters, and :math:`c_L(n)` that
of classes with a word of n letters.

**States.** A deterministic device, any net in any precision, is in a state after each word; the next one follows from
it and the letter, and the verdict from it alone. If it recognises L, it is in at least :math:`C_L(n)` states after the
words of at most n letters, and in at least :math:`c_L(n)` after those of n letters, the latter even if step and verdict
depend on the time too.

*Proof.* From words that lead to one state, and have one length if there is a clock, the same w leads to one state
again. So they are equivalent. *Conversely*, :math:`[u] \mapsto [ua]` is the step of a device whose states are the
classes; it attains all these numbers at once. So b(n) bits are enough for the state after n letters if and only if
:math:`c_L(n) \le 2^{b(n)}` with a clock, and without one if and only if :math:`C_L(n) \le 2^{b(n)}`.

**Logarithmic precision.** Let a net have d units, each with one of at most :math:`A (n + 1)^e` values after n letters:
:math:`e \log_2 (n + 1) + \log_2 A` bits. Then :math:`c_L(n) \le A^d (n + 1)^{d e}`, a polynomial. Palindromes over two
letters have :math:`c_L(n) = 2^n`, so no such net recognises them; :math:`a^n b^n`, :math:`a^n b^n c^n` and Dyck-1 are
recognised with counters of at most n. Few classes do not make a net: every language over one letter has at most n + 1,
and there are more of these than nets with rational weights.
"""

from collections.abc import Callable, Iterable, Iterator, Reversible
from itertools import islice
from typing import SupportsIndex

from attrs import frozen

from fhx._checks import at_least
from fhx.machines.validation import alphabet_in_order
from fhx.machines.words import Symbol, Word, has_letters_only

__all__ = ["WrongLength", "first_wrong_length", "nerode_classes"]

Predicate = Callable[..., object]
DEAD = -1
"""The place of all words that no member begins with: behind the others of their length."""


def nerode_classes(
    contains: Predicate,
    alphabet: Reversible[Symbol],
    n: SupportsIndex,
    suffixes: SupportsIndex,
    exactly: bool = False,
    viable: Predicate | None = None,
) -> int:
    r"""Into how many classes the words of at most n letters fall, if suffixes of at most h letters tell them apart.

    These are classes, since all words are tried with the same suffixes, and the number is at most :math:`C_L(n)`, does
    not fall with h, and is :math:`C_L(n)` from some h on. **What it proves**, whatever h is: a device that is right on
    all words of at most n + h letters has at least so many states. All of them are tried, so that takes time
    :math:`|\Sigma|^{n + h}`.

    Args:
        contains: the language; a word comes as a string if all symbols are single characters, else as a tuple.
        alphabet: the symbols in their order.
        n: the length of words.
        suffixes: h.
        exactly: only words of n letters, so that the number is at most :math:`c_L(n)`.
        viable: whether some member begins with a word; if given, it is believed, and what it rejects is not continued.

    Raises:
        TypeError: the alphabet is a set, which has no order.
        ValueError: n or h is not an integer of at least 0, or the alphabet is empty.
    """
    n, h = at_least("n", n, 0), at_least("suffixes", suffixes, 0)
    trie = _Trie(contains, alphabet, n + h, viable)
    numbers = next(islice(trie.classes(), h, None))
    return len({numbers[t][i] for t in range(n if exactly else 0, n + 1) for i, _ in trie.level(t)})


@frozen
class WrongLength:
    """How far a recogniser was seen to be right: a search, not a proof.

    Attributes:
        word: the first word found on which it is wrong; None if there was none.
        lengths: the lengths searched, up to that of the word.
        tried: how many words were tried.
    """

    word: Word | None
    lengths: tuple[int, ...]
    tried: int

    @property
    def length(self) -> int | None:
        """The first length with a wrong verdict among the words tried; None if all were right."""
        return None if self.word is None else self.lengths[-1]


def first_wrong_length(
    decides: Callable[[Word], object],
    contains: Predicate,
    words: Callable[[int], Iterable[Word]],
    lengths: Iterable[int],
) -> WrongLength:
    """The first length at which a recogniser errs on a word that is tried.

    It may err earlier: on words that ``words`` does not give, and on lengths that are left out. What it says is all
    that was searched.

    Args:
        decides: the recogniser's verdict: true, false, or None for no answer, which is wrong.
        contains: the language.
        words: the words to try of a length; a sample, or all.
        lengths: what is searched, in this order.
    """
    searched, tried = list[int](), 0
    for n in lengths:
        searched.append(n)
        for word in words(n):
            tried += 1
            verdict = decides(word)
            if verdict is None or bool(verdict) != bool(contains(word)):
                return WrongLength(word, tuple(searched), tried)
    return WrongLength(None, tuple(searched), tried)


class _Trie:
    """The words of up to ``depth`` letters, level by level, with one entry for all that are not viable.

    ``members[t][i]`` says whether the i-th word of t letters is in the language, ``children[t][i]`` where its
    continuations are. Rows of members end with that of the words that are not viable.
    """

    def __init__(self, contains: Predicate, alphabet: Reversible[Symbol], depth: int, viable: Predicate | None) -> None:
        self.alphabet, self.depth = alphabet_in_order(alphabet), depth
        if not self.alphabet:
            raise ValueError("the alphabet is empty")
        self.dead: Word | None = None
        self.words: list[list[Word]] = [["" if has_letters_only(self.alphabet) else ()]]
        self.children: list[list[list[int]]] = []
        for _ in range(depth):
            level, rows = list[Word](), list[list[int]]()
            for u in self.words[-1]:
                rows.append([])
                for a in self.alphabet:
                    word = u + str(a) if isinstance(u, str) else (*u, a)
                    alive = viable is None or bool(viable(word))
                    rows[-1].append(len(level) if alive else DEAD)
                    if alive:
                        level.append(word)
                    else:
                        self.dead = self.dead or word
            self.words.append(level)
            self.children.append(rows)
        self.members = [[*(bool(contains(u)) for u in level), False] for level in self.words]

    def level(self, t: int) -> Iterator[tuple[int, Word]]:
        """The words of t letters with their places; one that is not viable stands for all of these."""
        yield from enumerate(self.words[t])
        if self.dead is not None and len(self.dead) <= t:
            yield DEAD, self.dead

    def classes(self) -> Iterator[list[list[int]]]:
        """For r = 0, 1, ..., ``depth``, the numbers of the classes of all words that r more letters fit behind, if
        suffixes of at most r letters tell them apart: a row for each level, the last entry as in ``members``.
        """
        now = [list(map(int, members)) for members in self.members]
        yield now
        for r in range(1, self.depth + 1):
            number: dict[tuple[int, ...], int] = {}
            before, now = now, []
            for t in range(self.depth - r + 1):
                rows = [*self.children[t], [DEAD] * len(self.alphabet)]
                keys = ((m, *map(before[t + 1].__getitem__, row)) for m, row in zip(self.members[t], rows, strict=True))
                now.append([number.setdefault(key, len(number)) for key in keys])
            yield now
