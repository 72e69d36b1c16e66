"""Sequences and tasks: what they hold, how they are cut, and what they refuse."""

import subprocess
import sys

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fhx.tasks import Sequences, Task


@st.composite
def padded(draw) -> Sequences:
    """Sequences whose every entry says which sequence, step and feature it is; padding is -1."""
    lengths = torch.tensor(draw(st.lists(st.integers(1, 9), min_size=1, max_size=7)))
    steps, features = int(lengths.max()) + draw(st.integers(0, 2)), draw(st.integers(1, 3))
    t, n, i = torch.meshgrid(*(torch.arange(k) for k in (steps, len(lengths), features)), indexing="ij")
    values = torch.where(t < lengths[:, None], 100.0 * n + 10 * t + i, -1.0)
    targets = draw(st.sampled_from([values + 1, values[..., 0].long(), 100 * torch.arange(len(lengths))]))
    return Sequences(values, targets, draw(st.sampled_from([lengths, None])))


@settings(max_examples=60, deadline=None)
@given(padded(), st.data())
def test_taking_keeps_the_real_steps_and_drops_the_padding_nobody_needs(batch, data):
    indices = data.draw(st.lists(st.integers(0, len(batch) - 1), min_size=1, max_size=9))
    part = batch.take(indices)
    assert len(part) == len(indices)
    assert part.steps == (batch.steps if batch.lengths is None else max(int(batch.lengths[n]) for n in indices))
    for k, n in enumerate(indices):
        length = batch.steps if batch.lengths is None else int(batch.lengths[n])
        assert torch.equal(part.inputs[:length, k], batch.inputs[:length, n])
        if batch.targets.ndim == 1:
            assert part.targets[k] == batch.targets[n]
        else:
            assert torch.equal(part.targets[:length, k], batch.targets[:length, n])
        assert int(part.mask[:, k].sum()) == length
        assert bool(part.mask[:length, k].all())


def test_taking_understands_slices_tensors_and_arrays():
    batch = Sequences(torch.arange(10.0).reshape(1, 10, 1), torch.arange(10))
    for indices in (slice(2, 8, 2), torch.tensor([2, 4, 6]), torch.tensor([2, 4, 6]).numpy(), [2, 4, 6], (2, 4, 6)):
        assert batch.take(indices).targets.tolist() == [2, 4, 6]


@pytest.mark.parametrize("indices", [[], [10], [-1], [[1, 2]], [0.5], slice(3, 3), torch.tensor(1)])
def test_taking_refuses_what_is_not_there(indices):
    with pytest.raises(ValueError, match=r"indices|no sequence"):
        Sequences(torch.zeros(1, 10, 1), torch.arange(10)).take(indices)


def test_windows_follow_each_other():
    ids = torch.arange(22).reshape(11, 2)
    windows = list(Sequences(ids, ids + 2).windows(4))
    assert [w.steps for w in windows] == [4, 4, 3]
    assert torch.equal(torch.cat([w.inputs for w in windows]), ids)
    assert torch.equal(torch.cat([w.targets for w in windows]), ids + 2)
    for batch, steps in (
        (Sequences(ids, ids, torch.tensor([11, 5])), 4),
        (Sequences(ids, torch.arange(2)), 4),
        (Sequences(ids, ids), 0),
    ):
        with pytest.raises(ValueError, match="window"):
            batch.windows(steps)


def test_moving_changes_floats_and_leaves_numbers():
    batch = Sequences(torch.zeros(3, 2, 1), torch.zeros(3, 2).long(), torch.tensor([3, 1])).to(dtype=torch.float64)
    assert (batch.inputs.dtype, batch.targets.dtype, batch.lengths.dtype) == (torch.float64, torch.int64, torch.int64)
    with pytest.raises(ValueError, match="floating, not "):
        batch.to(dtype=torch.int64)


X, IDS = torch.zeros(3, 2, 4), torch.zeros(3, 2).long()


