"""The teacher recurrence: against a plain loop over numbers, and what a linear filter makes of it."""

import math
from functools import partial

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from seeded import assert_follows_its_seed, splits

from fhx.tasks import Sequences, Task, linear_delay_r2, logistic_map, running_parity, teacher, teacher_recurrence

DOUBLE = {"dtype": torch.float64}


def affine(W, v, b):
    return [sum(w * x for w, x in zip(row, v, strict=True)) + c for row, c in zip(W, b, strict=True)]


def shown(net, inputs):
    """The outputs to one sequence, from the net's numbers alone."""
    matrices = [W.tolist() for W in net.cell.layer_matrices()]
    biases = [b.tolist() for b in net.cell.layer_biases()]
    U, h, outputs = net.cell.U.tolist(), [0.0] * len(matrices[-1]), []
    for x in inputs:
        pushed = affine(U, x, biases[0])
        for W, b in zip(matrices, [pushed, *biases[1:]], strict=True):
            h = [math.tanh(p) for p in affine(W, h, b)]
        outputs.append(affine(net.readout.weight.tolist(), h, [0.0] * net.readout.out_features))
    return outputs


@settings(max_examples=25)
@given(st.integers(1, 4), st.integers(1, 3), st.integers(1, 2), st.sampled_from([0.0, 0.5]), st.integers(0, 2**32))
def test_the_targets_are_the_standardised_outputs_of_the_teacher(depth, width, outputs, bias_std, seed):
    options = {"output_size": outputs, "bias_std": bias_std}
    task = teacher_recurrence(depth, 6, 5, width, 1.7, (4, 1, 2), seed, test_steps=9, **options, **DOUBLE)
    net = teacher(depth, 5, width, 1.7, seed, **options)
    assert (task.kind, task.input_size, task.output_size) == ("value per step", width, outputs)
    assert [(part.steps, len(part)) for part in splits(task)] == [(6, 4), (6, 1), (9, 2)]
    raw = [
        torch.tensor([shown(net, part.inputs[:, n].tolist()) for n in range(len(part))], **DOUBLE).transpose(0, 1)
        for part in splits(task)
    ]
    spread, mean = raw[0].std((0, 1), correction=0), raw[0].mean((0, 1))
    for part, y in zip(splits(task), raw, strict=True):
        torch.testing.assert_close(part.targets, (y - mean) / spread, rtol=1e-9, atol=1e-9)


def test_zero_is_an_answer_that_costs_one():
    part = teacher_recurrence(3, 20, gain=1.5, sizes=(50, 1, 1), bias_std=1.0, output_size=2, **DOUBLE).train
    torch.testing.assert_close(part.targets.square().mean((0, 1)), torch.ones(2, **DOUBLE))
    torch.testing.assert_close(part.targets.mean((0, 1)), torch.zeros(2, **DOUBLE))


def test_weights_and_inputs_have_the_variances_that_are_stated():
    net = teacher(3, 200, 150, 1.7, output_size=150, bias_std=0.4)
    for W in net.cell.layer_matrices():
        assert W.var().item() == pytest.approx(1.7**2 / 200, rel=0.05)
    for b in net.cell.layer_biases():
        assert b.std().item() == pytest.approx(0.4, rel=0.25)
    assert net.cell.U.var().item() == pytest.approx(1 / 150, rel=0.05)
    assert net.readout.weight.var().item() == pytest.approx(1 / 200, rel=0.05)
    assert not any(p.requires_grad for p in net.parameters())
    inputs = teacher_recurrence(1).train.inputs
    assert inputs.dtype == torch.float32
    assert abs(inputs.mean().item()) < 0.015
    assert inputs.var().item() == pytest.approx(1, abs=0.02)


def test_a_teacher_follows_its_seed_and_not_the_lengths():
    assert_follows_its_seed(partial(teacher_recurrence, 2, 9))
    first, long = teacher_recurrence(2, 9, seed=3), teacher_recurrence(2, 12, sizes=(5, 5, 5), seed=3)
    net = teacher(2, seed=3)
    for task in (first, long):  # both are affine in the one teacher's outputs
        raw, y = net(task.valid.inputs.double()).flatten(), task.valid.targets.double().flatten()
        assert torch.corrcoef(torch.stack([raw, y]))[0, 1].item() == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("depth", [1, 2, 4])
