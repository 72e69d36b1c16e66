r"""Weights for the numbers of a state: the norm :math:`|v|_w = \max_j |v_j| / w_j` where a bound of the gain is least.

Let :math:`T(w)_i` bound how far number i of the next state moves where number j of the state moves by at most
:math:`w_j`. For **any** :math:`w > 0` the gain in :math:`|\cdot|_w` is at most :math:`\max_i T(w)_i / w_i`. T is
monotone and homogeneous, :math:`T(s w) = s T(w)`, as a matrix with no negative entry is, and the least of these bounds
is its Perron root (Collatz 1942, Wielandt 1950 for matrices; Nussbaum 1988 for such maps). A power iteration looks for
it; nothing rests on how near it comes.
"""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from fhx.stability.norms import UP

RowGains = Callable[[Float[Tensor, " width"]], Float[Tensor, " width"]]
STEPS, CLOSE, LEAST = 300, 1e-5, 1e-9


def gain_with(row_gains: RowGains, weights: Float[Tensor, " width"]) -> float:
    r"""The bound :math:`\max_i T(w)_i / w_i` of the gain in :math:`|\cdot|_w`, rounded upwards."""
    return (row_gains(weights) / weights).max().item() * UP


def best_weights(row_gains: RowGains, width: int) -> tuple[float, Float[Tensor, " width"]]:
    r"""The least bound on the path of a power iteration from :math:`w = 1`, and its weights, the largest of which is 1.

    A step leads from w to :math:`T(w) / \max_i (T(w)_i / w_i)` and an eighth of w, which keeps a map that swaps numbers
    from swapping without end; no weight falls below a billionth of the largest. It ends where all
    :math:`T(w)_i / w_i` agree to five digits, or twenty steps have lowered the bound by less than a ten-thousandth.
    """
    w = torch.ones(width, dtype=torch.float64)
    best, chosen, before = torch.inf, w, torch.inf
    for step in range(STEPS):
        gains = row_gains(w)
        ratios = gains / w
        largest = ratios.max().item()
        if largest < best:
            best, chosen = largest, w
        if not 0 < largest < torch.inf or ratios.min() >= largest * (1 - CLOSE):
            break
        if step % 20 == 19:
            if best > before * (1 - 10 * CLOSE):
                break
            before = best
        w = gains / largest + w / 8
        w = (w / w.max()).clamp(min=LEAST)
    return best * UP, chosen
