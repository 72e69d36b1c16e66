"""Turing nets in floating-point numbers: how high a tape stands, when digits are lost, and the first wrong step."""

from collections.abc import Hashable, Iterable
from itertools import islice
from math import log2

import torch

from recurrence.compile.turing_net import Layout, TuringNet
from recurrence.machines import TuringMachine

__all__ = ["first_wrong_step", "lossy_length", "significand_bits", "stack_height"]

Word = Iterable[Hashable]


def significand_bits(dtype: torch.dtype) -> int:
    """p, how many bits the significand of a floating-point type has, the leading one included.

    Raises:
        TypeError: ``dtype`` is no floating-point type.
    """
    return 1 - int(log2(torch.finfo(dtype).eps))


def stack_height(tm: TuringMachine, word: Word, max_steps: int) -> int:
    """A height that no stack exceeds in a run of ``max_steps`` steps: the length of the word, or the head's farthest
    cell, counted from 0, whichever is more.

    Raises:
        ValueError: a symbol is outside the input alphabet.
    """
    word = tuple(word)
    return max([len(word), *(here.head for here in islice(tm.run(word), max_steps + 1))])


def lossy_length(base: int, dtype: torch.dtype) -> int:
    r"""The least n with :math:`(B - 1) B^{-n} < 2^{-p-1}`: from there on the n-th of n equal symbols is lost.

    The stack of n - 1 such symbols is in :math:`[\frac{B-1}{B}, 1]`, where floats are at least :math:`2^{-p}` apart,
    and what the n-th adds is less than half of this. For :math:`a^n` itself, :math:`1 - B^{-n}` then rounds to 1, the
    stack without end.

    Raises:
        TypeError: ``dtype`` is no floating-point type.
    """
    p, n = significand_bits(dtype), 1
    while (base - 1) * 2 ** (p + 1) >= base**n:
        n += 1
    return n


def first_wrong_step(net: TuringNet, word: Word, dtype: torch.dtype, limit: int) -> int | None:
    """The first of ``limit`` net steps after which a float net has a bit of the state, or the output, off by 1/2.

    The bits are those of the pairs, of the tops of both stacks and of ``load``: who reads them rightly has the state,
    the symbol read and what lies beside the head.

    Raises:
        ValueError: a symbol is outside the alphabet.
        TypeError: ``dtype`` is no floating-point type.
    """
    word = tuple(word)
    floats = net.to_torch(dtype).states([word[:limit]], limit - len(word[:limit]))[0].double()
    exact = torch.zeros_like(floats)
    for t, state in enumerate(islice(net.net.run(word), limit + 1)):
        for j, value in state.items():
            exact[t, j] = float(value)
    code = net.net.code
    seen = [code.D.row(code.names.index(name)) for name in bits(net.layout)] + [dict(enumerate(net.net.w))]
    weights = torch.tensor([[float(row.get(j, 0)) for j in range(net.units)] for row in seen], dtype=torch.float64)
    right = (((floats - exact) @ weights.T).abs() < 0.5).all(1)
    return None if right.all() else int((~right).nonzero()[0, 0])


def bits(layout: Layout) -> list[str]:
    """The names that are 0 or 1 from the first symbol on, and say what the next step is."""
    return [layout.load, *layout.pairs.values(), *layout.left_top.values(), *layout.right_top.values()]
