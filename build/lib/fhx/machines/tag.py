r"""Tag systems with deletion number 2: Post's machines on a queue, which small universal Turing machines simulate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from attrs import field, frozen
from frozendict import frozendict

from fhx.machines.validation import Items, hashed
from fhx.machines.words import Symbol

__all__ = ["TagSystem", "collatz", "odd_part", "rogozhin_form"]


def _frozen_words(productions: Items[Symbol, Iterable[Symbol]]) -> Mapping[Symbol, tuple[Symbol, ...]]:
    if not isinstance(productions, Mapping):
        raise TypeError(f"productions is a mapping {{letter: word}}, not {type(productions).__name__}")
    return frozendict({a: hashed(word, f"letters of the production of {a!r}") for a, word in productions.items()})


def _in_order(productions: Mapping[Symbol, tuple[Symbol, ...]]) -> tuple[tuple[Symbol, tuple[Symbol, ...]], ...]:
    return tuple(productions.items())


@frozen(repr=False)
class TagSystem:
    r"""A 2-tag system: productions :math:`P` that map a letter to a word.

    A step deletes the first two letters of the word and appends the production of the first one,

    .. math:: a\,b\,w \mapsto w\,P(a),

    and the system halts at a word of fewer than two letters or with a first letter that has no production.

    Args:
        productions: :math:`P`, a mapping ``{letter: word}``; its order is part of the value; stored immutable. A word
            is an iterable of hashable letters, and a string is its characters.

    Raises:
        TypeError: productions that are not a mapping, or a word with a letter that is not hashable.

    Source: Post, Formal reductions of the general combinatorial decision problem (1943).
    """

    productions: Mapping[Symbol, tuple[Symbol, ...]] = field(converter=_frozen_words, eq=_in_order)

    def __repr__(self) -> str:
        return f"TagSystem({dict(self.productions)})"

    @property
    def halting_letters(self) -> tuple[Symbol, ...]:
        """The letters of productions that have none themselves, in order of appearance."""
        letters = (a for word in self.productions.values() for a in word)
        return tuple(a for a in dict.fromkeys(letters) if a not in self.productions)

    def run(self, word: Iterable[Symbol]) -> Iterator[tuple[Symbol, ...]]:
        """Yield the words of the run, the first one included and the last one if the system halts."""
        letters = tuple(word)
        yield letters
        while len(letters) >= 2 and letters[0] in self.productions:
            letters = letters[2:] + self.productions[letters[0]]
            yield letters


def collatz() -> TagSystem:
    r"""De Mol's system for Collatz' function on words of the letter ``a``.

    The words of the run from :math:`a^n` that have no other letter are :math:`a^m` for the values :math:`m` of

    .. math:: n \mapsto n / 2 \text{ if } n \text{ is even}, \qquad n \mapsto (3n + 1) / 2 \text{ if } n \text{ is odd},

    until :math:`m = 1`, where the system halts since the word is too short.

    Source: De Mol, Tag systems and Collatz-like functions (2008).
    """
    return TagSystem({"a": "bc", "b": "a", "c": "aaa"})


def odd_part() -> TagSystem:
    r"""Divide by 2 while that is possible: from :math:`a^n`, :math:`n = 2^k m` with :math:`m` odd, halt at m letters.

    A word :math:`a^n` becomes :math:`(bc)^{n/2}` and then :math:`a^{n/2}` if :math:`n` is even. If it is odd, the last
    ``a`` deletes the first ``b``, and the system halts at :math:`c(bc)^{(n-1)/2}`.
    """
    return TagSystem({"a": "bc", "b": "a"})


def rogozhin_form(system: TagSystem, pair: Symbol = "N", halt: Symbol = "H") -> TagSystem:
    r"""A system in the form :math:`P(a) = N N B_a`, :math:`P(N) = N N`, that does what a given one does.

    :math:`N` is a new letter, and :math:`B_a` is the production of :math:`a` there. A pair :math:`N N` changes nothing
    wherever in the word it stands: read as a pair it goes to the end; if its first letter is the second one of a pair
    :math:`x N`, its second one is the first of :math:`N y`, so that :math:`x` is read and :math:`y` deleted as in
    :math:`x y`. So whenever the first letter is not :math:`N`, the word without its letters :math:`N` is that of the
    given system. Two things differ: words no longer become too short, so the system halts only on a letter; and all
    letters without a production become one.

    Args:
        system: a tag system.
        pair: the new letter :math:`N`, the last one that has a production.
        halt: what all letters without a production become.

    Raises:
        ValueError: a new letter that is a letter already.

    Source of the form: Rogozhin, Small universal Turing machines (1996).
    """
    letters = {*system.productions, *system.halting_letters}
    if pair == halt or pair in letters or halt in system.productions:
        raise ValueError(f"the letters {pair!r} and {halt!r} must be new and different")
    end = dict.fromkeys(system.halting_letters, halt)
    productions = {a: (pair, pair, *(end.get(x, x) for x in word)) for a, word in system.productions.items()}
    return TagSystem({**productions, pair: (pair, pair)})
