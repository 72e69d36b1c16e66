"""Theorem 4.6 as a compiler: a Turing machine becomes a simple RNN with rational weights, step for step."""

from collections.abc import Hashable
from fractions import Fraction
from functools import cached_property

from fhx._checks import check_kind
from fhx.compile.lemma import step_to_rnn
from fhx.compile.turing_layout import Layout, Pair
from fhx.compile.turing_net import TuringNet
from fhx.exact import Expression, Step, const, relu, sum_of, variable
from fhx.exact.numbers import Number
from fhx.exact.stacks import check_base, pop, push, sharpened
from fhx.machines import TuringMachine

__all__ = ["turing_to_rnn"]


def turing_to_rnn(tm: TuringMachine, base: int = 3) -> TuringNet[Layout]:
    r"""A simple ReLU RNN with rational weights that runs a Turing machine, one net step for each of the machine's.

    It reads the word w in :math:`|w|` steps; with the first EOS the machine stands ready in its first configuration,
    and each further EOS is one step of it. The output is 0, but for one 1 or -1: after :math:`|w| + 1 + k` net steps if
    the machine accepts or rejects after k steps.

    **The state.** The tape is two stacks in base B, see ``fhx.exact.stacks``, with the head between them.

    - Bits :math:`p[q, a]`: the machine is in state q and reads a.
    - Numbers :math:`L[a]`, the stack of the cells left of the head, the nearest on top, and bits :math:`\ell[a]`, its
      top. On the first cell of the tape it is empty, so :math:`E = 1 - \sum_a \ell[a]` says that the head is there.
    - Numbers :math:`R[a]` and bits :math:`r[a]`, the same for the cells right of the head. The blank has the digit 0
      in all components, so the endless blanks cost nothing, and :math:`r[\sqcup] = 1 - \sum_a r[a]`.
    - The bit ``load``, 1 until the word ends, ``first``, 1 at time 0, and the number ``gap``,
      :math:`B^{-t-1}` after t symbols.

    **The gates.** A sum of bits p over rules is 0 or 1: write D for the rules that move left (:math:`D_L`) or right
    (:math:`D_R`), :math:`D_L(q)` for those among them that lead into q, and :math:`D_L^b` for those that write b. The
    word ends now if :math:`F = \mathrm{load} + \mathrm{EOS} - 1` is 1. If v is in [0, 1] and g a sum that is 0 or 1,
    :math:`\mathrm{relu}(v + g - 1)` is v or 0. So all that follows takes one hidden layer:

    .. math::

       \begin{aligned}
       p'[q, a] &= \mathrm{relu}(D_R(q) + F\,[q = q_0] + r[a] - 1) + \mathrm{relu}(D_L(q) + \ell[a] - 1)
                   + \mathrm{relu}(D_L^a(q) + E - 1), \\
       L'[a] &= \mathrm{relu}(\mathrm{push}(L[a], D_R^a) + D_R - 1)
                + \mathrm{relu}(\mathrm{pop}(L[a], \ell[a]) + D_L - 1), \\
       R'[a] &= \mathrm{relu}(\mathrm{push}(R[a], D_L^a) + D_L - E - 1)
                + \mathrm{relu}(\mathrm{pop}(R[a], r[a]) + D_R + F - 1) \\
             &\quad + \mathrm{relu}(R[a] + D_L + E - 1 - \mathrm{EOS})
                + (B - 1)\, \mathrm{relu}(\mathrm{gap} + x[a] - 1).
       \end{aligned}

    Since the tops are known ahead, a pop is affine. A step that starts at :math:`F = 1` is a move to the right from a
    cell before the first: the head comes onto the first symbol. The third unit of R keeps the stack, while the word is
    read and where a move to the left stays at the end.

    **The new tops.** A popped stack shows its next symbol in a number v = pop(...), whose
    :math:`s = (B v - 1) / (B - 2)` is in :math:`[s_0, 0]` or in :math:`[1, s_1]`, :math:`s_0 = -1 / (B - 2)`,
    :math:`s_1 = (B - 1) / (B - 2)`. So

    .. math::

       \begin{aligned}
       \ell'[a] &= \mathrm{slu}(s + s_1 (D_L - 1) + (s_1 - s_0 + 1)\, D_R^a), \\
       r'[a] &= \mathrm{slu}(s + s_1 (D_R + F - 1)) + \mathrm{relu}(r[a] + D_L + E - 1 - \mathrm{EOS})
                + \mathrm{relu}(D_L^a - E + \mathrm{first} + x[a]),
       \end{aligned}

    each slu as two ReLUs. (No single slu can hold a push on the right too: it depends on E, and a pop must not.)

    **Size.** Counted over the rules that can be used, let :math:`Q_R` be the start and the states that a move to the
    right leads into, :math:`Q_L` those that one to the left leads into, :math:`\Gamma_L` and :math:`\Gamma_R` the
    symbols of the stacks, S the pairs (q', b) of rules that move left. Equal units are one, so there are at most

    .. math:: |Q_R| (|\Gamma_R| + 1) + |Q_L| |\Gamma_L| + |S| + 4 |\Gamma_L| + 7 |\Gamma_R|
              + |\Sigma \setminus \{\sqcup\}| + 3.

    Args:
        tm: any machine.
        base: B, of the stacks.

    Raises:
        ValueError: the base is not an integer of at least 3.
        TypeError: ``tm`` is not a TuringMachine.

    Source: Theorem 4.6 of the lecture notes and Siegelmann and Sontag (1995), who prove it; the net is ours.
    """
    check_kind(tm, TuringMachine, "turing_to_rnn")
    base = check_base(base)
    now = _Now(tm, base)
    state = now.reading() | now.pairs() | now.left_stack() | now.right_stack()
    h0: dict[str, Number] = dict.fromkeys(state, 0)
    h0 |= {now.names.load: 1, now.names.first: 1, now.names.gap: Fraction(now.digit) / (base - 1)}
    step = Step(state, now.names.inputs, h0)
    unruled = ((q, bit) for (q, a), bit in now.p.items() if (q, a) not in tm.transitions)
    out = sum_of(bit if q == tm.accept else -bit for q, bit in unruled)
    compiled = step_to_rnn(step, out)
    w = compiled.V.dense()[0]
    return TuringNet(
        compiled.rnn,
        w,
        compiled.c[0],
        tm.input_alphabet,
        decoder=compiled.decoder,
        machine=tm,
        base=base,
        step=step,
        out=out,
        layout=now.names,
    )


