"""Losses and metrics by kind, against sums written out by hand."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fhx.tasks import KINDS, Sequences, Task
from fhx.training import OBJECTIVES, evaluate
from fhx.training.losses import at_end, real_steps


def cost(kind, y, target):
    """One output's loss and metric in plain Python."""
    if kind.startswith("class"):
        return math.log(sum(map(math.exp, y))) - y[target], float(max(range(len(y)), key=y.__getitem__) == target)
    if kind == "bits per step":
        p = [1 / (1 + math.exp(-v)) for v in y]
        nll = -sum(math.log(q if bit else 1 - q) for q, bit in zip(p, target, strict=True))
        return nll, nll
    target = [target] if kind == "value at end" else target
    square = sum((v - w) ** 2 for v, w in zip(y, target, strict=True)) / len(y)
    return square, square


@settings(deadline=None, max_examples=30)
@given(kind=st.sampled_from(KINDS), seed=st.integers(0, 10**6), ragged=st.booleans(), n=st.integers(1, 5))
def test_every_kind_is_the_mean_over_what_is_real(kind, seed, ragged, n):
    draw = torch.Generator().manual_seed(seed)
    time, width = 4, 1 if kind == "value at end" else 3
    y = torch.randn(time, n, width, generator=draw, dtype=torch.float64)
    shape = (n,) if kind.endswith("at end") else (time, n)
    if kind.startswith("class"):
        targets = torch.randint(0, width, shape, generator=draw)
    elif kind == "value at end":
        targets = torch.randn(shape, generator=draw, dtype=torch.float64)
    else:
        targets = torch.randn(*shape, width, generator=draw, dtype=torch.float64)
        targets = (targets > 0).double() if kind == "bits per step" else targets
    lengths = torch.randint(1, time + 1, (n,), generator=draw) if ragged else None
    ends = lengths.tolist() if ragged else [time] * n
    if kind.endswith("at end"):
        pairs = [(y[end - 1, i], targets[i]) for i, end in enumerate(ends)]
    else:
        pairs = [(y[t, i], targets[t, i]) for i, end in enumerate(ends) for t in range(end)]
    costs = [cost(kind, a.tolist(), b.tolist()) for a, b in pairs]
    objective = OBJECTIVES[kind]
    assert objective.mean_loss(y, targets, lengths).item() == pytest.approx(sum(c[0] for c in costs) / len(costs))
    part = Sequences(torch.zeros(time, n, 1, dtype=torch.float64), targets, lengths)
    task = Task("t", part, part, part, input_size=1, output_size=width, kind=kind)

    def outputs(inputs, lengths):
        return y[: len(inputs)]

    assert evaluate(outputs, task, batch_size=n) == pytest.approx(sum(c[1] for c in costs) / len(costs))


def test_parts_of_a_split_count_by_their_real_steps():
    """A mean of the parts' means would be 1/2; the mean over the real steps is 1/5."""
    part = Sequences(torch.zeros(4, 2, 1), torch.tensor([[[1.0], [0.0]]] * 4), torch.tensor([1, 4]))
    task = Task("t", part, part, part, input_size=1, output_size=1, kind="value per step")
    assert evaluate(lambda x, lengths: x, task, batch_size=1) == pytest.approx(1 / 5)


def test_nothing_in_the_padding_is_read_even_if_it_is_not_a_number():
    y = torch.full((3, 1, 2), torch.nan)
    y[0] = 0
    for kind in ("class at end", "class per step"):
        targets = torch.zeros((1,) if kind == "class at end" else (3, 1), dtype=torch.long)
        loss = OBJECTIVES[kind].mean_loss(y, targets, torch.tensor([1]))
        assert loss.item() == pytest.approx(math.log(2))


def test_ends_and_masks():
    y = torch.arange(6).view(3, 2, 1)
    assert at_end(y).flatten().tolist() == [4, 5]
    assert at_end(y, torch.tensor([1, 3])).flatten().tolist() == [0, 5]
    assert real_steps(torch.tensor([1, 3]), 3).int().tolist() == [[1, 1], [0, 1], [0, 1]]


def test_every_kind_of_task_has_an_objective():
    assert set(OBJECTIVES) == set(KINDS)
    assert all(objective.kind == kind for kind, objective in OBJECTIVES.items())
