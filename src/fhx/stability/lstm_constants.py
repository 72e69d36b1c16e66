r"""Constants of an LSTM's step in the max norm on :math:`(h, c)`, from the sizes of its weights.

A set of weights is given by :class:`~fhx.stability.LSTMBounds`: every row of the recurrent matrices has a
largest sum, every forget gate a largest value :math:`F_j`. Such a set is convex, and so is that of the states with
:math:`|h_j| \le \min(1, H)` and :math:`|c_j| \le \min(C_j, H)` with :math:`C_j = 1/(1 - F_j)`, which no step leaves;
H is ``Constants.state_bound``. The formulas have :math:`F = \max_j F_j` and :math:`C = \max_j C_j`.
"""

from collections.abc import Sequence
from math import isnan, sqrt

import torch
from torch import Tensor

from fhx.stability.lstm_bounds import LSTMBounds
from fhx.stability.norms import EPS
from fhx.stability.smoothness import SIGMOID_CURVE, TANH_CURVE, Constants

MARGIN = 1 + 256 * EPS  # covers the roundings of the formulas, sums and products of positive numbers


def lstm_constants(
    bounds: LSTMBounds, *, input_size: int, inputs: Sequence[float], drive_bound: float = 1.0, h0_bound: float = 0.0
) -> Constants:
    r"""Constants in the max norm of all LSTMs within these bounds.

    Write :math:`n_k` for the largest row sum of :math:`|W_k|`, :math:`g \ge f (1 - f)` for the slope of a forget gate,
    :math:`\varphi \ge f (1 - f) C_j` for that slope with its memory (F if it is below a half, else :math:`C / 4`),
    :math:`\xi^2 = d \min(1, H)^2 + |x|_2^2 + 1`, and :math:`s = 1/(6\sqrt3)` and :math:`t = 4/(3\sqrt3)` for the
    curvature of the gates and of tanh. Then :math:`L_\theta = \xi \sqrt{1 + \varphi^2}`,

    .. math::

       M_{hh} = s n_o^2 + \tfrac12 n_o \kappa + t \kappa^2
       + s n_i^2 + \tfrac12 n_i n_z + t n_z^2 + s C n_f^2 + 2 g n_f

    with :math:`\kappa` for the gain of c, and :math:`M_{h\theta}`, :math:`M_{\theta\theta}` are the norms of a vector
    and a matrix with one such entry for each gate, in the order i, f, z, o.

    Args:
        bounds: the set of weights, and :math:`B_x`.
        input_size: :math:`d_{in}`.
        inputs: the largest row sums of :math:`|U_i|, |U_f|, |U_z|, |U_o|`.
        drive_bound: :math:`B \ge \sup_x |f(0, x)|_\infty`, which is never more than 1.
        h0_bound: bound of :math:`|h_0|` and of :math:`|c_0|`, at most 1.

    Raises:
        ValueError: ``h0_bound`` or ``drive_bound`` is outside 0 to 1, or ``inputs`` are not four numbers.
    """
    for name, value in (("h0_bound", h0_bound), ("drive_bound", drive_bound)):
        if isnan(value) or not 0 <= value <= 1:
            raise ValueError(f"{name} must lie between 0 and 1 for an LSTM, got {value}")
    if len(inputs) != 4:
        raise ValueError(f"inputs must be four row sums, of U_i, U_f, U_z and U_o, got {len(inputs)}")
    F, C, d = bounds.forget_bound, bounds.memory_bound, len(bounds.forget)
    i, f, z, o = (bounds.norms[gate] for gate in "ifzo")
    u_i, u_f, u_z, u_o = inputs
    g = F * (1 - F) * (1 + 4 * EPS) if F < 0.5 else 0.25
    # a unit's share of C: f (1 - f) / (1 - F) is at most F below a half
    by_memory, s, t = (F if F < 0.5 else C / 4), SIGMOID_CURVE, TANH_CURVE
    rate = bounds.rate
    kept = min(rate, F + by_memory * f + max(z, i / 4))
    state = min(C, drive_bound / (1 - rate) * MARGIN) if rate < 1 and not h0_bound else C
    xi = sqrt(d * min(1.0, state) ** 2 + input_size * bounds.input_bound**2 + 1)
    slopes = torch.tensor([0.25, by_memory, 1.0, 0.0], dtype=torch.float64)
    gates = slopes.new_tensor([0.0, 0.0, 0.0, 0.25])
    shown = xi * slopes * (o / 4 + t * kept)
    moved = torch.tensor(
        [
            xi * (s * i + z / 4) + sqrt(d) / 4,
            xi * (s * C * f + g) + by_memory * sqrt(d),
            xi * (i / 4 + t * z) + sqrt(d),
            xi * (s * o + kept / 4) + sqrt(d) / 4,
        ],
        dtype=torch.float64,
    )
    return Constants(
        rate=rate,
        by_input=max(u_o / 4, by_memory * u_f + max(u_z, u_i / 4)) * MARGIN,
        by_weights=xi * sqrt(1 + by_memory**2) * MARGIN,
        by_states=(s * o**2 + o * kept / 2 + t * kept**2 + s * i**2 + i * z / 2 + t * z**2 + s * C * f**2 + 2 * g * f)
        * MARGIN,
        by_state_and_weights=(shown + moved).norm().item() * MARGIN,
        by_weights_twice=xi**2 * torch.linalg.matrix_norm(_twice(slopes, gates, C), 2).item() * MARGIN,
        drive_bound=drive_bound,
        state_bound=state,
        norm="max",
    )


def _twice(slopes: Tensor, gates: Tensor, C: float) -> Tensor:
    """Twice differentiated by the pre-activations of one unit: bounds of the entries, gates in the order i, f, z, o."""
    s, t = SIGMOID_CURVE, TANH_CURVE
    of_c = torch.diag(torch.tensor([s, s * C, t, 0.0], dtype=torch.float64))
    of_c[0, 2] = of_c[2, 0] = 0.25
    of_h = torch.diag(torch.tensor([0.0, 0.0, 0.0, s], dtype=torch.float64))
    return of_c + of_h + torch.outer(gates, slopes) + torch.outer(slopes, gates) + t * torch.outer(slopes, slopes)