class _Now:
    """The state before a step as variables, and with their help the state after it."""

    def __init__(self, tm: TuringMachine, base: int) -> None:
        self.tm, self.base, self.names = tm, base, Layout.of(tm)
        names = self.names
        self.L, self.l, self.R, self.r, self.x = (
            {key: variable(name) for key, name in part.items()}
            for part in (names.left, names.left_top, names.right, names.right_top, names.symbols)
        )
        self.p = {pair: variable(name) for pair, name in names.pairs.items()}
        self.load, self.gap, self.first, self.eos = map(variable, (names.load, names.gap, names.first, names.eos))
        self.F = self.load + self.eos - 1
        self.E = 1 - sum_of(self.l.values())
        self.digit = push(const(0), 1, base).constant
        self.s0, self.s1 = (sharpened(const(v), base).constant for v in (0, 1))

    def reading(self) -> dict[str, Expression]:
        """What is needed until the word has ended."""
        gap = relu(push(self.gap, 0, self.base) - self.eos, self.names.gap)
        return {
            self.names.load: relu(self.load - self.eos, self.names.load),
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
            ways[q, a].append(relu(comes + right_of_head[a] - 1, f"{names.pairs[q, a]} by R"))
        for q, a in names.by_left:
            ways[q, a].append(relu(self.D("L", into=q) + self.l[a] - 1, f"{names.pairs[q, a]} by L"))
        for q, a in names.staying:
            ways[q, a].append(relu(self.D("L", into=q, writing=a) + self.E - 1, f"{names.pairs[q, a]} stays"))
        return {names.pairs[pair]: sum_of(units) for pair, units in ways.items()}

    def left_stack(self) -> dict[str, Expression]:
        """A move to the right pushes what is written, one to the left pops."""
        left, right = self.D("L"), self.D("R")
        after: dict[str, Expression] = {}
        for a, name in self.names.left.items():
            written, popped = self.D("R", writing=a), pop(self.L[a], self.l[a], self.base)
            after[name] = relu(push(self.L[a], written, self.base) + right - 1, f"{name} push")
            after[name] += relu(popped + left - 1, f"{name} pop")
            seen = sharpened(popped, self.base) + self.s1 * (left - 1) + (self.s1 - self.s0 + 1) * written
            after[self.names.left_top[a]] = _slu(seen, self.names.left_top[a])
        return after

    def right_stack(self) -> dict[str, Expression]:
        """A move to the left pushes what is written, unless it stays; one to the right pops; reading fills it."""
        left, pops = self.D("L"), self.D("R") + self.F
        after: dict[str, Expression] = {}
        kept = left + self.E - 1 - self.eos
        for a, name in self.names.right.items():
            written, popped = self.D("L", writing=a), pop(self.R[a], self.r[a], self.base)
            after[name] = relu(push(self.R[a], written, self.base) + left - self.E - 1, f"{name} push")
            after[name] += relu(popped + pops - 1, f"{name} pop") + relu(self.R[a] + kept, f"{name} keep")
            read = const(0)
            if a in self.x:
                after[name] += (self.base - 1) * relu(self.gap + self.x[a] - 1, f"{name} read")
                read = self.first + self.x[a]
            top = self.names.right_top[a]
            after[top] = _slu(sharpened(popped, self.base) + self.s1 * (pops - 1), top)
            after[top] += relu(self.r[a] + kept, f"{top} keep") + relu(written - self.E + read, f"{top} push")
        return after

    def D(self, move: str, **only: Hashable) -> Expression:
        """The sum of the pairs whose rule moves there and, if asked, leads ``into`` a state, ``writing`` a symbol."""
        return sum_of(bit for bit, rule in self.rules if rule["move"] == move and only.items() <= rule.items())

    @cached_property
    def rules(self) -> list[tuple[Expression, dict[str, Hashable]]]:
        rules = ((bit, self.tm.transitions.get(pair)) for pair, bit in self.p.items())
        return [(bit, dict(zip(("into", "writing", "move"), rule, strict=True))) for bit, rule in rules if rule]


def _slu(e: Expression, name: str) -> Expression:
    r""":math:`\mathrm{slu}(e) = \mathrm{relu}(e) - \mathrm{relu}(e - 1)`."""
    return relu(e, f"{name} over 0") - relu(e - 1, f"{name} over 1")
