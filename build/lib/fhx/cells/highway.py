"""The recurrent highway cell: layers that choose, number by number, what to carry on."""

import math
from typing import final

import torch
from torch import Tensor

from fhx._checks import positive
from fhx.cells.activations import scale_rows
from fhx.cells.layered import LayeredCell


@final
class HighwayCell(LayeredCell):
    r"""The recurrent highway cell, with the carry gate coupled to the transform gate, :math:`1 - t_l`. With
    :math:`a_0 = h`, :math:`f(h, x) = a_L` and, for :math:`l = 1, \dots, L`,

    .. math::

       \begin{aligned}
       z_l &= \tanh(W^z_l a_{l-1} + b^z_l \; [+\, U^z x]) & \text{the candidate}\\
       t_l &= \sigma(W^t_l a_{l-1} + b^t_l \; [+\, U^t x]) & \text{what to transform}\\
       a_l &= t_l \circ z_l + (1 - t_l) \circ a_{l-1},
       \end{aligned}

    where the first layer alone reads the input. Every :math:`b^t_l` starts at minus ``carry_bias``, so that a positive
    one opens the carry.

    Parameters ``W`` :math:`(2d, d)`, ``U`` :math:`(2d, d_{in})`, ``b`` :math:`(2d)` hold the rows of z, then t, of the
    first layer; ``W_upper`` and ``b_upper`` list those of the others.

    Args:
        input_size: :math:`d_{in}`, width of the input.
        state_size: :math:`d`, width of the state and of every layer.
        depth: :math:`L`.
        carry_bias: what the carry gates start with; :math:`\sigma(2) = 0.88` of a number is carried on by default.
        generator, dtype, device: see ``AffineCell``.

    Raises:
        ValueError: a width or the depth is not a positive integer, or the carry's bias is not a number.

    Source: Zilly, Srivastava, Koutník and Schmidhuber (2017), "Recurrent highway networks", after the highway networks
    of Srivastava, Greff and Schmidhuber (2015), "Training very deep networks".
    """

    def __init__(
        self,
        input_size: int,
        state_size: int,
        depth: int,
        carry_bias: float = 2.0,
        *,
        generator: torch.Generator | None = None,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> None:
        depth, d = positive("depth", depth), positive("state_size", state_size)
        if math.isnan(carry_bias):
            raise ValueError(f"carry_bias must be a number, got {carry_bias!r}")
        super().__init__(input_size, d, [2 * d] * depth, [d] * depth, generator=generator, dtype=dtype, device=device)
        self.carry_bias = float(carry_bias)
        with torch.no_grad():
            for b in (self.b, *self.b_upper):
                b[d:] = -self.carry_bias

    def _layer(self, k: int, below: Tensor, pre: Tensor) -> Tensor:
        z, t = pre.chunk(2, -1)
        return torch.lerp(below, z.tanh(), t.sigmoid())

    def _layer_tangent(self, k: int, below: Tensor, pre: Tensor, by_below: Tensor, by_pre: Tensor) -> Tensor:
        z, t = pre.chunk(2, -1)
        z, t = z.tanh(), t.sigmoid()
        by_z, by_t = by_pre.chunk(2, -2)
        changed = scale_rows(t * (1 - z.square()), by_z) + scale_rows((z - below) * t * (1 - t), by_t)
        return changed + scale_rows(1 - t, by_below)

    def layer_matrices(self) -> list[Tensor]:
        """:math:`W^z_1, W^t_1, W^z_2, \\dots, W^t_L`, as views."""
        return [block for W in super().layer_matrices() for block in W.chunk(2)]

    def layer_biases(self) -> list[Tensor]:
        """:math:`b^z_1, \\dots, b^z_L`, as views. The gates' biases say how open the carry is, and stay as they are."""
        return [b[: self.state_size] for b in super().layer_biases()]

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, carry_bias={self.carry_bias}"
