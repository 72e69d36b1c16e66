r"""A search for the cap of a gate: sets that are convex for every cap, and together are not.

What a gate may open to, :math:`\sigma(a)`, is searched over by its argument :math:`a`.
"""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from fhx.stability.rows import Gates, squared_shift

SquaredDistance = Callable[[Float[Tensor, "rows m"]], Float[Tensor, "rows m"]]
FIRST, NEXT, ROUNDS = 64, 16, 5
"""How many arguments are tried at first and in each later round, and how many of these there are."""


def least(squared_distance: SquaredDistance, gates: Gates, highest: Float[Tensor, " rows"]) -> Float[Tensor, " rows"]:
    r"""The arguments for which the distance is least, one for each row of ``squared_distance``.

    None is above the highest. None is so low that the gates alone would move further than all that has to move for the
    highest. Between the two as many as ``FIRST`` are tried, and then more and more closely round the best.

    Args:
        squared_distance: for m arguments for each row.
        gates: whose arguments they are; a single row of arguments is for all gates alike.
        highest: the highest arguments allowed.
    """
    high = highest[:, None]
    low = _lowest(gates, high, squared_distance(high))
    points = FIRST
    for _ in range(ROUNDS):
        tried = low + (high - low) * torch.linspace(0, 1, points, dtype=low.dtype, device=low.device)
        best = squared_distance(tried).argmin(1, keepdim=True)
        low, high = tried.gather(1, (best - 1).clamp(min=0)), tried.gather(1, (best + 1).clamp(max=points - 1))
        points = NEXT
    tried = torch.cat([low, (low + high) / 2, high], 1)
    return tried.gather(1, squared_distance(tried).argmin(1, keepdim=True))[:, 0]


def _lowest(gates: Gates, high: Float[Tensor, "rows 1"], limit: Float[Tensor, "rows 1"]) -> Float[Tensor, "rows 1"]:
    """Below this no nearest point lies: the gates alone move as far as the limit."""

    def alone(argument: Tensor) -> Tensor:
        nu = gates.by_limit.at(argument - gates.b[:, None])
        moved = squared_shift(gates.sizes, nu) + squared_shift(gates.input_sizes, gates.input_bound * nu) + nu.square()
        return moved if len(high) == len(moved) else moved.sum(0, keepdim=True)

    step = limit.sqrt().clamp(min=1e-12)
    low = high - step
    while (near := alone(low) < limit).any():
        low, step = torch.where(near, low - step, low), 2 * step
    above = high.clone()
    for _ in range(20):
        middle = (low + above) / 2
        far = alone(middle) >= limit
        low, above = torch.where(far, middle, low), torch.where(far, above, middle)
    return low
