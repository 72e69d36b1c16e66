r"""Residual blocks in which times are mixed by attention or by a recurrence that is linear in its state."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn

from fhx.cells import DiagonalCell
from fhx.dynamics import diagonal_states
from fhx.experiments.causal.net import CausalNet, Inputs, Outputs, dropping

Numbers = Float[Tensor, "time batch units"]
"""What runs through blocks."""


class LinearBlock(nn.Module):
    r"""A diagonal recurrence and a net of one hidden layer, each after a normalisation and with a way around it:

    .. math:: x \leftarrow x + A\, h(\mathrm{norm}(x)), \qquad x \leftarrow x + N(\mathrm{norm}(x)).

    Args:
        cell: of the recurrence, as wide as what it reads.
        units: width.
        inner: hidden units of the net.
        dropout: after the recurrence and after the net; None for none.
    """

    def __init__(self, cell: type[DiagonalCell], units: int, inner: int, dropout: float | None = None) -> None:
        super().__init__()
        self.before, self.after = nn.LayerNorm(units), nn.LayerNorm(units)
        self.cell, self.join = cell(units, units), nn.Linear(units, units)
        self.net = nn.Sequential(nn.Linear(units, inner), nn.ReLU(), nn.Linear(inner, units))
        self.dropout = dropping(dropout)

    def resume(self, x: Numbers, state: Tensor | None) -> tuple[Numbers, Tensor]:
        """From (time, batch, units) to the same, and the last state."""
        states = diagonal_states(self.cell, self.before(x), state)
        x = x + self.dropout(self.join(states))
        return x + self.dropout(self.net(self.after(x))), states[-1]


class LinearRecurrentNet(CausalNet):
    """An affine map, blocks of linear recurrences, a normalisation and an affine readout.

    What it carries is the states of all blocks side by side.

    Args:
        cell: of the recurrences.
        inputs, units, inner, outputs: widths; ``inner`` of the hidden layer of each block.
        layers: blocks.
        dropout: in each block; None for none.

    Source: the blocks of Orvieto et al. (2023), section 2, with a net of one hidden layer for their gated one.
    """

    receptive_field = None
    """A state may depend on all inputs."""

    def __init__(
        self,
        cell: type[DiagonalCell],
        inputs: int,
        units: int,
        inner: int,
        outputs: int,
        layers: int,
        dropout: float | None = None,
    ) -> None:
        super().__init__()
        self.embed = nn.Linear(inputs, units)
        made = nn.ModuleList([LinearBlock(cell, units, inner, dropout) for _ in range(layers)])
        self.blocks: Sequence[LinearBlock] = made  # type: ignore[assignment]  # torch's is not generic
        self.last, self.readout = nn.LayerNorm(units), nn.Linear(units, outputs)

    def resume(self, inputs: Inputs, past: Tensor | None) -> tuple[Outputs, Tensor]:
        """Outputs, and the last states."""
        x, states = self.embed(inputs), []
        parts = [None] * len(self.blocks) if past is None else past.unbind()
        for block, state in zip(self.blocks, parts, strict=True):
            x, last = block.resume(x, state)
            states.append(last)
        return self.readout(self.last(x)), torch.stack(states)
