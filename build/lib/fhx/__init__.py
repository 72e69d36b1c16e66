"""Recurrence: what a net that repeats one step can compute, learn and forget.

A room, such as :mod:`fhx.machines`, is imported when it is first used. What needs neither tensors nor figures is there
without torch; for the rest there are extras: ``pip install 'fhx[torch,figures]'``.
"""

from fhx._device import device
from fhx._extras import lazily
from fhx._version import installed

__version__ = installed()
"""The version of the package."""

ROOMS = (
    *("approximation", "cells", "compile", "course", "dynamics", "exact", "exercises", "experiments", "figures"),
    *("jobs", "machines", "precision", "stability", "tasks", "training"),
)
__all__ = ["__version__", "device"]
__getattr__ = lazily(__name__, {room: f"{__name__}.{room}" for room in ROOMS})


def __dir__() -> list[str]:
    return sorted({*globals(), *ROOMS})
