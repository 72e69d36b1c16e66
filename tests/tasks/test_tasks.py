"""The tasks: each against an independent way to the same numbers."""

import math
import subprocess
import sys
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.io import loadmat
from seeded import assert_follows_its_seed, splits

from recurrence.tasks import (
    Sequences,
    Task,
    chorales,
    digits,
    folk_tunes,
    frame_nll,
    key_frequencies,
    last_frame,
    locate,
    logistic_map,
    logistic_orbit,
    majority_class,
    note_frequencies,
    parity,
    wikitext2,
)
from recurrence.tasks.language import frequent_words, read_words

# --- made tasks


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 30), st.integers(1, 9), st.integers(0, 2**32))
def test_parity_flips_at_every_one(steps, size, seed):
    task = parity(steps, (size, 2, 3), seed, test_steps=steps + 5)
    assert [(part.steps, len(part)) for part in splits(task)] == [(steps, size), (steps, 2), (steps + 5, 3)]
    for part in splits(task):
        for n in range(len(part)):
            state = 0  # a two-state machine, step by step
            for bit, answer in zip(part.inputs[:, n, 0].tolist(), part.targets[:, n].tolist(), strict=True):
                state = 1 - state if bit == 1.0 else state
                assert bit in (0.0, 1.0)
                assert answer == state


def test_parity_bits_are_fair():
    assert abs(parity(50, (2000, 1, 1)).train.inputs.mean().item() - 0.5) < 0.01  # 6 standard deviations


@pytest.mark.parametrize("make", [parity, logistic_map])
def test_made_tasks_follow_their_seed_and_leave_the_global_generator_alone(make):
    assert_follows_its_seed(make)
    with pytest.raises(ValueError, match="at least 1 step"):
        make(steps=0)


@settings(max_examples=80, deadline=None)
@given(st.floats(0, 4), st.floats(0, 1))
def test_an_orbit_follows_the_map_and_stays_in_the_unit_interval(r, start):
    orbit = logistic_orbit(start, r, 40).tolist()
    assert len(orbit) == 41
    assert orbit[0] == start
    for x, y in pairwise(orbit):
        assert 0 <= y <= 1
        assert y == pytest.approx(r * x * (1 - x), abs=1e-15)


def test_the_orbit_at_four_is_the_doubling_of_an_angle():
    # x = sin^2(pi a) goes to sin^2(2 pi a), an exact solution of the map
    angle = 0.1234
    exact = [math.sin(math.pi * angle * 2**t) ** 2 for t in range(16)]
    assert logistic_orbit(exact[0], 4.0, 15).tolist() == pytest.approx(exact, abs=1e-9)


def test_the_logistic_task_asks_for_the_next_value():
    task = logistic_map(r=3.7, steps=30, sizes=(4, 3, 2), dtype=torch.float64)
    assert [tuple(part.targets.shape) for part in splits(task)] == [(30, 4, 1), (30, 3, 1), (30, 2, 1)]
    for part in splits(task):
        torch.testing.assert_close(part.targets, 3.7 * part.inputs * (1 - part.inputs), rtol=0, atol=1e-15)
        assert torch.equal(part.targets[:-1], part.inputs[1:])
    assert logistic_map().train.inputs.dtype == torch.float32


@pytest.mark.parametrize(
    "arguments", [(0.5, 4.1), (0.5, -0.1), (0.5, float("nan")), (1.5, 4.0), (torch.tensor(1), 4.0)]
)
def test_an_orbit_out_of_range_is_refused(arguments):
    with pytest.raises(ValueError, match="between 0 and"):
        logistic_orbit(*arguments)


# --- digits


@pytest.mark.parametrize(("by", "shape"), [("pixel", (64, 1)), ("row", (8, 8))])
def test_digits_are_the_images_of_scikit_learn_read_in_order(by, shape):
    from sklearn.datasets import load_digits

    task = digits(by)
    assert (task.input_size, task.output_size, task.kind) == (shape[1], 10, "class at end")
    assert [len(part) for part in splits(task)] == [1077, 360, 360]
    known = {image.tobytes(): target for image, target in zip(*load_digits(return_X_y=True), strict=True)}
    seen = Counter()
    for part in splits(task):
        assert (part.steps, part.inputs.shape[2]) == shape
        assert part.inputs.min() >= 0
        assert part.inputs.max() == 1
        images = (part.inputs.transpose(0, 1).reshape(len(part), 64).double() * 16).numpy()
        for image, target in zip(images, part.targets.tolist(), strict=True):
            assert known[image.tobytes()] == target
            seen[image.tobytes()] += 1
        assert all(abs(count - len(part) / 10) < 0.04 * len(part) / 10 + 1 for count in part.targets.bincount())
    assert sum(seen.values()) == 1797
    assert max(seen.values()) == 1


def test_digits_split_by_their_seed():
    assert torch.equal(digits("row").test.inputs, digits("row").test.inputs)
    assert not torch.equal(digits("row", seed=1).test.inputs, digits("row").test.inputs)
    with pytest.raises(ValueError, match="'column'"):
        digits("column")


