"""What cells whose step is a net of several layers share."""

from abc import abstractmethod
from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from fhx.cells.base import DrivenCell


class LayeredCell(DrivenCell):
    r"""A cell of :math:`L` layers, of which the first reads the state and the drive, each other one the layer below:

    .. math::

       a_1 = \lambda_1(h, W h + U x + b), \qquad a_l = \lambda_l(a_{l-1}, W_l a_{l-1} + b_l), \qquad f(h, x) = a_L.

    A subclass says what a layer makes of what is below it and of its pre-activation, :math:`\lambda_l`, and the
    derivative of that. The layers above the first are ``W_upper`` and ``b_upper``, uniform in :math:`\pm 1/\sqrt{n}`
    with :math:`n` numbers read by the layer.

    Args:
        input_size: :math:`d_{in}`, width of the input.
        state_size: :math:`d`, width of the hidden part of the state.
        rows: of each layer's matrix, the first layer's first.
        columns: of each layer's matrix.
        parts: see ``Cell``.
        generator, dtype, device: see ``AffineCell``.
    """

    def __init__(
        self,
        input_size: int,
        state_size: int,
        rows: Sequence[int],
        columns: Sequence[int],
        parts: int = 1,
        *,
        generator: torch.Generator | None = None,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> None:
        super().__init__(input_size, state_size, rows[0], parts, generator=generator, dtype=dtype, device=device)
        self.depth = len(rows)
        shapes = list(zip(rows, columns, strict=True))[1:]
        self.W_upper = nn.ParameterList([self._uniform((m, n), generator, dtype, device, n) for m, n in shapes])
        self.b_upper = nn.ParameterList([self._uniform((m,), generator, dtype, device, n) for m, n in shapes])

    @property
    def _closed(self) -> bool:
        """Whether ``_layer_tangent`` is known."""
        return True

    @abstractmethod
    def _layer(self, k: int, below: Tensor, pre: Tensor) -> Tensor:
        """What layer ``k``, counted from 0, makes of what is below it and of its pre-activation."""

    @abstractmethod
    def _layer_tangent(self, k: int, below: Tensor, pre: Tensor, by_below: Tensor, by_pre: Tensor) -> Tensor:
        """The derivative of ``_layer`` along matrices of directions, (*batch, width, directions)."""

    def step(
        self, h: Float[Tensor, "*batch width"], drive: Float[Tensor, "*batch rows"]
    ) -> Float[Tensor, "*batch width"]:
        """The top layer, from the state and the first layer's drive."""
        return self._top(h, drive)

    def _top(self, h: Tensor, drive: Tensor) -> Tensor:
        a = self._layer(0, h, drive + F.linear(h, self.W))
        for k, (W, b) in enumerate(zip(self.W_upper, self.b_upper, strict=True), 1):
            a = self._layer(k, a, F.linear(a, W, b))
        return a

    def jacobian(
        self, h: Float[Tensor, "*batch width"], drive: Float[Tensor, "*batch rows"]
    ) -> Float[Tensor, "*batch width width"]:
        """By the chain rule through the layers, in closed form for an activation given by name."""
        if not self._closed:
            return super().jacobian(h, drive)
        by_h = torch.eye(h.shape[-1], dtype=h.dtype, device=h.device)
        return self._tangent(h, drive, by_h, self.W)[1]

    def input_jacobian(
        self, h: Float[Tensor, "*batch width"], x: Float[Tensor, "*batch input"]
    ) -> Float[Tensor, "*batch width input"]:
        """By the chain rule through the layers, in closed form for an activation given by name."""
        if not self._closed:
            return super().input_jacobian(h, x)
        return self._tangent(h, self.drive(x), h.new_zeros(h.shape[-1], self.input_size), self.U)[1]

    def _tangent(self, h: Tensor, drive: Tensor, by_h: Tensor, by_pre: Tensor) -> tuple[Tensor, Tensor]:
        """The top layer, and how it changes where ``h`` and the first pre-activation change by the columns given."""
        pre = drive + F.linear(h, self.W)
        a, by_a = self._layer(0, h, pre), self._layer_tangent(0, h, pre, by_h, by_pre)
        for k, (W, b) in enumerate(zip(self.W_upper, self.b_upper, strict=True), 1):
            pre = F.linear(a, W, b)
            a, by_a = self._layer(k, a, pre), self._layer_tangent(k, a, pre, by_a, W @ by_a)
        return a, by_a

    def layer_matrices(self) -> list[Tensor]:
        """:math:`W, W_2, \\dots, W_L`."""
        return [self.W, *self.W_upper]

    def layer_biases(self) -> list[Tensor]:
        """:math:`b, b_2, \\dots, b_L`."""
        return [self.b, *self.b_upper]

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, depth={self.depth}"
