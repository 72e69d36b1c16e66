r"""Folding: the recurrence of a step with one hidden layer is a simple RNN, whose state is the hidden layer."""

from collections.abc import Sequence
from functools import partial
from typing import Literal, get_args

import torch
from jaxtyping import Float
from torch import Tensor, nn

from fhx._checks import one_of
from fhx._modules import undrawn
from fhx.approximation.shallow import ShallowCell
from fhx.cells import SimpleCell
from fhx.compile import step_to_rnn
from fhx.dynamics import Realization
from fhx.exact import Network, Step, affine, relu, variables
from fhx.exact.numbers import Number

H0Method = Literal["unit", "solved"]
H0_METHODS: tuple[H0Method, ...] = get_args(H0Method)


@torch.no_grad()
def fold(cell: ShallowCell, h0: Float[Tensor, " d"] | None = None, h0_method: H0Method = "unit") -> Realization:
    r"""A simple RNN with an affine readout that goes through the states :math:`h_t = \hat f(h_{t-1}, x_t)`.

    With :math:`u_t = \sigma(A h_{t-1} + B x_t + c)` the states are :math:`h_t = V u_t + d`; put into the next step,

    .. math:: u_t = \sigma(A V u_{t-1} + B x_t + c + A d), \qquad y_t = V u_t + d = h_t, \qquad t = 1, \dots, T,

    if :math:`V u_0 + d = h_0` too. There are two ways to such a :math:`u_0`:

    - "unit": one more unit, 1 at time 0 and 0 ever after, holds what is missing. Its column of the weights is
      :math:`A (h_0 - d)` and it is read by :math:`h_0 - d`; the other units start at 0. It works for every
      :math:`h_0`, and takes n + 1 units.
    - "solved": the shortest solution of :math:`V u_0 = h_0 - d`, which exists for every :math:`h_0` if V has full row
      rank, and takes n units. It need not be a state that the net ever reaches: it may have negative entries, say.

    Both are equal to the iterated step in exact arithmetic; in floats they differ by rounding, which the step
    amplifies as it does any error.

    Args:
        cell: :math:`\hat f`, with an activation that is 0 at 0 if ``h0_method`` is "unit".
        h0: :math:`h_0`, zeros if None.
        h0_method: how :math:`h_0` enters, "unit" or "solved".

    Returns:
        The realisation, with a ``SimpleCell``; its outputs are the states :math:`h_1, \dots, h_T`.

    Raises:
        ValueError: ``h0_method`` is unknown, ``h0`` is not one state, :math:`V u_0 = h_0 - d` has no solution, or the
            activation is not 0 at 0.

    Source: the idea of Lemma 4.4 of the lecture notes, as in ``fhx.compile.step_to_rnn``.
    """
    one_of("h0_method", h0_method, H0_METHODS)
    h0 = torch.zeros_like(cell.d) if h0 is None else h0.to(cell.d)
    if h0.shape != cell.d.shape:
        raise ValueError(f"h0 must be one state, shape ({cell.state_size},), got {tuple(h0.shape)}")
    V, A, missing = cell.V.detach(), cell.A, h0 - cell.d
    W, U, b = A @ V, cell.B.detach(), cell.c + A @ cell.d
    if h0_method == "unit":
        if cell.activation(torch.zeros_like(h0)).any():
            raise ValueError("the unit that marks time 0 needs an activation that is 0 at 0: take h0_method='solved'")
        W = torch.cat([torch.cat([W, (A @ missing)[:, None]], 1), W.new_zeros(1, cell.units + 1)])
        U, b = torch.cat([U, U.new_zeros(1, cell.input_size)]), torch.cat([b, b.new_zeros(1)])
        V = torch.cat([V, missing[:, None]], 1)
        u0 = torch.cat([torch.zeros_like(cell.c), cell.c.new_ones(1)])
    else:
        u0 = torch.linalg.pinv(V) @ missing
        size = 1 + h0.abs().max() + cell.d.abs().max()
        if (V @ u0 - missing).abs().max() > size * torch.finfo(V.dtype).eps ** 0.5:
            raise ValueError("h0 - d is not a combination of V's columns: take h0_method='unit'")
    empty = partial(undrawn, dtype=V.dtype, device=V.device)
    folded = empty(SimpleCell, cell.input_size, len(u0), activation=cell.activation)
    readout = empty(nn.Linear, len(u0), cell.state_size)
    for parameter, value in ((folded.W, W), (folded.U, U), (folded.b, b), (readout.weight, V), (readout.bias, cell.d)):
        parameter.copy_(value)
    return Realization(folded, readout, h0=u0)


def shallow_step(
    V: Sequence[Sequence[Number]],
    A: Sequence[Sequence[Number]],
    B: Sequence[Sequence[Number]],
    c: Sequence[Number],
    d: Sequence[Number],
    h0: Sequence[Number],
) -> Step:
    r"""The recurrence :math:`h_t = V\, \mathrm{relu}(A h_{t-1} + B x_t + c) + d` over integers and fractions.

    Its state is ``h1``, ``h2``, ... and its inputs are ``x1``, ``x2``, ...

    Args:
        V, A, B, c, d: the weights, rows of exact numbers.
        h0: :math:`h_0`, exact.

    Raises:
        TypeError: a weight is not an exact number.
        ValueError: the sizes do not fit.
    """
    units, inputs = len(A), len(B[0]) if B else 0
    shapes = {"V": (V, len(h0), units), "A": (A, units, len(h0)), "B": (B, units, inputs)}
    for name, (matrix, rows, columns) in shapes.items():
        if len(matrix) != rows or any(len(row) != columns for row in matrix):
            raise ValueError(f"{name} must be {rows} x {columns}, for {len(h0)} states and {units} units")
    h, x = variables("h", len(h0)), variables("x", inputs)
    hidden = relu(affine([[*a, *b] for a, b in zip(A, B, strict=True)], [*h, *x], c))
    state = affine(V, hidden, d)
    names = [f"h{i}" for i in range(1, len(h0) + 1)]
    return Step(
        dict(zip(names, state, strict=True)),
        tuple(f"x{i}" for i in range(1, inputs + 1)),
        dict(zip(names, h0, strict=True)),
    )


def fold_exactly(
    V: Sequence[Sequence[Number]],
    A: Sequence[Sequence[Number]],
    B: Sequence[Sequence[Number]],
    c: Sequence[Number],
    d: Sequence[Number],
    h0: Sequence[Number],
) -> Network:
    r"""The simple ReLU RNN with "start" unit of ``fold``, over integers and fractions: equal at every step, for ever.

    ``fold_exactly(*cell.exact_weights(), h0)`` folds a cell in floats without rounding.

    Args:
        V, A, B, c, d: the weights of :math:`\hat f`, exact.
        h0: :math:`h_0`, exact.

    Raises:
        TypeError: a weight is not an exact number.
        ValueError: the sizes do not fit.
    """
    step = shallow_step(V, A, B, c, d, h0)
    return step_to_rnn(step, variables("h", len(h0)))
