"""Modules made under seeds."""

from collections.abc import Callable, Iterable
from typing import TypeVar

import torch

M = TypeVar("M")


def per_seed(make: Callable[[], M], seeds: Iterable[int]) -> list[M]:
    """What ``make`` makes under each seed of torch's global generator, which is put back afterwards, as in ``fit``."""
    made = []
    with torch.random.fork_rng(range(torch.cuda.device_count())):
        for seed in seeds:
            torch.manual_seed(seed)
            made.append(make())
    return made
