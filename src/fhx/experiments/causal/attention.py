r"""A small causal Transformer: self-attention over the inputs so far, with learned positions (Vaswani et al. 2017)."""

from math import sqrt

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from fhx.experiments.causal.net import FeedForwardNet, dropping


class AttentionBlock(nn.Module):
    r"""Causal self-attention and a net of one hidden layer, each after a normalisation and with a way around it.

    With :math:`\operatorname{softmax}` over :math:`s \le t`, a head is
    :math:`\sum_s \operatorname{softmax}_s(q_t \cdot k_s / \sqrt{d})\, v_s`.

    Args:
        units: width, a multiple of ``heads``.
        inner: hidden units of the net.
        heads: attention heads.
        dropout: after the attention and after the net; None for none.
    """

    def __init__(self, units: int, inner: int, heads: int, dropout: float | None = None) -> None:
        super().__init__()
        self.heads, self.dropout = heads, dropping(dropout)
        self.before, self.after = nn.LayerNorm(units), nn.LayerNorm(units)
        self.project, self.join = nn.Linear(units, 3 * units), nn.Linear(units, units)
        self.net = nn.Sequential(nn.Linear(units, inner), nn.ReLU(), nn.Linear(inner, units))

    def forward(self, x: Tensor) -> Tensor:
        """From (time, batch, units) to the same."""
        x = x + self.dropout(self._attend(self.before(x)))
        return x + self.dropout(self.net(self.after(x)))

    def _attend(self, x: Tensor) -> Tensor:
        steps, rows, units = x.shape
        heads = self.project(x).reshape(steps, rows, 3, self.heads, units // self.heads)
        q, k, v = heads.permute(2, 1, 3, 0, 4)  # each (batch, head, time, d)
        later = torch.ones(steps, steps, dtype=torch.bool, device=x.device).triu(1)
        scores = (q @ k.mT / sqrt(units // self.heads)).masked_fill(later, float("-inf"))
        mixed = F.softmax(scores, -1) @ v
        return self.join(mixed.permute(2, 0, 1, 3).reshape(steps, rows, units))


class CausalAttention(FeedForwardNet):
    r"""Inputs and their positions as vectors, blocks of attention, a normalisation and an affine readout.

    It has as many positions as it sees inputs at most, R. A longer sequence is read in pieces of R / 2, each with the
    R / 2 inputs before it, so that an output depends on R / 2 + 1 to R inputs.

    Args:
        inputs, units, inner, outputs: widths; ``inner`` of the hidden layer of each block.
        positions: R.
        layers: blocks.
        heads: of each block.
        dropout: in each block; None for none.

    Source: Vaswani et al. (2017), its decoder without the part that reads an encoder, normalised before each layer.
    """

    def __init__(
        self,
        inputs: int,
        units: int,
        inner: int,
        outputs: int,
        positions: int,
        layers: int,
        heads: int,
        dropout: float | None = None,
    ) -> None:
        super().__init__()
        self.receptive_field = self.longest = positions
        self.embed = nn.Linear(inputs, units)
        self.position = nn.Parameter(0.1 * torch.randn(positions, 1, units))
        self.blocks = nn.Sequential(*(AttentionBlock(units, inner, heads, dropout) for _ in range(layers)))
        self.last, self.readout = nn.LayerNorm(units), nn.Linear(units, outputs)

    def outputs(self, inputs: Tensor) -> Tensor:
        """The outputs of at most R inputs."""
        return self.readout(self.last(self.blocks(self.embed(inputs) + self.position[: len(inputs)])))
