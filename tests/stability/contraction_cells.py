"""Random cells of every kind that has a certificate, and random states and inputs of the set that it is for."""

from functools import partial

import torch
from hypothesis import strategies as st

from fhx.cells import Cell, DeepCell, GRUCell, LinearCell, LSTMCell, SimpleCell
from fhx.dynamics import Box
from fhx.stability import invariant_set

KINDS = {
    "tanh": SimpleCell,
    "sigmoid": partial(SimpleCell, activation="sigmoid"),
    "relu": partial(SimpleCell, activation="relu"),
    "linear": LinearCell,
    "deep": partial(DeepCell, depth=2),
    "lstm": LSTMCell,
    "gru": GRUCell,
}
GATED = ("lstm", "gru")


def make(kind: str, d: int, weight: float, bias: float, seed: int, dtype: torch.dtype = torch.float64) -> Cell:
    """A cell with normal weights of size ``weight`` (a row's length) and biases of size ``bias``."""
    generator = torch.Generator().manual_seed(seed)
    cell = KINDS[kind](2, d, generator=generator, dtype=dtype)
    with torch.no_grad():
        for name, p in cell.named_parameters():
            scale = bias if name.startswith("b") else weight / d**0.5
            p.copy_(scale * torch.randn(p.shape, generator=generator, dtype=torch.float64))
    return cell


def cells(*kinds: str, most: float = 3.0) -> st.SearchStrategy:
    """Functions that make cells: type checks draw random numbers, which a strategy must not."""
    return st.builds(
        partial,
        st.just(make),
        st.sampled_from(kinds or tuple(KINDS)),
        st.integers(1, 4),
        st.floats(0, most),
        st.floats(0, 2),
        st.integers(0, 2**32),
    )


def points(cell: Cell, input_bound: float, n: int, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    """States of the invariant set and inputs, many of them on faces and in corners; linear cells are not kept in."""
    try:
        box = invariant_set(cell, input_bound)
    except ValueError:
        box = Box([-1.0] * cell.state_width, [1.0] * cell.state_width)
    x = Box([-1.0] * cell.input_size, [1.0] * cell.input_size)
    drawn = box.product(x).sample(n, seed, faces=1.0)
    return drawn[:, : cell.state_width], input_bound * drawn[:, cell.state_width :]
