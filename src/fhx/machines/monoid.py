r"""The monoid of a machine: all maps of its states that words make.

To read a word is to compose the maps of its letters. So what words do to states is a finite monoid, and its algebra
says what the language needs: whether it is star-free, and how shallow the circuits are that decide it
(:func:`~fhx.machines.complexity`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from attrs import field, frozen
from frozendict import frozendict

from fhx._checks import check_kind, positive
from fhx.machines.dfa import DFA
from fhx.machines.groups import Map, PermutationGroup, compose
from fhx.machines.words import Symbol, Word, as_word

__all__ = ["TooManyElementsError", "TransitionMonoid", "syntactic_monoid"]

MAX_ELEMENTS = 100_000


class TooManyElementsError(ValueError):
    """A monoid has more elements than were allowed.

    Attributes:
        max_elements: how many were allowed.
        word: a shortest word whose map is one too many.
    """

    def __init__(self, max_elements: int, word: Word) -> None:
        self.max_elements, self.word = max_elements, word
        super().__init__(f"the monoid has more than {max_elements} elements: one too many is the map of {word!r}")


class Found(NamedTuple):
    """The elements, for each its products with the letters, and the product by which it was met, (0, -1) for 1."""

    elements: tuple[Map, ...]
    table: tuple[tuple[int, ...], ...]
    met: tuple[tuple[int, int], ...]


@frozen(repr=False)
class TransitionMonoid:
    r"""The maps that words make of the states of a machine, with composition.

    The word w makes the map :math:`f_w : q \mapsto \delta(q, w)` of the n states, which are numbered in their order; a
    map is the tuple of its n values. Products are read from left to right, as words are:

    .. math:: f_{u v} = f_u f_v, \qquad (x y)(q) = y(x(q)), \qquad f_\varepsilon = 1.

    There are at most :math:`n^n`. They are found breadth first, by multiplying with the letters from the right, and
    stand in this order: the identity first, and each at the first word, by length and then by alphabet, that makes it.

    Args:
        machine: any; the monoid is that of the machine as it is, with all its states. That of the language is
            :func:`syntactic_monoid`.
        max_elements: the most elements.

    Raises:
        TypeError: ``machine`` is not a DFA.
        TooManyElementsError: a ValueError; there are more elements.

    Source: Myhill (1957), Rabin and Scott (1959); Pin, "Syntactic semigroups", Handbook of formal languages (1997).
    """

    machine: DFA
    max_elements: int = field(default=MAX_ELEMENTS, eq=False)
    _found: Found = field(init=False, eq=False)

    @_found.default
    def _explored(self) -> Found:
        check_kind(self.machine, DFA, "TransitionMonoid")
        most = positive("max_elements", self.max_elements)
        one = tuple(range(len(self.machine.states)))
        elements, number, met = [one], {one: 0}, [(0, -1)]
        table: list[tuple[int, ...]] = []
        for i, x in enumerate(elements):  # grows while it is read
            row = []
            for k, letter in enumerate(self.letters):
                y = compose(x, letter)
                j = number.setdefault(y, len(elements))
                if j == len(elements):
                    elements.append(y)
                    met.append((i, k))
                    if j == most:
                        raise TooManyElementsError(most, self._word(met, j))
                row.append(j)
            table.append(tuple(row))
        return Found(tuple(elements), tuple(table), tuple(met))

    def __repr__(self) -> str:
        n, alphabet = len(self.machine.states), self.machine.alphabet
        return f"TransitionMonoid({len(self)} maps of {n} states, {len(alphabet)} letters)"

    def __len__(self) -> int:
        return len(self.elements)

    @cached_property
    def letters(self) -> tuple[Map, ...]:
        """The map of each symbol, in the order of the alphabet."""
        number, moves = {q: i for i, q in enumerate(self.machine.states)}, self.machine.transitions
        return tuple(tuple(number[moves[q, a]] for q in self.machine.states) for a in self.machine.alphabet)

    @property
    def elements(self) -> tuple[Map, ...]:
        """All maps, in the order in which they are found."""
        return self._found.elements

    @property
    def table(self) -> tuple[tuple[int, ...], ...]:
        r"""The right Cayley graph: ``table[i][k]`` is the number of the i-th element times the k-th letter."""
        return self._found.table

    @cached_property
    def _number(self) -> dict[Map, int]:
        return {x: i for i, x in enumerate(self.elements)}

    # Elements and words

    def element(self, word: Iterable[Symbol]) -> Map:
        r""":math:`f_w`, the map that a word makes; a ValueError for a symbol outside the alphabet."""
        letter = {a: k for k, a in enumerate(self.machine.alphabet)}
        i = 0
        for a in word:
            if a not in letter:
                raise ValueError(f"symbol {a!r} is outside the alphabet {self.machine.alphabet}")
            i = self.table[i][letter[a]]
        return self.elements[i]

    def product(self, x: Map, y: Map) -> Map:
        """First x, then y; a ValueError if one of them is not an element."""
        return compose(self.elements[self._numbered(x)], self.elements[self._numbered(y)])

    def shortest_word(self, x: Map) -> Word:
        """A shortest word that makes the map x, the first by alphabet; a ValueError if x is not an element."""
        return self._word(self._found.met, self._numbered(x))

    def _numbered(self, x: Map) -> int:
        try:
            return self._number[tuple(x)]
        except (KeyError, TypeError):
            raise ValueError(f"{x!r} is not an element of this monoid of {len(self)} maps") from None

    def _word(self, met: Sequence[tuple[int, int]], i: int) -> Word:
        symbols = []
        while i:
            i, k = met[i]
            symbols.append(self.machine.alphabet[k])
        return as_word(symbols[::-1], self.machine.alphabet)

    # Groups

    @cached_property
    def groups(self) -> Mapping[Map, PermutationGroup]:
        r"""The maximal subgroups, up to isomorphism, as groups of permutations: for each set of states P that is the
        image of an idempotent, the permutations of P that elements with the image P make.

        The points of P, the key, are numbered in their order. An element x lies in a group just if it permutes its
        image: if it does, a power e of x is an idempotent with this image, and :math:`x, x^2, \dots, e` is a group; and
        in a group with the unit e all elements have the image P of e and permute it. The maximal one is the
        group :math:`H_e` of units of :math:`e M e`. It acts on P, faithfully, since :math:`x = e x`; and if x has the
        image P and permutes it, then :math:`e x` is in :math:`H_e` and acts on P as x does.

        Source: Clifford and Preston (1961), section 1.7 and chapter 2; Green (1951).
        """
        found: dict[Map, list[Map]] = {}
        for x in self.elements:
            points = sorted(set(x))
            if len({x[p] for p in points}) == len(points):
                place = {p: i for i, p in enumerate(points)}
                found.setdefault(tuple(points), []).append(tuple(place[x[p]] for p in points))
        return frozendict({points: PermutationGroup(dict.fromkeys(made)) for points, made in found.items()})

    @cached_property
    def is_aperiodic(self) -> bool:
        r"""Whether :math:`x^{n+1} = x^n` for every x, with n the number of states: all its groups have one element.

        All powers from the n-th on have one image P, and x permutes P; so two of them in a row are equal just if x
        fixes every point of P. In other words, the machine is **counter-free**: no word leads states
        :math:`q_1 \to q_2 \to \dots \to q_k \to q_1` in a circle with :math:`k > 1`. A language is **star-free**, made
        of single words by union, complement and concatenation, if and only if its syntactic monoid is aperiodic
        (Schützenberger). These are the languages that first-order logic defines by the order of positions (McNaughton
        and Papert).

        Source: Schützenberger (1965), "On finite monoids having only trivial subgroups"; McNaughton and Papert (1971),
        "Counter-free automata".
        """
        return all(len(group) == 1 for group in self.groups.values())

    @cached_property
    def is_solvable(self) -> bool:
        """Whether all its groups are solvable; then so are their subgroups, and the quotients of these."""
        return all(group.is_solvable for group in self.groups.values())

    # Laws

    @property
    def is_group(self) -> bool:
        """Whether every letter permutes the states, so that every word can be undone by another."""
        return all(len(set(letter)) == len(letter) for letter in self.letters)

    @property
    def is_commutative(self) -> bool:
        """Whether the order of letters does not matter: all products commute, which they do if those of letters do."""
        return all(compose(x, y) == compose(y, x) for x in self.letters for y in self.letters)

    @property
    def is_idempotent(self) -> bool:
        """Whether :math:`x x = x` for every x, so that to read a word twice is to read it once."""
        return all(compose(x, x) == x for x in self.elements)

    @property
    def is_definite(self) -> bool:
        r"""Whether all words that are long enough lead all states to one, a **reset**.

        They do just if every idempotent made by a word that is not empty is a constant map: of a word of at least as
        many symbols as there are elements, two prefixes make the same map x, so :math:`x = x f_u` for the word u
        between them, :math:`x = x e` for the idempotent e among the powers of :math:`f_u`, and x is constant. The
        order of the machine is ``fhx.stability.definite_order``.

        Source: Perles, Rabin and Shamir (1963), "The theory of definite automata".
        """
        made = {j for row in self.table for j in row}
        return all(len(set(x)) == 1 for i, x in enumerate(self.elements) if i in made and compose(x, x) == x)


def syntactic_monoid(dfa: DFA, max_elements: int = MAX_ELEMENTS) -> TransitionMonoid:
    r"""The monoid of a language: the transition monoid of its minimal machine.

    It is the quotient of :math:`\Sigma^*` by the **syntactic congruence** of the language L,

    .. math:: u \sim v \iff (p u q \in L \iff p v q \in L \text{ for all words } p, q):

    u and v make one map of the states of the minimal machine if and only if after every p they lead to states that no q
    tells apart. It divides the monoid of every machine of L.

    Args:
        dfa: any machine of the language.
        max_elements: the most elements.

    Raises:
        TypeError: ``dfa`` is not a DFA.
        TooManyElementsError: a ValueError; there are more elements.
    """
    check_kind(dfa, DFA, "syntactic_monoid")
    return TransitionMonoid(dfa.minimize(), max_elements)
