"""Boxes of states: their corners, what lies in them, what is drawn from them, and boxes made of boxes."""

from re import escape

import numpy as np
import pytest
import torch
from attrs.exceptions import FrozenInstanceError
from hypothesis import given, settings
from hypothesis import strategies as st
from random_tensors import rng

from fhx.dynamics import Box

PLACE = st.floats(-1e6, 1e6)
SIDES = st.lists(st.tuples(PLACE, st.floats(1e-3, 1e6)), min_size=1, max_size=4)
FACES = st.sampled_from([0.0, 0.1, 1.0, True, 30.0])
SEED = st.integers(0, 2**32)


def boxed(sides):
    """Not in a strategy: type checks draw random numbers, which it must not."""
    return Box([a for a, _ in sides], [a + side for a, side in sides])


def corners(box):
    return box.low.numpy(), box.high.numpy()


@pytest.mark.parametrize("made", [list, tuple, torch.tensor, lambda x: torch.tensor(x, dtype=torch.float32)])
def test_corners_become_tensors_in_double_precision(made):
    box = Box(made([0.0, -1.0, 2.0]), made([3.0, 1.0, 8.0]))
    assert (box.low.dtype, box.high.dtype) == (torch.float64, torch.float64)
    assert (box.low.tolist(), box.high.tolist()) == ([0.0, -1.0, 2.0], [3.0, 1.0, 8.0])
    assert box.width == 3
    assert box.center.tolist() == [1.5, 0.0, 5.0]
    assert box.radius.tolist() == [1.5, 1.0, 3.0]
    with pytest.raises(FrozenInstanceError):
        box.low = box.high


@pytest.mark.parametrize("made", [list, torch.tensor])
def test_a_symmetric_box_has_its_middle_at_zero(made):
    box = Box.symmetric(made([0.5, 2.0]))
    assert (box.low.tolist(), box.high.tolist()) == ([-0.5, -2.0], [0.5, 2.0])
    assert (box.low.device.type, box.high.device.type) == ("cpu", "cpu")


@given(SIDES, st.sampled_from([(), (5,), (2, 3), (0,)]), SEED)
def test_what_lies_inside_is_the_definition(sides, shape, seed):
    box = boxed(sides)
    near = np.random.default_rng(seed).uniform(-1.5, 1.5, (*shape, box.width))
    points = box.center.numpy() + near * box.radius.numpy()
    low, high = corners(box)
    found = box.contains(torch.from_numpy(np.asarray(points)))
    assert found.shape == shape
    assert np.array_equal(found.numpy(), np.all((low <= points) & (points <= high), -1))


@given(SIDES, st.data())
def test_faces_lie_inside_and_the_next_number_does_not(sides, data):
    box = boxed(sides)
    assert box.contains(torch.stack([box.low, box.high, box.center])).all()
    j = data.draw(st.integers(0, box.width - 1))
    for corner, way in ((box.low, -np.inf), (box.high, np.inf)):
        off = corner.clone()
        off[j] = np.nextafter(off[j].item(), way)
        assert not box.contains(off)


@settings(max_examples=50)
@given(SIDES, st.integers(0, 20), FACES, SEED)
def test_points_are_those_of_a_larger_box_moved_to_the_nearest_inside(sides, n, faces, seed):
    box = boxed(sides)
    points = box.sample(n, seed, faces)
    assert points.shape == (n, box.width)
    assert points.dtype == torch.float64
    assert box.contains(points).all()
    unit = torch.rand(n, box.width, generator=rng(seed), dtype=torch.float64).numpy()
    low, high = corners(box)
    grown = (high - low) * faces / 2
    wanted = np.clip(low - grown + unit * (high - low + 2 * grown), low, high)
    size = max(abs(low).max(), abs(high).max()) + grown.max()
    np.testing.assert_allclose(points.numpy(), wanted, rtol=0, atol=8 * np.finfo(float).eps * size)


