r"""Cells without gates: layers :math:`\sigma(W_l a + \dots)`, whose gain is at most the product of their norms."""

import torch
from jaxtyping import Float
from torch import Tensor

from fhx.cells import Cell, DeepCell, LinearCell, SimpleCell
from fhx.cells.activations import Activation, identity
from fhx.stability.norms import exact, row_sums, slope_bound


def activation_of(cell: Cell) -> Activation:
    """The activation of every layer.

    Raises:
        ValueError: the cell's gain is no product of this kind.
    """
    if isinstance(cell, LinearCell):
        return identity
    if isinstance(cell, SimpleCell) or (isinstance(cell, DeepCell) and cell.norms is None):
        return cell.activation
    raise ValueError(
        f"no contraction is certified for {cell}: the gated, simple and deep cells without norm have bounds"
    )


def slope(cell: Cell) -> float:
    r""":math:`L_\rho`, the Lipschitz constant of the activation of every layer."""
    return slope_bound(activation_of(cell))


def layers(cell: Cell) -> list[Float[Tensor, "rows columns"]]:
    """The matrices from the state to the next one, in float64."""
    return [exact(f"W of {cell}", W) for W in cell.layer_matrices()]


def is_linear(cell: Cell) -> bool:
    """Whether the step is one affine map of the state."""
    return isinstance(cell, LinearCell | SimpleCell) and activation_of(cell) is identity


def push(cell: Cell, input_bound: float) -> Float[Tensor, " d"]:
    r"""An upper bound of :math:`|f(0, x)|`, number by number, for activations with :math:`|\sigma(a)| \le |a|`."""
    W, U, b = layers(cell), exact(f"U of {cell}", cell.U), [exact(f"b of {cell}", b) for b in cell.layer_biases()]
    reached = input_bound * row_sums(U) + b[0].abs()
    for above, bias in zip(W[1:], b[1:], strict=True):
        reached = above.abs() @ reached + bias.abs()
    return reached * (1 + (len(W) * W[0].shape[0] + 16) * torch.finfo(torch.float64).eps)
