"""The step of a Turing machine on two stacks, with the symbol under the head and both tops known ahead."""

from collections.abc import Hashable
from functools import cached_property

from fhx.compile.turing_layout import Layout, Pair
from fhx.exact import Expression, const, relu, slu, sum_of, variable
from fhx.exact.numbers import Activation
from fhx.exact.stacks import pop, push, sharpened
from fhx.machines import TuringMachine

__all__ = ["TapeStep"]


class TapeStep:
    """The state before a step as variables, and with their help the state after it.

    Every unit has a value in [0, 1], so it may be a relu or an slu; only a new top takes two relus for one slu.

    Attributes:
        F: 1 in the step that starts the machine.
        E: 1 if the head is on the first cell.
        ended: 1 once there is nothing more to read.
    """

    def __init__(self, tm: TuringMachine, base: int, activation: Activation = "relu") -> None:
        self.tm, self.base, self.names = tm, base, Layout.of(tm)
        self.unit = {"relu": relu, "slu": slu}[activation]
        self.saturates = activation == "slu"
        names = self.names
        self.L, self.l, self.R, self.r, self.x = (
            {key: variable(name) for key, name in part.items()}
            for part in (names.left, names.left_top, names.right, names.right_top, names.symbols)
        )
        self.p = {pair: variable(name) for pair, name in names.pairs.items()}
        self.load, self.gap, self.first, self.eos = map(variable, (names.load, names.gap, names.first, names.eos))
        self.F, self.ended = self.load + self.eos - 1, self.eos
        self.E = 1 - sum_of(self.l.values())
        self.digit = push(const(0), 1, base).constant
        self.s0, self.s1 = (sharpened(const(v), base).constant for v in (0, 1))

    def reading(self) -> dict[str, Expression]:
        """What is needed until the word has ended."""
        gap = self.unit(push(self.gap, 0, self.base) - self.eos, self.names.gap)
        return {
            self.names.load: self.unit(self.load - self.eos, self.names.load),
            self.names.gap: gap,
            self.names.first: const(0),
        }

    def pairs(self) -> dict[str, Expression]:
        """The next state with the next symbol read, by the ways to come there."""
        tm, names = self.tm, self.names
        right_of_head = {tm.blank: 1 - sum_of(self.r.values()), **self.r}
        ways: dict[Pair, list[Expression]] = {pair: [] for pair in self.p}
        for q, a in names.by_right:
            comes = self.D("R", into=q) + (self.F if q == tm.start else 0)
            ways[q, a].append(self.unit(comes + right_of_head[a] - 1, f"{names.pairs[q, a]} by R"))
        for q, a in names.by_left:
            ways[q, a].append(self.unit(self.D("L", into=q) + self.l[a] - 1, f"{names.pairs[q, a]} by L"))
        for q, a in names.staying:
            ways[q, a].append(self.unit(self.D("L", into=q, writing=a) + self.E - 1, f"{names.pairs[q, a]} stays"))
        return {names.pairs[pair]: sum_of(units) for pair, units in ways.items()}

    def left_stack(self) -> dict[str, Expression]:
        """A move to the right pushes what is written, one to the left pops."""
        left, right = self.D("L"), self.D("R")
        after: dict[str, Expression] = {}
        for a, name in self.names.left.items():
            written, popped = self.D("R", writing=a), pop(self.L[a], self.l[a], self.base)
            after[name] = self.unit(push(self.L[a], written, self.base) + right - 1, f"{name} push")
            after[name] += self.unit(popped + left - 1, f"{name} pop")
            seen = sharpened(popped, self.base) + self.s1 * (left - 1) + (self.s1 - self.s0 + 1) * written
            after[self.names.left_top[a]] = self.between(seen, self.names.left_top[a])
        return after

    def right_stack(self) -> dict[str, Expression]:
        """A move to the left pushes what is written, unless it stays; one to the right pops; reading fills it."""
        left, pops = self.D("L"), self.D("R") + self.F
        after: dict[str, Expression] = {}
        kept = left + self.E - 1 - self.ended
        for a, name in self.names.right.items():
            written, popped = self.D("L", writing=a), pop(self.R[a], self.r[a], self.base)
            after[name] = self.unit(push(self.R[a], written, self.base) + left - self.E - 1, f"{name} push")
            after[name] += self.unit(popped + pops - 1, f"{name} pop") + self.kept(a, kept, name)
            read = self.first + self.x[a] if a in self.x else const(0)
            top = self.names.right_top[a]
            after[top] = self.between(sharpened(popped, self.base) + self.s1 * (pops - 1), top)
            after[top] += self.unit(self.r[a] + kept, f"{top} keep") + self.unit(written - self.E + read, f"{top} push")
        return after

    def kept(self, a: Hashable, gate: Expression, name: str) -> Expression:
        """A number of the right stack where the gate is open, and what is read put under all that was."""
        stays = self.unit(self.R[a] + gate, f"{name} keep")
        if a not in self.x:
            return stays
        return stays + (self.base - 1) * self.unit(self.gap + self.x[a] - 1, f"{name} read")

    def D(self, move: str, **only: Hashable) -> Expression:
        """The sum of the pairs whose rule moves there and, if asked, leads ``into`` a state, ``writing`` a symbol."""
        return sum_of(bit for bit, rule in self.rules if rule["move"] == move and only.items() <= rule.items())

    @cached_property
    def rules(self) -> list[tuple[Expression, dict[str, Hashable]]]:
        rules = ((bit, self.tm.transitions.get(pair)) for pair, bit in self.p.items())
        return [(bit, dict(zip(("into", "writing", "move"), rule, strict=True))) for bit, rule in rules if rule]

    def between(self, e: Expression, name: str) -> Expression:
        r""":math:`\mathrm{slu}(e)`, as one unit or as :math:`\mathrm{relu}(e) - \mathrm{relu}(e - 1)`."""
        return slu(e, name) if self.saturates else relu(e, f"{name} over 0") - relu(e - 1, f"{name} over 1")
