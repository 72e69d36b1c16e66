"""The word problem of a group: products by hand, what is known of them without some letter, and PARITY."""

import math
from itertools import permutations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from seeded import assert_follows_its_seed, splits

from fhx.tasks import majority_class, running_parity, spaced_word, word_problem

ORDERS = {"S2": 2, "S3": 6, "S4": 24, "S5": 120, "A3": 3, "A4": 12, "A5": 60, "Z2": 2, "Z7": 7, "Z60": 60}


def moved(points, label):
    """Where each point is after another permutation in one-line notation: '231' takes 1 to 2, 2 to 3 and 3 to 1."""
    return [int(label[point - 1]) for point in points]


@settings(max_examples=30)
@given(st.sampled_from(["S2", "S3", "S4", "S5", "A3", "A4", "A5"]), st.integers(1, 9), st.integers(0, 2**32))
def test_points_are_carried_through_the_word(group, steps, seed):
    task = word_problem(group, steps, (5, 2, 3), seed, test_steps=steps + 4)
    assert (task.kind, task.input_size, task.output_size) == ("class per step", ORDERS[group], ORDERS[group])
    for part, length, size in ((task.train, steps, 5), (task.valid, steps, 2), (task.test, steps + 4, 3)):
        assert tuple(part.inputs.shape) == (length, size, ORDERS[group])
        assert part.inputs.sum(-1).eq(1).all()
        for n in range(size):
            points = list(range(1, int(group[1:]) + 1))
            for t in range(length):
                points = moved(points, task.labels[int(part.inputs[t, n].argmax())])
                assert task.labels[int(part.targets[t, n])] == "".join(map(str, points))


@settings(max_examples=20)
@given(st.integers(2, 70), st.integers(1, 12), st.integers(0, 2**32))
def test_rotations_add_up(n, steps, seed):
    task = word_problem(f"Z{n}", steps, (4, 1, 1), seed)
    assert task.labels == tuple(map(str, range(n)))
    assert torch.equal(task.train.targets, task.train.inputs.argmax(-1).cumsum(0) % n)


def test_the_group_of_two_is_parity():
    words = word_problem("z2", 30, (50, 1, 1))
    assert torch.equal(words.train.targets, words.train.inputs[..., 1].cumsum(0).long() % 2)
    assert torch.equal(words.train.targets, running_parity(30, (50, 1, 1), 0).train.targets)  # one draw, one answer


@pytest.mark.parametrize("group", ORDERS)
def test_the_elements_are_the_group(group):
    labels = word_problem(group, 1, (1, 1, 1)).labels
    assert len(labels) == len(set(labels)) == ORDERS[group]
    n = int(group[1:])
    if group[0] == "S":
        assert set(labels) == {"".join(map(str, p)) for p in permutations(range(1, n + 1))}
    if group[0] == "A":  # the determinant of the permutation's matrix is 1
        matrices = torch.stack([torch.eye(n)[[int(i) - 1 for i in label]] for label in labels])
        assert torch.linalg.det(matrices).round().eq(1).all()
    assert labels[0] == ("0" if group[0] == "Z" else "".join(map(str, range(1, n + 1))))


def test_the_order_of_reading_matters_where_the_group_does_not_commute():
    task = word_problem("S3", 2, (400, 1, 1), letters=("213", "132"))
    assert task.input_size == 2
    read, products = task.train.inputs.argmax(-1).T.tolist(), task.train.targets[1].tolist()
    words = {tuple(pair): y for pair, y in zip(read, products, strict=True)}
    # first 1 <-> 2, then 2 <-> 3: the point 1 goes to 2 and on to 3
    assert {pair: task.labels[y] for pair, y in words.items()} == {
        (0, 0): "123",
        (0, 1): "312",
        (1, 0): "231",
        (1, 1): "123",
    }


def test_a_guess_is_as_good_as_all_letters_but_the_first():
    task = word_problem("S3", 2, (20_000, 1, 20_000))
    first, last = task.train.inputs.argmax(-1)
    table = torch.zeros(6, 6)
    table.index_put_((last, task.train.targets[1]), torch.ones(20_000), accumulate=True)
    assert (table / 20_000 - 1 / 36).abs().max() < 6 * math.sqrt(1 / 36 / 20_000)  # independent and uniform
    assert majority_class(task) == pytest.approx(1 / 6, abs=6 * math.sqrt(5 / 36 / 40_000))
    assert torch.equal(task.train.targets[0], first)  # the first step needs no memory


