"""Tasks of memory: each against a plain loop, and the baselines that their docstrings state."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from seeded import assert_follows_its_seed, splits
from torch.nn.functional import cross_entropy

from fhx.tasks import Sequences, Task, adding, copy_memory, recall
from fhx.training import evaluate

DOUBLE = {"dtype": torch.float64}


# --- recall


@settings(max_examples=30)
@given(st.integers(1, 12), st.integers(2, 6), st.integers(0, 2**32))
def test_recall_tells_its_symbol_once_and_then_only_noise(steps, symbols, seed):
    task = recall(steps, symbols, sizes=(9, 2, 3), seed=seed)
    assert (task.kind, task.input_size, task.output_size) == ("class at end", symbols + 1, symbols)
    assert [(part.steps, len(part)) for part in splits(task)] == [(steps, 9), (steps, 2), (steps, 3)]
    for part in splits(task):
        for n in range(len(part)):
            first, *later = part.inputs[:, n].tolist()
            assert first == [1.0 if i == part.targets[n] else 0.0 for i in range(symbols + 1)]
            assert all(x[:symbols] == [0.0] * symbols and x[symbols] != 0 for x in later)


def test_the_noise_of_recall_is_normal_and_says_nothing_of_the_symbol():
    part = recall(50, 4, noise=3.0, sizes=(4000, 1, 1)).train
    noise = part.inputs[1:, :, 4] / 3
    assert abs(noise.mean().item()) < 0.015  # 6 standard deviations of 196,000 draws
    assert abs(noise.var().item() - 1) < 0.02
    assert abs(noise.pow(4).mean().item() - 3) < 0.14
    assert all(abs(count - 1000) < 170 for count in part.targets.bincount(minlength=4).tolist())
    means = torch.stack([noise[:, part.targets == s].mean() for s in range(4)])
    assert means.abs().max() < 0.03
    assert not recall(50, 4, noise=0.0).train.inputs[1:].any()


def test_a_guess_in_recall_costs_the_logarithm_of_the_symbols():
    task = recall(3, 4, **DOUBLE)
    assert cross_entropy(torch.zeros(1000, 4, **DOUBLE), task.train.targets).item() == pytest.approx(math.log(4))
    told = evaluate(lambda x, lengths: x[:1, :, :4].expand(3, -1, 4), task)
    assert told == 1.0
    last = evaluate(lambda x, lengths: x[:, :, :4], recall(3, 4, sizes=(1, 1, 6000)))
    assert last == pytest.approx(1 / 4, abs=0.034)


# --- copy memory


@settings(max_examples=30)
@given(st.integers(1, 9), st.integers(2, 6), st.integers(1, 5), st.integers(0, 2**32))
def test_the_word_is_asked_for_after_the_signal(delay, symbols, length, seed):
    task = copy_memory(delay, symbols, length, (6, 2, 3), seed)
    assert (task.kind, task.input_size, task.output_size) == ("class per step", symbols + 2, symbols + 1)
    assert [len(part) for part in splits(task)] == [6, 2, 3]
    for part in splits(task):
        assert part.steps == delay + 2 * length
        assert part.inputs.sum(-1).eq(1).all()
        for n in range(len(part)):
            read, asked = part.inputs[:, n].argmax(-1).tolist(), part.targets[:, n].tolist()
            word = read[:length]
            assert max(word) < symbols
            said = []  # a machine with a tape: it writes until the first blank or signal, and reads after the signal
            tape, playing = [], False
            for symbol in read:
                if symbol < symbols:
                    tape.append(symbol)
                said.append(tape.pop(0) if playing else symbols)
                playing = playing or symbol == symbols + 1
            assert said == asked
            assert read.index(symbols + 1) == delay + length - 1
            assert read.count(symbols) == delay - 1 + length


def test_without_memory_the_copy_costs_what_is_stated():
    delay, symbols, length = 30, 8, 10
    task = copy_memory(delay, symbols, length, (1, 1, 2000), **DOUBLE)
    steps, asked = delay + 2 * length, task.test.targets
    sure = torch.full((steps, 9), -1e3, **DOUBLE)
    sure[: delay + length, symbols] = 0
    sure[delay + length :, :symbols] = 0
    outputs = sure[:, None].expand(steps, 2000, 9)
    stated = length * math.log(symbols) / (delay + 2 * length)
    assert cross_entropy(outputs.flatten(0, 1), asked.flatten()).item() == pytest.approx(stated, abs=1e-12)
    right = evaluate(lambda x, lengths: outputs[:, : x.shape[1]], task)
    assert right == pytest.approx((delay + length + length / symbols) / steps, abs=0.003)
    assert asked[-length:].flatten().bincount(minlength=8).double().sub(2500).abs().max() < 6 * 47


# --- adding


@settings(max_examples=30)
@given(st.integers(2, 15), st.integers(0, 2**32), st.sampled_from([torch.float32, torch.float64]))
def test_the_sum_of_two_marked_numbers_is_asked_for(steps, seed, dtype):
    task = adding(steps, (7, 2, 3), seed, dtype)
    assert (task.kind, task.input_size, task.output_size) == ("value at end", 2, 1)
    assert [(part.steps, len(part)) for part in splits(task)] == [(steps, 7), (steps, 2), (steps, 3)]
    for part in splits(task):
        assert part.inputs.dtype == part.targets.dtype == dtype
        for n in range(len(part)):
            total, marked = 0.0, []
            for t, (value, mark) in enumerate(part.inputs[:, n].tolist()):
                assert 0 <= value < 1
                assert mark in (0.0, 1.0)
                if mark:
                    total, marked = total + value, [*marked, t]
            first, second = marked
            assert first < steps // 2 <= second
            assert part.targets[n].item() == pytest.approx(total, abs=1e-6)


def test_what_the_best_answers_of_adding_cost():
    task = adding(21, (1, 1, 60_000), **DOUBLE)

    def constant(x, lengths):
        return torch.ones_like(x[..., :1])

    def second(x, lengths):
        return 0.5 + (x[10:, :, :1] * x[10:, :, 1:]).cumsum(0)

    def both(x, lengths):
        return x.prod(-1, keepdim=True).cumsum(0)

    # six standard deviations of a mean of 60,000 squared errors
    assert evaluate(constant, task) == pytest.approx(1 / 6, abs=0.005)
    assert evaluate(second, task) == pytest.approx(1 / 12, abs=0.002)
    assert evaluate(both, task) == pytest.approx(0, abs=1e-24)
    marks = task.test.inputs[..., 1].mean(1)
    assert (marks[:10] - 1 / 10).abs().max() < 0.0075
    assert (marks[10:] - 1 / 11).abs().max() < 0.0075


# --- all three

MAKERS = [lambda **o: recall(5, **o), lambda **o: copy_memory(5, **o), lambda **o: adding(5, **o)]


@pytest.mark.parametrize("make", MAKERS, ids=["recall", "copy", "adding"])
def test_a_task_follows_its_seed_and_leaves_the_global_generator_alone(make):
    assert_follows_its_seed(make)
    assert make().train.inputs.dtype == torch.float32
    assert make(dtype=torch.float64).test.inputs.dtype == torch.float64
    with pytest.raises(ValueError, match=r"dtype must be floating, not torch\.int64"):
        make(dtype=torch.int64)


@pytest.mark.parametrize(
    ("make", "culprit"),
    [
        (lambda: recall(0), "steps must be an integer of at least 1, got 0"),
        (lambda: recall(2.5), "steps must be an integer of at least 1, got 2.5"),
        (lambda: recall(3, 1), "symbols must be an integer of at least 2, got 1"),
        (lambda: recall(3, noise=-1.0), "noise must be"),
        (lambda: copy_memory(0), "delay must be an integer of at least 1, got 0"),
        (lambda: copy_memory(3, 1), "symbols must be an integer of at least 2"),
        (lambda: copy_memory(3, 8, 0), "length must be an integer of at least 1"),
        (lambda: adding(1), "steps must be an integer of at least 2, got 1"),
        (lambda: adding(True), "steps must be an integer of at least 2, got True"),
    ],
)
def test_impossible_tasks_are_refused(make, culprit):
    with pytest.raises(ValueError, match=culprit):
        make()


@pytest.mark.parametrize(
    ("targets", "outputs"),
    [(torch.zeros(2, dtype=torch.int64), 1), (torch.zeros(3, 2, 1), 1), (torch.zeros(2), 2)],
)
def test_a_value_at_the_end_is_one_floating_number(targets, outputs):
    part = Sequences(torch.zeros(3, 2, 1), targets)
    with pytest.raises(ValueError, match="'value at end' needs floating targets"):
        Task("toy", part, part, part, 1, outputs, "value at end")
