"""Turing nets in floats: what is certified holds in any order of summation, and above it words fail."""

from fractions import Fraction
from itertools import islice, takewhile
from random import Random

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from precision_runs import BACK, BASES, FLOATS, STEPS, SWEEPS, dtypes, runs_in_random_order
from turing_strategies import machines_with_words

from fhx.compile import dfa_to_rnn, turing_to_rnn
from fhx.machines import parity
from fhx.precision import certified_steps, error_bounds, exact_height, first_wrong_step, lossy_length


def meaningful(bounds):
    """A bound that says something: the net is far from overflow."""
    return max([bounds.output, *bounds.names.values()]) < 100


@settings(max_examples=30)
@given(machines_with_words(states=4, symbols=4), st.sampled_from(BASES), dtypes())
def test_no_certified_step_is_wrong(machine_and_word, base, dtype):
    tm, word = machine_and_word
    net = turing_to_rnn(tm, base)
    wrong = first_wrong_step(net, word, dtype, STEPS)
    assert certified_steps(net, word, dtype, STEPS) < (wrong or STEPS + 1)


@settings(max_examples=40)
@given(
    machines_with_words(states=3, symbols=3),
    st.sampled_from(BASES),
    dtypes("float16", "float32"),
    st.integers(0, 2**32),
)
def test_no_error_exceeds_its_bound_in_any_order(machine_and_word, base, dtype, seed):
    tm, word = machine_and_word
    net = turing_to_rnn(tm, base)
    bounds = list(takewhile(meaningful, islice(error_bounds(net, word, dtype), STEPS)))
    floats = runs_in_random_order(net, word, dtype, len(bounds), Random(seed))
    for (names, output), state, exact in zip(
        bounds, islice(floats, 1, None), islice(net.run(word), 1, None), strict=False
    ):
        state = {j: Fraction(float(value)) for j, value in state.items()}
        found, true = net.decode(state), net.decode(exact)
        assert all(abs(found[name] - true[name]) <= names.get(name, 0) for name in true)
        assert abs(sum(net.w[j] * (state.get(j, 0) - exact.get(j, 0)) for j in {*state, *exact})) <= output


def test_in_base_4_sweeps_go_on_for_ever_and_in_base_3_they_do_not():
    exact, unstable = (turing_to_rnn(SWEEPS, base) for base in (4, 3))
    word, limit = "abba", 400
    assert first_wrong_step(exact, word, torch.float32, limit) is None
    assert certified_steps(exact, word, torch.float32, limit) == limit
    for dtype in FLOATS:
        assert certified_steps(unstable, word, dtype, limit) < first_wrong_step(unstable, word, dtype, limit) < 60
    assert first_wrong_step(unstable, word, torch.float32, 60) < first_wrong_step(unstable, word, torch.float64, 60)


@pytest.mark.parametrize(("dtype", "certified"), list(zip(FLOATS, (3, 4, 11, 25), strict=True)))
def test_in_base_4_the_first_wrong_word_is_where_it_is_predicted(dtype, certified):
    net = turing_to_rnn(BACK, 4)

    def time(n):
        return 3 * n + 6

    last, first = "a" * certified, "a" * lossy_length(4, dtype)
    assert exact_height(net, dtype) <= certified < len(first) <= certified + 3
    assert certified_steps(net, last, dtype, time(len(last))) == time(len(last))
    assert certified_steps(net, last + "a", dtype, time(len(last) + 1)) < time(len(last) + 1)
    assert first_wrong_step(net, last, dtype, time(len(last))) is None
    assert first_wrong_step(net, first, dtype, time(len(first))) is not None


def test_bad_input():
    net = turing_to_rnn(BACK, 4)
    for function in (certified_steps, first_wrong_step):
        with pytest.raises(ValueError, match="'c' at position 1 is outside"):
            function(net, "ac", torch.float32, 5)
        with pytest.raises(TypeError):
            function(net, "ab", torch.int32, 5)


@pytest.mark.usefixtures("unchecked")
def test_another_net_is_refused():
    net = dfa_to_rnn(parity())
    with pytest.raises(TypeError, match=r"^certified_steps needs a TuringNet, not the Recognizer"):
        certified_steps(net, "01", torch.float32, 9)
    with pytest.raises(TypeError, match=r"^error_bounds needs a TuringNet, not the Recognizer"):
        next(error_bounds(net, "01", torch.float32))
