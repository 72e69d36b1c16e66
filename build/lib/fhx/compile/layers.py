r"""Piecewise linear steps in layers, (4.18): what a step needs before it can become a net.

With L layers the normal form of a step is

.. math::

   \begin{aligned}
   r^1 &= \sigma(V_1 h_{t-1} + U x_t + b_1), \\
   r^k &= \sigma(V_k r^{k-1} + b_k), \qquad k = 2, \dots, L, \\
   h_t &= U_2 r^L + c.
   \end{aligned}
"""

from collections.abc import Iterator, Mapping, Sequence

from fhx.exact import Expression, Step, Unit, relu, slu, units_of
from fhx.exact.expression import Atom
from fhx.exact.formulas import Layer
from fhx.exact.numbers import Activation

__all__ = ["UncompilableError", "in_layers", "obstacles"]

SHOWN = 10


class UncompilableError(ValueError):
    """A step cannot become a net as asked for; ``reasons`` holds them all."""

    def __init__(self, reasons: Sequence[str]) -> None:
        self.reasons = tuple(reasons)
        more = [f"and {len(reasons) - SHOWN} more"] * (len(reasons) > SHOWN)
        super().__init__("this step cannot be compiled: " + "; ".join([*self.reasons[:SHOWN], *more]))


def in_layers(step: Step, layers: int, activation: Activation = "relu") -> dict[str, Expression]:
    r"""The step's next state, by name, as affine combinations of units of depth L, whose arguments are affine
    combinations of units of depth L - 1, and so on down to the state and the inputs.

    A ReLU or SLU lies in the layer of its depth. With ReLU units an SLU is
    :math:`\mathrm{slu}(e) = \mathrm{relu}(e) - \mathrm{relu}(e - 1)`. What a later layer needs is carried to it: a
    unit's value, which is not negative, by :math:`\mathrm{relu}(v) = v`, and an affine combination of state and inputs
    by :math:`\mathrm{relu}(a) - \mathrm{relu}(-a) = a`.

    Args:
        step: one for which ``obstacles`` finds none.
        layers: L, at least the step's depth.
        activation: of all units of the normal form.
    """
    layer: Layer = {"relu": relu, "slu": slu}[activation]
    known: dict[tuple[Unit, int], Expression] = {}

    def lift(e: Expression, k: int) -> Expression:
        if k == 0:
            return e
        passed = Expression({atom: c for atom, c in e.terms.items() if isinstance(atom, str)})
        e = e - passed + relu(passed) - relu(-passed) if passed.terms else e
        return e.replace({unit: lifted(unit, k) for unit in e.terms if isinstance(unit, Unit)})

    def lifted(unit: Unit, k: int) -> Expression:
        if (unit, k) not in known:
            known[unit, k] = computed(unit) if unit.depth == k else carried(unit, k)
        return known[unit, k]

    def computed(unit: Unit) -> Expression:
        argument = lift(unit.argument, unit.depth - 1)
        if unit.activation == activation:
            return as_atom(unit) if argument is unit.argument else layer(argument, unit.name)
        return relu(argument, unit.name) - relu(argument - 1, unit.name and f"{unit.name}-1")

    def carried(unit: Unit, k: int) -> Expression:
        value = lifted(unit, k - 1)
        return value.replace({held: layer(as_atom(held), f"{held}'") for held in value.terms})

    def as_atom(atom: Atom) -> Expression:
        return Expression({atom: 1})

    return {name: lift(e, layers) for name, e in step.state.items()}


def obstacles(step: Step, outs: Mapping[str, Expression], layers: int, activation: Activation) -> Iterator[str]:
    """All reasons why the step and its outputs cannot be brought into the normal form, as sentences."""
    for name, e in step.state.items():
        if e.depth > layers:
            outer = max((unit for unit in e.terms if isinstance(unit, Unit)), key=lambda unit: unit.depth)
            inner = max((unit for unit in outer.argument.terms if isinstance(unit, Unit)), key=lambda unit: unit.depth)
            yield f"the next {name!r} needs {e.depth} hidden layers and not {layers}, since {outer} holds {inner}"
    for name, out in outs.items():
        if out.depth:
            yield f"{name} is not affine in the state, since it holds {units_of([out])[-1]}"
        yield from (f"{name} reads {v!r}, which is not a state" for v in out.variables if v not in step.state)
    if activation == "slu":
        yield from _not_slu(step)


def _not_slu(step: Step) -> Iterator[str]:
    units = units_of(step.state.values())
    yield from (f"the unit {unit} is a ReLU, and all are to be SLUs" for unit in units if unit.activation != "slu")
    passing = {f"the next {name!r}": e for name, e in step.state.items()}
    passing |= {f"the unit {unit}": unit.argument for unit in units if unit.depth > 1}
    for name, e in passing.items():
        if unbounded := [atom for atom in e.terms if isinstance(atom, str)]:
            yield f"{name} needs {unbounded[0]!r} without a unit around it, which may leave the range [0, 1] of SLUs"
