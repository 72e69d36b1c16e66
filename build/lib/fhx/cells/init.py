"""Initialisers: other distributions of a cell's matrices than the one it starts with."""

import torch
from torch import Tensor

from fhx._checks import non_negative
from fhx.cells.base import Cell


@torch.no_grad()
def gaussian_(cell: Cell, weight_std: float, bias_std: float = 0.0, generator: torch.Generator | None = None) -> None:
    r"""Draw every state-side matrix and bias anew from normal distributions, in place.

    Entries of a matrix that reads :math:`n` numbers become :math:`N(0, \sigma_w^2 / n)`, entries of a bias
    :math:`N(0, \sigma_b^2)`: the ensemble of mean-field theory. Input matrices, gains of layer norms and the biases of
    a highway's gates stay as they are.

    Args:
        cell: any cell that names its ``layer_matrices``.
        weight_std: :math:`\sigma_w \ge 0`.
        bias_std: :math:`\sigma_b \ge 0`.
        generator: where the numbers are drawn from, on its device; torch's default generator if None.

    Raises:
        ValueError: a standard deviation is negative or not finite, or the cell does not name its matrices.
    """
    non_negative("weight_std", weight_std)
    non_negative("bias_std", bias_std)
    for W in cell.layer_matrices():
        W.copy_(_normal(W, generator).mul_(weight_std / W.shape[1] ** 0.5))
    _draw_biases(cell, bias_std, generator)


@torch.no_grad()
def orthogonal_(cell: Cell, gain: float = 1.0, bias_std: float = 0.0, generator: torch.Generator | None = None) -> None:
    r"""Make every state-side matrix :math:`\gamma Q` with :math:`Q` orthogonal and uniform (of Haar measure), in place.

    Each block of rows of a gated cell is a matrix by itself. Of a matrix that is not square, the longer side's
    :math:`Q` is cut: its columns are orthonormal if it is tall, its rows if it is wide. Biases are drawn as by
    :func:`gaussian_`, and the same parameters stay as they are.

    Args:
        cell: any cell that names its ``layer_matrices``.
        gain: :math:`\gamma \ge 0`.
        bias_std: :math:`\sigma_b \ge 0` of the biases.
        generator: where the numbers are drawn from, on its device; torch's default generator if None.

    Raises:
        ValueError: the gain or the standard deviation is negative or not finite, or the cell does not name its
            matrices.

    Source: Saxe, McClelland and Ganguli (2014), "Exact solutions to the nonlinear dynamics of learning in deep linear
    neural networks".
    """
    non_negative("gain", gain)
    non_negative("bias_std", bias_std)
    for W in cell.layer_matrices():
        tall = W.shape[0] >= W.shape[1]
        Q, R = torch.linalg.qr(_normal(W if tall else W.mT, generator))
        Q = Q * R.diagonal().sign()  # QR with a positive diagonal is unique, which makes Q uniform
        W.copy_(gain * (Q if tall else Q.mT))
    _draw_biases(cell, bias_std, generator)


def _draw_biases(cell: Cell, std: float, generator: torch.Generator | None) -> None:
    for b in cell.layer_biases():
        b.copy_(_normal(b, generator).mul_(std))


def _normal(like: Tensor, generator: torch.Generator | None) -> Tensor:
    device = generator.device if generator else "cpu"
    return torch.randn(like.shape, generator=generator, dtype=like.dtype, device=device)
