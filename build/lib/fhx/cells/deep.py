"""The deep transition cell: a feed-forward net as the step."""

from collections.abc import Sequence
from typing import final

import torch
from torch import Tensor, nn

from fhx._checks import positive
from fhx.cells.activations import Activation, ActivationName, find_activation, known_slope, scale_rows, slope_of
from fhx.cells.layered import LayeredCell


@final
class DeepCell(LayeredCell):
    r"""The deep cell, whose step is a feed-forward net of :math:`L` layers of the state and the input:

    .. math::

       a_1 = \sigma(W h + U x + b), \qquad a_l = \sigma(W_l a_{l-1} + b_l), \quad l = 2, \dots, L, \qquad f(h, x) = a_L.

    With ``depth`` 1 it is the simple cell. ``normalized``: :math:`\sigma(\mathrm{LN}_l(\cdot))` in place of
    :math:`\sigma`, where

    .. math:: \mathrm{LN}_l(p) = g_l \circ \frac{p - \mathrm{mean}(p)}{\sqrt{\mathrm{var}(p) + 10^{-5}}} + s_l

    with gains :math:`g_l`, 1 at first, and shifts :math:`s_l`, 0 at first; mean and variance over the layer's units.

    Parameters ``W`` :math:`(w, d)`, ``U`` :math:`(w, d_{in})`, ``b`` :math:`(w)`; ``W_upper`` and ``b_upper`` list
    :math:`W_2, \dots, W_L` and :math:`b_2, \dots, b_L`; ``norms`` lists the layer norms.

    Args:
        input_size: :math:`d_{in}`, width of the input.
        state_size: :math:`d`, width of the state and of the top layer.
        depth: :math:`L`.
        width: :math:`w`, of the layers below the top; ``state_size`` if None.
        activation: :math:`\sigma`, see ``SimpleCell``.
        normalized: whether each layer has a layer norm.
        generator, dtype, device: see ``AffineCell``.

    Raises:
        ValueError: a width or the depth is not a positive integer, the activation is unknown, or a layer to be
            normalised has one unit only, whose normalised value is always 0.

    Source: Pascanu, Gulcehre, Cho and Bengio (2014), "How to construct deep recurrent neural networks", the deep
    transition; the norm is that of Ba, Kiros and Hinton (2016), "Layer normalization".
    """

    def __init__(
        self,
        input_size: int,
        state_size: int,
        depth: int,
        width: int | None = None,
        activation: ActivationName | Activation = "tanh",
        normalized: bool = False,
        *,
        generator: torch.Generator | None = None,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> None:
        depth, d = positive("depth", depth), positive("state_size", state_size)
        width = d if width is None else positive("width", width)
        rows = [*[width] * (depth - 1), d]
        if normalized and min(rows) < 2:
            raise ValueError(f"a layer norm needs at least 2 units, and this cell has layers of {rows} units")
        super().__init__(input_size, d, rows, [d, *rows[:-1]], generator=generator, dtype=dtype, device=device)
        self.activation = find_activation(activation)
        norms = [nn.LayerNorm(n, dtype=self.W.dtype, device=self.W.device) for n in rows] if normalized else None
        self.norms: Sequence[nn.LayerNorm] | None
        self.norms = norms and nn.ModuleList(norms)  # type: ignore[assignment]  # torch's ModuleList is not generic

    @property
    def _closed(self) -> bool:
        return slope_of(self.activation) is not None

    def _layer(self, k: int, below: Tensor, pre: Tensor) -> Tensor:
        return self.activation(pre if self.norms is None else self.norms[k](pre))

    def _layer_tangent(self, k: int, below: Tensor, pre: Tensor, by_below: Tensor, by_pre: Tensor) -> Tensor:
        if self.norms is not None:
            pre, by_pre = self.norms[k](pre), _norm_tangent(self.norms[k], pre, by_pre)
        return scale_rows(known_slope(self.activation)(pre), by_pre)

    def extra_repr(self) -> str:
        name, normalized = getattr(self.activation, "__name__", self.activation), self.norms is not None
        return f"{super().extra_repr()}, width={self.W.shape[0]}, activation={name}, normalized={normalized}"


def _norm_tangent(norm: nn.LayerNorm, pre: Tensor, by_pre: Tensor) -> Tensor:
    """The derivative of a layer norm, which loses what moves mean or variance and scales the rest."""
    centered = pre - pre.mean(-1, keepdim=True)
    deviation = (centered.square().mean(-1, keepdim=True) + norm.eps).sqrt()
    unit = centered / deviation
    rest = by_pre - by_pre.mean(-2, keepdim=True) - scale_rows(unit, (unit[..., None, :] @ by_pre) / len(norm.weight))
    return scale_rows(norm.weight / deviation, rest)
