"""Boxes against their definition, a coordinate at a time."""

from math import inf, nan

import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from random_tensors import rng

from fhx.dynamics import Box

NUMBER = st.floats(-1e6, 1e6)
SIDE = st.tuples(NUMBER, NUMBER).map(sorted).filter(lambda side: side[0] < side[1])
SIDES = st.lists(SIDE, min_size=1, max_size=4)
SEED, FACES = st.integers(0, 2**32), st.floats(0, 2)


def box(sides):
    return Box(*zip(*sides, strict=True))


@given(SIDES)
def test_a_box_is_its_corners_in_float64(sides):
    found = box(sides)
    low, high = (torch.tensor(corner, dtype=torch.float64) for corner in zip(*sides, strict=True))
    assert found.width == len(sides)
    for part, wanted in zip(
        (found.low, found.high, found.center, found.radius),
        (low, high, (low + high) / 2, (high - low) / 2),
        strict=True,
    ):
        assert part.dtype == torch.float64
        assert torch.equal(part, wanted)
    again = Box(found.low, found.high)
    assert torch.equal(again.low, low)
    assert torch.equal(again.high, high)


@given(st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=4))
def test_a_symmetric_box(radius):
    for given_as in (radius, torch.tensor(radius, dtype=torch.float64)):
        found = Box.symmetric(given_as)
        assert found.high.tolist() == radius
        assert found.low.tolist() == [-r for r in radius]
        assert not found.center.any()


@given(SIDES, st.integers(0, 20), SEED, FACES)
def test_draws_lie_inside_and_are_uniform_points_moved_to_the_faces(sides, n, seed, faces):
    found = box(sides)
    points = found.sample(n, seed, faces)
    assert (points.shape, points.dtype) == ((n, len(sides)), torch.float64)
    assert torch.equal(points, found.draw(n, rng(seed), faces))
    unit = 2 * torch.rand(n, len(sides), generator=rng(seed), dtype=torch.float64) - 1
    for j, (low, high) in enumerate(sides):
        wanted = (low + high) / 2 + (1 + faces) * unit[:, j] * (high - low) / 2
        torch.testing.assert_close(points[:, j], wanted.clamp(low, high), rtol=1e-9, atol=1e-9)
    assert found.enlarged(1e-9 * (1 + max(abs(end) for side in sides for end in side))).contains(points).all()


def test_points_are_drawn_in_float64_whatever_the_default():
    """In float32 a coordinate of the unit box has no more than 24 bits."""
    assert (Box([0.0], [1.0]).sample(50) * 2**24 % 1).any()
    assert torch.equal(Box([0.0], [1.0]).sample(5), Box([0.0], [1.0]).sample(5, seed=0, faces=0.0))


def test_a_generator_goes_on():
    generator = rng()
    first, second = (Box([0.0], [1.0]).draw(3, generator) for _ in range(2))
    assert torch.equal(torch.cat([first, second]), Box([0.0], [1.0]).sample(6))


@given(SIDES, st.data())
def test_a_box_contains_what_lies_between_its_corners(sides, data):
    found = box(sides)
    near = [st.sampled_from([low, high, (low + high) / 2, low - 1, high + 1, inf, -inf, nan]) for low, high in sides]
    points = data.draw(st.lists(st.tuples(*near), min_size=1, max_size=5))
    wanted = [all(low <= x <= high for x, (low, high) in zip(point, sides, strict=True)) for point in points]
    inside = found.contains(torch.tensor(points, dtype=torch.float64))
    assert inside.tolist() == wanted
    assert found.contains(torch.tensor([points], dtype=torch.float64)).shape == (1, len(points))


@given(SIDES, st.floats(0, 1e6))
def test_an_enlarged_box_has_every_face_further_out(sides, margin):
    found = box(sides).enlarged(margin)
    assert found.low.tolist() == [low - margin for low, _ in sides]
    assert found.high.tolist() == [high + margin for _, high in sides]


@given(SIDES, SIDES)
def test_a_product_has_the_coordinates_of_one_and_then_of_the_other(first, second):
    found, wanted = box(first).product(box(second)), box(first + second)
    assert torch.equal(found.low, wanted.low)
    assert torch.equal(found.high, wanted.high)


@given(SIDES, st.data())
def test_a_side_without_length_is_refused(sides, data):
    j = data.draw(st.integers(0, len(sides) - 1))
    low, high = sides[j]
    sides[j] = data.draw(st.sampled_from([(high, low), (low, low), (low, inf), (-inf, high), (nan, high), (low, nan)]))
    with pytest.raises(ValueError, match="low must be below high in every coordinate, got "):
        box(sides)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("low", "high", "shapes"),
    [
        ([], [], r"\(0,\), \(0,\)"),
        ([0.0], [1.0, 2.0], r"\(1,\), \(2,\)"),
        ([[0.0]], [[1.0]], r"\(1, 1\), \(1, 1\)"),
        (0.0, 1.0, r"\(\), \(\)"),
    ],
)
def test_corners_that_are_no_vectors_of_one_width(low, high, shapes):
    with pytest.raises(ValueError, match=f"^low and high must be vectors of one width, got {shapes}$"):
        Box(low, high)


@given(SIDES, st.floats(-1e7, -1e-6))
def test_a_box_made_too_small_is_none(sides, margin):
    assume(any(low - margin >= high + margin for low, high in sides))
    with pytest.raises(ValueError, match="low must be below high"):
        box(sides).enlarged(margin)
