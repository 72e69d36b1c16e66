r"""The machines of the book: Tomita's grammars, PARITY, divisibility, and the word problems of symmetric groups."""

from collections.abc import Callable, Hashable, Iterable, Mapping
from operator import index
from types import MappingProxyType
from typing import TypeVar

from fhx.machines.dfa import DFA
from fhx.machines.names import NameTable
from fhx.machines.search import breadth_first

__all__ = ["NAMED", "divisible_by", "parity", "symmetric_group", "tomita"]

Q = TypeVar("Q", bound=Hashable)
BINARY = "01"
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def tomita(k: int) -> DFA:
    r"""Tomita's :math:`k`-th grammar over ``"01"``, the benchmark of grammatical inference since 1982.

    ==  ==============================================================  ======
    k   accepts the words                                               states
    ==  ==============================================================  ======
    1   :math:`1^*`                                                          2
    2   :math:`(10)^*`                                                       3
    3   without an odd block of 0s anywhere after an odd block of 1s         5
    4   without 000                                                          4
    5   with an even number of 0s and an even number of 1s                   4
    6   whose number of 0s less that of 1s is a multiple of 3                3
    7   :math:`0^* 1^* 0^* 1^*`                                              5
    ==  ==============================================================  ======

    A block is a longest run of one symbol. In grammar 3 other blocks may lie between the two, as in Weiss, Goldberg and
    Yahav (2018) and in AALpy. Some authors forbid only a block of 0s *directly* after the block of 1s, which is another
    language: it has the word 100110.

    Raises:
        ValueError: ``k`` is not one of 1, ..., 7.

    Source: Tomita, Dynamic construction of finite automata from examples using hill-climbing (1982).
    """
    if k not in TOMITA:
        raise ValueError(f"Tomita's grammars are numbered 1 to 7, and there is no {k!r}")
    return TOMITA[k]()


TOMITA: Mapping[int, Callable[[], DFA]] = MappingProxyType(
    {
        1: lambda: _called(DFA.from_regex("1*", BINARY), "q{}"),
        2: lambda: _called(DFA.from_regex("(10)*", BINARY), "q{}"),
        3: lambda: _called(~DFA.from_regex("((0|1)*0)?1(11)*(0(0|1)*1)?0(00)*(1(0|1)*)?", BINARY), "q{}"),
        4: lambda: _called(~DFA.from_regex("(0|1)*000(0|1)*", BINARY), "q{}"),
        5: lambda: _explored((0, 0), _count_both_modulo_2, BINARY, [(0, 0)]),
        6: lambda: _called(_explored(0, lambda r, x: (r + {"0": 1, "1": -1}[x]) % 3, BINARY, [0]), "r{}"),
        7: lambda: _called(DFA.from_regex("0*1*0*1*", BINARY), "q{}"),
    }
)


def parity() -> DFA:
    r"""PARITY: the words over ``"01"`` with an odd number of 1s. The states are ``"even"`` and ``"odd"``."""
    other = {"even": "odd", "odd": "even"}
    return _explored("even", lambda q, x: other[q] if x == "1" else q, BINARY, ["odd"])


def divisible_by(n: int, base: int = 2) -> DFA:
    r"""The numerals in base :math:`b` of the multiples of :math:`n`, the most significant digit first.

    The state is the remainder of what has been read, :math:`r_t = (b\, r_{t-1} + x_t) \bmod n`; so there are :math:`n`
    states, ``"r0"``, ``"r1"``, ..., and the machine is minimal if :math:`n` and :math:`b` have no common factor. The
    empty word stands for 0, which is a multiple; leading zeros are allowed. The digits are ``0, ..., 9, a, ..., z``.

    Raises:
        ValueError: :math:`n < 1`, or a base that is not one of 2, ..., 36.
        TypeError: a number that is not an integer.
    """
    n, base = index(n), index(base)
    if n < 1 or not 2 <= base <= len(DIGITS):
        raise ValueError(f"a divisor is at least 1 and a base between 2 and {len(DIGITS)}, not {n!r} and {base!r}")
    remainders = _explored(0, lambda r, digit: (base * r + int(digit, base)) % n, DIGITS[:base], [0])
    return _called(remainders, "r{}")


def symmetric_group(n: int) -> DFA:
    r"""The word problem of :math:`S_n`: which products of two generators are the identity.

    The generators are ``s``, the swap :math:`(1\,2)`, and ``c``, the cycle :math:`(1\,2\,\dots\,n)` that takes each
    number to the next and :math:`n` to 1. A word applies them from left to right,

    .. math:: q_t = x_t \circ q_{t-1}, \qquad q_0 = \mathrm{id},

    so ``sc`` swaps first. The :math:`n!` states are permutations in one-line notation: ``"231"`` takes 1 to 2, 2 to 3
    and 3 to 1. For :math:`n \ge 5` the group is not solvable, and the problem is complete for the class NC\ :sup:`1`
    (Barrington 1989).

    Raises:
        ValueError: ``n`` is not one of 2, ..., 9, for which the numbers are single digits.
        TypeError: :math:`n` is not an integer.
    """
    if index(n) not in range(2, 10):
        raise ValueError(f"the word problem is defined here for the permutations of 2 to 9 numbers, not of {n!r}")
    identity = DIGITS[1 : n + 1]
    images = {"s": identity[1::-1] + identity[2:], "c": identity[1:] + identity[0]}
    generators = {symbol: str.maketrans(identity, image) for symbol, image in images.items()}
    return _explored(identity, lambda permutation, x: permutation.translate(generators[x]), "sc", [identity])


def _explored(start: Q, step: Callable[[Q, str], Q], alphabet: str, accept: Iterable[Q]) -> DFA:
    """The machine of all states that a step function reaches, breadth first."""
    states = breadth_first(start, lambda state: (step(state, symbol) for symbol in alphabet))
    transitions = {(state, symbol): step(state, symbol) for state in states for symbol in alphabet}
    return DFA(states, alphabet, transitions, start, accept)


def _called(dfa: DFA, pattern: str) -> DFA:
    """The machine with its states under other names: among digits, a state that is a number reads like a symbol."""
    names = {state: pattern.format(state) for state in dfa.states}
    transitions = {(names[state], symbol): names[target] for (state, symbol), target in dfa.transitions.items()}
    return DFA(names.values(), dfa.alphabet, transitions, names[dfa.start], [names[state] for state in dfa.accept])


def _count_both_modulo_2(counts: tuple[int, int], x: str) -> tuple[int, int]:
    zeros, ones = counts
    return (1 - zeros, ones) if x == "0" else (zeros, 1 - ones)


NAMED: NameTable[DFA] = NameTable(
    "finite automaton",
    {
        "(a|b)*abb": DFA.from_regex("(a|b)*abb", "ab"),
        "parity": parity(),
        **{f"tomita-{k}": tomita(k) for k in TOMITA},
        "divisible-by-3": divisible_by(3),
        "divisible-by-7-decimal": divisible_by(7, 10),
        "S3": symmetric_group(3),
        "S5": symmetric_group(5),
    },
    elsewhere="; languages without a finite automaton are in fhx.tasks.LANGUAGES",
)
"""The automata of the book by the ids of their languages, or any alias: ``NAMED["tomita-4"]``, ``NAMED["PARITY"]``."""
