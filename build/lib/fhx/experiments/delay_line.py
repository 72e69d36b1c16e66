"""What stands beside the cells in comparisons: a net without recurrent weights."""

import torch
from torch import Tensor, nn

from fhx.dynamics import Realization
from fhx.tasks import Task

__all__ = ["delay_line"]


def delay_line(task: Task) -> Realization:
    """An affine readout of a delay line.

    The line holds all inputs of a sequence where a task asks for its class at the end, else the last one.
    """
    width = task.input_size * (task.train.steps if task.kind == "class at end" else 1)
    return Realization(_shift, nn.Linear(width, task.output_size), h0=torch.zeros(width))


def _shift(h: Tensor, x: Tensor) -> Tensor:
    """The newest input goes in first, and the oldest falls out; a line is as long as its state."""
    return torch.cat([x, h[..., : h.shape[-1] - x.shape[-1]]], -1)
