"""Tasks of memory: each against a plain loop, and the baselines that their docstrings state."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from recurrence.tasks import Sequences, Task, recall


def splits(task: Task) -> tuple[Sequences, Sequences, Sequences]:
    return task.train, task.valid, task.test


@settings(max_examples=30)
@given(st.integers(1, 12), st.integers(2, 6), st.integers(0, 2**32))
def test_recall_tells_its_symbol_once_and_then_only_noise(steps, symbols, seed):
    task = recall(steps, symbols, (9, 2, 3), seed)
    assert (task.kind, task.input_size, task.output_size) == ("class at end", symbols + 1, symbols)
    assert [(part.steps, len(part)) for part in splits(task)] == [(steps, 9), (steps, 2), (steps, 3)]
    for part in splits(task):
        for n in range(len(part)):
            first, *later = part.inputs[:, n].tolist()
            assert first == [1.0 if i == part.targets[n] else 0.0 for i in range(symbols + 1)]
            assert all(x[:symbols] == [0.0] * symbols and x[symbols] != 0 for x in later)


def test_the_noise_of_recall_is_normal_and_says_nothing_of_the_symbol():
    part = recall(50, 4, (4000, 1, 1)).train
    noise = part.inputs[1:, :, 4]
    assert abs(noise.mean().item()) < 0.015  # 6 standard deviations of 196,000 draws
    assert abs(noise.var().item() - 1) < 0.02
    assert all(abs(count - 1000) < 170 for count in part.targets.bincount(minlength=4).tolist())
    means = torch.stack([noise[:, part.targets == s].mean() for s in range(4)])
    assert means.abs().max() < 0.03


def test_guessing_in_recall_costs_the_logarithm_of_the_symbols():
    targets = recall(3, 4).train.targets
    guess = torch.nn.functional.cross_entropy(torch.zeros(len(targets), 4, dtype=torch.float64), targets)
    assert guess.item() == pytest.approx(math.log(4), abs=1e-12)