@pytest.mark.parametrize(
    ("arguments", "culprit"),
    [
        ((X.tolist(), IDS), "inputs must be a torch.Tensor, not list"),
        ((X, 1), "targets must be a torch.Tensor, not int"),
        ((X, IDS, [3, 3]), "lengths must be a torch.Tensor, not list"),
        ((X.long(), IDS), "inputs must be floating"),
        ((X[0], IDS), "inputs must be floating"),
        ((IDS > 0, IDS), "integer ids"),
        ((X[:0], IDS[:0]), "no sequence, no step"),
        ((X[:, :0], IDS[:, :0]), "no sequence, no step"),
        ((X, torch.zeros(3)), r"targets of shape \(3,\)"),
        ((X, IDS.T), r"targets of shape \(2, 3\)"),
        ((X, torch.tensor(0)), r"targets of shape \(\)"),
        ((X, IDS, torch.tensor([3])), r"lengths must be integers of shape \(2,\)"),
        ((X, IDS, torch.tensor([3.0, 3.0])), "lengths must be integers"),
        ((X, IDS, torch.tensor([3, 4])), r"lengths\[1\] = 4 is not between 1 and the 3 steps"),
        ((X, IDS, torch.tensor([0, 3])), r"lengths\[0\] = 0"),
    ],
)
def test_sequences_that_do_not_fit_together_are_refused(arguments, culprit):
    with pytest.raises(ValueError, match=culprit):
        Sequences(*arguments)


def task(batch=None, *, input_size=4, output_size=2, kind="class per step", labels=()) -> Task:
    good = Sequences(X, IDS)
    return Task("toy", good, good if batch is None else batch, good, input_size, output_size, kind, labels)


def test_a_task_of_each_kind_is_accepted():
    bits = Sequences(X, torch.ones(3, 2, 5))
    ends = Sequences(X, torch.tensor([0, 1]))
    assert (
        Task("bits", bits, bits, bits, 4, 5, "bits per step").to(dtype=torch.float64).test.targets.dtype
        == torch.float64
    )
    assert Task("values", bits, bits, bits, 4, 5, "value per step").kind == "value per step"
    assert Task("end", ends, ends, ends, 4, 2, "class at end").output_size == 2
    assert task(labels=("no", "yes")).labels == ("no", "yes")


@pytest.mark.parametrize(
    ("arguments", "culprit"),
    [
        ({"kind": "class"}, "unknown kind 'class'"),
        ({"input_size": 0}, "input_size must be at least 1"),
        ({"labels": ("a", "b", "c")}, "3 labels do not name 2 outputs"),
        ({"batch": Sequences(X[..., :3], IDS)}, "valid sequences.*3 features, input_size is 4"),
        ({"batch": Sequences(IDS + 4, IDS)}, r"valid sequences.*input id is not in 0\.\.3"),
        ({"batch": Sequences(X, IDS + 2)}, r"valid sequences.*class is not in 0\.\.1"),
        ({"batch": Sequences(X, IDS - 1)}, r"class is not in 0\.\.1"),
        ({"batch": Sequences(X, IDS.int())}, "class numbers"),
        ({"batch": Sequences(X, IDS[0])}, "one per step"),
        ({"kind": "class at end"}, "train sequences.*one per sequence|train sequences.*at end"),
        ({"kind": "bits per step"}, r"train sequences.*floating targets \(time, N, 2\)"),
    ],
)
def test_a_task_that_does_not_fit_is_refused_by_name(arguments, culprit):
    with pytest.raises(ValueError, match=culprit):
        task(**arguments)


def test_bits_outside_the_unit_interval_are_refused():
    bits = Sequences(X, torch.full((3, 2, 5), 1.5))
    with pytest.raises(ValueError, match="between 0 and 1"):
        Task("bits", bits, bits, bits, 4, 5, "bits per step")


@pytest.mark.full
def test_importing_the_tasks_loads_neither_scikit_learn_nor_a_figure():
    code = "import sys, fhx.tasks; print(*{'sklearn', 'matplotlib', 'IPython'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == ""
