"""The kinds of deep cells that experiments compare, by name, and the weights that their nets start with."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from fhx.cells import (
    Cell,
    DeepCell,
    DeepLSTMCell,
    GRUCell,
    HighwayCell,
    LSTMCell,
    ResidualCell,
    SimpleCell,
    Stack,
    gaussian_,
    orthogonal_,
)

__all__ = ["CELLS", "initialize", "open_gates"]


def _residual(input_size: int, state_size: int, depth: int, **options: Any) -> ResidualCell:
    return ResidualCell(input_size, state_size, depth, scale=1 / depth, **options)


CELLS: dict[str, Callable[..., Cell]] = {
    "plain": DeepCell,
    "orthogonal": DeepCell,
    "normalised": partial(DeepCell, normalized=True),
    "residual": _residual,
    "highway": HighwayCell,
    "gated": DeepLSTMCell,
    "stacked": partial(Stack.repeat, SimpleCell),
}
"""What makes a cell of ``(input_size, state_size, depth)``; "plain" and "orthogonal" differ in their first weights."""


@torch.no_grad()
def initialize(cell: Cell, gain: float = 1.0, orthogonal: bool = True) -> None:
    """Draw the state-side matrices with this gain. Biases are 0, but 1 in an LSTM's forget gates, as is usual."""
    (orthogonal_ if orthogonal else gaussian_)(cell, gain)
    if isinstance(cell, LSTMCell):
        cell.b_f.fill_(1.0)
    if isinstance(cell, DeepLSTMCell):
        top = cell.b_upper[-1] if cell.depth > 1 else cell.b
        top[cell.state_size : 2 * cell.state_size] = 1.0


@torch.no_grad()
def open_gates(cell: Cell, steps: int) -> None:
    r"""Let the gates of an LSTM, deep or not, or of a GRU start open for horizons up to :math:`T`; others stay.

    With :math:`u` drawn uniformly from :math:`[1, T - 1]` for each unit, the bias of the gate that keeps becomes
    :math:`\ln u`, so that a memory falls by a factor :math:`e` in about :math:`u` steps, and that of an LSTM's input
    gate :math:`-\ln u`.

    Source: Tallec and Ollivier (2018).
    """
    if isinstance(cell, LSTMCell | GRUCell | DeepLSTMCell):
        times = torch.empty(cell.state_size).uniform_(1, steps - 1).log()
        if isinstance(cell, LSTMCell):
            cell.b_f.copy_(times)
            cell.b_i.copy_(-times)
        elif isinstance(cell, GRUCell):
            cell.b_z.copy_(times)
        else:
            top = cell.b_upper[-1] if cell.depth > 1 else cell.b
            top[: 2 * cell.state_size] = torch.cat([-times, times])
