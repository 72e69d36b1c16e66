"""Where a certificate holds and every run from the zero state stays."""

from fhx.cells import Cell
from fhx.dynamics import Box
from fhx.stability.certificates import certificate


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
    return certificate(cell, input_bound).invariant_set()
