"""Music: the official splits, and what predictions without a state are worth, counted by loops."""

import math
from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.io import loadmat
from seeded import splits

from fhx.tasks import (
    Sequences,
    Task,
    chorales,
    classical_music,
    folk_tunes,
    frame_nll,
    key_frequencies,
    last_frame,
    locate,
    note_frequencies,
    piano_pieces,
    running_parity,
)


@pytest.mark.usefixtures("real_data")
@pytest.mark.parametrize(
    ("make", "file", "counts", "frames"),
    [
        (chorales, "polyphonic/JSB_Chorales.mat", [229, 76, 77], [13807, 4602, 4725]),
        (folk_tunes, "polyphonic/Nottingham.mat", [694, 173, 170], [176561, 45513, 44463]),
        (piano_pieces, "polyphonic/Piano_midi.mat", [87, 12, 25], [75911, 8540, 19036]),
        (classical_music, "polyphonic/MuseData.mat", [524, 135, 124], [245202, 82755, 64339]),
    ],
)
def test_music_is_the_official_split_shifted_by_one_frame(make, file, counts, frames):
    task = make()
    assert (task.input_size, task.output_size, task.kind) == (88, 88, "bits per step")
    assert [len(part) for part in splits(task)] == counts
    assert [int(part.mask.sum()) for part in splits(task)] == [f - n for f, n in zip(frames, counts, strict=True)]
    data = loadmat(locate(file))
    for part, name in zip(splits(task), ("train", "valid", "test"), strict=True):
        rolls = data[f"{name}data"][0]
        assert part.lengths.tolist() == [len(roll) - 1 for roll in rolls]
        for n in (0, len(part) // 2, len(part) - 1):
            length = int(part.lengths[n])
            assert np.array_equal(part.inputs[:length, n].numpy(), rolls[n][:-1])
            assert np.array_equal(part.targets[:length, n].numpy(), rolls[n][1:])


@pytest.mark.usefixtures("real_data")
def test_the_notes_have_their_names():
    task = chorales()
    assert (task.labels[0], task.labels[60 - 21], task.labels[69 - 21], task.labels[-1]) == ("A0", "C4", "A4", "C8")
    sounding = [task.labels[i] for i in task.train.targets.sum((0, 1)).topk(3).indices]
    assert {name.rstrip("0123456789") for name in sounding} <= {"C", "E", "G", "D"}  # all chorales stand in C


def slow_baselines(task: Task, split: str, a: float) -> tuple[float, float]:
    """Both likelihoods of one split by loops over pieces, frames and keys."""
    pieces = {}
    for name in ("train", split):
        part = getattr(task, name)
        pieces[name] = [
            (part.inputs[: int(part.lengths[n]), n].tolist(), part.targets[: int(part.lengths[n]), n].tolist())
            for n in range(len(part))
        ]
    down, seen = Counter(), Counter()
    for inputs, targets in pieces["train"]:
        for before, now in zip(inputs, targets, strict=True):
            for i, (b, v) in enumerate(zip(before, now, strict=True)):
                for context in ((i,), (i, b)):
                    down[context] += v
                    seen[context] += 1
    cost, frames = [0.0, 0.0], 0
    for inputs, targets in pieces[split]:
        for before, now in zip(inputs, targets, strict=True):
            frames += 1
            for i, (b, v) in enumerate(zip(before, now, strict=True)):
                for k, context in enumerate(((i,), (i, b))):
                    p = (down[context] + a) / (seen[context] + 2 * a)
                    cost[k] -= math.log(p if v else 1 - p)
    return cost[0] / frames, cost[1] / frames


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.1, 3), st.sampled_from(["train", "valid", "test"]))
def test_music_baselines_are_what_loops_count(seed, smoothing, split):
    generator = torch.Generator().manual_seed(seed)

    def part() -> Sequences:
        frames = torch.randint(2, (7, 4, 3), generator=generator).float()
        return Sequences(frames[:-1], frames[1:], torch.randint(1, 7, (4,), generator=generator))

    task = Task("toy", part(), part(), part(), 3, 3, "bits per step")
    got = note_frequencies(task, split, smoothing), last_frame(task, split, smoothing)
    assert got == pytest.approx(slow_baselines(task, split, smoothing), rel=1e-9)


@pytest.mark.usefixtures("real_data")
def test_the_baselines_of_the_chorales():
    task = chorales()
    # A frame has few keys down, so 88 fair coins (61 nats) are far off; chords change, so the last one helps little.
    assert note_frequencies(task) == pytest.approx(11.09, abs=0.01)
    assert last_frame(task) == pytest.approx(10.49, abs=0.01)
    assert note_frequencies(task, smoothing=1e9) == pytest.approx(88 * math.log(2), rel=1e-4)


def test_music_baselines_refuse_other_tasks():
    for baseline in (key_frequencies, note_frequencies, last_frame):
        with pytest.raises(ValueError, match="'class per step'; this baseline is for bits per step"):
            baseline(running_parity())
    bits = Sequences(torch.zeros(3, 2, 1), torch.zeros(3, 2, 2))
    task = Task("toy", bits, bits, bits, 1, 2, "bits per step")
    with pytest.raises(ValueError, match="not the last frames"):
        last_frame(task)
    with pytest.raises(ValueError, match="smoothing must be a positive number, got 0"):
        note_frequencies(task, smoothing=0)
    with pytest.raises(ValueError, match="strictly between 0 and 1"):
        frame_nll(torch.tensor([0.0, 0.5]), torch.zeros(1, 2))
