r"""A deep cell that a reader initialised, and how far a gradient comes through it."""

from typing import Any

import torch

from fhx.cells import DeepCell
from fhx.dynamics import jacobians, product_norms
from fhx.exercises.compare import MalformedError

__all__ = ["deep_cell", "holds"]

DEPTH, UNITS, STEPS, SEQUENCES = 16, 32, 50, 8
LIMIT, NORMS = 10.0, (0.5, 3.0)


def deep_cell() -> DeepCell:
    """Sixteen tanh layers of 32 units, with weights as a cell starts with them."""
    generator = torch.Generator().manual_seed(0)
    return DeepCell(1, UNITS, DEPTH, generator=generator, dtype=torch.float64)


def holds(value: Any) -> bool:
    r"""True if :math:`|\log \lVert \partial h_{50} / \partial h_0 \rVert| \le 10` on all sequences.

    Args:
        value: a :func:`deep_cell` with other matrices, and biases of 0.

    Raises:
        ValueError: not such a cell, a bias that is not 0, a matrix whose norm is not between 0.5 and 3, two equal
            matrices, or a gradient that does not hold, with its logarithm.
    """
    if not isinstance(value, DeepCell) or (value.depth, value.state_size, value.W.shape[0]) != (DEPTH, UNITS, UNITS):
        raise MalformedError("the cell that the function was given, a DeepCell(1, 32, 16)", value)
    if value.activation is not torch.tanh or value.norms is not None:
        raise ValueError("the cell must stay a plain tanh cell")
    with torch.no_grad():
        for l, (W, b) in enumerate(zip(value.layer_matrices(), value.layer_biases(), strict=True), start=1):
            if b.any() or not b.isfinite().all():
                raise ValueError(f"the bias of layer {l} is not 0")
            norm = torch.linalg.matrix_norm(W, 2).item() if W.isfinite().all() else float("nan")
            if not NORMS[0] <= norm <= NORMS[1]:
                raise ValueError(f"the matrix of layer {l} has the norm {norm:.3g}, and it must be between 0.5 and 3")
        for l, W in enumerate(value.layer_matrices()):
            for k, other in enumerate(value.layer_matrices()[:l]):
                if torch.equal(W, other):
                    raise ValueError(f"the matrices of layers {k + 1} and {l + 1} are equal")
        generator = torch.Generator().manual_seed(1)
        x = 0.1 * torch.randn(STEPS, SEQUENCES, 1, generator=generator, dtype=torch.float64)
        h0 = 2 * torch.rand(SEQUENCES, UNITS, generator=generator, dtype=torch.float64) - 1
        logs = product_norms(jacobians(value.double(), x, h0))[0]
    worst = logs[logs.abs().argmax()].item()
    if not abs(worst) <= LIMIT:
        raise ValueError(f"on one sequence the logarithm of the gradient's norm changes by {worst:.1f}")
    return True
