r"""A piece of a step as Python source: straight-line code over integers, with a branch for each unit left open.

The numbers of a stack share one denominator, a power of B: a number is :math:`n / d`. So a push multiplies d by B and
adds to one n, a pop divides d and subtracts from one n, and all other n stay as they are: nothing of that is known
here, it follows from the coefficients. The state is a list, ``h``, first all n and then the d of each stack.

This is a pop from a stack of one symbol in base 3, whose next top is :math:`\mathrm{slu}(9 z - 7)` with
:math:`z = n / d` in :math:`[\frac23, 1]`; the bit goes into the key, by which ``table`` knows the next pattern:

.. code-block:: python

    def make(table):
     def step(h):
      if h[1] < 3:
       h[1] *= 3; h[0] *= 3
      n0 = h[0]
      d0 = h[1]
      key = 0
      if 9*n0 - 7*d0 > 0:
       if 9*n0 - 8*d0 > 0:
        key += 1
       else:
        if 9*n0 - 8*d0 == 0:
         key += 1
        elif 9*n0 - 7*d0 == 0:
         pass
        else:
         raise ValueError('a bit becomes neither 0 nor 1')
      h[1] = e0 = d0 // 3
      h[0] = n0 - 2*e0
      return table[key]
     return step
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from re import findall

from fhx.exact.expression import Expression, Unit, const
from fhx.exact.numbers import Number, common_denominator
from fhx.exact.specialize import Ranges, gate, range_by_top, span

__all__ = ["Writer", "digits"]

Nexts = tuple[tuple[str, Expression], ...]
Lines = tuple[str, ...]


class Writer:
    """Writes the code of pieces.

    Args:
        stacks: the numbers that share a denominator, with their tops, one mapping per stack.
        base: B.
    """

    def __init__(self, stacks: Sequence[Mapping[str, str | None]], base: int) -> None:
        self.base = base
        self.stacks = [tuple(stack) for stack in stacks]
        self.tops = {name: bit for stack in stacks for name, bit in stack.items()}
        self.place = {name: j for j, name in enumerate(self.tops)}
        self.stack_of = {name: s for s, stack in enumerate(self.stacks) for name in stack}
        self._finding, self._checking, self._moving = cache(self._find), cache(self._check), cache(self._move)

    def source(
        self, piece: Mapping[str, Expression], on: Collection[str | None]
    ) -> tuple[str, frozenset[str], tuple[str, ...]]:
        """A function ``step(h)`` that moves h by one step and returns the entry of ``table`` for the bits it found.

        Args:
            piece: for each name its next value, as a ``Specializer`` gives it.
            on: the bits that are 1 before the step.

        Returns:
            The source of ``make(table)``, which gives ``step``; the bits that are 1 after it in any case; and those
            that it must find out: bit i of the key stands for the i-th of these.

        Raises:
            ValueError: a bit becomes a constant that is neither 0 nor 1, a number depends on an open unit, or a
                coefficient is not a whole number over a power of the base.
        """
        bits = {name: e for name, e in piece.items() if name not in self.tops}
        found = tuple(name for name, e in bits.items() if e.terms)
        for name, e in piece.items():
            if name in self.tops and e.depth:
                raise ValueError(f"the next {name!r} depends on {e}, a unit that the ranges leave open")
            if name not in self.tops and not e.terms and e.constant not in (0, 1):
                raise ValueError(f"the bit {name!r} becomes {e.constant}, neither 0 nor 1")
        after = frozenset(name for name, e in bits.items() if name not in found and e.constant)

        tests: list[str] = ["key = 0"] if found else []
        for i, bit in enumerate(found):
            guarded = tuple((name, piece[name]) for name, top in self.tops.items() if top == bit)
            seen = {v for e in (bits[bit], *(e for _, e in guarded)) for v in e.variables}
            tests += self._finding(1 << i, bits[bit], guarded, tuple((v, self.tops[v] in on) for v in sorted(seen)))
        for name, top in self.tops.items():
            if top not in found:
                now = tuple((v, self.tops[v] in on) for v in sorted(piece[name].affine_terms()))
                tests += self._checking(name, piece[name], top in after, now)
        moves = [self._moving(s, tuple((name, piece[name]) for name in stack)) for s, stack in enumerate(self.stacks)]
        first, last = ([line for move in moves for line in move[part]] for part in (0, 1))
        lines = [*first, *self._loads([*tests, *last]), *tests, *last, f"return table[{'key' if found else 0}]"]
        code = "\n".join(["def make(table):", " def step(h):", *_inside(_inside(lines)), " return step\n"])
        return code, after, found

    def _loads(self, lines: Iterable[str]) -> Iterator[str]:
        used = set(findall(r"\b[nd]\d+\b", " ".join(lines)))
        places = {f"n{j}": j for j in self.place.values()} | {f"d{s}": self._d(s) for s in range(len(self.stacks))}
        return (f"{local} = h[{place}]" for local, place in places.items() if local in used)

    def _d(self, s: int) -> int:
        return len(self.place) + s

    def _find(self, mask: int, e: Expression, guarded: Nexts, now: tuple[tuple[str, bool], ...]) -> Lines:
        """Code that adds ``mask`` to the key if a bit is 1, and checks the numbers whose top it is."""
        return tuple(self._branches(mask, e, guarded, self._ranges(now)))

    def _check(self, name: str, e: Expression, top: bool, now: tuple[tuple[str, bool], ...]) -> Lines:
        """Code that checks whether the next number is in its range, unless the ranges now prove it."""
        return tuple(self._checks(name, e, top, self._ranges(now)))

    def _ranges(self, now: tuple[tuple[str, bool], ...]) -> Ranges:
        return {name: range_by_top(top, self.base) for name, top in now}

    def _branches(self, mask: int, e: Expression, guarded: Nexts, ranges: Ranges) -> Iterator[str]:
        """A branch for each sign of each open unit, in which the ranges are narrower, until the bit is settled."""
        opened = next((atom for atom in e.terms if isinstance(atom, Unit)), None)
        if opened is not None:
            argument = opened.argument
            decided = gate(argument, ranges)
            if decided is not None:
                yield from self._branches(mask, e.replace({opened: decided}), guarded, ranges)
                return
            yield f"if {self._whole(argument)} > 0:"
            above, below = _narrowed(ranges, argument), _narrowed(ranges, -argument)
            yield from _inside([*self._branches(mask, e.replace({opened: argument}), guarded, above)] or ["pass"])
            if otherwise := list(self._branches(mask, e.replace({opened: const(0)}), guarded, below)):
                yield from ("else:", *_inside(otherwise))
        elif e.terms:
            for word, value in (("if", 1), ("elif", 0)):
                yield f"{word} {self._whole(e - value)} == 0:"
                there = _narrowed(_narrowed(ranges, e - value), value - e)
                yield from _inside([*self._branches(mask, const(value), guarded, there)] or ["pass"])
            yield "else:"
            yield " raise ValueError('a bit becomes neither 0 nor 1')"
        elif e.constant in (0, 1):
            if e.constant:
                yield f"key += {mask}"
            for name, after in guarded:
                yield from self._checks(name, after, bool(e.constant), ranges)
        else:
            yield f"raise ValueError('a bit becomes {e.constant}, neither 0 nor 1')"

    def _checks(self, name: str, e: Expression, top: bool, ranges: Ranges) -> Iterator[str]:
        least, most = range_by_top(top, self.base)
        low, high = span(e, ranges)
        for outside, proved in ((least - e, low >= least), (e - most, high <= most)):
            if not proved:
                message = f"the number {name!r} leaves its range [{least}, {most}]"
                yield f"if {self._whole(outside)} > 0: raise ValueError({message!r})"

    def _move(self, s: int, nexts: Nexts) -> tuple[Lines, Lines]:
        """Code that moves one stack: what comes before the numbers are read, and the rest."""
        es = [e for _, e in nexts]
        stacks, d = self._stacks(es), f"h[{self._d(s)}]"
        shift = max((digits(c, self.base) for e in es for c in e.terms.values()), default=0)
        shift = max([shift, *(k for e in es if e.constant and (k := digits(e.constant, self.base)) > 0)])
        own, first, last = stacks == [s], [], []
        if own and shift < 0:
            divisor = self.base**-shift
            longer = "; ".join(f"h[{self.place[name]}] *= {divisor}" for name, _ in nexts)
            first = [f"if {d} < {divisor}:", f" {d} *= {divisor}; {longer}"]
            last = [f"{d} = e{s} = d{s} // {divisor}"]
        elif not own or shift > 0:
            shift = max(shift, 0)
            last = [f"{d} = {_added([(self.base**shift, _largest(stacks))])}"]
        for name, e in nexts:
            scaled = e * Fraction(self.base) ** shift
            if own and scaled.terms == {name: 1} and not e.constant:
                continue
            if own and shift < 0:
                code = _added(
                    [*((c, f"n{self.place[v]}") for v, c in scaled.affine_terms().items()), (e.constant, f"e{s}")]
                )
            else:
                code = self._sum(scaled, stacks)
            last.append(f"h[{self.place[name]}] = {code}")
        return tuple(first), tuple(last)

    def _stacks(self, es: Iterable[Expression]) -> list[int]:
        return sorted({self.stack_of[name] for e in es for name in e.affine_terms()})

    def _whole(self, e: Expression) -> str:
        """Code for an integer that is a positive multiple of an affine expression."""
        return self._sum(e * common_denominator((e.constant, *e.terms.values())), self._stacks([e]))

    def _sum(self, e: Expression, stacks: Sequence[int]) -> str:
        """Code for a sum with whole coefficients, times the largest denominator of these stacks."""
        factor = "*({} // d{})" if len(stacks) > 1 else ""
        largest = _largest(stacks)
        parts = [
            (c, f"n{self.place[v]}" + factor.format(largest, self.stack_of[v])) for v, c in e.affine_terms().items()
        ]
        return _added([*parts, (e.constant, largest)])


def digits(value: Number, base: int) -> int:
    """The least k, a negative one too, for which a value that is not 0 is whole if multiplied by :math:`B^k`.

    Raises:
        ValueError: there is none.
    """
    k, B = 0, Fraction(base)
    while (value * B**k).denominator > 1:
        k += 1
        if k > value.denominator.bit_length():
            raise ValueError(f"{value} is not a whole number over a power of {base}")
    while (value * B ** (k - 1)).denominator == 1:
        k -= 1
    return k


def _largest(stacks: Sequence[int]) -> str:
    """Code for the largest denominator of these stacks, a multiple of the others; 1 for none."""
    if len(stacks) > 1:
        return f"max({', '.join(f'd{s}' for s in stacks)})"
    return f"d{stacks[0]}" if stacks else "1"


def _added(parts: Iterable[tuple[Number, str]]) -> str:
    """Code for a sum of multiples."""
    code = ""
    for c, what in parts:
        if c:
            size = str(abs(c)) if what == "1" else what if abs(c) == 1 else f"{abs(c)}*{what}"
            code += (f" {'-' if c < 0 else '+'} " if code else "-" * (c < 0)) + size
    return code or "0"


def _narrowed(ranges: Ranges, e: Expression) -> Ranges:
    """The ranges where an affine expression is at least 0, so far as the range of one number can say it."""
    if len(e.terms) != 1:
        return ranges
    ((name, c),) = e.affine_terms().items()
    zero = Fraction(-e.constant) / c
    low, high = ranges[name]
    return {**ranges, name: (max(low, zero), high) if c > 0 else (low, min(high, zero))}


def _inside(lines: Iterable[str]) -> Iterator[str]:
    return (" " + line for line in lines)
