r"""The step of a Turing machine in whole numbers: everything is multiplied by a scale that grows.

The step of :func:`fhx.compile.turing_to_rnn` without its inputs is positively homogeneous, if its constants are made
multiples of a number s that is 1: :math:`f(\lambda h) = \lambda f(h)` for :math:`\lambda \ge 0`. So it may be run on
:math:`s_t h_t` with :math:`s_t = B^t`, and :math:`B f` has whole weights, since the only fractions in f are those of a
push, :math:`\frac1B`.
"""

from collections.abc import Hashable, Mapping
from fractions import Fraction

from attrs import field, frozen

from fhx.compile.turing_layout import Layout
from fhx.compile.turing_step import TapeStep
from fhx.exact import Expression, const, relu, variable
from fhx.exact.expression import unit, units_of
from fhx.exact.numbers import Number, number
from fhx.machines import Configuration, TuringMachine

__all__ = ["IntegerLayout", "integer_step"]

BASES = (3, 4)
"""Bases in which the scale can grow by the base itself: :math:`B - 2` divides B."""
SCALE, CLOCK, RUNS, RAN = "scale", "clock", "runs", "ran"
"""Names of numbers of the state; those of a :class:`Layout` that could be any word all hold a sign."""


@frozen
class IntegerLayout:
    """The names of a :class:`Layout`, whose numbers and bits are here multiples of ``scale``; three more for the start.

    Attributes:
        names: of the parts; ``load`` and ``gap`` are not used.
        scale: :math:`s_t = B^t`.
        clock: 1 while the word is read, and then :math:`B^2` times as large with every end mark.
        runs, ran: whether the clock had overtaken the scale one step before, and two.
    """

    names: Layout
    scale: str = field(default=SCALE)
    clock: str = field(default=CLOCK)
    runs: str = field(default=RUNS)
    ran: str = field(default=RAN)

    def start_delay(self, length: int) -> int:
        """How many end marks bring the machine to its first configuration: as many as it had symbols, and three."""
        return length + 3

    @property
    def answer_delay(self) -> int:
        """The answer comes with the last configuration."""
        return 0

    def configuration(self, state: Mapping[str, Number], tm: TuringMachine, base: int) -> Configuration | None:
        """The configuration that a state of the step holds; None before the machine's start and after its end.

        Raises:
            ValueError: the state holds no configuration.
        """
        names = self.names
        stacks = (names.left, names.left_top, names.right, names.right_top)
        held = [*names.pairs.values(), *(name for part in stacks for name in part.values())]
        scale = Fraction(state[self.scale])
        parts = {name: number(state[name] / scale, name) for name in held}
        return names.configuration({**parts, names.load: 0}, tm, base)


class _Integers(TapeStep):
    """The step before it is scaled: it starts the machine when the clock has overtaken the scale."""

    def __init__(self, tm: TuringMachine, base: int) -> None:
        super().__init__(tm, base)
        self.F, self.ended = variable(RUNS) - variable(RAN), variable(RUNS)

    def reading(self) -> dict[str, Expression]:
        """Nothing but the mark of the first step: the clock and the scale are not multiples of the scale."""
        return {self.names.first: const(0)}

    def kept(self, a: Hashable, gate: Expression, name: str) -> Expression:
        """What is read is put under the rest without a gate: with the scale it moves up by itself."""
        return relu(self.R[a] + gate, f"{name} keep")


def integer_step(tm: TuringMachine, base: int) -> tuple[dict[str, Expression], dict[str, Number], IntegerLayout]:
    """The state after a step by its parts, the first state, and the names.

    Raises:
        ValueError: the base is not 3 or 4.
    """
    if base not in BASES:
        raise ValueError(f"whole weights need a base of 3 or 4, got {base}")
    now = _Integers(tm, base)
    names, s, G = now.names, variable(SCALE), variable(CLOCK)
    after = now.reading() | now.pairs() | now.left_stack() | now.right_stack()
    state = {name: _scaled(e, s, base) for name, e in after.items()}
    for a, x in now.x.items():
        if a in names.right:
            state[names.right[a]] = _with_input(state[names.right[a]], f"{names.right[a]} keep", (base - 1) * x)
    grown = base**2 - 1
    state[SCALE] = relu(base * s, SCALE)
    state[CLOCK] = relu((grown + 1) * G + grown * now.eos - grown, CLOCK)
    state[RUNS] = relu(base * (G - s), f"{RUNS} over 0") - relu(base * (G - 2 * s), f"{RUNS} over 1")
    state[RAN] = relu(base * variable(RUNS), RAN)
    h0: dict[str, Number] = dict.fromkeys(state, 0)
    h0 |= {SCALE: 1, CLOCK: 1, names.first: 1}
    return state, h0, IntegerLayout(names)


def _scaled(e: Expression, scale: Expression, factor: int) -> Expression:
    """A sum of units, each of an affine argument: with constants as multiples of the scale, times a factor."""

    def grown(argument: Expression) -> Expression:
        return factor * (argument + argument.constant * (scale - 1))

    return e.replace({old: unit(old.activation, grown(old.argument), old.name) for old in units_of([e])})


def _with_input(e: Expression, name: str, read: Expression) -> Expression:
    """The sum with something more in the unit of that name."""
    (old,) = (each for each in units_of([e]) if each.name == name)
    return e.replace({old: unit(old.activation, old.argument + read, name)})
