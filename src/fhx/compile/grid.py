"""A finite automaton as a simple RNN with few units: states on a grid, two net steps per symbol."""

from fhx._checks import check_kind
from fhx.compile.automata import recognizer, state_names
from fhx.compile.lemma import step_to_rnn
from fhx.compile.names import unique
from fhx.compile.size import grid_shape
from fhx.exact import Expression, Recognizer, Step, const, relu, sum_of, variable
from fhx.machines import DFA
from fhx.machines.dfa import State

__all__ = ["dfa_to_grid_rnn", "grid_names", "grid_places"]

Place = tuple[int, int]


def dfa_to_grid_rnn(dfa: DFA) -> Recognizer:
    r"""A simple RNN with :math:`O(\sqrt{|Q||\Sigma|} + |\Sigma|)` units and two net steps per symbol, for the language.

    The states lie on a grid of R rows and C columns, each row with accepting states only or with others only. The net's
    state is a one-hot vector :math:`\rho` of the row and one :math:`\gamma` of the column. Write
    :math:`\mathrm{row}_a(r, j)` for the row of the state that follows on the symbol a from row r, column j. The first
    layer has one unit per symbol a and column j,

    .. math::

       \mathrm{relu}\Big(\sum_r \mathrm{row}_a(r, j)\, \rho_r - (R - 1)(2 - \gamma_j - x_a)\Big),

    which is the next row's number if the column is j and the symbol read is a, and else 0, since numbers are at most
    R - 1. Their sum is the next row's number v, and the second layer makes it one-hot again:

    .. math:: [v = i] = \mathrm{relu}(v - i + 1) - 2\,\mathrm{relu}(v - i) + \mathrm{relu}(v - i - 1).

    Likewise for columns. A word is accepted if it ends in one of the accepting rows.

    The first layer has up to :math:`2 |\Sigma| C` units and the second R + C - 2, so a grid with few columns and many
    rows is best: with :math:`C \approx \sqrt{|Q| / (2 |\Sigma| + 1)}` there are about
    :math:`2\sqrt{|Q| (2 |\Sigma| + 1)}` units, :func:`fhx.compile.grid_units` exactly, and no weight is above
    2 R - 2. For :math:`2 \le |\Sigma| \le |Q|` that is optimal up to a constant factor among nets with weights of that
    size, by :func:`fhx.compile.unit_lower_bound`.

    Args:
        dfa: any machine.

    Raises:
        TypeError: ``dfa`` is not a DFA.

    Source: a construction of our own for ReLUs, small integers and a linear readout. For threshold units Minsky (1967)
    needs :math:`O(|Q|)`, Alon, Dewdney and Ott (1991) :math:`O(|Q|^{3/4})`, Horne and Hush (1996)
    :math:`O(\sqrt{|Q|})`, for a given alphabet; see also Indyk, Optimal simulation of automata by neural nets (1995).
    """
    check_kind(dfa, DFA, "dfa_to_grid_rnn")
    rows, columns = grid_shape(len(dfa.states), len(dfa.alphabet))
    place, names = grid_places(dfa), grid_names(dfa)
    row, column = [[variable(name) for name in part] for part in (names[:rows], names[rows:])]
    symbols = unique(dfa.alphabet)
    inputs = unique((f"x={a}" for a in symbols), taken=names)
    after = {(*place[q], a): place[target] for (q, a), target in dfa.transitions.items()}

    def number(axis: int, size: int, what: str) -> Expression:
        """The next row's (axis 0) or column's (axis 1) number: the first layer."""
        return sum_of(
            relu(
                sum_of(after.get((r, j, a), (0, 0))[axis] * row[r] for r in range(rows))
                - (size - 1) * (2 - column[j] - variable(x)),
                f"{what} after {j}&{name}",
            )
            for a, name, x in zip(dfa.alphabet, symbols, inputs, strict=True)
            for j in range(columns)
        )

    after_rows = _one_hot(number(0, rows, "row"), rows, "row")
    after_columns = _one_hot(number(1, columns, "column"), columns, "column")
    here = place[dfa.start]
    h0 = [int(k == here[0]) for k in range(rows)] + [int(k == here[1]) for k in range(columns)]
    step = Step(
        state=dict(zip(names, (*after_rows, *after_columns), strict=True)),
        inputs=inputs,
        h0=dict(zip(names, h0, strict=True)),
    )
    accepting = {place[q][0] for q in dfa.accept}
    out = sum_of(row[r] for r in sorted(accepting))
    return recognizer(step_to_rnn(step, out, steps_per_symbol=2), dfa.alphabet)


def grid_places(dfa: DFA) -> dict[State, Place]:
    """The (row, column) of each state: row by row, the accepting states first and the others from a new row on."""
    _, columns = grid_shape(len(dfa.states), len(dfa.alphabet))
    accepting = [q for q in dfa.states if q in dfa.accept]
    others = [q for q in dfa.states if q not in dfa.accept]
    first = -(-len(accepting) // columns)
    places = {q: divmod(i, columns) for i, q in enumerate(accepting)}
    return places | {q: divmod(first * columns + i, columns) for i, q in enumerate(others)}


def grid_names(dfa: DFA) -> tuple[str, ...]:
    """The names of the step's state: rows, then columns; none is the name of a state of the machine."""
    rows, columns = grid_shape(len(dfa.states), len(dfa.alphabet))
    names = [f"row {r}" for r in range(rows)] + [f"column {j}" for j in range(columns)]
    return unique(names, taken=state_names(dfa))


def _one_hot(v: Expression, size: int, what: str) -> list[Expression]:
    r"""The one-hot vector of a number v in 0, ..., size - 1, where :math:`\mathrm{relu}(v + 1) = \mathrm{relu}(v) + 1`
    and :math:`\mathrm{relu}(v - i) = 0` from i = size - 1 on: size - 1 units.
    """
    above = [relu(v - i, f"{what} above {i}") for i in range(size - 1)] + [const(0), const(0)]
    return [(above[i - 1] if i else above[0] + 1) - 2 * above[i] + above[i + 1] for i in range(size)]
