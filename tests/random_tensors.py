"""Generators and normal numbers by seed, in double precision on the book's device, and a stack of two gated cells."""

import torch

import fhx
from fhx.cells import GRUCell, LSTMCell, Stack

DEVICE = fhx.device()
DOUBLE = {"dtype": torch.float64, "device": DEVICE}


def rng(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def draw(*shape: int, seed: int = 1) -> torch.Tensor:
    """Normal numbers of the seed."""
    return torch.randn(shape, generator=rng(seed), dtype=torch.float64).to(DEVICE)


def stack(d_in: int, d: int, **options: object) -> Stack:
    """An LSTM and a GRU above it."""
    return Stack([LSTMCell(d_in, d, **options), GRUCell(d, d, **options)])
