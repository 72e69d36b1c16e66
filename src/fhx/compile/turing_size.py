r"""How large the nets of a Turing machine are and how long they run: the direct one, and the source's in L layers."""

from itertools import product
from typing import Literal

from fhx._checks import at_least, check_kind, one_of
from fhx.compile.turing_layout import Layout
from fhx.compile.turing_source import check_layers
from fhx.exact.numbers import Activation
from fhx.machines import TuringMachine

__all__ = ["Stacks", "Weights", "check_options", "turing_time", "turing_units"]


Weights = Literal["rational", "integer"]
Stacks = Literal["vectors", "numbers"]


def turing_units(
    tm: TuringMachine,
    layers: int = 1,
    *,
    activation: Activation = "relu",
    weights: Weights = "rational",
    stacks: Stacks = "vectors",
) -> int:
    r"""The units of :func:`fhx.compile.turing_to_rnn` at most, and of its layered sibling exactly.

    **One layer.** With the letters of its docstring, at most

    .. math:: |Q_R| (|\Gamma_R| + 1) + |Q_L| |\Gamma_L| + |S| + 4 |\Gamma_L| + 7 |\Gamma_R|
              + |\Sigma \setminus \{\sqcup\}| + 3;

    equal units are one, so there may be fewer. With whole weights there are three units more, and one less for each of
    :math:`\Sigma \setminus \{\sqcup\}`, which then is no term. With saturated units (``activation``)
    :math:`|\Gamma_L| + |\Gamma_R|` are fewer. With stacks that are numbers :math:`4 |\Gamma_L| + 7 |\Gamma_R|` becomes
    :math:`2 |\Gamma_L| + 4 |\Gamma_R| + 5`, and with both :math:`|\Gamma_L| + 3 |\Gamma_R| + 5`.

    **L = 2, 3, 4 layers**, :func:`~fhx.compile.turing_to_layered_rnn`. Let :math:`n = |\Gamma| + 1` count the
    symbols with $, and :math:`\rho, \lambda, \mu` the pairs of a state and a top of r in
    :math:`\Gamma \cup \{\$\}` that lead to the right, to the left, and to no rule, where $ is read as a blank. A choice
    of a next state and two stacks has 1 + 2n values. There are 4 of these in loading and rewinding, :math:`\rho` in
    moves to the right and :math:`n \lambda` in moves to the left, one for each top of l; and :math:`2 + \mu` ways to
    answer. That makes

    .. math::

       \begin{aligned}
       v &= (4 + \rho + n \lambda) (1 + 2n) + 2 + \mu && \text{values}, \\
       b &= 6 + \rho + n \lambda + \mu && \text{conditions}, \\
       b_2 &= 6 + \rho + \lambda + \mu && \text{of the first two of their parts}, \\
       m &= 6n + |\Sigma| && \text{units for the stacks, their tops, and the symbol read}.
       \end{aligned}

    With a start, L phases and the states, of which :math:`|Q| + 4` are needed, the net has
    :math:`1 + L + (|Q| + 4) + m + 1` units in its first layer and beside all layers, and above it

    .. math:: v \ (L = 2), \qquad b + m + 2 v \ (L = 3), \qquad b_2 + b + 2 m + 2 v \ (L = 4),

    if the machine has a rule. Without any, the tops of r are not needed, and m is 4n + :math:`|\Sigma|`.

    Raises:
        ValueError: ``layers`` is not 1, 2, 3 or 4, or not 1 where another option is given; or options do not go
            together, see :func:`fhx.compile.turing_to_rnn`.
        TypeError: ``tm`` is not a TuringMachine.
    """
    check_kind(tm, TuringMachine, "turing_units")
    check_options(activation, weights, stacks)
    if (activation, stacks) != ("relu", "vectors") and layers != 1:
        raise ValueError(f"a net of {layers} layers has relus and vectors, not {activation} and {stacks}")
    if _is_direct(layers, weights):
        return _direct(Layout.of(tm), tm, activation, weights, stacks)
    n, symbols = len(tm.tape_alphabet) + 1, len(tm.input_alphabet)
    moves = [
        rule and rule[2]
        for pair in product(tm.states, tm.tape_alphabet)
        for rule in [tm.transitions.get(pair)] * (2 if pair[1] == tm.blank else 1)
    ]
    right, left, none = (moves.count(move) for move in ("R", "L", None))
    values = (4 + right + n * left) * (1 + 2 * n) + 2 + none
    conditions, parts = 6 + right + n * left + none, 6 + right + left + none
    held = (6 if tm.transitions else 4) * n + symbols
    above = {2: values, 3: conditions + held + 2 * values, 4: parts + conditions + 2 * held + 2 * values}
    return 1 + layers + len(tm.states) + 4 + held + 1 + above[layers]


def turing_time(length: int, steps: int, layers: int = 1, *, weights: Weights = "rational") -> int:
    r"""Net steps until the answer to a word of this length, if the machine halts after ``steps`` steps:
    :math:`|w| + 1 + k` for the direct net, :math:`2 |w| + 3 + k` for the one with whole weights, and
    :math:`L\,(2 |w| + 3 + k)` for the layered one.

    Raises:
        ValueError: a number is negative or not whole, or ``layers`` is not 1, 2, 3 or 4, or not 1 where weights are to
            be whole.
    """
    length, steps = at_least("length", length, 0), at_least("steps", steps, 0)
    if _is_direct(layers, weights):
        return length + 1 + steps if weights == "rational" else 2 * length + 3 + steps
    return layers * (2 * length + 3 + steps)


def _is_direct(layers: int, weights: Weights) -> bool:
    """Whether a net of one layer is asked for; a ValueError unless there is such a net."""
    whole = one_of("weights", weights, ("rational", "integer")) == "integer"
    if layers == 1 and type(layers) is int:
        return True
    if whole:
        raise ValueError(f"a net with whole weights has one layer, not {layers}")
    check_layers(layers)
    return False


def check_options(activation: Activation, weights: Weights, stacks: Stacks) -> None:
    """A ValueError unless the options are known and go together."""
    one_of("activation", activation, ("relu", "slu"))
    one_of("weights", weights, ("rational", "integer"))
    one_of("stacks", stacks, ("vectors", "numbers"))
    if weights == "integer" and (activation, stacks) != ("relu", "vectors"):
        raise ValueError(f"whole weights go with relu and vectors, not with {activation} and {stacks}")


def _direct(names: Layout, tm: TuringMachine, activation: Activation, weights: Weights, stacks: Stacks) -> int:
    pairs = len(names.by_right) + len(names.by_left) + len(names.staying)
    letters = sum(a != tm.blank for a in tm.input_alphabet)
    more = letters if weights == "rational" else 3
    left, right = len(names.left), len(names.right)
    held = 2 * left + 3 * right if stacks == "vectors" else 2 * (left > 0) + 3 * (right > 0)
    tops = left + 3 * right if activation == "slu" else 2 * left + 4 * right
    return pairs + held + tops + more + 3
