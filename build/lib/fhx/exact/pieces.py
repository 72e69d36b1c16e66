r"""Fast exact runs of a step whose state is bits and stacks: each pattern of bits is compiled when it is first met.

A pattern of bits and an input leave a *piece* of the step, affine but for a few units (``specialize``), and this is
straight-line code over integers (``codegen``). The code ends with the next pattern, so that one step is one call.
What the code relies on, that each number is in the range that its top bit says, is proved for the next state by
interval arithmetic when the code is written; where intervals are too coarse the code checks it as it runs. So a run
either equals the definition or raises an error.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, repeat
from typing import Any, NoReturn

from tqdm import tqdm

from fhx._checks import at_least
from fhx.exact.codegen import Writer, digits
from fhx.exact.endless import Answer, Endless
from fhx.exact.expression import Expression
from fhx.exact.numbers import Number, quotient
from fhx.exact.specialize import Specializer
from fhx.exact.stacks import check_base
from fhx.exact.step import Step

__all__ = ["Pieces"]

Move = Callable[[list[int]], "_Pattern"]
BETWEEN_SIGNS_OF_LIFE = 1 << 14


class _Pattern:
    """Which bits are on, the output there, and for each input the code that makes the step."""

    __slots__ = ("moves", "on", "out")

    def __init__(self, on: frozenset[str], out: Number, moves: list[Move]) -> None:
        self.on, self.out, self.moves = on, out, moves


class Pieces:
    r"""A step of bits and stacks, run in integers, with the outputs of its reference and without its waste.

    A *number* is a component of a stack of base B, in :math:`[0, 1/B]` while the bit that is its top is 0 and in
    :math:`[(B-1)/B, 1]` while it is 1; every other name of the state is a *bit*, 0 or 1.

    **Memory.** A stack of depth n is held in its components that are not 0 and one denominator, integers of about
    :math:`n \log_2 B` bits each. No state before the present one is kept, so memory grows with depth and not with time.

    Args:
        step: with one hidden layer, and coefficients of numbers that are whole over powers of B.
        out: the output, affine in the bits.
        stacks: the numbers that share a denominator, one mapping per stack: for each the name of its top, or None if
            that is 0 at all times.
        base: B.

    Raises:
        ValueError: the step nests units, a top is not a bit, a number is in two stacks, the output depends on more than
            bits, h0 is outside the ranges, or the base is below 3. In a run: a bit becomes neither 0 nor 1, a
            number leaves its range, or its next value depends on a unit that the ranges leave open.
    """

    def __init__(self, step: Step, out: Expression, stacks: Sequence[Mapping[str, str | None]], base: int) -> None:
        base = check_base(base)
        tops = {name: top for stack in stacks for name, top in stack.items()}
        if len(tops) < sum(map(len, stacks)):
            raise ValueError(f"a number is in two stacks: {tuple(map(dict, stacks))}")
        self.step, self.out, self.stacks, self.base = step, out, tuple(map(dict, stacks)), base
        self._specializer, self._writer = Specializer(step, tops, base), Writer(stacks, base)
        bits = self._specializer.bits
        if others := [atom for atom in out.terms if atom not in bits]:
            raise ValueError(f"the output depends on {', '.join(map(str, others))}, which are not bits of the state")
        self._patterns: dict[frozenset[str], _Pattern] = {}
        self._compiled: dict[str, Any] = {}
        for name, value in step.h0.items():
            if name in bits and value not in (0, 1):
                raise ValueError(f"the bit {name!r} starts with {value}, neither 0 nor 1")
        self._start = frozenset(name for name in bits if step.h0[name])
        for name, (low, high) in self._specializer.ranges(self._start).items():
            if not low <= step.h0[name] <= high:
                raise ValueError(f"the number {name!r} starts with {step.h0[name]}, outside of [{low}, {high}]")
        self._numbers()

    def __reduce__(self) -> tuple[type["Pieces"], tuple[object, ...]]:
        """Compiled code stays here: a copy in another process writes its own."""
        return Pieces, (self.step, self.out, self.stacks, self.base)

    def states(self, columns: Iterable[int], then: int) -> Endless[dict[str, Number]]:
        """The states by name, h0 first, as ``step.run`` gives them, for ever.

        Args:
            columns: the inputs, each the place of its one.
            then: the input that follows for ever.

        Raises:
            ValueError: a column is not the place of an input, or the run leaves the ranges.
        """
        return Endless(self._named(pattern, h) for pattern, h in self._run(columns, then))

    def outputs(self, columns: Iterable[int], then: int) -> Endless[Number]:
        """The output after each input, for ever; arguments and errors as in ``states``."""
        run = self._run(columns, then)
        next(run)
        return Endless(pattern.out for pattern, _ in run)

    def answer(self, columns: Iterable[int], then: int, max_steps: int, progress: bool = False) -> Answer | None:
        """The first output that is not 0 after the columns, if it comes within ``max_steps`` steps.

        Args:
            columns: as in ``states``; all are read first.
            then: as in ``states``.
            max_steps: how many steps to wait for.
            progress: show a bar on stderr.

        Raises:
            ValueError: as in ``states``, or ``max_steps`` is not an integer of at least 0.
        """
        max_steps = at_least("max_steps", max_steps, 0)
        pattern, h = self._pattern(self._start), self._numbers()
        for column in self._checked(columns):
            pattern = pattern.moves[column](h)
        (then,) = self._checked([then])
        bar_of: Callable[..., tqdm[NoReturn]] = tqdm if progress else partial(tqdm, disable=True)
        with bar_of(total=max_steps, unit="step", leave=False) as bar:
            for first in range(0, max_steps, BETWEEN_SIGNS_OF_LIFE):
                last = min(first + BETWEEN_SIGNS_OF_LIFE, max_steps)
                for T in range(first + 1, last + 1):
                    pattern = pattern.moves[then](h)
                    if pattern.out:
                        return Answer(pattern.out, T)
                bar.update(last - first)
        return None

    def source(self, on: Iterable[str], symbol: str) -> str:
        """The code of the piece where these bits are 1 and the others 0, and the input is one-hot, in ``symbol``."""
        return self._written(frozenset(on), symbol)[0]

    def _run(self, columns: Iterable[int], then: int) -> Iterator[tuple[_Pattern, list[int]]]:
        pattern, h = self._pattern(self._start), self._numbers()
        yield pattern, h
        for column in chain(self._checked(columns), repeat(*self._checked([then]))):
            pattern = pattern.moves[column](h)
            yield pattern, h

    def _named(self, pattern: _Pattern, h: list[int]) -> dict[str, Number]:
        """The state by name."""
        numerators, numbers = iter(h), dict[str, Number]()
        for stack, d in zip(self.stacks, h[-len(self.stacks) :], strict=True):
            numbers |= {name: quotient(next(numerators), d) for name in stack}
        return {name: numbers[name] if name in numbers else int(name in pattern.on) for name in self.step.state}

    def _numbers(self) -> list[int]:
        """The numbers of h0: the numerators, then the denominator of each stack."""
        values = [[self.step.h0[name] for name in stack] for stack in self.stacks]
        places = [max((digits(value, self.base) for value in stack if value), default=0) for stack in values]
        denominators = [self.base ** max(k, 0) for k in places]
        return [int(v * d) for stack, d in zip(values, denominators, strict=True) for v in stack] + denominators

    def _checked(self, columns: Iterable[int]) -> Iterator[int]:
        width = len(self.step.inputs)
        for column in columns:
            if type(column) is not int or not 0 <= column < width:
                raise ValueError(f"input {column!r} is not one of the {width} inputs of the step")
            yield column

    def _pattern(self, on: frozenset[str]) -> _Pattern:
        if on not in self._patterns:
            out = self.out.combine({name: int(name in on) for name in self.out.affine_terms()})
            pattern = _Pattern(on, out, [])
            pattern.moves += [partial(self._first_move, pattern, column) for column in range(len(self.step.inputs))]
            self._patterns[on] = pattern
        return self._patterns[on]

    def _first_move(self, pattern: _Pattern, column: int, h: list[int]) -> _Pattern:
        """Stands where the code of a piece will be, until it is needed."""
        source, on, found = self._written(pattern.on, self.step.inputs[column])
        if source not in self._compiled:
            scope: dict[str, Any] = {}
            exec(source, scope)
            self._compiled[source] = scope["make"]
        after = _After(lambda key: self._pattern(on.union(bit for i, bit in enumerate(found) if key >> i & 1)))
        pattern.moves[column] = self._compiled[source](after)
        return pattern.moves[column](h)

    def _written(self, on: frozenset[str], symbol: str) -> tuple[str, frozenset[str], tuple[str, ...]]:
        return self._writer.source(self._specializer.piece(on, symbol), on)


class _After(dict[int, _Pattern]):
    """The patterns that can follow a piece, made as they come."""

    def __init__(self, make: Callable[[int], _Pattern]) -> None:
        self._make = make

    def __missing__(self, key: int) -> _Pattern:
        self[key] = self._make(key)
        return self[key]
