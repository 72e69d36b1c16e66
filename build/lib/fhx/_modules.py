"""Modules of torch whose weights are still to be filled in."""

from collections.abc import Callable
from typing import Any, TypeVar

import torch
from torch import nn

__all__ = ["undrawn"]

M = TypeVar("M", bound=nn.Module)


def undrawn(make: Callable[..., M], *sizes: int, device: torch.device | None = None, **options: Any) -> M:
    """``make(*sizes, **options)`` with memory for its weights and no numbers in it.

    Nothing is drawn only to be overwritten. ``torch.nn.utils.skip_init`` does the same, but refuses torch's recurrent
    nets, whose signatures do not show that they take a device.

    Args:
        make: a class of modules.
        sizes: its first arguments.
        device: where the memory is; on torch's default device if None.
        options: its arguments by name.
    """
    return make(*sizes, device="meta", **options).to_empty(device=device or torch.get_default_device())
