r"""Well-nested brackets of several kinds, to any depth or to a bounded one: Dyck-k and Dyck-(k, m).

Every prefix of such a word leaves a **stack**, the opening brackets that are not yet closed, the first one at the
bottom. Dyck-(k, m) has the words over k kinds of brackets whose brackets close in the right order, none is left open,
and no prefix leaves more than m.
"""

from collections.abc import Iterable, Iterator
from itertools import chain, product
from typing import SupportsIndex

from fhx._checks import at_least, positive
from fhx.machines.dfa import DFA
from fhx.machines.words import State, Symbol

__all__ = ["bracket_pairs", "dyck", "dyck_states", "well_nested"]

PAIRS = (("(", ")"), ("[", "]"), ("{", "}"), ("<", ">"))


def bracket_pairs(k: SupportsIndex) -> tuple[tuple[str, str], ...]:
    """k kinds of brackets, (opening, closing): ``()``, ``[]``, ``{}``, ``<>``, or ``(1``, ``)1``, ... if more than 4.

    Raises:
        ValueError: k is not a positive integer.
    """
    k = positive("k", k)
    return PAIRS[:k] if k <= len(PAIRS) else tuple((f"({i}", f"){i}") for i in range(1, k + 1))


def well_nested(word: Iterable[Symbol], k: SupportsIndex, m: SupportsIndex | None = None) -> bool:
    """Whether a word is in Dyck-(k, m), by the definition; Dyck-k if m is None.

    Args:
        word: brackets of :func:`bracket_pairs`.
        k: how many kinds there are.
        m: the largest depth.

    Raises:
        ValueError: a symbol is none of these brackets, k is below 1, or m is below 0.
    """
    opening = {closing: opening for opening, closing in bracket_pairs(k)}
    deepest = None if m is None else at_least("m", m, 0)
    stack: list[Symbol] = []
    right = True
    for symbol in word:
        if symbol in opening:
            right = right and bool(stack) and stack.pop() == opening[symbol]
        elif symbol in opening.values():
            stack.append(symbol)
            right = right and (deepest is None or len(stack) <= deepest)
        else:
            raise ValueError(f"{symbol!r} is not one of the brackets {tuple(chain(*bracket_pairs(k)))}")
    return right and not stack


def dyck(k: SupportsIndex, m: SupportsIndex) -> DFA:
    r"""The minimal machine of Dyck-(k, m): its states are the stacks of at most m brackets, and ``"wrong"``.

    .. math::

       \delta(s, o) = s\,o \text{ if } |s| < m, \qquad \delta(s\,o, \bar o) = s, \qquad
       \delta(s, x) = \text{wrong otherwise},

    for an opening bracket :math:`o` and its closing one :math:`\bar o`. It starts in the empty stack, called
    ``"empty"``, and accepts there. A state is the string of its opening brackets, the bottom first. There are
    :math:`1 + \sum_{i=0}^m k^i` states, see :func:`dyck_states`.

    **It is minimal.** Each stack s is reached, by the word s. The word :math:`\bar s` that closes s from the top
    down is accepted from s. Read from another stack it meets a bracket that it does not close, ends in a stack that
    is not empty, or finds the empty one too early; and from ``"wrong"`` nothing is accepted. So two states are told
    apart by :math:`\bar s` for the stack s that is one of them, and ``"wrong"`` is reached by a closing bracket.

    Args:
        k: kinds of brackets; the alphabet is that of :func:`bracket_pairs`, pair by pair.
        m: the largest depth.

    Raises:
        ValueError: k or m is not a positive integer.
    """
    pairs, m = bracket_pairs(k), positive("m", m)
    openings = [opening for opening, _ in pairs]
    stacks = [stack for height in range(m + 1) for stack in product(openings, repeat=height)]

    def moves() -> Iterator[tuple[tuple[State, Symbol], State]]:
        for stack in stacks:
            for opening, closing in pairs:
                yield (_name(stack), opening), _name((*stack, opening)) if len(stack) < m else "wrong"
                yield (_name(stack), closing), _name(stack[:-1]) if stack[-1:] == (opening,) else "wrong"
        yield from ((("wrong", symbol), "wrong") for symbol in chain(*pairs))

    return DFA([*map(_name, stacks), "wrong"], tuple(chain(*pairs)), dict(moves()), "empty", ["empty"])


def dyck_states(k: SupportsIndex, m: SupportsIndex) -> int:
    r"""How many states :func:`dyck` has: :math:`\frac{k^{m+1} - 1}{k - 1} + 1`, and :math:`m + 2` for k = 1.

    Args:
        k: kinds of brackets.
        m: the largest depth.

    Raises:
        ValueError: k or m is not a positive integer.
    """
    k, m = positive("k", k), positive("m", m)
    return (m + 1 if k == 1 else (k ** (m + 1) - 1) // (k - 1)) + 1


def _name(stack: tuple[str, ...]) -> str:
    return "".join(stack) or "empty"
