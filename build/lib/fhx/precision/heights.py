"""How high a stack stands, and in base 4 the height up to which a Turing net is exact in floating-point numbers."""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import islice

import torch

from fhx.compile.turing_layout import Layout
from fhx.compile.turing_net import TuringNet
from fhx.exact import Expression, units_of
from fhx.exact.numbers import Number, size
from fhx.machines import TuringMachine
from fhx.precision.digits import significand_bits

__all__ = ["exact_height", "stack_height"]


def stack_height(tm: TuringMachine, word: Iterable[Hashable], max_steps: int) -> int:
    """A height that no stack exceeds in a run of ``max_steps`` steps: the length of the word, or the head's farthest
    cell, counted from 0, whichever is more.

    Args:
        tm: the machine.
        word: its input.
        max_steps: how many steps it takes.

    Raises:
        ValueError: a symbol is outside the input alphabet.
    """
    word = tuple(word)
    return max([len(word), *(here.head for here in islice(tm.run(word), max_steps + 1))])


def exact_height(net: TuringNet[Layout], dtype: torch.dtype) -> int | None:
    r"""A height d such that the float net is exact, in every order of summation, on all words and for ever, while no
    stack is higher than d (:func:`stack_height`); None if a weight is not a number of the type.

    **Proof.** Let all weights be floats, and B times each an integer; that is so for B = 4, and for no other base but
    2, which is not a base: B and B - 2 must be powers of two. Let M bound :math:`\sum_j |W_{ij}| h_j + |U_{ia}| +
    |b_i|` for all units, symbols and states of the exact net. If :math:`M B^d \le 2^p`, then the multiples of
    :math:`B^{-d}` up to M are floats. A stack of height k is a multiple of :math:`B^{-k}`, bits are integers, and so
    all products are multiples of :math:`B^{-d}`, with one kind of exception, and are summed without error. The
    exceptions: ``gap`` is a power of two, and alone in its sum while it is not 0; a stack of height d, divided by B for
    a push that does not take place, is off the grid, but then the sum is at most 0, is computed as at most that of the
    terms rounded up to the grid, which is 0, and the unit is 0 as it should be.

    M is found from what holds in all states: of ``load`` and the pairs at most one is 1, and of the tops of a stack,
    which are sums of an slu and of other units, none of them negative; each component of a stack is at most
    :math:`\frac{B-1}{B}` of its top bit plus its share of :math:`\frac{1}{B}`.

    Raises:
        TypeError: ``dtype`` is not a floating-point type.
    """
    if not _weights_are_floats(net, dtype):
        return None
    p, heaviest, d = significand_bits(dtype), max(_Sizes(net)), 0
    underflow = torch.finfo(dtype).smallest_normal * torch.finfo(dtype).eps
    while heaviest * net.base ** (d + 1) <= 2**p and underflow * net.base ** (d + 2) <= 1:
        d += 1
    return d or None


def _weights_are_floats(net: TuringNet[Layout], dtype: torch.dtype) -> bool:
    """Whether all weights are numbers of the type and multiples of 1 / B, but for those of ``gap``, powers of B."""
    rnn = net.rnn
    gap = next(iter(net.decoder.row(net.layout.gap).keys() - {0}))
    values = [value for (i, _), value in rnn.W.entries.items() if i != gap]
    values += [*rnn.U.entries.values(), *rnn.b, *net.w, net.c]
    rounded = torch.tensor([float(value) for value in values], dtype=dtype).double().tolist()
    grid = all((value * net.base).denominator == 1 for value in map(Fraction, values))
    return grid and all(a == b for a, b in zip(values, rounded, strict=True))


class _Sizes:
    r"""Bounds of :math:`\sum_j |W_{ij}| h_j + |U_{ia}| + |b_i|` over all states of a Turing net and all symbols a."""

    def __init__(self, net: TuringNet[Layout]) -> None:
        names, decoder = net.layout, net.decoder
        self.net, self.digit = net, Fraction(net.base - 1, net.base)
        self.units = {name: decoder.row(name) for name in decoder.names}
        self.stacks = [(names.left, names.left_top), (names.right, names.right_top)]
        self.single = [[names.load, *names.pairs.values()], [names.gap], [names.first]]
        atoms = dict(enumerate(units_of(net.step.state.values()), start=1))
        self.largest: dict[int, Number] = {}
        for units in (self.units[name] for _, top in self.stacks for name in top.values()):
            ones = {atoms[j].argument + 1 for j, sign in units.items() if sign < 0}
            for j in units:
                in_slu = units[j] < 0 or atoms[j].argument in ones
                self.largest[j] = self._largest(atoms[j].argument) if in_slu else 1

    def __iter__(self) -> Iterator[Number]:
        rnn = self.net.rnn
        for i in range(rnn.units):
            yield self._size(rnn.W.row(i)) + _most(size(u) for u in rnn.U.row(i).values()) + size(rnn.b[i])
        yield self._size(dict(enumerate(self.net.w))) + size(self.net.c)

    def _size(self, row: Mapping[int, Number]) -> Number:
        """Names of a group add up to at most 1 and are positive sums of units; of the tops of a stack one is there."""

        def share(name: str) -> Number:
            return _most(Fraction(size(row.get(j, 0))) / c for j, c in self.units[name].items())

        def seen(name: str) -> Number:
            return sum((size(row.get(j, 0)) * self.largest[j] for j in self.units[name]), 0)

        groups = [*self.single, *(stack.values() for stack, _ in self.stacks)]
        in_groups = sum((_most(map(share, group)) for group in groups), 0)
        return in_groups + sum((_most(map(seen, top.values())) for _, top in self.stacks), 0)

    def _largest(self, e: Expression) -> Number:
        """The largest value of an argument: what its constant, one name of each group, and one input make of it."""

        def weight(name: str) -> Number:
            return e.terms.get(name, 0)

        value = e.constant + max(map(weight, self.net.layout.inputs))
        value += sum((_most(map(weight, group)) for group in self.single), 0)
        for stack, top in self.stacks:
            value += _most(weight(top[a]) + self.digit * weight(stack[a]) for a in stack)
            value += Fraction(1, self.net.base) * _most(map(weight, stack.values()))
        return max(value, 0)


def _most(values: Iterable[Number]) -> Number:
    return max([0, *values])
