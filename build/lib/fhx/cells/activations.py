"""Activations by name, and their derivatives where they are known in closed form."""

from collections.abc import Callable
from typing import Literal

import torch
from torch import Tensor

Activation = Callable[[Tensor], Tensor]
ActivationName = Literal["tanh", "relu", "sigmoid", "identity"]
TanhOrRelu = Literal["tanh", "relu"]


def identity(x: Tensor) -> Tensor:
    """The activation that changes nothing."""
    return x


ACTIVATIONS: dict[ActivationName, Activation] = {
    "tanh": torch.tanh,
    "relu": torch.relu,
    "sigmoid": torch.sigmoid,
    "identity": identity,
}


def tanh_slope(a: Tensor) -> Tensor:
    r""":math:`\tanh'(a) = 1 - \tanh(a)^2`."""
    return 1 - a.tanh().square()


def sigmoid_slope(a: Tensor) -> Tensor:
    r""":math:`\sigma'(a) = \sigma(a) (1 - \sigma(a))`."""
    s = a.sigmoid()
    return s * (1 - s)


SLOPES: dict[Activation, Activation] = {
    torch.tanh: tanh_slope,
    torch.relu: lambda a: (a > 0).to(a.dtype),  # 0 at 0, as in torch
    torch.sigmoid: sigmoid_slope,
    identity: torch.ones_like,
}


def slope_of(activation: Activation) -> Activation | None:
    """The derivative of one of the named activations; None for any other."""
    return next((slope for known, slope in SLOPES.items() if known is activation), None)


def known_slope(activation: Activation) -> Activation:
    """The derivative of one of the named activations.

    Raises:
        ValueError: it is not one of them.
    """
    slope = slope_of(activation)
    if slope is None:
        raise ValueError(f"the derivative of the activation {activation!r} is not known in closed form")
    return slope


def scale_rows(by: Tensor, matrix: Tensor) -> Tensor:
    """The matrix with each row times its number, for every element of a batch: diag(by) times it."""
    return by[..., None] * matrix


def find_activation(activation: ActivationName | Activation) -> Activation:
    """The activation of that name, or the callable itself.

    Raises:
        ValueError: it is neither.
    """
    named = ACTIVATIONS.get(activation) if isinstance(activation, str) else activation
    if not callable(named):
        names = ", ".join(map(repr, ACTIVATIONS))
        raise ValueError(f"activation must be one of {names} or a callable, got {activation!r}")
    return named
