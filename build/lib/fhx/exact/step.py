"""A recurrence whose step is written in expressions, and its run, straight from these."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from attrs import field, frozen
from frozendict import frozendict

from fhx.exact.expression import Atom, Expression, as_expression, units_of
from fhx.exact.matrix import dict_repr
from fhx.exact.numbers import Exact, Number, number, vector
from fhx.exact.simple_rnn import ACTIVATIONS

__all__ = ["Step"]


def _state(state: Mapping[str, Expression | Exact]) -> frozendict[str, Expression]:
    return frozendict({_name(name): as_expression(e) for name, e in state.items()})


def _inputs(names: Iterable[str]) -> tuple[str, ...]:
    if isinstance(names, set | frozenset):
        raise TypeError("the inputs are a set, which has no order: give a tuple")
    return tuple(map(_name, names))


def _h0(values: Mapping[str, Exact]) -> frozendict[str, Number]:
    return frozendict({name: number(value, f"h0 of {name}") for name, value in values.items()})


def _name(name: str) -> str:
    if not isinstance(name, str):
        raise TypeError(f"the name {name!r} is not a string")
    return name


@frozen
class Step:
    r"""A recurrence :math:`h_t = \mathrm{step}(h_{t-1}, x_t)`, with :math:`h_0` given and a piecewise linear step.

    Args:
        state: for each name of the state its next value, an ``Expression`` in the state's names and the inputs'.
        inputs: the names of the inputs, in order.
        h0: the first state, a number for each name of the state.

    Raises:
        TypeError: a number is not exact, a name is not a string, or the inputs are a set, which has no order.
        ValueError: a name stands twice, an expression uses a variable that is neither state nor input, or h0 is not
            one number for each name of the state; all such faults at once.

    Source: (4.14) and (4.15) of the lecture notes.
    """

    state: Mapping[str, Expression] = field(converter=_state, repr=dict_repr)
    inputs: tuple[str, ...] = field(converter=_inputs)
    h0: Mapping[str, Number] = field(converter=_h0, repr=dict_repr)

    def __attrs_post_init__(self) -> None:
        if faults := list(self._faults()):
            raise ValueError("this is not a step: " + "; ".join(faults))

    @property
    def depth(self) -> int:
        """How many hidden layers the step needs as it is written."""
        return max((e.depth for e in self.state.values()), default=0)

    def run(self, xs: Iterable[Sequence[Exact]]) -> Iterator[dict[str, Number]]:
        """The states by name, h0 first, then the state after each input: the reference for compiled nets.

        Args:
            xs: the inputs, vectors of exact numbers in the order of ``inputs``.

        Raises:
            TypeError: an input holds something that is not an exact number.
            ValueError: an input has the wrong width.
        """
        units = units_of(self.state.values())
        state = {name: self.h0[name] for name in self.state}
        yield dict(state)
        for t, x in enumerate(xs, start=1):
            known: dict[Atom, Number] = dict(zip(self.inputs, self._input(x, t), strict=True))
            known.update(state.items())
            for unit in units:
                known[unit] = ACTIVATIONS[unit.activation](unit.argument.combine(known))
            state = {name: number(e.combine(known), name) for name, e in self.state.items()}
            yield dict(state)

    def _input(self, x: Sequence[Exact], t: int) -> tuple[Number, ...]:
        return vector(x, f"x_{t}", len(self.inputs))

    def _faults(self) -> Iterator[str]:
        for i, name in enumerate(self.inputs):
            if name in self.state:
                yield f"{name!r} is both a state and an input"
            if name in self.inputs[:i]:
                yield f"the input {name!r} is listed twice"
        known = {*self.state, *self.inputs}
        for name, e in self.state.items():
            for unknown in (v for v in e.variables if v not in known):
                yield f"the next {name!r} uses {unknown!r}, which is neither a state nor an input"
        for name in self.state:
            if name not in self.h0:
                yield f"h0 has no {name!r}"
        for name in self.h0:
            if name not in self.state:
                yield f"h0 has {name!r}, which is not a state"
