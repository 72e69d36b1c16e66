"""Recurrence: what a net that repeats one step can compute, learn and forget."""

from fhx._device import device

__version__ = "0.1.0"
"""The version of the package."""

__all__ = ["__version__", "device"]
