"""Where a certificate holds and every run from the zero state stays."""

from math import inf, prod, sqrt

import torch
from jaxtyping import Float
from torch import Tensor

from fhx._checks import non_negative
from fhx.approximation import Box
from fhx.cells import Cell, GRUCell, LSTMCell
from fhx.stability.conjugate import Translated, WithReadout
from fhx.stability.lstm import lstm_bounds
from fhx.stability.lyapunov import find_norm, weighted_gain
from fhx.stability.norms import EPS, UP, max_norm, two_norm
from fhx.stability.plain import activation_of, is_linear, layers, push

RANGES = {torch.tanh: (-1.0, 1.0), torch.sigmoid: (0.0, 1.0)}


def invariant_set(cell: Cell, input_bound: float = 1.0) -> Box:
    r"""A box of states that no run from :math:`h_0 = 0` leaves, on which :func:`contraction_rate` holds.

    ======================== ==========================================================================================
    cell                     box
    ======================== ==========================================================================================
    tanh                     :math:`|h|_\infty \le 1`; with a sigmoid :math:`0 \le h_j \le 1`
    GRU                      :math:`|h|_\infty \le 1`
    LSTM                     :math:`|h|_\infty \le 1` and :math:`|c_j| \le 1 / (1 - F_j)`, see :class:`LSTMBounds`
    linear, ReLU             :math:`|h|_\infty \le R = \min \sup_x |f(0, x)| / (1 - \lambda)` over the norms (2, max,
                             Lyapunov) in which the cell contracts at a rate :math:`\lambda < 1`
    ``Translated``           that of its cell, moved; its runs start from :math:`-h^*`
    ``WithReadout``          that of its cell, and all that is read out of it, with :math:`y_0 = 0`
    ======================== ==========================================================================================

    A step leads from the box into the box, except for linear and ReLU cells where the best norm is not the max norm:
    then the ball of that norm, which lies in the box, is what no step leaves. Their certificate holds for all states.

    Args:
        cell: any cell that has a certificate.
        input_bound: :math:`B_x \ge 0` with :math:`|x_t|_\infty \le B_x` for all t.

    Returns:
        The box, in float64, with a coordinate for each number of the state.

    Raises:
        ValueError: the cell has no certificate, no bounded set is known that its runs stay in, a weight is not finite,
            or the input bound is negative or not finite.
    """
    B = non_negative("input_bound", input_bound)
    if isinstance(cell, Translated | WithReadout):
        return cell.box(invariant_set(cell.cell, B))
    if isinstance(cell, LSTMCell):
        memory = lstm_bounds(cell, B).memory
        if not memory.isfinite().all():
            raise ValueError("a forget gate of the LSTMCell opens so far that its 1 / (1 - F) is beyond all floats")
        return _symmetric(torch.cat([torch.ones_like(memory), memory]))
    if isinstance(cell, GRUCell):
        return _symmetric(torch.ones(cell.state_width, dtype=torch.float64))
    low, high = RANGES.get(activation_of(cell), (-inf, inf))
    if high < inf:
        return Box([low] * cell.state_width, [high] * cell.state_width)
    return _symmetric(torch.full((cell.state_width,), max(_reach(cell, B), EPS), dtype=torch.float64))


def _symmetric(radius: Float[Tensor, " width"]) -> Box:
    return Box(-radius.cpu(), radius.cpu())


def _reach(cell: Cell, input_bound: float) -> float:
    """R: a run from 0 satisfies |h_t| <= rate |h_(t-1)| + |f(0, x_t)| in every norm with a rate."""
    W, pushed = layers(cell), push(cell, input_bound)
    size = pushed.norm().item() * UP
    found = [(prod(map(two_norm, W)) * UP, size), (prod(map(max_norm, W)) * UP, pushed.max().item())]
    if is_linear(cell) and (P := find_norm(W[0])) is not None:
        found.append((weighted_gain(W[0], P), sqrt(two_norm(P)) * size * UP))
    reaches = [pushed / (1 - rate) * UP for rate, pushed in found if rate < 1]
    if not reaches:
        raise ValueError(f"the runs of {cell} are not known to stay in any bounded set: it contracts in no norm tried")
    return min(reaches)
