r"""Conditions of the control literature for incremental stability of gated cells, as rates that one can compare.

A cell is incrementally input-to-state stable (:math:`\delta\mathrm{ISS}`) where two runs with the same inputs meet. The
published conditions bound whole matrices by one norm, and every unit's gate by the one that opens furthest,

.. math:: \bar\sigma_k = \sigma\bigl(\max_j (|b_{k,j}| + w_{k,j} + B_x u_{k,j})\bigr),

with the rows' sums :math:`w_{k,j}` and :math:`u_{k,j}` of :math:`|W_k|` and :math:`|U_k|`; :math:`\bar\tau_k` is the
same with tanh in place of :math:`\sigma`.
"""

from math import inf, sqrt

import torch
from torch import Tensor

from fhx._checks import non_negative
from fhx.cells import GRUCell, LSTMCell
from fhx.cells.kinds import check_inherited
from fhx.stability.gates import opened
from fhx.stability.norms import EPS, UP, exact_weights, max_norm, row_sums, two_norm


def terzi_rate(cell: LSTMCell, input_bound: float = 1.0) -> float:
    r"""The rate by the incremental-stability condition for LSTMs of Terzi, Bonassi, Farina and Scattolini.

    On the states with :math:`|c_j| \le \bar c = \bar\sigma_i \bar\tau_z / (1 - \bar\sigma_f)` two runs obey

    .. math::

       \begin{pmatrix} \lVert \delta c' \rVert \\ \lVert \delta h' \rVert \end{pmatrix} \le A
       \begin{pmatrix} \lVert \delta c \rVert \\ \lVert \delta h \rVert \end{pmatrix}, \qquad A =
       \begin{pmatrix} \bar\sigma_f & \alpha \\ \bar\sigma_o \bar\sigma_f & \bar\sigma_o \alpha + \beta \end{pmatrix},

    in 2-norms, with :math:`\beta = \tfrac14 \tanh(\bar c)\, \lVert W_o \rVert` and

    .. math:: \alpha = \tfrac14 \lVert W_f \rVert\, \bar c + \bar\sigma_i \lVert W_z \rVert
       + \tfrac14 \lVert W_i \rVert\, \bar\tau_z .

    The condition is that both eigenvalues of A lie inside the unit circle, and the rate is the larger one; for a matrix
    like this it is :math:`\bar\sigma_f + \bar\sigma_o \alpha + \beta - 1 < \bar\sigma_f \beta < 1`.

    Args:
        cell: any LSTM.
        input_bound: :math:`B_x \ge 0`.

    Returns:
        The rate, rounded upwards; inf where a forget gate opens so far that :math:`1 - \bar\sigma_f` rounds to 0.

    Raises:
        ValueError: a weight is not finite, the input bound is negative or not finite, or the cell is not an LSTMCell.

    Source: Terzi, Bonassi, Farina and Scattolini (2021), "Learning model predictive control with long short-term memory
    networks", theorem on :math:`\delta\mathrm{ISS}`.
    """
    check_inherited(cell, LSTMCell, "this is a bound of its step")
    B = non_negative("input_bound", input_bound)
    W, U, b = exact_weights(cell, "W", "U", "b")
    most = _furthest(W, U, b, B, 4)
    i, f, o = (opened(most[k]).item() for k in (0, 1, 3))
    if f >= 1:
        return inf
    z = min(1.0, most[2].tanh().item() * UP)
    c = i * z / (1 - f) * UP
    by_i, by_f, by_z, by_o = (two_norm(gate) for gate in W.chunk(4))
    alpha = by_f * c / 4 + i * by_z + by_i * z / 4
    beta = min(1.0, torch.tensor(c).tanh().item() * UP) * by_o / 4
    half, product = (f + o * alpha + beta) / 2, f * beta
    apart = (f + o * alpha - beta) / 2  # the discriminant is apart^2 + o alpha beta, of numbers that are not negative
    root = sqrt(apart**2 + o * alpha * beta) if product else abs(half)
    return (half + root) * UP


def bonassi_rate(cell: GRUCell, input_bound: float = 1.0) -> float:
    r"""The rate by the incremental-stability condition for GRUs of Bonassi, Farina and Scattolini, in the max norm.

    .. math::

       \lambda = \bar\sigma_z + (1 - \bar\sigma_z)\, a + \tfrac14 (1 + \bar\tau_n)\, \lVert W_z \rVert_\infty, \qquad
       a = \bar\sigma_r \lVert W_n \rVert_\infty
         + \tfrac14 \lVert W_r \rVert_\infty \bigl(\lVert W_n \rVert_\infty + \lVert b_m \rVert_\infty\bigr),

    on the states :math:`|h|_\infty \le 1`. Theirs is :math:`\lambda < 1`, written as

    .. math:: \lVert W_n \rVert_\infty \bigl(\tfrac14 \lVert W_r \rVert_\infty + \bar\sigma_r\bigr)
       < 1 - \tfrac14 \frac{1 + \bar\tau_n}{1 - \bar\sigma_z} \lVert W_z \rVert_\infty,

    for the form in which the reset gate scales h before the matrix. For torch's form the same steps lead to the same
    bound, where :math:`b_m`, which theirs lacks, joins :math:`\lVert W_n \rVert`.

    Args:
        cell: any GRU.
        input_bound: :math:`B_x \ge 0`.

    Raises:
        ValueError: a weight is not finite, the input bound is negative or not finite, or the cell is not a GRUCell.

    Source: Bonassi, Farina and Scattolini (2021), "On the stability properties of gated recurrent units neural
    networks", theorem on :math:`\delta\mathrm{ISS}`.
    """
    check_inherited(cell, GRUCell, "this is a bound of its step")
    B = non_negative("input_bound", input_bound)
    W, U, b, b_m = exact_weights(cell, "W", "U", "b", "b_m")
    d = cell.state_size
    most = _furthest(W, U, torch.cat([b[: 2 * d], b[2 * d :].abs() + b_m.abs()]), B, 3)
    r, z = (opened(most[k]).item() for k in (0, 1))
    n = min(1.0, most[2].tanh().item() * UP)
    by_r, by_z, by_n = (max_norm(gate) for gate in W.chunk(3))
    a = r * by_n + by_r * (by_n + b_m.abs().max().item()) / 4
    kept = z + (1 - z) * a if a <= 1 else a  # a mean of 1 and a
    return (kept + (1 + n) * by_z / 4) * UP


def _furthest(W: Tensor, U: Tensor, b: Tensor, input_bound: float, blocks: int) -> list[Tensor]:
    """For each block of rows the largest argument, with the biases' absolute values."""
    rows = (b.abs() + row_sums(W) + input_bound * row_sums(U)) * (1 + 4 * EPS)
    return [block.amax(0, keepdim=True) for block in rows.chunk(blocks)]
