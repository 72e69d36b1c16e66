"""Sizes: the counting argument by brute force, exact logarithms, and constructions against the lower bound."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fhx.compile import grid_shape, grid_units, language_count, one_hot_units, unit_lower_bound
from fhx.compile.size import _least_exponent
from fhx.machines import DFA

SIZES = [(Q, S) for S in (2, 3, 4, 16) for Q in (1, 2, 3, 10, 100, 1000)]


def family(Q, S):
    """The machines of the counting argument."""
    letters = "abcd"[:S]
    cycle = {(i, "a"): (i + 1) % Q for i in range(Q)}
    if S == 1:
        for bits in product((0, 1), repeat=Q):
            yield DFA(range(Q), letters, cycle, 0, [i for i in range(Q) if bits[i]])
        return
    pairs = [(i, a) for i in range(Q) for a in letters[1:]]
    for targets in product(range(Q), repeat=len(pairs)):
        yield DFA(range(Q), letters, cycle | dict(zip(pairs, targets, strict=True)), 0, [0])


@pytest.mark.parametrize(("Q", "S"), [(1, 1), (2, 1), (3, 1), (5, 1), (1, 2), (2, 2), (3, 2), (4, 2), (2, 3), (2, 4)])
def test_the_family_has_as_many_languages_as_machines(Q, S):
    machines = list(family(Q, S))
    languages = {dfa.minimize().canonical() for dfa in machines}
    assert len(languages) == len(machines) == language_count(Q, S)


@pytest.mark.parametrize(("Q", "S"), [(1, 1), (2, 1), (3, 1), (1, 2), (2, 2)])
def test_there_are_at_least_so_many_languages_among_all_machines(Q, S):
    """Every table and every set of accepting states."""
    letters = "ab"[:S]
    pairs = list(product(range(Q), letters))
    languages = {
        DFA(range(Q), letters, dict(zip(pairs, targets, strict=True)), 0, [q for q in range(Q) if bits[q]])
        .minimize()
        .canonical()
        for targets in product(range(Q), repeat=len(pairs))
        for bits in product((0, 1), repeat=Q)
    }
    assert len(languages) >= language_count(Q, S)


@given(st.integers(1, 40), st.integers(1, 6), st.integers(1, 9))
def test_the_bound_is_the_least_number_of_units_whose_nets_are_enough(Q, S, B):
    def nets(N):
        return (2 * B + 1) ** (N * N + N * S + N + N + N + 1)

    N = unit_lower_bound(Q, S, B)
    assert nets(N) >= language_count(Q, S)
    assert N == 0 or nets(N - 1) < language_count(Q, S)


@given(st.integers(2, 50), st.integers(0, 300), st.integers(-1, 1))
def test_the_least_exponent_is_exact_at_powers_and_beside_them(base, e, beside):
    count = max(1, base**e + beside)
    found = _least_exponent(base, count)
    assert base**found >= count
    assert found == 0 or base ** (found - 1) < count


@pytest.mark.parametrize(("Q", "S"), SIZES)
def test_constructions_stay_above_the_bound_for_their_weights(Q, S):
    assert one_hot_units(Q, S) >= unit_lower_bound(Q, S, 1)
    rows, _ = grid_shape(Q, S)
    assert grid_units(Q, S) >= unit_lower_bound(Q, S, 2 * rows - 2)


@pytest.mark.parametrize("S", [2, 4, 16])
def test_the_grid_is_within_a_constant_factor_of_the_bound(S):
    ratios = []
    for Q in (100, 1000, 10_000):
        rows, _ = grid_shape(Q, S)
        ratios.append(grid_units(Q, S) / unit_lower_bound(Q, S, 2 * rows - 2))
    assert ratios == sorted(ratios, reverse=True)
    assert ratios[-1] < 4


@pytest.mark.parametrize(("Q", "S"), SIZES)
def test_the_grid_has_the_best_number_of_columns(Q, S):
    """Among all numbers of columns, those above the root too; and about 2 sqrt(Q (2 S + 1)) units."""
    sizes = [S * C * (1 + (C > 1)) + -(-Q // C) + C + 2 for C in range(1, Q + 1)]
    assert grid_units(Q, S) == min(sizes)
    assert grid_units(Q, S) <= 2 * (Q * (2 * S + 1)) ** 0.5 + 2 * S + 5


@pytest.mark.parametrize("size", [one_hot_units, grid_units, grid_shape, language_count])
def test_sizes_need_positive_integers(size):
    for bad in (0, -1, 2.0, True):
        with pytest.raises(ValueError, match=r"Q must be"):
            size(bad, 2)
        with pytest.raises(ValueError, match=r"S must be"):
            size(2, bad)
    with pytest.raises(ValueError, match="weight_bound must be"):
        unit_lower_bound(2, 2, 0)
