"""Cells whose next state is one affine map and one activation: the simple (vanilla, Elman) cell and the linear cell."""

from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from fhx.cells.activations import Activation, ActivationName, find_activation, scale_rows, slope_of
from fhx.cells.base import AffineCell, TorchLayer

TORCH_NONLINEARITIES: dict[Activation, str] = {torch.tanh: "tanh", torch.relu: "relu"}


@final
class SimpleCell(AffineCell):
    r"""The simple cell, :math:`f(h, x) = \sigma(W h + U x + b)`.

    Parameters ``W`` :math:`(d, d)`, ``U`` :math:`(d, d_{in})`, ``b`` :math:`(d)`.

    Args:
        input_size: :math:`d_{in}`, width of the input.
        state_size: :math:`d`, width of the state.
        activation: :math:`\sigma`: "tanh", "relu", "sigmoid", "identity", or any callable from tensor to tensor; a
            module becomes a part of the cell, its parameters included.
        generator, dtype, device: see ``AffineCell``.

    Raises:
        ValueError: a width is not a positive integer, or the activation is unknown.

    Source: Elman (1990), "Finding structure in time".
    """

    def __init__(
        self,
        input_size: int,
        state_size: int,
        activation: ActivationName | Activation = "tanh",
        *,
        generator: torch.Generator | None = None,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> None:
        super().__init__(input_size, state_size, generator=generator, dtype=dtype, device=device)
        self.activation = find_activation(activation)

    def step(self, h: Float[Tensor, "*batch d"], drive: Float[Tensor, "*batch d"]) -> Float[Tensor, "*batch d"]:
        r""":math:`\sigma(W h + \mathrm{drive})`."""
        return self.activation(drive + F.linear(h, self.W))

    def jacobian(self, h: Float[Tensor, "*batch d"], drive: Float[Tensor, "*batch d"]) -> Float[Tensor, "*batch d d"]:
        r""":math:`\mathrm{diag}(\sigma'(W h + \mathrm{drive}))\, W`, in closed form for an activation given by name."""
        slope = slope_of(self.activation)
        if slope is None:
            return super().jacobian(h, drive)
        return scale_rows(slope(drive + F.linear(h, self.W)), self.W)

    def input_jacobian(
        self, h: Float[Tensor, "*batch d"], x: Float[Tensor, "*batch input"]
    ) -> Float[Tensor, "*batch d input"]:
        r""":math:`\mathrm{diag}(\sigma'(W h + U x + b))\, U`, in closed form for an activation given by name."""
        slope = slope_of(self.activation)
        if slope is None:
            return super().input_jacobian(h, x)
        return scale_rows(slope(self.drive(x) + F.linear(h, self.W)), self.U)

    def torch_layers(self) -> list[TorchLayer]:
        """One layer of ``torch.nn.RNN``, which knows tanh and relu only."""
        nonlinearity = TORCH_NONLINEARITIES.get(self.activation)
        if nonlinearity is None:
            return super().torch_layers()
        return [TorchLayer(nn.RNN, {"nonlinearity": nonlinearity}, self.state_size, self._torch_weights())]

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, activation={getattr(self.activation, '__name__', self.activation)}"


@final
class LinearCell(AffineCell):
    r"""The linear cell, :math:`f(h, x) = W h + U x + b`: the simple cell without an activation.

    Parameters ``W`` :math:`(d, d)`, ``U`` :math:`(d, d_{in})`, ``b`` :math:`(d)`.

    Args:
        input_size: :math:`d_{in}`, width of the input.
        state_size: :math:`d`, width of the state.
        generator, dtype, device: see ``AffineCell``.

    Raises:
        ValueError: a width is not a positive integer.
    """

    def step(self, h: Float[Tensor, "*batch d"], drive: Float[Tensor, "*batch d"]) -> Float[Tensor, "*batch d"]:
        r""":math:`W h + \mathrm{drive}`."""
        return drive + F.linear(h, self.W)

    def jacobian(self, h: Float[Tensor, "*batch d"], drive: Float[Tensor, "*batch d"]) -> Float[Tensor, "*batch d d"]:
        """:math:`W`, wherever the state is."""
        return self.W.expand(*h.shape[:-1], *self.W.shape)

    def input_jacobian(
        self, h: Float[Tensor, "*batch d"], x: Float[Tensor, "*batch input"]
    ) -> Float[Tensor, "*batch d input"]:
        """:math:`U`, wherever the state is."""
        return self.U.expand(*h.shape[:-1], *self.U.shape)
