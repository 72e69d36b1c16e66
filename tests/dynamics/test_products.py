"""Products beyond the range of floats, against the same products of Python's integers."""

from fractions import Fraction
from itertools import combinations
from math import cos, log, sin, sqrt

import mpmath
import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

import fhx
from fhx.dynamics import jacobians, log_product, log_singular_values, product_norms
from fhx.dynamics.products import _tournament, _turn, _unit_rows, natural_log, rescaled

DOUBLE = {"dtype": torch.float64, "device": fhx.device()}
EPS = torch.finfo(torch.float64).eps


def integer_matrices(time, width, low, seed):
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(low, 4, (time, 1, width, width), generator=generator)


def exact_product(factors):
    """By Python's integers, which have no range to leave."""
    product = torch.eye(factors.shape[-1], dtype=torch.int64).tolist()
    for factor in factors[:, 0].tolist():
        product = [[sum(a * b for a, b in zip(row, column)) for column in zip(*product)] for row in factor]  # noqa: B905
    return product


@settings(max_examples=10)
@given(st.integers(1, 4), st.sampled_from([0, 1, 7, 900]), st.integers(0, 2**32))
def test_entries_beyond_the_range_of_floats(width, time, seed):
    """Entries are not negative, so each step rounds each entry by a factor of at most 1 + (width + 1) eps."""
    factors = integer_matrices(time, width, 0, seed)
    exact = exact_product(factors)
    matrix, scale = log_product(factors.to(**DOUBLE))
    for i in range(width):
        for j in range(width):
            if exact[i][j] == 0:
                assert matrix[0, i, j] == 0
            else:
                logarithm = log(matrix[0, i, j]) + scale.item()
                rounding = (time + 2) * (width + 1) * EPS + 4 * EPS * (1 + abs(scale.item()))
                assert abs(logarithm - log(exact[i][j])) <= rounding
    assert matrix.max() < 1
    assert matrix.max() >= 0.5 or not matrix.any()


def test_tiny_products():
    matrix, scale = log_product(torch.full((500, 2, 1, 1), 1e-300, **DOUBLE))
    torch.testing.assert_close(matrix[:, 0, 0].log() + scale, torch.full((2,), 500 * log(1e-300), **DOUBLE))


@settings(max_examples=8)
@given(st.integers(1, 4), st.sampled_from([1, 5, 60, 300]), st.integers(0, 2**32))
@example(1, 300, 0)
def test_singular_values_beyond_the_range_of_floats(width, time, seed):
    """mpmath with more digits than the product's condition takes away."""
    factors = integer_matrices(time, width, -3, seed)
    factors = factors + 14 * torch.eye(width, dtype=torch.int64)  # rows dominated by the diagonal: far from singular
    factors = factors.to(**DOUBLE)
    ours = log_singular_values(factors)[0].tolist()
    with mpmath.workdps(60 + 2 * time):
        product = mpmath.matrix(exact_product(factors.long().cpu()))
        squares = mpmath.eigsy(product.T * product, eigvals_only=True)
        theirs = sorted((float(mpmath.log(square) / 2) for square in squares), reverse=True)
    of_factors = 10 * width**2 * EPS * torch.linalg.cond(factors[:, 0]).sum().item()
    sizes = torch.linalg.matrix_norm(factors[:, 0], 2).log().cumsum(0)  # no partial sum of logarithms is larger
    of_sums = EPS * sizes.sum().item()  # each is rounded twice, by half of EPS times its size
    assert ours == pytest.approx(theirs, rel=0, abs=of_factors + of_sums)
    of_scale = 2 * EPS * sizes[-1].item()  # log(2), its multiple, and the sum with the logarithm of the norm
    assert product_norms(factors)[0].item() == pytest.approx(theirs[0], rel=0, abs=of_factors + of_scale)


def test_a_symmetric_matrix_two_thousand_times():
    """Fibonacci's matrix: singular values of its powers are powers of the golden ratio, here e^(+-1925)."""
    fibonacci = torch.tensor([[2.0, 1.0], [1.0, 1.0]], **DOUBLE).expand(2000, 1, 2, 2)
    golden = 2 * log((1 + sqrt(5)) / 2)
    found = log_singular_values(fibonacci)[0]
    torch.testing.assert_close(found, 2000 * torch.tensor([golden, -golden], **DOUBLE), rtol=1e-13, atol=0)
    norms = product_norms(fibonacci)[:, 0]
    torch.testing.assert_close(norms, golden * torch.arange(2000, -1, -1, **DOUBLE), rtol=1e-12, atol=1e-12)