def test_a_seed_decides_and_a_generator_goes_on():
    box, before = Box([0.0, -1.0], [3.0, 1.0]), torch.get_rng_state()
    assert torch.equal(box.sample(9), box.sample(9, 0, 0.0))
    assert torch.equal(box.sample(9, 4, 0.5), box.sample(9, 4, 0.5))
    assert not torch.equal(box.sample(9, 4), box.sample(9, 5))
    generator = rng(4)
    first, second = box.draw(9, generator), box.draw(9, generator)
    assert torch.equal(first, box.sample(9, 4))
    assert torch.equal(torch.cat([first, second]), box.sample(18, 4))
    assert torch.equal(torch.get_rng_state(), before)


def test_a_sample_is_uniform_and_faces_get_their_part():
    """Within six standard errors. Of a side that grows by one half lies outside, and a corner of two has a quarter."""
    box, n = Box([0.0, -1.0], [3.0, 1.0]), 4000
    plain, faced = box.sample(n, 1), box.sample(n, 1, faces=True)
    assert ((plain.mean(0) - box.center).abs() < 6 * box.radius / (3 * n) ** 0.5).all()
    assert abs((plain < box.center).double().mean().item() - 0.5) < 3 / (2 * n) ** 0.5
    for corner in (box.low, box.high):
        assert ((faced == corner).double().mean(0) - 0.25).abs().max() < 6 * (3 / 16 / n) ** 0.5
        assert not (plain == corner).any()
    in_corners = ((faced == box.low) | (faced == box.high)).all(-1).double().mean().item()
    assert abs(in_corners - 0.25) < 6 * (3 / 16 / n) ** 0.5


@given(SIDES, st.floats(0, 1e6))
def test_an_enlarged_box_goes_further_both_ways(sides, margin):
    box = boxed(sides)
    larger, (low, high) = box.enlarged(margin), corners(box)
    assert np.array_equal(larger.low, low - margin)
    assert np.array_equal(larger.high, high + margin)


@given(SIDES, SIDES)
def test_a_product_has_the_coordinates_of_one_then_those_of_the_other(one, other):
    one, other = boxed(one), boxed(other)
    both = one.product(other)
    assert both.width == one.width + other.width
    assert both.low.tolist() == one.low.tolist() + other.low.tolist()
    assert both.high.tolist() == one.high.tolist() + other.high.tolist()


@pytest.mark.usefixtures("unchecked")
class TestBadInput:
    @pytest.mark.parametrize(
        ("low", "high", "shapes"),
        [
            ([0.0, 1.0], [1.0], "(2,), (1,)"),
            ([], [], "(0,), (0,)"),
            (0.0, 1.0, "(), ()"),
            ([[0.0]], [[1.0]], "(1, 1), (1, 1)"),
            ([0.0], [[1.0]], "(1,), (1, 1)"),
        ],
    )
    def test_corners_that_are_no_two_vectors_of_one_width(self, low, high, shapes):
        with pytest.raises(ValueError, match=f"^{escape(f'low and high must be vectors of one width, got {shapes}')}$"):
            Box(low, high)

    @pytest.mark.parametrize(
        ("low", "high"),
        [
            ([0.0, 1.0], [1.0, 1.0]),
            ([1.0, 0.0], [0.0, 1.0]),
            ([0.0, float("nan")], [1.0, 1.0]),
            ([0.0, 0.0], [1.0, float("inf")]),
            ([float("-inf")], [0.0]),
            ([-1e308], [1e308]),
        ],
    )
    def test_a_side_that_is_not_positive_and_finite(self, low, high):
        law = f"low must be below high in every coordinate, got {low}, {high}"
        with pytest.raises(ValueError, match=f"^{escape(law)}$"):
            Box(low, high)

    def test_what_makes_a_box_without_a_side(self):
        with pytest.raises(ValueError, match=r"^low must be below high in every coordinate, got \[0\.5\], \[0\.5\]$"):
            Box([0.0], [1.0]).enlarged(-0.5)
        with pytest.raises(ValueError, match=r"^low must be below high in every coordinate, got \[-0\.0\], \[0\.0\]$"):
            Box.symmetric([0.0])
