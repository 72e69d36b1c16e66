"""Checks and conversions of what tasks take: the sizes of three splits, a type of numbers, several texts."""

from collections.abc import Iterable

import torch

__all__ = ["checked_sizes", "floating", "texts"]


def checked_sizes(sizes: tuple[int, int, int]) -> tuple[int, int, int]:
    """The sizes of training, validation and test, if they are three numbers of at least 1; else a ``ValueError``."""
    if len(sizes) != 3 or min(sizes) < 1:
        raise ValueError(f"sizes must be three numbers >= 1 (training, validation, test), not {sizes}")
    return sizes


def floating(dtype: torch.dtype | None) -> torch.dtype:
    """``dtype``, or torch's default for None; a ``ValueError`` unless it is a real floating-point type."""
    dtype = torch.get_default_dtype() if dtype is None else dtype
    if not dtype.is_floating_point:
        raise ValueError(f"dtype must be floating, not {dtype}")
    return dtype


def texts(values: Iterable[str]) -> tuple[str, ...]:
    """Several texts as a tuple: the converter of fields that hold names, addresses and the like."""
    return tuple(values)