@settings(max_examples=30)
@given(st.sampled_from(["S3", "A4", "Z7"]), st.integers(1, 12), st.data())
def test_a_spaced_word_has_its_letters_among_blanks_and_their_product_at_the_end(group, steps, data):
    length, order = data.draw(st.integers(1, steps)), ORDERS[group]
    task = spaced_word(group, steps, length, (40, 2, 3), data.draw(st.integers(0, 1000)))
    assert (task.kind, task.input_size, task.output_size) == ("class at end", order + 1, order)
    elements = word_problem(group, 1, (1, 1, 1)).labels
    for part, size in ((task.train, 40), (task.valid, 2), (task.test, 3)):
        read = part.inputs.argmax(-1)
        assert part.inputs.sum(-1).eq(1).all()
        assert tuple(read.shape) == (steps, size)
        for word, y in zip(read.T.tolist(), part.targets.tolist(), strict=True):
            letters = [x for x in word if x < order]
            assert len(letters) == length
            if group[0] == "Z":
                assert y == sum(letters) % order
                continue
            points = list(range(1, int(group[1:]) + 1))
            for x in letters:
                points = moved(points, elements[x])
            assert elements[y] == "".join(map(str, points))


def test_letters_of_a_spaced_word_stand_anywhere():
    places = spaced_word("Z2", 6, 2, (30_000, 1, 1)).train.inputs[..., 2].eq(0).double().mean(1)
    assert (places - 1 / 3).abs().max() < 5 * math.sqrt(2 / 9 / 30_000)


def test_a_word_longer_than_its_steps_is_refused():
    with pytest.raises(ValueError, match="length is 5, and a word must fit into 4 steps"):
        spaced_word("S3", 4, 5)


def test_words_follow_their_seed_and_leave_the_global_generator_alone():
    before = torch.get_rng_state()
    first, again = word_problem("S5", 9, seed=3), word_problem("S5", 9, seed=3)
    other = word_problem("S5", 9, seed=4, dtype=torch.float64)
    assert torch.equal(torch.get_rng_state(), before)
    for split in ("train", "valid", "test"):
        assert torch.equal(getattr(first, split).inputs, getattr(again, split).inputs)
        assert torch.equal(getattr(first, split).targets, getattr(again, split).targets)
    assert first.train.inputs.dtype == torch.float32
    assert other.train.inputs.dtype == torch.float64
    assert not torch.equal(first.train.targets, other.train.targets)


@pytest.mark.parametrize("name", ["S1", "S7", "A2", "A7", "Z1", "Z201", "Z05", "D4", "S", "", "S5 ", "Q8", 5])
def test_other_groups_are_refused(name):
    with pytest.raises(ValueError, match="group must be one of S2 to S6, A3 to A6 and Z2 to Z200, not "):
        word_problem(name, 3)


@pytest.mark.parametrize(
    ("options", "culprit"),
    [
        ({"steps": 0}, "steps must be an integer of at least 1, got 0"),
        ({"steps": 3, "test_steps": 0}, "test_steps must be"),
        ({"steps": 3, "sizes": (1, 1, 0)}, "sizes"),
        ({"steps": 3, "dtype": torch.int64}, "dtype must be floating"),
        ({"steps": 3, "letters": ()}, "different elements of S3, such as 123, 132, 213, 231, not"),
        ({"steps": 3, "letters": ("123", "123")}, "different elements"),
        ({"steps": 3, "letters": ("124",)}, "'124'"),
    ],
)
def test_impossible_words_are_refused(options, culprit):
    with pytest.raises(ValueError, match=culprit):
        word_problem("S3", **options)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 30), st.integers(1, 9), st.integers(0, 2**32))
def test_parity_flips_at_every_one(steps, size, seed):
    task = running_parity(steps, (size, 2, 3), seed, test_steps=steps + 5)
    assert [(part.steps, len(part)) for part in splits(task)] == [(steps, size), (steps, 2), (steps + 5, 3)]
    for part in splits(task):
        for n in range(len(part)):
            state = 0  # a two-state machine, step by step
            for bit, answer in zip(part.inputs[:, n, 0].tolist(), part.targets[:, n].tolist(), strict=True):
                state = 1 - state if bit == 1.0 else state
                assert bit in (0.0, 1.0)
                assert answer == state


def test_parity_bits_are_fair():
    assert abs(running_parity(50, (2000, 1, 1)).train.inputs.mean().item() - 0.5) < 0.01  # 6 standard deviations


def test_bits_follow_their_seed_and_leave_the_global_generator_alone():
    assert_follows_its_seed(running_parity)
    with pytest.raises(ValueError, match="steps must be an integer of at least 1"):
        running_parity(steps=0)
