"""Definition 4.1 and its fast path."""

import itertools
import re
from fractions import Fraction

import numpy as np
import pytest
from exact_nets import INTEGERS, RATIONALS, dense, one_hot, rnns, runs
from hypothesis import given, settings
from hypothesis import strategies as st

from fhx.exact import Matrix, SimpleRNN

THIRD = Fraction(1, 3)


def make(**changes):
    fields = {"W": [[1, 0], [1, -1]], "U": [[1, 0], [0, 1]], "b": [0, -1], "h0": [1, 0], "activation": "relu"}
    return SimpleRNN(**(fields | changes))


def agree(rnn, word):
    inputs = [one_hot(symbol, rnn.input_size) for symbol in word]
    states = list(rnn.run(word))
    assert dense(states[0], rnn.units) == rnn.h0
    assert tuple(dense(state, rnn.units) for state in states[1:]) == tuple(rnn.reference_states(inputs))
    assert all(value != 0 for state in states for value in state.values())


@settings(max_examples=150)
@given(runs(INTEGERS))
def test_the_fast_path_is_the_definition_on_integers(run):
    rnn, word = run
    assert rnn.is_integer
    agree(rnn, word)
    assert all(type(value) is int for state in rnn.run(word) for value in state.values())


@settings(max_examples=150)
@given(runs(RATIONALS))
def test_the_fast_path_is_the_definition_on_rationals(run):
    agree(*run)


@settings(max_examples=60)
@given(runs())
def test_a_step_is_one_of_a_run(run):
    rnn, word = run
    states = list(rnn.run(word))
    for before, symbol, after in zip(states, word, states[1:], strict=False):
        assert rnn.step(before, symbol) == after


@settings(max_examples=60)
@given(runs())
def test_scaled_states_are_in_lowest_terms(run):
    rnn, word = run
    for (numerators, denominator), state in zip(rnn.run_scaled(word), rnn.run(word), strict=True):
        assert {i: Fraction(n, denominator) for i, n in numerators.items()} == state
        assert np.gcd.reduce([denominator, *numerators.values()], dtype=object) == 1


def test_by_hand():
    """A unit that counts symbols 0, and one that is on where the count of before is at least 2 and symbol 1 comes."""
    rnn = make()
    assert tuple(rnn.reference_states([(1, 0), (0, 1), (1, 0)])) == ((2, 0), (2, 2), (3, 0))
    assert list(rnn.run([0, 1, 0])) == [{0: 1}, {0: 2}, {0: 2, 1: 2}, {0: 3}]
    assert tuple(make(activation="slu").reference_states([(1, 0), (0, 1)])) == ((1, 0), (1, 1))


def test_slu_is_relu_cut_at_one():
    for h0, after in ((-2, 0), (THIRD, THIRD), (1, 1), (2, 1)):
        rnn = SimpleRNN([[1]], [[0]], [0], [h0], "slu")
        assert tuple(rnn.reference_states([(0,)])) == ((after,),)
        assert list(rnn.run([0]))[1] == ({0: after} if after else {})


def test_inputs_of_the_definition_are_any_vectors():
    assert tuple(make().reference_states([(THIRD, 2)])) == ((1 + THIRD, 2),)
    assert tuple(make().reference_states([])) == ()
    assert all(type(value) is Fraction for value in next(make().reference_states([(1, 0)])))


def test_numbers_of_thousands_of_digits():
    """A rational that takes one digit in base 3 a step, and gives them back by the pops of the second half."""
    push_and_pop = SimpleRNN([[THIRD, 0], [0, 3]], [[0], [0]], [Fraction(2, 3), 0], [0, Fraction(1, 3**4000)], "relu")
    *_, last = push_and_pop.run([None] * 4000)
    assert last == {0: 1 - Fraction(1, 3**4000), 1: 1}
    numerators, denominator = list(push_and_pop.run_scaled([None] * 4000))[-1]
    assert denominator == 3**4000
    assert numerators[1] == 3**4000


def test_a_run_is_lazy():
    rnn = make()
    states = rnn.run(itertools.repeat(0))
    assert [state[0] for state in itertools.islice(states, 4)] == [1, 2, 3, 4]


def test_is_integer():
    assert make().is_integer
    for name, value in (
        ("W", [[THIRD, 0], [0, 0]]),
        ("U", [[0, 0], [0, THIRD]]),
        ("b", [0, THIRD]),
        ("h0", [THIRD, 0]),
    ):
        assert not make(**{name: value}).is_integer


def test_names_and_sizes():
    rnn = make(U=[[1, 0, 0], [0, 0, 1]])
    assert (rnn.units, rnn.input_size, rnn.unit_names) == (2, 3, ("u0", "u1"))
    assert make(unit_names=["count", "late"]).unit_names == ("count", "late")
    assert make(W=Matrix.of([[1, 0], [1, -1]]), b=np.array([0, -1])) == make()
    assert len({make(), make(), make(b=[0, 0])}) == 2


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"W": [[1, 0, 0], [0, 1, 0]]}, "W must be square"),
        ({"U": [[1, 0]]}, "U has 1 rows, but W has 2"),
        ({"b": [1]}, "b has 1 entries, but 2"),
        ({"h0": [1, 2, 3]}, "h0 has 3 entries, but 2"),
        ({"activation": "tanh"}, "activation must be one of 'relu', 'slu', got 'tanh'"),
        ({"unit_names": ["a"]}, "1 names of units"),
        ({"unit_names": ["a", "a"]}, "two units are called 'a'"),
    ],
)
def test_what_does_not_fit(changes, message):
    with pytest.raises(ValueError, match=message):
        make(**changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"W": [[1, 0], [0, 0.5]]}, "W[1, 1] is the float 0.5"),
        ({"U": [[1, False], [0, 0]]}, "U[0, 1] is the bool False"),
        ({"b": [0, np.float32(2)]}, "b[1] is the float32 2.0"),
        ({"h0": [1.0, 0]}, "h0[0] is the float 1.0"),
    ],
)
def test_what_is_not_exact(changes, message):
    with pytest.raises(TypeError, match=re.escape(message)):
        make(**changes)


def test_bad_inputs():
    for symbol in (2, -1, "a", [0]):
        with pytest.raises(ValueError, match="is neither a column of U, which has 2, nor None"):
            list(make().run([0, symbol]))
    with pytest.raises(ValueError, match="x_2 has 3 entries, but 2"):
        list(make().reference_states([(1, 0), (1, 0, 0)]))
    with pytest.raises(TypeError, match=re.escape("x_1[1] is the float 0.0")):
        list(make().reference_states([(1, 0.0)]))


@given(rnns(), st.randoms())
def test_the_order_of_units_does_not_matter(rnn, random):
    order = list(range(rnn.units))
    random.shuffle(order)
    W, U = rnn.W.dense(), rnn.U.dense()
    shuffled = SimpleRNN(
        [[W[i][j] for j in order] for i in order],
        [U[i] for i in order],
        [rnn.b[i] for i in order],
        [rnn.h0[i] for i in order],
        rnn.activation,
    )
    *_, one = rnn.run([0, None, 0])
    *_, other = shuffled.run([0, None, 0])
    assert other == {order.index(i): value for i, value in one.items()}
