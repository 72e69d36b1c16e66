r"""How fast one step brings two states together: upper bounds of the one-step gain that are certain.

.. math:: \lambda \ge \sup_{h \ne h',\, |x|_\infty \le B_x} \frac{|f(h, x) - f(h', x)|}{|h - h'|}

over the states of a stated forward-invariant set (:func:`~fhx.stability.invariant_set`). The map is a
contraction if :math:`\lambda < 1`; a bound of 1 or more certifies nothing. The bound is of the exact map of the weights
as they are, and is computed in float64 and rounded upwards; what rounding does to a *run* is another matter.
"""

from math import floor, log

from fhx._checks import positive
from fhx.cells import Cell
from fhx.stability.certificates import certificate_in
from fhx.stability.norms import UP, AnyNorm


def contraction_rate(cell: Cell, norm: AnyNorm | None = None, input_bound: float = 1.0) -> float:
    r"""A certified upper bound of a cell's one-step gain, not an estimate.

    ================================ ============ ===================================================================
    cell                             norm         bound
    ================================ ============ ===================================================================
    ``SimpleCell``, ``LinearCell``   2, "max"     :math:`L_\rho \lVert W \rVert`
    ``DeepCell`` without layer norm  2, "max"     :math:`\prod_l L_\rho \lVert W_l \rVert`
    linear                           "lyapunov"   the gain in :math:`|h|_P`, see :func:`lyapunov_norm`
    ``LSTMCell``, ``GRUCell``        "max"        ``lstm_bounds(cell).rate``, ``gru_bounds(cell).rate``
    ``LSTMCell``, ``GRUCell``        2            :math:`\sqrt n` times that, of n numbers in the state
    ``Translated``                   any          that of its cell
    ``WithReadout``                  any          that of its cell, in the norm :math:`\max(|h|, |y| / L)`
    ================================ ============ ===================================================================

    Args:
        cell: its weights as they are; biases are never assumed away. A net of torch becomes one by
            :func:`fhx.cells.from_torch`; another kind of cell needs a :class:`~fhx.stability.Certificate`.
        norm: of states: 2, "max" (or inf), "lyapunov"; None for 2, and "max" for gated cells.
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
    if not 0 <= rate < 1:
        raise ValueError(f"a contraction needs a rate of at least 0 and below 1, got {rate!r}")
    return float(rate)
