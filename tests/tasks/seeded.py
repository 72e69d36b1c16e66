"""The law of every task that is made by chance: it follows its seed, and nothing else does."""

from collections.abc import Callable

import pytest
import torch

from fhx.tasks import Sequences, Task


def splits(task: Task) -> tuple[Sequences, Sequences, Sequences]:
    return task.train, task.valid, task.test


def assert_follows_its_seed(make: Callable[..., Task], **options: object) -> None:
    """Equal seeds make equal tasks, others make others, the global generator stays, and bad sizes are refused."""
    before = torch.get_rng_state()
    first, again = make(**options, seed=3), make(**options, seed=3)
    other = make(**options, seed=4)
    assert torch.equal(torch.get_rng_state(), before)
    for a, b in zip(splits(first), splits(again), strict=True):
        assert torch.equal(a.inputs, b.inputs)
        assert torch.equal(a.targets, b.targets)
    assert not torch.equal(first.train.inputs, other.train.inputs)
    assert not torch.equal(first.valid.inputs, first.test.inputs)
    with pytest.raises(ValueError, match="sizes must be three numbers"):
        make(**{**options, "sizes": (1, 0, 1)})
