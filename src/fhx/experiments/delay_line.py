"""What stands beside the cells in comparisons: nets without recurrent weights."""

import torch
from jaxtyping import Float, Integer
from torch import Tensor, nn
from torch.nn import functional as F

from fhx.dynamics import Realization
from fhx.tasks import Task

__all__ = ["Window", "delay_line"]


def delay_line(task: Task) -> Realization:
    """An affine readout of a delay line.

    The line holds all inputs of a sequence where a task asks for its class at the end, else the last one.
    """
    width = task.input_size * (task.train.steps if task.kind == "class at end" else 1)
    return Realization(_shift, nn.Linear(width, task.output_size), h0=torch.zeros(width))


def _shift(h: Tensor, x: Tensor) -> Tensor:
    """The newest input goes in first, and the oldest falls out; a line is as long as its state."""
    return torch.cat([x, h[..., : h.shape[-1] - x.shape[-1]]], -1)


class Window(nn.Module):
    """An affine readout of the last inputs, zeros before the first.

    Args:
        inputs, outputs: widths.
        length: how many inputs.
    """

    def __init__(self, inputs: int, outputs: int, length: int) -> None:
        super().__init__()
        self.length, self.readout = length, nn.Linear(length * inputs, outputs)

    def forward(
        self, inputs: Float[Tensor, "time batch d_in"], lengths: Integer[Tensor, " batch"] | None = None
    ) -> Float[Tensor, "time batch d_out"]:
        """The outputs; what stands after a sequence's end is not read."""
        padded = F.pad(inputs, (0, 0, 0, 0, self.length - 1, 0))
        return self.readout(padded.unfold(0, self.length, 1).flatten(-2))
