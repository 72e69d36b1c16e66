r"""Constants of a step :math:`f_\theta(h, x)`: how much it and its derivatives change with state, input and weights."""

from math import inf, isnan, sqrt

import torch
from jaxtyping import Float
from torch import Tensor

from fhx._checks import non_negative, positive
from fhx.cells import Cell, LinearCell, LSTMCell, SimpleCell
from fhx.cells.activations import ACTIVATIONS
from fhx.stability.lstm_constants import between_lstms
from fhx.stability.norms import UP, exact, two_norm
from fhx.stability.plain import activation_of
from fhx.stability.smoothness import SMOOTH, Constants, reach


def constants(*cells: Cell, input_bound: float = 1.0, h0_bound: float = 0.0) -> Constants:
    r"""Constants that hold for every given cell and for all weights between them.

    Simple and linear cells are measured in the 2-norm, LSTMs in the max norm on :math:`(h, c)`.

    Args:
        cells: of one kind and size, at least one.
        input_bound: :math:`B_x` with :math:`|x_t|_\infty \le B_x`.
        h0_bound: bound of :math:`|h_0|`, at most 1 for an LSTM.

    Raises:
        ValueError: no cell, cells of several kinds or sizes, a kind or activation whose second derivatives are not
            bounded here, a weight that is not finite, or bounds that are negative or not finite.
    """
    B = non_negative("input_bound", input_bound)
    if not cells:
        raise ValueError("constants need at least one cell")
    if len({(repr(cell), type(cell)) for cell in cells}) > 1:
        raise ValueError(f"constants need cells of one kind and size, got {', '.join(map(repr, cells))}")
    if isinstance(cells[0], LSTMCell):
        return between_lstms(cells, B, h0_bound)
    if not isinstance(cells[0], LinearCell | SimpleCell):
        raise ValueError(f"constants are known for linear and simple cells and the LSTM, not {cells[0]}")
    return simple_constants(
        width=cells[0].state_size,
        recurrent=max(two_norm(exact("W", cell.W)) for cell in cells),
        inputs=max(two_norm(exact("U", cell.U)) for cell in cells),
        drive=max(_size(reach(cell.U, cell.b, B)) for cell in cells),
        input_norm=sqrt(cells[0].input_size) * B * UP,
        activation=_name(cells[0]),
        h0_bound=h0_bound,
    )


def simple_constants(
    *,
    width: int,
    recurrent: float,
    inputs: float,
    drive: float,
    input_norm: float,
    activation: str = "tanh",
    h0_bound: float = 0.0,
) -> Constants:
    r"""Constants in the 2-norm of all simple cells with weights no larger than that, a convex set.

    With bounds s of :math:`|\sigma'|` and m of :math:`|\sigma''|`, w of :math:`\lVert W \rVert_2`, and
    :math:`\xi^2 = H^2 + X^2 + 1` for the bounds of state and input,

    .. math:: \lambda = s w, \quad L_\theta = s \xi, \quad M_{hh} = m w^2, \quad M_{h\theta} = m w \xi + s, \quad
       M_{\theta\theta} = m \xi^2.

    Args:
        width: d.
        recurrent: w, bound of :math:`\lVert W \rVert_2`.
        inputs: bound of :math:`\lVert U \rVert_2`.
        drive: bound of :math:`|U x + b|_2`; for a tanh it may be infinite.
        input_norm: X, bound of :math:`|x|_2`.
        activation: "tanh", "sigmoid", or "identity" for the linear cell.
        h0_bound: bound of :math:`|h_0|_2`.

    Raises:
        ValueError: an unknown activation, or a bound that is negative or no number.
    """
    if activation not in SMOOTH:
        raise ValueError(f"the second derivative of {activation!r} is not bounded: use {', '.join(SMOOTH)}")
    sizes = {"recurrent": recurrent, "inputs": inputs, "drive": drive, "input_norm": input_norm, "h0_bound": h0_bound}
    for name, value in sizes.items():
        if isnan(value) or value < 0:
            raise ValueError(f"{name} must be a number of at least 0, got {value}")
    slope, curve, size, at_zero = SMOOTH[activation]
    root = sqrt(positive("width", width))
    rate = slope * recurrent
    drive_bound = min(size * root, slope * drive + at_zero * root) * UP
    state = max(h0_bound, min(size * root, drive_bound / (1 - rate) if rate < 1 else inf) * UP)
    xi = sqrt(state**2 + input_norm**2 + 1) * UP
    return Constants(
        rate=rate,
        by_input=slope * inputs,
        by_weights=slope * xi,
        by_states=curve * recurrent**2 * UP,
        by_state_and_weights=(curve * recurrent * xi if curve else 0.0) * UP + slope,
        by_weights_twice=curve * xi**2 * UP if curve else 0.0,
        drive_bound=drive_bound,
        state_bound=state,
    )


def _size(rows: Float[Tensor, " rows"]) -> float:
    """An upper bound of the 2-norm, a convex function of the weights."""
    return rows.norm().item() * (1 + len(rows) * torch.finfo(torch.float64).eps)


def _name(cell: Cell) -> str:
    activation = activation_of(cell)
    names = {value: name for name, value in ACTIVATIONS.items()}
    return names.get(activation, getattr(activation, "__name__", "an activation"))
