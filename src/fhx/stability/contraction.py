r"""How fast one step brings two states together: upper bounds of the one-step gain that are certain.

.. math:: \lambda \ge \sup_{h \ne h',\, |x|_\infty \le B_x} \frac{|f(h, x) - f(h', x)|}{|h - h'|}

over the states of a stated forward-invariant set (:func:`~fhx.stability.invariant_set`). The map is a
contraction if :math:`\lambda < 1`; a bound of 1 or more certifies nothing. The bound is of the exact map of the weights
as they are, and is computed in float64 and rounded upwards; what rounding does to a *run* is another matter.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, inf, log

import torch
from jaxtyping import Float
from torch import Tensor

from fhx._checks import positive
from fhx.cells import Cell
from fhx.dynamics import Box
from fhx.stability.arguments import satisfies
from fhx.stability.certificates import certificate, certificate_in
from fhx.stability.norms import UP, AnyNorm
from fhx.stability.weights import gain_with

SMALLEST = 1e-100  # weight; a product with it keeps all its digits


def contraction_rate(cell: Cell, norm: AnyNorm | None = None, input_bound: float = 1.0) -> float:
    r"""A certified upper bound of a cell's one-step gain, not an estimate.

    ================================ ============ ===================================================================
    cell                             norm         bound
    ================================ ============ ===================================================================
    ``SimpleCell``, ``LinearCell``   2, "max"     :math:`L_\sigma \lVert W \rVert`
    ``DeepCell`` without layer norm  2, "max"     :math:`\prod_l L_\sigma \lVert W_l \rVert`
    these                            "weighted"   the Perron root of :math:`\prod_l L_\sigma |W_l|`, or little more
    linear                           "lyapunov"   the gain in :math:`|h|_P`, see :func:`lyapunov_norm`
    ``LSTMCell``, ``GRUCell``        "weighted"   that of bounds of the Jacobian, see :func:`contraction_certificate`
    ``LSTMCell``, ``GRUCell``        "max"        the same bounds with equal weights
    ``LSTMCell``, ``GRUCell``        2            :math:`\sqrt n` times that, of n numbers in the state
    ``Translated``                   any          that of its cell
    ``WithReadout``                  any          that of its cell, in the norm :math:`\max(|h|, |y| / L)`
    ================================ ============ ===================================================================

    Args:
        cell: its weights as they are; biases are never assumed away. A net of torch becomes one by
            :func:`fhx.cells.from_torch`; another kind of cell needs a :class:`~fhx.stability.Certificate`.
        norm: of states: 2, "max" (or inf), "weighted", "lyapunov"; None for 2, and "weighted" for gated cells. A
            weighted norm :math:`\max_j |v_j| / w_j` has its weights from the cell, the largest of them 1, so that it is
            nowhere below the max norm.
        input_bound: :math:`B_x \ge 0` with :math:`|x_t|_\infty \le B_x`; only the gated cells' bounds depend on it.

    Returns:
        :math:`\lambda \ge 0`; 1 or more where no contraction is certified, inf where there is no bound at all. It holds
        for all states of simple, linear and deep cells, and on :func:`invariant_set` for gated ones.

    Raises:
        ValueError: there is no certificate for the cell or its activation, the norm is unknown or not one that the
            cell has a bound in, a weight is not finite, or the input bound is negative or not finite.
    """
    found, norm = certificate_in(norm, cell, input_bound)
    return found.rate(norm)


@dataclass(frozen=True, eq=False)
class ContractionCertificate:
    r"""What certifies a gain, in full: anybody can check it from the weights of the cell.

    Args:
        rate: :math:`\lambda`, of one step in the norm :math:`\max_j |v_j| / w_j`, rounded upwards.
        weights: :math:`w_j > 0`.
        box: the states for which it holds, which no run from the cell's initial state leaves; None if for all.
        input_bound: :math:`B_x`.
        row_gains: :math:`T(w)_i`, the bound of how far number i of the next state moves where number j of the state
            moves by at most :math:`w_j`. The rate is the largest :math:`T(w)_i / w_i`.
    """

    rate: float
    weights: Float[Tensor, " width"]
    box: Box | None
    input_bound: float
    row_gains: Float[Tensor, " width"]

    @property
    def state_bound(self) -> float:
        """The largest :math:`|h|_w` in the box, rounded upwards; inf without a box."""
        if self.box is None:
            return inf
        return (self.box.low.abs().maximum(self.box.high.abs()) / self.weights).max().item() * UP


def contraction_certificate(
    cell: Cell, input_bound: float = 1.0, weights: Float[Tensor, " width"] | Sequence[float] | None = None
) -> ContractionCertificate:
    r"""A certified gain in a weighted max norm, with all that it rests on.

    Row i of the Jacobian is bounded over the box of states that runs from zero reach, for inputs with
    :math:`|x|_\infty \le B_x`:

    .. math:: T(w)_i \ge \sup \sum_j \Bigl| \frac{\partial f_i}{\partial h_j} \Bigr| w_j,
       \qquad \lambda = \max_i T(w)_i / w_i.

    Any weights certify; the best ones are looked for by a power iteration.

    Args:
        cell: simple, linear, deep, LSTM or GRU, or of a kind whose certificate has ``row_gains``.
        input_bound: :math:`B_x \ge 0`, as for :func:`contraction_rate`.
        weights: w, if it is not to be chosen: positive numbers, one for each number of the state.

    Returns:
        A :class:`ContractionCertificate`: ``rate`` is :math:`\lambda`, 1 or more where no contraction is certified;
        ``weights`` w and ``row_gains`` :math:`T(w)`, a number for each of the state; ``box`` the states for which it
        holds, None where it holds for all; and the ``input_bound``.

    Raises:
        ValueError: what :func:`contraction_rate` and :func:`invariant_set` raise, or the weights are not as many
            numbers from 1e-100 to 1e100.

    Source: derived here. A bound of :math:`|c_j|` below :math:`1 / (1 - F_j)`, one for all units, is in Terzi, Bonassi,
    Farina and Scattolini (2021), "Learning model predictive control with long short-term memory networks".
    """
    found = certificate(cell, input_bound)
    if weights is None:
        rate, w = found.rate("weighted"), found.weights()
    else:
        w = torch.as_tensor(weights, dtype=torch.float64, device="cpu")
        if w.shape != (cell.state_width,) or not ((w >= SMALLEST) & (w <= 1 / SMALLEST)).all():
            raise ValueError(f"weights must be {cell.state_width} positive numbers, 1e-100 to 1e100, got {w.tolist()}")
        rate = gain_with(found.row_gains, w)
    box = None if found.everywhere else found.invariant_set()
    return ContractionCertificate(rate, w, box, found.input_bound, found.row_gains(w))


def steps_to_contract(rate: float, width: int) -> int:
    r"""How many steps a contraction in the max norm needs to be one in the 2-norm: the least :math:`r \ge 1` with

    .. math:: \sqrt{n} \lambda^r < 1,

    since :math:`|v|_\infty \le |v|_2 \le \sqrt n |v|_\infty` for n numbers; one more where rounding hides which.

    Args:
        rate: :math:`0 \le \lambda < 1`, in the max norm.
        width: n, the cell's ``state_width``.

    Raises:
        ValueError: the rate is not in this range, or the width is not positive.
    """
    check_rate(rate)
    n = positive("width", width)
    return 1 if rate == 0 else floor(log(n) / (-2 * log(rate)) * UP) + 1


def check_rate(rate: float) -> float:
    """``rate``, or a ``ValueError`` unless it is at least 0 and below 1."""
    if not satisfies(rate, lambda rate: 0 <= rate < 1):
        raise ValueError(f"a contraction needs a rate of at least 0 and below 1, got {rate!r}")
    return float(rate)


def check_positive_rate(rate: float) -> float:
    """``rate``, or a ``ValueError`` unless it is above 0 and below 1."""
    if not satisfies(rate, lambda rate: 0 < rate < 1):
        raise ValueError(f"a contraction needs a rate above 0 and below 1, got {rate!r}")
    return float(rate)
