r"""The step of a Turing machine with a whole stack in one number, and so with the fewest units.

The symbols :math:`a_1, \dots, a_k` of a stack are the digits :math:`2, 4, \dots, 2 k` in a base
:math:`B \ge 2 k + 1`, the blank of the right stack is the digit 0, see :func:`fhx.exact.stacks.pack`. So
:math:`B v - (2 j - 1)` is at least 1 where the first digit is that of :math:`a_j` or of a later symbol, and at most 0
where it is not. The bits of the state say just that: :math:`t_j = 1` if the top is one of :math:`a_j, \dots, a_k`.
"""

from collections.abc import Iterable, Mapping
from itertools import pairwise

from attrs import evolve, frozen

from fhx._checks import at_least
from fhx.compile.turing_layout import Layout
from fhx.compile.turing_step import TapeStep
from fhx.exact import Expression, const, sum_of, variable
from fhx.exact.numbers import Activation, Number
from fhx.exact.stacks import encode, unpack
from fhx.machines import Configuration, TuringMachine

__all__ = ["NumberLayout", "NumberStep", "least_base"]

LEFT, RIGHT = "left", "right"
"""Names of the two numbers; those of a :class:`Layout` that could be any word all hold a sign."""


@frozen
class NumberLayout:
    """The names of a :class:`Layout` whose stacks are one number each.

    Attributes:
        names: of the parts; ``names.left`` and ``names.right`` say which symbols the stacks have, and ``left_top`` and
            ``right_top`` name for each symbol the bit that says whether the top is this one or a later one.
        left, right: the numbers.
    """

    names: Layout
    left: str = LEFT
    right: str = RIGHT

    @classmethod
    def of(cls, tm: TuringMachine) -> "NumberLayout":
        """The names for a machine."""
        names = Layout.of(tm)
        tops = (names.left_top, names.right_top)
        left, right = ({a: name.replace("=", ">=", 1) for a, name in part.items()} for part in tops)
        return cls(evolve(names, left_top=left, right_top=right))

    def start_delay(self, length: int) -> int:
        """How many end marks bring the machine to its first configuration: the first one."""
        return 1

    @property
    def answer_delay(self) -> int:
        """The answer comes with the last configuration."""
        return 0

    def configuration(self, state: Mapping[str, Number], tm: TuringMachine, base: int) -> Configuration | None:
        """The configuration that a state of the step holds; None before the end of the word and after the machine's.

        Raises:
            ValueError: the state holds no configuration.
        """
        names, parts = self.names, dict(state)
        for name, symbols, tops in (
            (self.left, names.left, names.left_top),
            (self.right, names.right, names.right_top),
        ):
            word = unpack(state.get(name, 0), tuple(symbols), base)
            parts |= zip(symbols.values(), encode(word, tuple(symbols), base), strict=True)
            least = [*(state[top] for top in tops.values()), 0]
            parts |= {top: one - other for top, (one, other) in zip(tops.values(), pairwise(least), strict=True)}
        return names.configuration(parts, tm, base)


def least_base(tm: TuringMachine) -> int:
    """The least base in which a digit for each symbol leaves a margin, and at least 3."""
    names = Layout.of(tm)
    return max(3, 2 * max(len(names.left), len(names.right)) + 1)


class NumberStep(TapeStep):
    """The state before a step and after it; the pairs follow from the tops as they do in the other step.

    Attributes:
        layout: its names.

    Raises:
        ValueError: the base has too few digits for the symbols of a stack.
    """

    def __init__(self, tm: TuringMachine, base: int, activation: Activation) -> None:
        super().__init__(tm, at_least("the base of stacks that are numbers", base, least_base(tm)), activation)
        self.layout = NumberLayout.of(tm)
        names = self.layout.names
        self.t, self.u = ([variable(name) for name in part.values()] for part in (names.left_top, names.right_top))
        self.l, self.r = (
            {a: one - other for a, (one, other) in zip(part, pairwise([*least, const(0)]), strict=True)}
            for part, least in ((names.left, self.t), (names.right, self.u))
        )
        self.E = 1 - sum_of(self.l.values())

    def left_stack(self) -> dict[str, Expression]:
        """A move to the right pushes what is written, one to the left pops."""
        names, B, left, right = self.layout.names, self.base, self.D("L"), self.D("R")
        if not names.left:
            return {}
        number, name = variable(self.layout.left), self.layout.left
        written = [self.D("R", writing=a) for a in names.left]
        popped = B * number - 2 * sum_of(self.t)
        after = {name: self.unit(_pushed(number, written, B) + right - 1, f"{name} push")}
        after[name] += self.unit(popped + left - 1, f"{name} pop")
        for j, top in enumerate(names.left_top.values(), 1):
            seen = B * (popped - 1) + (B - 2 * j + 1) * left + (B + 1) * sum_of(written[j - 1 :])
            after[top] = self.between(seen, top)
        return after

    def right_stack(self) -> dict[str, Expression]:
        """A move to the left pushes what is written, unless it stays; one to the right pops; reading fills it."""
        names, B, left, pops = self.layout.names, self.base, self.D("L"), self.D("R") + self.F
        if not names.right:
            return {}
        number, name = variable(self.layout.right), self.layout.right
        written = [self.D("L", writing=a) for a in names.right]
        read = [self.x.get(a, const(0)) for a in names.right]
        popped, kept = B * number - 2 * sum_of(self.u), left + self.E - 1 - self.ended
        after = {name: self.unit(_pushed(number, written, B) + left - self.E - 1, f"{name} push")}
        after[name] += self.unit(popped + pops - 1, f"{name} pop") + self.unit(number + kept, f"{name} keep")
        for j, (a, x) in enumerate(zip(names.right, read, strict=True), 1):
            if x.terms:
                after[name] += 2 * j * self.unit(self.gap + x - 1, f"{name} read {a}")
        for j, (top, bit) in enumerate(zip(names.right_top.values(), self.u, strict=True), 1):
            later = sum_of(read[j - 1 :])
            first = self.first + later if later.terms else const(0)
            after[top] = self.between(B * (popped - 1) + (B - 2 * j + 1) * pops, top)
            after[top] += self.unit(bit + kept, f"{top} keep")
            after[top] += self.unit(sum_of(written[j - 1 :]) - self.E + first, f"{top} push")
        return after


def _pushed(number: Expression, bits: Iterable[Expression], base: int) -> Expression:
    """The number with the digit of one more symbol in front."""
    return (number + 2 * sum_of(j * bit for j, bit in enumerate(bits, 1))) / base
