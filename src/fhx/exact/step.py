"""A recurrence whose step is written in expressions, and its run, straight from these."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from fhx.exact.expression import Expression, as_expression, units_of
from fhx.exact.numbers import Number, number, vector
from fhx.exact.simple_rnn import ACTIVATIONS

__all__ = ["Step"]


@dataclass(frozen=True)
class Step:
    r"""A recurrence :math:`h_t = \mathrm{step}(h_{t-1}, x_t)`, :math:`h_0 = s`, with a piecewise linear step.

    Args:
        state: to each name of the state its next value, an ``Expression`` in the state's names and the inputs'.
        inputs: the names of the inputs, in order.
        start: :math:`s`, a number to each name of the state.

    Raises:
        TypeError: a number is not exact, a name is no string, or the inputs are a set, which has no order.
        ValueError: a name stands twice, an expression uses a variable that is neither state nor input, or the start is
            not one number for each name of the state; all such faults at once.

    Source: (4.14) and (4.15) of the lecture notes.
    """

    state: Mapping[str, Expression]
    inputs: tuple[str, ...]
    start: Mapping[str, Number]

    def __post_init__(self) -> None:
        if isinstance(self.inputs, set | frozenset):
            raise TypeError("the inputs are a set, which has no order: give a tuple")
        inputs = tuple(self.inputs)
        for name in (*self.state, *inputs):
            if not isinstance(name, str):
                raise TypeError(f"the name {name!r} is no string")
        state = {name: as_expression(e) for name, e in self.state.items()}
        start = {name: number(value, f"the start of {name}") for name, value in self.start.items()}
        if faults := list(_faults(state, inputs, start)):
            raise ValueError("this is not a step: " + "; ".join(faults))
        object.__setattr__(self, "state", MappingProxyType(state))
        object.__setattr__(self, "inputs", inputs)
        object.__setattr__(self, "start", MappingProxyType({name: start[name] for name in state}))

    def __hash__(self) -> int:
        return hash((frozenset(self.state.items()), self.inputs, frozenset(self.start.items())))

    def __reduce__(self) -> tuple[Any, ...]:
        return Step, (dict(self.state), self.inputs, dict(self.start))

    @property
    def depth(self) -> int:
        """How many hidden layers the step needs as it is written."""
        return max((e.depth for e in self.state.values()), default=0)

    def run(self, xs: Iterable[Sequence[Number]]) -> Iterator[dict[str, Number]]:
        """The states by name, the start first, then the state after each input: the reference for compiled nets.

        Args:
            xs: the inputs, vectors of exact numbers in the order of ``inputs``.

        Raises:
            TypeError: an input holds what is no exact number.
            ValueError: an input has the wrong width.
        """
        units = units_of(self.state.values())
        state = dict(self.start)
        yield dict(state)
        for t, x in enumerate(xs, start=1):
            known: dict[Any, Number] = state | dict(zip(self.inputs, self._input(x, t), strict=True))
            for unit in units:
                known[unit] = ACTIVATIONS[unit.activation](unit.argument.combine(known))
            state = {name: number(e.combine(known), name) for name, e in self.state.items()}
            yield dict(state)

    def _input(self, x: Sequence[Number], t: int) -> tuple[Number, ...]:
        return vector(x, f"x_{t}", len(self.inputs))


def _faults(state: Mapping[str, Expression], inputs: tuple[str, ...], start: Mapping[str, Number]) -> Iterator[str]:
    for i, name in enumerate(inputs):
        if name in state:
            yield f"{name!r} is both a state and an input"
        if name in inputs[:i]:
            yield f"the input {name!r} is listed twice"
    known = {*state, *inputs}
    for name, e in state.items():
        for unknown in (v for v in e.variables if v not in known):
            yield f"the next {name!r} uses {unknown!r}, which is neither a state nor an input"
    for name in state:
        if name not in start:
            yield f"the start has no {name!r}"
    for name in start:
        if name not in state:
            yield f"the start has {name!r}, which is no state"