def test_the_greater_the_gain_the_less_a_linear_filter_explains(depth):
    def explained(gain):
        tasks = [teacher_recurrence(depth, 60, gain=gain, sizes=(200, 1, 100), seed=seed) for seed in range(6)]
        return sum(map(linear_delay_r2, tasks)) / 6

    half, two, four = map(explained, (0.5, 2.0, 4.0))
    assert 1 > half > two + 0.1 > four + 0.2


# --- what a linear filter explains


def filtered(kernel, steps=30, sizes=(60, 5, 60), noise=0.0):
    """A task whose targets are a known filter of its inputs, plus noise."""
    generator = torch.Generator().manual_seed(0)
    parts = []
    for n in sizes:
        x = torch.randn(steps, n, 2, generator=generator, **DOUBLE)
        y = torch.zeros(steps, n, 1, **DOUBLE)
        for i, row in enumerate(kernel):
            y[i:] += (x[: steps - i] * torch.tensor(row, **DOUBLE)).sum(-1, keepdim=True)
        parts.append(Sequences(x, y + 3 + noise * torch.randn(y.shape, generator=generator, **DOUBLE)))
    return Task("filtered", *parts, 2, 1, "value per step")


def test_a_filter_explains_what_lies_within_its_memory():
    kernel = [(1.0, 0.0), (0.0, 2.0), (-1.0, 1.0)]  # 1 + 4 + 2 parts of the variance
    task = filtered(kernel)
    assert linear_delay_r2(task, 3) == pytest.approx(1, abs=1e-12)
    assert linear_delay_r2(task, 40) == pytest.approx(1, abs=1e-12)  # longer than a sequence
    assert linear_delay_r2(task, 2) == pytest.approx(5 / 7, abs=0.06)
    assert linear_delay_r2(task, 1) == pytest.approx(1 / 7, abs=0.06)
    assert linear_delay_r2(filtered(kernel, noise=7**0.5), 3) == pytest.approx(1 / 2, abs=0.06)


def test_a_filter_is_judged_on_the_split_that_is_named():
    task = filtered([(0.0, 0.0)], sizes=(4, 1, 100), noise=1.0)  # 120 numbers, fitted with 61
    assert linear_delay_r2(task, 30, "train") > 0.2
    assert linear_delay_r2(task, 30) < 0


def test_a_filter_reads_no_padding():
    good = filtered([(1.0, 0.0)], sizes=(20, 5, 5))
    lengths = torch.arange(20) % 30 + 1
    real = torch.arange(30)[:, None] < lengths
    spoilt = Sequences(good.train.inputs, torch.where(real[..., None], good.train.targets, torch.nan), lengths)
    assert linear_delay_r2(Task("padded", spoilt, good.valid, good.test, 2, 1, "value per step"), 2) > 1 - 1e-12


# --- what is refused


@pytest.mark.parametrize(
    ("arguments", "culprit"),
    [
        ({"depth": 0}, "depth must be"),
        ({"depth": 1, "steps": 0}, "steps must be an integer of at least 1, got 0"),
        ({"depth": 1, "test_steps": 0}, "test_steps"),
        ({"depth": 1, "state_size": 0}, "state_size"),
        ({"depth": 1, "input_size": 0}, "input_size"),
        ({"depth": 1, "output_size": 0}, "output_size"),
        ({"depth": 1, "gain": 0.0}, "gain must be a positive number, got 0.0"),
        ({"depth": 1, "gain": math.nan}, "gain"),
        ({"depth": 1, "bias_std": -1.0}, "bias_std"),
        ({"depth": 1, "sizes": (1, 0, 1)}, "sizes"),
        ({"depth": 1, "dtype": torch.int64}, "dtype must be floating, not torch.int64"),
    ],
)
def test_impossible_teachers_are_refused(arguments, culprit):
    with pytest.raises(ValueError, match=culprit):
        teacher_recurrence(**arguments)


def test_filters_are_for_values_from_numbers():
    with pytest.raises(ValueError, match="'parity' is of kind 'class per step'"):
        linear_delay_r2(running_parity(5))
    with pytest.raises(ValueError, match="steps must be an integer of at least 1, got 0"):
        linear_delay_r2(logistic_map(), 0)
    ids = torch.zeros(3, 2, dtype=torch.int64)
    part = Sequences(ids, torch.zeros(3, 2, 1))
    with pytest.raises(ValueError, match="'ids' are ids"):
        linear_delay_r2(Task("ids", part, part, part, 5, 1, "value per step"))
