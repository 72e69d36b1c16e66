"""The residual cell: layers that add to what is below them."""

import math
from typing import final

import torch
from torch import Tensor

from fhx._checks import positive
from fhx.cells.activations import Activation, ActivationName, find_activation, known_slope, scale_rows, slope_of
from fhx.cells.layered import LayeredCell


@final
class ResidualCell(LayeredCell):
    r"""The residual cell, whose layers add to what is below them:

    .. math::

       \begin{aligned}
       a_1 &= (1 - \ell)\, h + s\, \sigma(W h + U x + b)\\
       a_l &= (1 - \ell)\, a_{l-1} + s\, \sigma(W_l a_{l-1} + b_l), & l &= 2, \dots, L\\
       f(h, x) &= a_L.
       \end{aligned}

    The skip runs through the step and so through time: without a leak :math:`\ell`, a state that nothing is added to
    stays as it is for ever; with one it falls by :math:`(1 - \ell)^L` in each step.

    Parameters ``W`` :math:`(d, d)`, ``U`` :math:`(d, d_{in})`, ``b`` :math:`(d)`; ``W_upper`` and ``b_upper`` list
    :math:`W_2, \dots, W_L` and :math:`b_2, \dots, b_L`.

    Args:
        input_size: :math:`d_{in}`, width of the input.
        state_size: :math:`d`, width of the state and of every layer.
        depth: :math:`L`.
        scale: :math:`s`, fixed.
        leak: :math:`\ell`, what each layer forgets of the one below it; fixed.
        activation: :math:`\sigma`, see ``SimpleCell``.
        generator, dtype, device: see ``AffineCell``.

    Raises:
        ValueError: a width or the depth is not a positive integer, the scale is not finite, the leak is not a number
            from 0 to 1, or the activation is unknown.

    Source: He, Zhang, Ren and Sun (2016), "Deep residual learning for image recognition", here as a recurrence.
    """

    def __init__(
        self,
        input_size: int,
        state_size: int,
        depth: int,
        scale: float = 1.0,
        activation: ActivationName | Activation = "tanh",
        *,
        leak: float = 0.0,
        generator: torch.Generator | None = None,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> None:
        depth, d = positive("depth", depth), positive("state_size", state_size)
        if not math.isfinite(scale):
            raise ValueError(f"scale must be finite, got {scale!r}")
        if not 0 <= leak <= 1:
            raise ValueError(f"leak must lie in [0, 1], got {leak!r}")
        super().__init__(input_size, d, [d] * depth, [d] * depth, generator=generator, dtype=dtype, device=device)
        self.scale, self.leak = float(scale), float(leak)
        self.activation = find_activation(activation)

    @property
    def _closed(self) -> bool:
        return slope_of(self.activation) is not None

    def _layer(self, k: int, below: Tensor, pre: Tensor) -> Tensor:
        return torch.add((1 - self.leak) * below, self.activation(pre), alpha=self.scale)

    def _layer_tangent(self, k: int, below: Tensor, pre: Tensor, by_below: Tensor, by_pre: Tensor) -> Tensor:
        return (1 - self.leak) * by_below + scale_rows(self.scale * known_slope(self.activation)(pre), by_pre)

    def extra_repr(self) -> str:
        name = getattr(self.activation, "__name__", self.activation)
        return f"{super().extra_repr()}, scale={self.scale}, leak={self.leak}, activation={name}"