def test_the_majority_class_is_right_as_often_as_it_occurs():
    task = digits("row")
    (answer, _), *_ = Counter(task.train.targets.tolist()).most_common(1)
    assert majority_class(task) == pytest.approx(task.test.targets.tolist().count(answer) / 360)
    with pytest.raises(ValueError, match="'value per step'"):
        majority_class(logistic_map())
    with pytest.raises(ValueError, match="unknown split 'tests'"):
        majority_class(task, "tests")


# --- music


@pytest.mark.usefixtures("real_data")
@pytest.mark.parametrize(
    ("make", "file", "counts", "frames"),
    [
        (chorales, "polyphonic/JSB_Chorales.mat", [229, 76, 77], [13807, 4602, 4725]),
        (folk_tunes, "polyphonic/Nottingham.mat", [694, 173, 170], [176561, 45513, 44463]),
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
            baseline(parity())
    bits = Sequences(torch.zeros(3, 2, 1), torch.zeros(3, 2, 2))
    task = Task("toy", bits, bits, bits, 1, 2, "bits per step")
    with pytest.raises(ValueError, match="not the last frames"):
        last_frame(task)
    with pytest.raises(ValueError, match="smoothing must be positive, not 0"):
        note_frequencies(task, smoothing=0)
    with pytest.raises(ValueError, match="strictly between 0 and 1"):
        frame_nll(torch.tensor([0.0, 0.5]), torch.zeros(1, 2))


# --- language


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(["a", "b", "c", "d", "e", "<unk>", "<eos>"]), max_size=40), st.integers(2, 8))
def test_the_vocabulary_keeps_the_frequent_words_and_counts_the_rest_as_unknown(text, size):
    words = frequent_words(text, size)
    assert len(words) == len(set(words)) == min(size, len({*text, "<unk>", "<eos>"}))
    assert {"<unk>", "<eos>"} <= set(words)
    counts = Counter(text)
    dropped = set(text) - set(words)
    kept = [word for word in words if word not in ("<unk>", "<eos>")]
    assert all(counts[word] >= counts[other] for word in kept for other in dropped)
    read = Counter(word if word in words else "<unk>" for word in text)
    assert [read[word] for word in words] == sorted((read[word] for word in words), reverse=True)
    assert frequent_words(text[::-1], size) == words  # the order of the articles does not matter
    with pytest.raises(ValueError, match="at least 2 words"):
        frequent_words(text, 1)


@pytest.mark.usefixtures("real_data")
def test_wikitext_has_the_known_number_of_words():
    texts = {split: read_words(split) for split in ("train", "valid", "test")}
    words = {split: sum(word != "<eos>" for word in text) for split, text in texts.items()}
    assert words == {"train": 2_051_910, "valid": 213_886, "test": 241_211}
    assert {split: len(text) for split, text in texts.items()} == {
        "train": 2_088_628,
        "valid": 217_646,
        "test": 245_569,
    }
    assert len(set(texts["train"]) - {"<eos>"}) == 33_277


@pytest.mark.usefixtures("real_data")
def test_wikitext_streams_are_the_text_and_ask_for_its_next_word():
    task = wikitext2(vocabulary=10_000, streams=20)
    assert (task.input_size, task.output_size, task.kind, len(task.labels)) == (
        10_000,
        10_000,
        "class per step",
        10_000,
    )
    for part, split in zip(splits(task), ("train", "valid", "test"), strict=True):
        text = read_words(split)
        assert part.inputs.dtype == part.targets.dtype == torch.int64
        assert tuple(part.inputs.shape) == ((len(text) - 1) // 20, 20)
        assert torch.equal(part.targets[:-1], part.inputs[1:])
        assert torch.equal(part.targets[-1, :-1], part.inputs[0, 1:])  # one stream goes on where the last one ended
        for stream in (0, 7, 19):
            start = stream * part.steps
            known = [word if word in task.labels[:500] else None for word in text[start : start + 300]]
            read = [task.labels[i] for i in part.inputs[:300, stream].tolist()]
            assert all(a == b for a, b in zip(known, read, strict=True) if a is not None)
    assert task.labels[:3] == ("<unk>", "the", ",")


@pytest.mark.usefixtures("real_data")
def test_the_full_vocabulary_loses_no_word():
    task = wikitext2(vocabulary=None, streams=1)
    assert task.input_size == 33_278
    assert [task.labels[i] for i in task.train.inputs[:2000, 0].tolist()] == read_words("train")[:2000]


@pytest.mark.parametrize(
    ("arguments", "culprit"),
    [
        ({"vocabulary": 1}, "vocabulary"),
        ({"vocabulary": 33_279}, "33,278"),
        ({"streams": 0}, "streams"),
        ({"streams": 10**6}, "streams"),
    ],
)
def test_wikitext_refuses_what_cannot_be(arguments, culprit):
    with pytest.raises(ValueError, match=culprit):
        wikitext2(**arguments)


def test_importing_the_tasks_loads_neither_scikit_learn_nor_a_figure():
    code = "import sys, recurrence.tasks; print(*{'sklearn', 'matplotlib', 'IPython'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == ""
