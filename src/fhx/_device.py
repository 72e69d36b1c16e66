"""The device a chapter runs on."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from fhx._extras import needs

if TYPE_CHECKING:
    import torch


def device() -> torch.device:
    """CUDA if this machine has it, else the CPU; the environment variable ``FHX_DEVICE`` overrides.

    Raises:
        ValueError: ``FHX_DEVICE`` is not the name of a device, or names one that is absent here.
    """
    with needs("torch"):
        import torch  # two seconds, which the rooms without tensors need not wait

    name = os.environ.get("FHX_DEVICE", "")
    if not name:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        chosen = torch.device(name)
    except RuntimeError as error:
        raise ValueError(f"FHX_DEVICE={name!r} is not the name of a device; try 'cpu' or 'cuda'") from error
    try:
        torch.empty(1, device=chosen)
    except (RuntimeError, AssertionError, NotImplementedError) as error:  # what torch raises differs by backend
        raise ValueError(f"FHX_DEVICE={name!r} names a device that is absent on this machine") from error
    return chosen
