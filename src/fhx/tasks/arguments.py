"""What every made task is told: a source of randomness, sizes of three splits, numbers of steps, a type of numbers."""

import torch

__all__ = ["checked_sizes", "floating", "generator_of"]


def generator_of(seed: int | torch.Generator) -> torch.Generator:
    """The generator itself, or one with this seed."""
    return seed if isinstance(seed, torch.Generator) else torch.Generator().manual_seed(seed)


def checked_sizes(sizes: tuple[int, int, int]) -> tuple[int, int, int]:
    """The sizes of training, validation and test, if they are three numbers of at least 1; else a ``ValueError``."""
    if len(sizes) != 3 or min(sizes) < 1:
        raise ValueError(f"sizes must be three numbers >= 1 (training, validation, test), not {sizes}")
    return sizes


def floating(dtype: torch.dtype | None) -> torch.dtype:
    """``dtype``, or torch's default for None; a ``ValueError`` if it is no real floating-point type."""
    dtype = torch.get_default_dtype() if dtype is None else dtype
    if not dtype.is_floating_point:
        raise ValueError(f"dtype must be floating, not {dtype}")
    return dtype
