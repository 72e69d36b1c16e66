r"""Partial evaluation of a piecewise linear step: what is left of it once its bits and its input are known.

The state of a step is here *bits*, which are 0 or 1, and *numbers*, the components of stacks in base B, whose range
follows from one bit each, its top,

.. math:: \mathrm{top} = 0:\ [0, \tfrac{1}{B}], \qquad \mathrm{top} = 1:\ [\tfrac{B-1}{B}, 1].

Where bits and input are known, the argument of each unit is affine in the numbers, and interval arithmetic says over
which range it goes. Up to 0: the gate is closed, the unit is 0. From 0 on: it is open, the unit is its argument. The
rest, few, must be evaluated. So one pattern of bits is one *piece*: affine but for these.
"""

from collections.abc import Collection, Mapping
from fractions import Fraction
from functools import cache

from fhx.exact.expression import Atom, Expression, Unit, const, sum_of, unit, units_of
from fhx.exact.formulas import relu
from fhx.exact.numbers import Number, common_denominator
from fhx.exact.step import Step

__all__ = ["Ranges", "Specializer", "gate", "range_by_top", "span"]

Ranges = Mapping[str, tuple[Number, Number]]
ZERO, ONE = const(0), const(1)


def range_by_top(bit: int, base: int) -> tuple[Fraction, Fraction]:
    """The range of a component of a stack whose top bit is known."""
    return (Fraction(base - 1, base), Fraction(1)) if bit else (Fraction(0), Fraction(1, base))


def span(e: Expression, ranges: Ranges) -> tuple[Number, Number]:
    """The least and the greatest value of an affine expression, its variables being anywhere in their ranges."""
    low = high = e.constant
    for name, c in e.affine_terms().items():
        ends = c * ranges[name][0], c * ranges[name][1]
        low, high = low + min(ends), high + max(ends)
    return low, high


def gate(argument: Expression, ranges: Ranges) -> Expression | None:
    """relu(argument) where the ranges decide it: 0, or the argument itself; None where they do not."""
    low, high = span(argument, ranges)
    if high <= 0:
        return ZERO
    return argument if low >= 0 else None


class Specializer:
    """A step made ready for partial evaluation.

    Args:
        step: of one hidden layer.
        tops: for each number of its state the bit that is its top, or None if that is 0 at all times. All other names
            of the state are bits.
        base: B.

    Raises:
        ValueError: the step nests units, or a top is not a bit of the state.
    """

    def __init__(self, step: Step, tops: Mapping[str, str | None], base: int) -> None:
        if step.depth > 1:
            raise ValueError(
                f"only a step with one hidden layer has pieces here, and this one nests {step.depth} units"
            )
        for name, bit in tops.items():
            if name not in step.state or (bit is not None and (bit not in step.state or bit in tops)):
                raise ValueError(
                    f"the number {name!r} has the top {bit!r}: both must be names of the state, the top a bit"
                )
        self.step, self.tops, self.base = step, dict(tops), base
        self.bits = tuple(name for name in step.state if name not in self.tops)
        slus = [u for u in units_of(step.state.values()) if u.activation == "slu"]
        as_relus: dict[Atom, Expression] = {u: relu(u.argument) - relu(u.argument - 1) for u in slus}
        nexts = {name: e.replace(as_relus) for name, e in step.state.items()}
        units = units_of(nexts.values())
        scales = [common_denominator((u.argument.constant, *u.argument.terms.values())) for u in units]
        self._constants = [int(s * u.argument.constant) for s, u in zip(scales, units, strict=True)]
        self._effects: dict[str, list[tuple[int, int]]] = {name: [] for name in (*self.bits, *step.inputs)}
        arguments = [u.argument.affine_terms() for u in units]
        self._analog = [{v: c for v, c in terms.items() if v in self.tops} for terms in arguments]
        for i, (scale, terms) in enumerate(zip(scales, arguments, strict=True)):
            for name, c in terms.items():
                if name not in self.tops:
                    self._effects[name].append((i, int(c * scale)))
        anywhere: Ranges = dict.fromkeys(self.tops, (0, 1))
        self._reach = [
            int(s * span(Expression(terms), anywhere)[1]) for s, terms in zip(scales, self._analog, strict=True)
        ]
        self._scales = scales
        self._feeds = [[(name, e.terms[u]) for name, e in nexts.items() if u in e.terms] for u in units]
        self._direct = {
            name: Expression({a: c for a, c in e.terms.items() if not isinstance(a, Unit)}, e.constant)
            for name, e in nexts.items()
        }
        self._fed = cache(self._uncached_fed)

    def ranges(self, on: Collection[str | None]) -> dict[str, tuple[Fraction, Fraction]]:
        """The range of each number where these bits are 1 and the others 0."""
        return {name: range_by_top(bit in on, self.base) for name, bit in self.tops.items()}

    def piece(self, on: frozenset[str], symbol: str) -> dict[str, Expression]:
        """The step where these bits are 1 and the others 0, and the input is one-hot, in ``symbol``.

        Returns:
            For each name its next value in terms of the numbers and of units that their ranges leave open. It equals
            the step for all numbers in their ranges.
        """
        known: dict[Atom, Expression] = {
            name: ONE if name in on or name == symbol else ZERO for name in (*self.bits, *self.step.inputs)
        }
        parts = {name: [e.replace(known) if e.terms else e] for name, e in self._direct.items()}
        sums = self._constants.copy()
        for name in (*on, symbol):
            for i, c in self._effects[name]:
                sums[i] += c
        for i, (c, reach) in enumerate(zip(sums, self._reach, strict=True)):
            if c + reach > 0:  # else its argument is at most 0, wherever the numbers are in [0, 1]
                tops = tuple(self.tops[v] in on for v in self._analog[i])
                for name, value in self._fed(i, c, tops):
                    parts[name].append(value)
        return {name: sum_of(values) if len(values) > 1 else values[0] for name, values in parts.items()}

    def _uncached_fed(self, i: int, c: int, tops: tuple[bool, ...]) -> list[tuple[str, Expression]]:
        """What a unit adds to which names, if its bits and input sum up to c and its numbers have these tops."""
        argument = Expression(self._analog[i], Fraction(c, self._scales[i]))
        ranges = {v: range_by_top(top, self.base) for v, top in zip(self._analog[i], tops, strict=True)}
        value = gate(argument, ranges)
        if value is None:
            value = unit("relu", argument)
        return [(name, factor * value) for name, factor in self._feeds[i]] if value != ZERO else []
