"""torch's own loops over time for the cells that it has: the same states as by ``unroll``, several times as fast."""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor
from torch.func import functional_call

from fhx.cells import Cell

__all__ = ["TorchLoop"]


class TorchLoop:
    """Runs one layer; not by ``torch.vmap``, which cannot batch these loops.

    Args:
        cell: a cell like those to run: of one kind, with one number of units and inputs.

    Raises:
        ValueError: torch has no such net.
    """

    def __init__(self, cell: Cell) -> None:
        self.net = cell.to_torch()

    def __call__(
        self,
        cell: Cell,
        x: Float[Tensor, "time batch d_in"],
        state: Float[Tensor, "batch d"] | None = None,
        dropped: Callable[[Tensor], Tensor] | None = None,
    ) -> tuple[Float[Tensor, "time batch d_out"], Float[Tensor, "batch d"]]:
        """The hidden part of all states of the cell, and its last state; from zero, or from a state.

        Args:
            cell: whose weights are used.
            x: the inputs.
            state: the one to start from; None for zero.
            dropped: what is done to the state-side weights first, once for all steps, such as a dropout.
        """
        (layer,) = cell.torch_layers()
        weights = {f"{name}_l0": value for name, value in layer.weights.items()}
        if dropped is not None:
            weights["weight_hh_l0"] = dropped(weights["weight_hh_l0"])
        start = None if state is None else tuple(p[None].contiguous() for p in state.split(layer.state_size, -1))
        shown, after = functional_call(self.net, weights, (x, start[0] if start and len(start) == 1 else start))
        return shown, torch.cat(after, -1)[0] if isinstance(after, tuple) else after[0]