def test_each_product_of_a_batch_has_its_own_scale():
    """Powers of two from 2^1100 down, beside powers of a half."""
    factors = torch.tensor([2.0, 0.5], **DOUBLE)[:, None, None] * torch.eye(2, **DOUBLE).expand(1100, 2, 2, 2)
    powers = log(2) * torch.arange(1100, -1, -1, **DOUBLE)[:, None] * torch.tensor([1.0, -1.0], **DOUBLE)
    matrix, scale = log_product(factors)
    torch.testing.assert_close(matrix[:, 0, 0].log() + scale, powers[0])
    torch.testing.assert_close(product_norms(factors), powers)
    torch.testing.assert_close(log_singular_values(factors), powers[0, :, None].expand(2, 2))


def test_norms_are_of_the_last_factors():
    factors = torch.randn(5, 3, 4, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    norms = product_norms(factors)
    assert norms.shape == (6, 3)
    for t in range(6):
        product = torch.eye(4, dtype=torch.float64)
        for factor in factors[t:]:
            product = factor @ product
        torch.testing.assert_close(norms[t], torch.linalg.matrix_norm(product, 2).log().expand(3))


@pytest.mark.parametrize("gap", [0.0, 0.1, 3.0, 40.0, 1000.0])
@pytest.mark.parametrize("angle", [0.2, 1.0, 1.5, 2.9])
def test_one_rotation_makes_two_rows_orthogonal(gap, angle):
    rows = torch.tensor([[[1.0, 0.0], [cos(angle), sin(angle)]]], **DOUBLE)
    large, small = torch.tensor([[[0]], [[1]]], device=rows.device)
    turned, _ = _turn(rows, torch.tensor([[0.0, -gap]], **DOUBLE), large, small)
    torch.testing.assert_close(turned @ turned.mT, torch.eye(2, **DOUBLE)[None], rtol=0, atol=20 * EPS)


@settings(max_examples=25)
@given(st.integers(2, 6), st.integers(1, 5), st.integers(1, 3), st.integers(0, 2**32))
def test_a_rotation_keeps_what_the_rows_span(count, columns, batch, seed):
    """The Gram matrix of the columns; and all rows that are not turned."""
    generator = np.random.default_rng(seed)
    places = np.stack([generator.permutation(count)[: count // 2 * 2] for _ in range(batch)])
    large, small = places[:, : count // 2], places[:, count // 2 :]
    unit = generator.normal(size=(batch, count, columns))
    unit /= np.linalg.norm(unit, axis=-1, keepdims=True)
    logs = generator.normal(size=(batch, count))
    each = np.arange(batch)[:, None]
    swap = logs[each, large] < logs[each, small]
    large, small = np.where(swap, small, large), np.where(swap, large, small)
    sides = (torch.from_numpy(side) for side in (large, small))
    turned, sizes = (x.numpy() for x in _turn(torch.from_numpy(unit), torch.from_numpy(logs), *sides))
    before, after = (np.exp(s)[..., None] * x for s, x in ((logs, unit), (sizes, turned)))
    np.testing.assert_allclose(after.swapaxes(1, 2) @ after, before.swapaxes(1, 2) @ before, rtol=0, atol=1e-12)
    assert np.abs((after[each, large] * after[each, small]).sum(-1)).max() < 1e-12
    assert (sizes[each, large] >= sizes[each, small]).all()
    for k in range(batch):
        still = np.setdiff1d(np.arange(count), places[k])
        assert np.array_equal(turned[k, still], unit[k, still])


@pytest.mark.parametrize("width", range(10))
def test_in_a_tournament_all_meet_once_and_nobody_twice_in_a_round(width):
    rounds = _tournament(width)
    assert all(len({player for pair in pairs for player in pair}) == 2 * len(pairs) for pairs in rounds)
    met = [tuple(sorted(pair)) for pairs in rounds for pair in pairs]
    assert sorted(met) == list(combinations(range(width), 2))
    assert len(rounds) == (width - 1 + width % 2 if width > 1 else 0)


@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=6, max_size=6),
    st.sampled_from([(-1,), (-2,), (-2, -1)]),
)
@example([5e-324, -5e-324, 0.0, 0.0, 0.0, 0.0], (-1,))
@example([1.7e308, -1.79e308, 1.0, 2.0, 5e-324, 0.5], (-2,))
def test_numbers_are_scaled_by_powers_of_two(numbers, dims):
    x = torch.tensor(numbers, **DOUBLE).view(1, 2, 3)
    scaled, exponent = rescaled(x, dims)
    largest = x.abs().amax(dims, keepdim=True)
    assert exponent.shape == largest.shape
    top = scaled.abs().amax(dims, keepdim=True)
    assert ((top >= 0.5) & (top < 1) | (largest == 0)).all()
    exponents = exponent.expand(1, 2, 3).flatten().tolist()
    for number, ours, e in zip(numbers, scaled.flatten().tolist(), exponents, strict=True):
        if abs(ours) >= 2.0**-1022:  # what is less has fewer digits
            assert Fraction(ours) * Fraction(2) ** e == Fraction(number)
    logs = natural_log(exponent, x)
    assert logs.dtype == torch.float64
    torch.testing.assert_close(logs, exponent.double() * log(2), rtol=1e-15, atol=0)
    assert natural_log(exponent, x.float()).dtype == torch.float32


def test_rows_of_norm_one_and_their_logarithms():
    rows = torch.tensor([[[3.0, 4.0], [0.0, 0.0], [0.0, -2.0]]], **DOUBLE)
    unit, logs = _unit_rows(rows, torch.tensor([[1.0, 2.0, -torch.inf]], **DOUBLE))
    torch.testing.assert_close(unit, torch.tensor([[[0.6, 0.8], [0.0, 0.0], [0.0, -1.0]]], **DOUBLE))
    torch.testing.assert_close(logs, torch.tensor([[log(5) + 1, -torch.inf, -torch.inf]], **DOUBLE))


@settings(max_examples=15)
@given(st.integers(1, 5), st.integers(0, 4), st.integers(1, 3), st.integers(0, 2**32))
def test_products_of_a_few_are_those_of_numpy(width, time, batch, seed):
    factors = np.random.default_rng(seed).normal(size=(time, batch, width, width))
    tensor = torch.from_numpy(factors)
    values = log_singular_values(tensor)
    matrix, scale = log_product(tensor)
    assert (values.shape, matrix.shape, scale.shape) == ((batch, width), (batch, width, width), (batch,))
    norms = product_norms(tensor)
    for b in range(batch):
        products = [np.linalg.multi_dot([np.eye(width), *factors[t:, b][::-1], np.eye(width)]) for t in range(time + 1)]
        size = np.prod([np.linalg.cond(factor) for factor in factors[:, b]])
        np.testing.assert_allclose(
            matrix[b] * scale[b].exp(), products[0], rtol=0, atol=1e-13 * abs(products[0]).max() * size
        )
        wanted = np.log(np.linalg.svd(products[0], compute_uv=False))
        np.testing.assert_allclose(values[b], wanted, rtol=0, atol=1e-13 * size)
        wanted = [np.log(np.linalg.norm(product, 2)) for product in products]
        np.testing.assert_allclose(norms[:, b], wanted, rtol=0, atol=1e-13 * size)


@pytest.mark.parametrize("width", [1, 2, 5, 6])
def test_equal_singular_values(width):
    """Products of orthogonal matrices."""
    normal = torch.randn(50, 2, width, width, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    found = log_singular_values(3 * torch.linalg.qr(normal)[0])
    torch.testing.assert_close(found, torch.full_like(found, 50 * log(3)), rtol=1e-13, atol=1e-13)


def test_a_silent_relu_net_is_minus_infinity_and_never_nan():
    def silent(h, x):
        return torch.relu(h - x)

    inputs = torch.tensor([0.0, 0.0, 9.0, 0.0], **DOUBLE)[:, None, None]
    steps = jacobians(silent, inputs, torch.ones(3, **DOUBLE))
    matrix, scale = log_product(steps)
    assert not matrix.any()
    assert scale.tolist() == [-torch.inf]
    assert log_singular_values(steps).tolist() == [[-torch.inf] * 3]
    assert product_norms(steps)[:, 0].tolist() == [-torch.inf] * 4 + [0.0]


def test_one_direction_dies():
    steps = torch.diag(torch.tensor([2.0, 0.0, 3.0], **DOUBLE)).expand(4, 1, 3, 3)
    torch.testing.assert_close(
        log_singular_values(steps)[0], torch.tensor([4 * log(3), 4 * log(2), -torch.inf], **DOUBLE)
    )


def test_a_product_of_a_batch_that_is_zero_leaves_the_others():
    steps = torch.stack([torch.zeros(2, 2, **DOUBLE), torch.diag(torch.tensor([2.0, 0.0], **DOUBLE))])
    product, logs = log_product(steps.expand(3, 2, 2, 2))
    assert logs.tolist() == [-torch.inf, pytest.approx(4 * log(2))]  # the largest entry is 1/2
    assert product.tolist() == [[[0.0, 0.0], [0.0, 0.0]], [[0.5, 0.0], [0.0, 0.0]]]


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("function", [log_product, product_norms, log_singular_values])
def test_matrices_must_be_square(function):
    with pytest.raises(ValueError, match="must be square, got 2 x 3"):
        function(torch.zeros(4, 1, 2, 3))
