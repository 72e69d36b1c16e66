"""Theorem 4.6 as a compiler: a Turing machine becomes a simple RNN with rational weights, step for step."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Literal, TypeVar, overload

from fhx._checks import check_kind
from fhx.compile.lemma import step_to_rnn
from fhx.compile.turing_integers import IntegerLayout, integer_step
from fhx.compile.turing_layout import Layout
from fhx.compile.turing_net import TuringNet
from fhx.compile.turing_numbers import NumberLayout, NumberStep, least_base
from fhx.compile.turing_size import Stacks, Weights, check_options
from fhx.compile.turing_step import TapeStep
from fhx.exact import Expression, Step, sum_of, variable
from fhx.exact.numbers import Activation, Number
from fhx.exact.stacks import check_base
from fhx.machines import TuringMachine

__all__ = ["turing_to_rnn"]


@overload
def turing_to_rnn(
    tm: TuringMachine,
    base: int | None = None,
    *,
    activation: Activation = "relu",
    weights: Literal["rational"] = "rational",
    stacks: Literal["vectors"] = "vectors",
) -> TuringNet[Layout]: ...
@overload
def turing_to_rnn(
    tm: TuringMachine,
    base: int | None = None,
    *,
    activation: Activation = "relu",
    weights: Literal["rational"] = "rational",
    stacks: Literal["numbers"],
) -> TuringNet[NumberLayout]: ...
@overload
def turing_to_rnn(
    tm: TuringMachine,
    base: int | None = None,
    *,
    activation: Literal["relu"] = "relu",
    weights: Literal["integer"],
    stacks: Literal["vectors"] = "vectors",
) -> TuringNet[IntegerLayout]: ...
def turing_to_rnn(
    tm: TuringMachine,
    base: int | None = None,
    *,
    activation: Activation = "relu",
    weights: Weights = "rational",
    stacks: Stacks = "vectors",
) -> TuringNet[Layout] | TuringNet[NumberLayout] | TuringNet[IntegerLayout]:
    r"""A simple RNN with rational weights that runs a Turing machine, one net step for each of the machine's.

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

    **Saturated units** (``activation="slu"``). No argument of a relu is above 1, but for the pairs of ReLUs that make
    an slu. So each relu may be an slu, and such a pair is one: there are :math:`|\Gamma_L| + |\Gamma_R|` units fewer.

    **One number for a stack** (``stacks="numbers"``). In a base :math:`B \ge 2 k + 1` the k symbols of a stack are the
    digits 2, 4, ..., 2 k of one number, V on the left. In place of the bits :math:`\ell[a]` the state has
    :math:`t_j`, 1 if the top is one of :math:`a_j, \dots, a_k`; so :math:`\ell[a_j] = t_j - t_{j+1}` and
    :math:`\mathrm{pop} = B V - 2 \sum_j t_j`, in [0, 1]. With :math:`W_j = \sum_{i \ge j} D_R^{a_i}`,

    .. math::

       \begin{aligned}
       V' &= \mathrm{relu}\Big(\tfrac1B \Big(V + 2 \sum_j W_j\Big) + D_R - 1\Big)
             + \mathrm{relu}(\mathrm{pop} + D_L - 1), \\
       t_j' &= \mathrm{slu}(B\,\mathrm{pop} - B + (B - 2 j + 1)\, D_L + (B + 1)\, W_j).
       \end{aligned}

    After a move to the left the argument is :math:`B\,\mathrm{pop} - (2 j - 1)`, at least 1 or at most 0, as the first
    digit is at least 2 j or not; after one to the right it is at least 1 if :math:`W_j = 1`, and else at most 0. The
    right stack is treated alike, with its third unit and the two more of its tops. So
    :math:`4 |\Gamma_L| + 7 |\Gamma_R|` becomes :math:`2 |\Gamma_L| + 4 |\Gamma_R| + 5`, and with slus
    :math:`|\Gamma_L| + 3 |\Gamma_R| + 5`.

    **Whole numbers** (``weights="integer"``). All numbers and bits of the state are held times a scale
    :math:`s_t = B^t`, and constants become multiples of it. So the conditions above are those of numbers that are
    :math:`s_t` times as large, and relu lets the factor pass. One net step multiplies by B: then a push,
    :math:`B (\frac1B V + \frac{B-1}B s \beta)`, has whole weights, and so has the rest for B = 3 and 4. While the word
    is read, :math:`R'[a] = B R[a] + (B - 1) x[a]`: the scale moves the symbols up, and no gap is needed.

    The machine must not start before a start signal is as large as the scale. A clock is 1 until the word ends, and
    :math:`G' = B^2 G` from then on. It overtakes the scale after :math:`|w|` end marks, and since :math:`G / s` is a
    power of B, :math:`\mathrm{slu}(G / s - 1)` jumps from 0 to 1 in one step. So the first configuration comes with
    the end mark :math:`|w| + 3`, and the answer, :math:`\pm s_t`, after :math:`2 |w| + 3 + k` net steps. Numbers have
    :math:`O(t)` digits after t net steps. There are three units more than with rational weights, and one less for each
    symbol but the blank that is read.

    Args:
        tm: any machine.
        base: B, of the stacks; None for the least, which is 3, or with stacks as numbers 2 k + 1 where that is more.
            With whole weights 3 or 4.
        activation: "relu" or "slu".
        weights: "rational" or "integer", which goes with ReLUs and vectors, since the values grow.
        stacks: "vectors", a number for each symbol, or "numbers".

    Raises:
        ValueError: the base is not an integer, or too small, or not 3 or 4 where weights are to be whole; another
            option is none of those named; or whole weights are asked for together with "slu" or "numbers".
        TypeError: ``tm`` is not a TuringMachine.

    Source: Theorem 4.6 of the lecture notes and Siegelmann and Sontag (1995), who prove it; the net is ours.
    """
    check_kind(tm, TuringMachine, "turing_to_rnn")
    check_options(activation, weights, stacks)
    if weights == "integer":
        base = check_base(3 if base is None else base)
        return _net(tm, base, *integer_step(tm, base))
    if stacks == "numbers":
        small = NumberStep(tm, least_base(tm) if base is None else base, activation)
        return _net(tm, small.base, *_state(small), small.layout, activation)
    now = TapeStep(tm, check_base(3 if base is None else base), activation)
    return _net(tm, now.base, *_state(now), now.names, activation)


def _state(now: TapeStep) -> tuple[dict[str, Expression], dict[str, Number]]:
    """The state after a step, and the first one."""
    state = now.reading() | now.pairs() | now.left_stack() | now.right_stack()
    h0: dict[str, Number] = dict.fromkeys(state, 0)
    return state, h0 | {now.names.load: 1, now.names.first: 1, now.names.gap: Fraction(1, now.base)}


L = TypeVar("L", Layout, NumberLayout, IntegerLayout)


def _net(
    tm: TuringMachine,
    base: int,
    state: Mapping[str, Expression],
    h0: Mapping[str, Number],
    layout: L,
    activation: Activation = "relu",
) -> TuringNet[L]:
    names = layout if isinstance(layout, Layout) else layout.names
    step = Step(state, names.inputs, h0)
    unruled = ((pair[0], variable(bit)) for pair, bit in names.pairs.items() if pair not in tm.transitions)
    out = sum_of(bit if q == tm.accept else -bit for q, bit in unruled)
    compiled = step_to_rnn(step, out, activation=activation)
    return TuringNet(
        compiled.rnn,
        compiled.V.dense()[0],
        compiled.c[0],
        tm.input_alphabet,
        decoder=compiled.decoder,
        machine=tm,
        base=base,
        step=step,
        out=out,
        layout=layout,
    )
