"""Bounds for nets of any weights: counted on lines and planes, and on random nets, and the machines they speak of."""

from itertools import product
from math import log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fhx.compile import (
    affine_patterns,
    dfa_to_narrow_rnn,
    grid_units,
    lookup_dfa,
    lookup_units,
    narrow_steps,
    real_time_limit,
    verdict_patterns,
)
from fhx.machines import all_words

UNITS = {"relu": (lambda z: np.maximum(z, 0), 1), "slu": (lambda z: np.clip(z, 0, 1), 2)}


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 6), st.integers(1, 2), st.integers(0, 2**32))
def test_signs_of_affine_functions_are_as_many_as_said(functions, dimension, seed):
    rng = np.random.default_rng(seed)
    W, b = rng.standard_normal((functions, dimension)), rng.standard_normal(functions)
    reach = 200.0 ** rng.uniform(-1, 1, (40_000, 1))
    points = reach * rng.standard_normal((40_000, dimension))
    seen = {tuple(row) for row in (points @ W.T + b > 0).tolist()}
    assert len(seen) <= affine_patterns(functions, dimension)
    if dimension == 1:
        assert affine_patterns(functions, 1) == functions + 1


def test_lines_in_general_position_reach_the_bound():
    lines = np.array([[np.cos(t), np.sin(t), 1.0] for t in np.linspace(0.1, 3, 5)])  # tangents of a circle
    grid = np.stack(np.meshgrid(np.linspace(-40, 40, 601), np.linspace(-40, 40, 601)), -1).reshape(-1, 2)
    seen = np.unique(grid @ lines[:, :2].T + lines[:, 2] > 0, axis=0)
    assert len(seen) == affine_patterns(5, 2) == 16


@pytest.mark.claim("E18")
@settings(deadline=None, max_examples=40)
@given(st.integers(1, 2), st.integers(0, 3), st.integers(1, 2), st.sampled_from(sorted(UNITS)), st.integers(0, 2**32))
def test_no_net_tells_more_sets_of_words_apart(units, length, k, activation, seed):
    rng, (sigma, q) = np.random.default_rng(seed), UNITS[activation]
    W, U, w = (2 * rng.standard_normal(shape) for shape in ((units, units), (units, 2), units))
    b, c = rng.standard_normal(units), rng.standard_normal()
    h = 10.0 ** rng.uniform(-1, 1.5, (3000, 1)) * rng.standard_normal((3000, units))
    verdicts = []
    for word in product(range(2), repeat=length):
        now = h
        for x in word:
            for step in range(k):
                now = sigma(now @ W.T + b + (U[:, x] if step == 0 else 0))
        verdicts.append(now @ w + c > 0)
    seen = len(np.unique(np.stack(verdicts, 1), axis=0))
    assert seen <= verdict_patterns(units, length, steps_per_symbol=k, breakpoints=q)


def test_a_line_of_thresholds_is_counted_without_slack():
    assert [verdict_patterns(1, n) for n in range(3)] == [2, 3 * 3, 3 * 5 * 5]


@pytest.mark.claim("E18")
@settings(deadline=None, max_examples=30)
@given(st.integers(1, 30), st.integers(1, 3), st.integers(1, 2))
def test_in_real_time_a_net_fails_where_the_sets_are_too_many(units, k, q):
    n = real_time_limit(units, steps_per_symbol=k, breakpoints=q)
    options = {"steps_per_symbol": k, "breakpoints": q}
    assert verdict_patterns(units, n, **options) < 2 ** (2**n)
    assert n == 1 or verdict_patterns(units, n - 1, **options) >= 2 ** (2 ** (n - 1))
    exponent = log2(verdict_patterns(units, n, **options))
    assert exponent <= units * k * (n * (n + 1) / 2 + 3 * n * (1 + log2(q))) + units * (n + 2)  # O(d k n^2)


def test_what_the_universal_nets_cannot_do_in_real_time():
    assert real_time_limit(121) == 14
    assert real_time_limit(88, breakpoints=2) == 14
    assert real_time_limit(10**2, steps_per_symbol=10**3) < 30


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 3), st.data())
def test_a_table_is_looked_up_bit_by_bit(bits, data):
    row = st.lists(st.integers(0, 1), min_size=bits, max_size=bits)
    table = data.draw(st.lists(row, min_size=2**bits, max_size=2**bits))
    dfa = lookup_dfa(table)
    assert len(dfa.states) == 3 * 2**bits
    accepted = {word for word in all_words("01", 2 * bits + 1) if dfa.accepts(word)}
    wanted = {format(u, f"0{bits}b") + "0" * i for u, row in enumerate(table) for i, bit in enumerate(row, 1) if bit}
    assert accepted == wanted


@pytest.mark.claim("E20")
@settings(deadline=None, max_examples=20)
@given(st.integers(1, 9), st.integers(1, 4), st.integers(1, 2))
def test_the_units_of_a_table_are_the_least_that_the_count_allows(bits, k, q):
    def log_families(N):
        P, total = N**2 + 5 * N + 1, 0.0
        functions = [(q * N * 2 ** min((j - 1) // k + 1, bits), j + 1) for j in range(1, 2 * bits * k + 1)]
        for M, degree in [*functions, (bits * 2**bits, 2 * bits * k + 2)]:
            total += min(M, P * log2(4 * np.e * degree * M / P)) if M >= P else M
        return total

    N = lookup_units(bits, steps_per_symbol=k, breakpoints=q)
    assert log_families(N) * (1 + 1e-6) >= bits * 2**bits
    assert N == 1 or log_families(N - 1) < bits * 2**bits


def test_units_grow_with_the_square_root_and_fall_with_the_steps():
    sizes = {bits: lookup_units(bits) for bits in (16, 22, 28)}
    for bits, units in sizes.items():
        assert lookup_units(bits, steps_per_symbol=4) < units <= grid_units(3 * 2**bits, 2)
        assert lookup_units(bits, breakpoints=2) <= units
    assert all(7 < sizes[bits + 6] / sizes[bits] < 8 for bits in (16, 22))  # a bit less than the root of 64
    dfa = lookup_dfa([(0, 1), (1, 1), (0, 0), (1, 0)])
    assert dfa_to_narrow_rnn(dfa).units >= lookup_units(2, steps_per_symbol=narrow_steps(dfa))
    assert lookup_units(20, steps_per_symbol=9 * 2**40) == 1


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: lookup_dfa([(0,), (1,), (0,)]), "2, 4, 8, ... entries, not 3"),
        (lambda: lookup_dfa([()]), "entries, not 1"),
        (lambda: lookup_dfa([(0,), (1, 1)]), r"entry 1 is to be 1 bits, got \(1, 1\)"),
        (lambda: lookup_dfa([(0,), (2,)]), "entry 1 is to be 1 bits"),
        (lambda: lookup_units(0), "bits"),
        (lambda: verdict_patterns(1, -1), "length"),
        (lambda: affine_patterns(-1, 2), "functions"),
        (lambda: real_time_limit(0), "units"),
    ],
)
def test_wrong_arguments_are_named(wrong, message):
    with pytest.raises(ValueError, match=message):
        wrong()
