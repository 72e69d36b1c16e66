"""Intervals: Student's table, coverage, and the text they print."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from fhx.training import Interval, band, interval, proportion

numbers = st.floats(-1e3, 1e3).map(lambda x: round(x, 3))


def test_against_the_table_of_students_t():
    """1, 2, 3, 4, 5: mean 3, s = sqrt(2.5), and t = 2.776 for four degrees of freedom."""
    found = interval([1, 2, 3, 4, 5])
    assert (found.mean, found.n) == (3, 5)
    assert found.half_width == pytest.approx(2.776 * (2.5 / 5) ** 0.5, rel=1e-3)
    assert str(found) == "3.0 ± 2.0 (n = 5)"
    assert 3.0 in found
    assert 5.1 not in found


@settings(deadline=None, max_examples=50)
@given(st.lists(numbers, min_size=2, max_size=12), st.floats(0.5, 0.999))
def test_agrees_with_scipys_own_interval(values, level):
    found = interval(values, level)
    if len(set(values)) > 1:
        low, high = stats.t.interval(level, len(values) - 1, np.mean(values), stats.sem(values))
        assert (found.low, found.high) == pytest.approx((low, high), abs=1e-7)
    else:
        assert found.low == pytest.approx(found.high)


def test_covers_the_true_mean_as_often_as_it_says():
    draws = np.random.default_rng(0).normal(3, 2, size=(5, 4000))
    curve = band(draws, 0.9)
    covered = ((curve.low < 3) & (curve.high > 3)).mean()
    assert abs(covered - 0.9) < 0.02


def test_a_band_is_an_interval_at_every_point_and_leaves_out_what_is_not_finite():
    curves = np.array([[1.0, 2.0, np.nan, np.nan], [2.0, 4.0, np.nan, 1.0], [4.0, 9.0, np.inf, 3.0]])
    curve = band(curves)
    assert curve.n.tolist() == [3, 3, 0, 2]
    for point in (0, 1):
        one = interval(curves[:, point])
        assert (curve.mean[point], curve.low[point], curve.high[point]) == pytest.approx((one.mean, one.low, one.high))
    assert np.isnan(curve.mean[2])
    assert curve.mean[3] == 2


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ((0.912, 0.0127), "0.912 ± 0.013 (n = 5)"),
        ((0.912, 0.00031), "0.91200 ± 0.00031 (n = 5)"),
        ((123.4, 17.2), "123 ± 17 (n = 5)"),
        ((1.0, 0.0), "1.000 ± 0.000 (n = 5)"),
    ],
)
def test_prints_two_significant_digits_of_the_spread(values, text):
    mean, half = values
    assert str(Interval(mean, mean - half, mean + half, 5)) == text


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [(0.1, 0.3, "worse"), (-0.3, -0.1, "better"), (-0.1, 0.3, "open"), (0.0, 0.3, "open"), (-0.3, 0.0, "open")],
)
def test_a_difference_is_told_from_0_only_by_an_interval_without_it(low, high, verdict):
    found = Interval((low + high) / 2, low, high, 5)
    assert found.verdict == verdict
    assert (0 in found) == (verdict == "open")


def test_a_format_fixes_the_decimals():
    assert f"{Interval(0.5, 0.4, 0.6, 3):.1f}" == "0.5 ± 0.1 (n = 3)"


@pytest.mark.parametrize(
    ("values", "level", "culprit"),
    [
        ([], 0.95, "at least 2 values.*got 0"),
        ([0.3], 0.95, "at least 2 values.*got 1"),
        ([0.3, float("nan")], 0.95, "finite values; got nan"),
        ([0.3, 0.4], 1.0, "strictly between 0 and 1; got 1.0"),
        ([0.3, 0.4], 95, "strictly between 0 and 1; got 95"),
        ([[0.3, 0.4]], 0.95, r"shape \(1, 2\)"),
    ],
)
def test_bad_values_are_named(values, level, culprit):
    with pytest.raises(ValueError, match=culprit):
        interval(values, level)


def test_a_band_needs_two_curves():
    with pytest.raises(ValueError, match=r"at least 2 curves.*\(1, 2\)"):
        band([[1.0, 2.0]])


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    # ends with a closed form: all or none of n gives (a/2)^(1/n); 1 of 2 gives 1 - sqrt(1 - a/2) and sqrt(1 - a/2)
    [
        (10, 10, 0.025**0.1, 1),
        (0, 10, 0, 1 - 0.025**0.1),
        (0, 1, 0, 0.975),
        (1, 2, 1 - 0.975**0.5, 0.975**0.5),
        (5, 10, 0.1871, 0.8129),
    ],
)
def test_a_success_rate_against_closed_forms_and_a_table(successes, trials, low, high):
    found = proportion(successes, trials)
    assert (found.low, found.high) == pytest.approx((low, high), abs=5e-5)
    assert found.rate == successes / trials
    assert low + 1e-4 in found
    assert found.high + 0.01 not in found


@settings(deadline=None, max_examples=50)
@given(st.integers(1, 40), st.data(), st.floats(0.5, 0.99))
def test_at_an_end_of_the_interval_the_successes_are_as_unlikely_as_the_level_says(trials, data, level):
    """The tails of the binomial distribution, summed: an independent way to the definition."""
    successes = data.draw(st.integers(0, trials))
    found = proportion(successes, trials, level)

    def mass(p, counts):
        return sum(math.comb(trials, k) * p**k * (1 - p) ** (trials - k) for k in counts)

    if successes > 0:
        assert mass(found.low, range(successes, trials + 1)) == pytest.approx((1 - level) / 2, rel=1e-4)
    if successes < trials:
        assert mass(found.high, range(successes + 1)) == pytest.approx((1 - level) / 2, rel=1e-4)


def test_a_success_rate_prints_its_counts():
    assert str(proportion(9, 10)) == "9 of 10 (0.55 to 1.00)"


@pytest.mark.parametrize(
    ("arguments", "culprit"),
    [
        ((3, 2), "3 of 2"),
        ((-1, 2), "-1 of 2"),
        ((0, 0), "0 of 0"),
        ((1.5, 3), "1.5 of 3"),
        ((1, 3.5), "1 of 3.5"),
        ((1, 2, 95), "strictly between 0 and 1; got 95"),
    ],
)
def test_impossible_counts_are_named(arguments, culprit):
    with pytest.raises(ValueError, match=culprit):
        proportion(*arguments)
