"""Lemma 4.4 as a compiler: a recurrence with a piecewise linear step becomes a simple RNN, exactly."""

from collections.abc import Iterable, Mapping, Sequence

from fhx._checks import check_kind, one_of, positive
from fhx.compile.layers import UncompilableError, in_layers, obstacles
from fhx.compile.names import unique
from fhx.exact import Expression, Matrix, Network, SimpleRNN, StateDecoder, Step, Unit, const, units_of, variable
from fhx.exact.expression import Atom, as_expression
from fhx.exact.numbers import Activation, Number
from fhx.exact.simple_rnn import ACTIVATIONS

__all__ = ["step_to_rnn"]

LONGEST_NAME = 40


def step_to_rnn(
    step: Step,
    out: Expression | Sequence[Expression],
    steps_per_symbol: int = 1,
    activation: Activation = "relu",
    *,
    order: Iterable[Expression] = (),
) -> Network:
    r"""A simple RNN with an affine readout whose outputs are those of the step, exactly and from the first on.

    **One hidden layer, one net step per input.** In its normal form (4.18) the step is

    .. math:: r_t = \sigma(V h_{t-1} + U x_t + b), \qquad h_t = U_2 r_t + c.

    Cut it between the layers: the units are :math:`r_t`, and the second layer moves into the next step. A unit called
    ``start``, 1 at time 0 and 0 from then on, stands in for :math:`h_0 = s`, so that at all times, 0 included,

    .. math:: h = U_2 r + c + (s - c)\, \mathrm{start}.

    This is how the net's state is decoded. Put in place of h it gives every weight: the recurrent ones
    :math:`V (U_2, s - c)`, the bias :math:`b + V c`, and the readout out(h), which answers the empty word too.

    **L hidden layers, L net steps per input.** The layers :math:`r^1, \dots, r^L` lie side by side in one net; in step
    k of an input layer k gets its value from layer k - 1, and the input is shown in the first step. That makes a
    pipeline of L runs, a step apart, of which one is ours. The others cannot disturb it, since layer k depends on
    nothing but layer k - 1 one step before; but left alone they would run from states of their own, perhaps infinitely
    many, to numbers that may grow for ever. So no unit has a bias: units :math:`p_1, \dots, p_L`, one of them 1 and the
    others 0, say which step it is, and layer k has its bias from :math:`p_{k-1}`, the first from
    :math:`p_L + \mathrm{start}`. The other runs get no input and no bias, and all their units stay 0. What is decoded,
    right at time 0 and after every L-th step, is :math:`h = U_2 r^L + c\, p_L + s\, \mathrm{start}`; the first case is
    this one with :math:`p_1 = 1 - \mathrm{start}`.

    Units: 1 + (L if L > 1) + the units of all layers, where an SLU makes two ReLUs, and so does what passes through
    without a unit around it, as x does in :math:`h + x`.

    Args:
        step: its inputs become the inputs of the net.
        out: the output, or several, each affine in the step's state.
        steps_per_symbol: L. More than the step's depth is fine.
        activation: of the net. With "slu" the step must consist of SLUs.
        order: expressions whose units come first within their layer.

    Returns:
        The network; its ``decode`` gives the state of the step at time 0 and after every L-th net step.

    Raises:
        UncompilableError: a ValueError with all reasons: a next state that nests more than L units, an output that is
            not affine in the state; with "slu" also ReLUs, and what passes through without a unit. The decision is
            syntactic: a nested expression may be equal to one that is not, and is refused all the same. Some have no
            such equal, :math:`\max(0, x_1, x_2)` among them: see :func:`fhx.exact.gradient_jump`.
        ValueError: ``steps_per_symbol`` is not a positive integer, or the activation is unknown.
        TypeError: ``step`` is not a Step.

    Source: Lemma 4.4 of the lecture notes, which states for any number of layers what its proof shows for one, and
    whose readout forgets the start, so that at time 0 it gives out(0) for out(s).
    """
    check_kind(step, Step, "step_to_rnn")
    steps_per_symbol = positive("steps_per_symbol", steps_per_symbol)
    one_of("activation", activation, ACTIVATIONS)
    outs = [as_expression(e) for e in (out if isinstance(out, Sequence) else [out])]
    named = {"the output" if len(outs) == 1 else f"output {i}": e for i, e in enumerate(outs)}
    if reasons := list(obstacles(step, named, steps_per_symbol, activation)):
        raise UncompilableError(reasons)

    state = in_layers(step, steps_per_symbol, activation)
    found = units_of(state.values())
    known = set(found)
    first = [unit for unit in units_of(order) if unit in known]
    layers = sorted(dict.fromkeys([*first, *found]), key=lambda unit: unit.depth)

    names = ["start"] + [f"phase {k}" for k in range(1, steps_per_symbol + 1)] * (steps_per_symbol > 1)
    clock = unique(names, taken=[*step.state, *step.inputs])
    start, *phases = map(variable, clock)
    phases = phases or [1 - start]
    code: dict[Atom, Expression] = {name: _held(e, phases[-1]) + step.h0[name] * start for name, e in state.items()}

    arguments: dict[Atom, Expression] = {clock[0]: const(0)}
    arguments |= dict(zip(clock[1:], [start + phases[-1], *phases], strict=False))
    for unit in layers:
        now = start + phases[-1] if unit.depth == 1 else phases[unit.depth - 2]
        arguments[unit] = _held(unit.argument, now).replace(code)
    return _network(arguments, code, [e.replace(code) for e in outs], step, steps_per_symbol, activation)


def _held(e: Expression, now: Expression) -> Expression:
    """The expression with its constant only where ``now`` is 1."""
    return e + e.constant * (now - 1) if e.constant else e


def _network(
    arguments: Mapping[Atom, Expression],
    code: Mapping[Atom, Expression],
    outs: Sequence[Expression],
    step: Step,
    steps_per_symbol: int,
    activation: Activation,
) -> Network:
    """The net whose units have these arguments, in their order; the first unit is 1 at time 0, the others 0."""
    units = {atom: j for j, atom in enumerate(arguments)}
    inputs: dict[Atom, int] = {name: j for j, name in enumerate(step.inputs)}
    W, b = _rows(arguments.values(), units)
    U, _ = _rows(arguments.values(), inputs)
    h0 = [1] + [0] * (len(units) - 1)
    rnn = SimpleRNN(W, U, b, h0, activation, unique(_name(atom, j) for j, atom in enumerate(arguments)))
    decoder = StateDecoder(tuple(step.state), *_rows(code.values(), units))
    return Network(rnn, *_rows(outs, units), steps_per_symbol, decoder)


def _rows(expressions: Iterable[Expression], columns: Mapping[Atom, int]) -> tuple[Matrix, list[Number]]:
    """The coefficients of the columns' atoms, one row per expression, and the constants."""
    es = list(expressions)
    entries = {(i, columns[atom]): c for i, e in enumerate(es) for atom, c in e.terms.items() if atom in columns}
    return Matrix((len(es), len(columns)), entries), [e.constant for e in es]


def _name(atom: Atom, place: int) -> str:
    text = str(atom)
    return text if len(text) <= LONGEST_NAME or (isinstance(atom, Unit) and atom.name) else f"unit {place}"
