"""Theorem 4.5: nets to machines, against the nets' definition; where the search ends, and where it need not."""

from fractions import Fraction
from itertools import product
from math import isqrt
from random import Random

import pytest
from compile_strategies import machine
from hypothesis import given, settings
from hypothesis import strategies as st

from fhx.compile import StateExplosionError, dfa_to_rnn, digit_net, explore, rnn_to_dfa, state_bound, step_to_rnn
from fhx.exact import AND, Recognizer, SimpleRNN, Step, slu, variable
from fhx.machines import all_words, divisible_by

weights = st.integers(-3, 3)


@st.composite
def slu_nets(draw):
    """Integer SLU nets that read a and b, and accept by their first unit; h_0 is any vector of integers else."""
    d = draw(st.integers(1, 4))
    W, U = ([[draw(weights) for _ in range(n)] for _ in range(d)] for n in (d, 2))
    h0 = [draw(st.sampled_from([0, 1])), *(draw(weights) for _ in range(d - 1))]
    rnn = SimpleRNN(W, U, [draw(weights) for _ in range(d)], h0, "slu")
    return Recognizer(rnn, [1] + [0] * (d - 1), 0, "ab")


def by_definition(net, word):
    xs = [(1, 0) if symbol == "a" else (0, 1) for symbol in word]
    return [net.rnn.h0, *net.rnn.reference_states(xs)][-1][0] == 1


@pytest.mark.claim("C5")
@settings(max_examples=25)
@given(slu_nets(), st.integers(0, 2**32))
def test_integer_slu_nets_are_machines(net, seed):
    dfa = rnn_to_dfa(net)
    assert len(dfa.states) <= state_bound(net)
    random = Random(seed)
    long = ["".join(random.choices("ab", k=random.randint(9, 60))) for _ in range(10)]
    for word in (*all_words("ab", 4), *long):
        assert dfa.accepts(word) == by_definition(net, word)
    for word in all_words("ab", 8):
        assert dfa.accepts(word) == net.accepts(word)


@settings(max_examples=25)
@given(slu_nets(), st.integers(2, 3))
def test_a_symbol_may_be_several_net_steps(net, k):
    slow = Recognizer(net.rnn, net.w, net.c, "ab", steps_per_symbol=k)
    dfa = rnn_to_dfa(slow)
    for word in all_words("ab", 4):
        xs = [x for symbol in word for x in ((1, 0) if symbol == "a" else (0, 1), *[(0, 0)] * (k - 1))]
        assert dfa.accepts(word) == ([net.rnn.h0, *net.rnn.reference_states(xs)][-1][0] == 1)


@pytest.mark.claim("C5")
def test_the_bound_is_met_by_two_units_and_by_no_fewer():
    r"""Five states of two units, all needed: the four of {0, 1}^2, and a start outside.

    One unit cannot: a readout that is 0 or 1 at 0, at 1 and at a third point of a line is constant, so all three states
    are one. By exhaustive search these weights are the smallest; one symbol is enough.
    """
    net = Recognizer(SimpleRNN([[-1, -1], [1, -1]], [[0], [0]], [1, 0], [0, -1], "slu"), [1, 0], 0, "a")
    dfa = rnn_to_dfa(net)
    assert dfa.states == ("u1=-1", "u0 u1", "0", "u0", "u1")
    assert len(dfa.minimize().states) == 5 == state_bound(net)
    for start, w, c in product([-2, -1, 2, 3], [-2, -1, 0, 1, 2], [-1, 0, 1, 2]):
        if {c, w + c, w * start + c} <= {0, 1}:
            assert w == 0


def test_state_bound_counts_a_start_outside():
    def net(h0, activation="slu", W=1):
        return Recognizer(SimpleRNN([[W]], [[0]], [0], [h0], activation), [0], 0, "a")

    assert [state_bound(net(h0)) for h0 in (0, 1, 2, -1)] == [2, 2, 3, 3]
    for other in (net(Fraction(1, 2)), net(1, "relu"), net(1, W=Fraction(1, 2))):
        with pytest.raises(ValueError, match="SLUs"):
            state_bound(other)


def test_labels_name_active_units_and_values():
    rnn = SimpleRNN([[0, 0], [0, 0]], [[2, 0], [1, 1]], [0, 0], [0, Fraction(1, 2)], "relu", ("n", "b"))
    assert rnn_to_dfa(Recognizer(rnn, [0, 0], 0, "ab")).states == ("b=1/2", "n=2 b", "b")
    zero = SimpleRNN([[0]], [[0]], [0], [0], "relu")
    assert rnn_to_dfa(Recognizer(zero, [1], 0, "a")).states == ("0",)
    alike = SimpleRNN([[0, 0], [1, 0]], [[0], [0]], [0, 0], [2, 0], "relu", ("u=2", "u"))
    assert len(rnn_to_dfa(Recognizer(alike, [0, 0], 0, "a")).states) == 3


def test_a_counter_explodes_and_the_error_says_how():
    counter = Recognizer(SimpleRNN([[1]], [[1, 0]], [0], [0], "relu"), [0], 0, "ab")
    told = r"more than 6 states.*6 symbols 'aaaaaa'.*number, 6, has 3 bits"
    with pytest.raises(StateExplosionError, match=told) as caught:
        rnn_to_dfa(counter, max_states=6)
    assert caught.value.word == "aaaaaa"
    halves = Recognizer(SimpleRNN([[Fraction(1, 2)]], [[0]], [0], [1], "slu"), [0], 0, "a")
    with pytest.raises(StateExplosionError, match=r"number, 1/1024, has 12 bits"):
        rnn_to_dfa(halves, max_states=10)
    with pytest.raises(StateExplosionError, match=r"aaa\.\.\.aaa"):
        rnn_to_dfa(counter, max_states=100)


def test_no_limit_where_the_theorem_holds():
    """A shift register of 6 bits has 64 states; a limit that is given holds all the same."""
    W = [[int(j == i - 1) for j in range(6)] for i in range(6)]
    net = Recognizer(SimpleRNN(W, [[0, 1]] + [[0, 0]] * 5, [0] * 6, [0] * 6, "slu"), [0] * 5 + [1], 0, "01")
    assert len(rnn_to_dfa(net).states) == 64 == state_bound(net)
    with pytest.raises(StateExplosionError):
        rnn_to_dfa(net, max_states=63)
    assert rnn_to_dfa(net, max_states=64) == rnn_to_dfa(net)


def test_an_output_that_decides_nothing_is_named_with_a_shortest_word():
    net = Recognizer(SimpleRNN([[1]], [[1, 0]], [0], [0], "relu"), [1], 0, "ab")
    with pytest.raises(ValueError, match="the output after 'aa' is 2: neither"):
        rnn_to_dfa(net)
    with pytest.raises(ValueError, match="the output after 'ba' is 3: neither"):
        explore(lambda word, symbol: word + symbol, "", "ab", lambda word: 3 if word == "ba" else 0)


def test_explore_takes_any_step_function():
    dfa = explore(lambda r, digit: (2 * r + int(digit)) % 7, 0, "01", lambda r: r == 0)
    assert dfa.equivalent(divisible_by(7))
    assert dfa.states == (0, 1, 2, 3, 4, 5, 6)
    step = Step({"h": AND(variable("x"), 1 - variable("h"))}, ["x"], {"h": 0})

    def after(state, symbol):
        values = {**dict(state), "x": symbol}
        return tuple((name, e.evaluate(values)) for name, e in step.state.items())

    found = explore(after, tuple(step.h0.items()), (0, 1), lambda state: dict(state)["h"])
    assert [found.accepts(word) for word in ((), (1,), (1, 1), (1, 1, 1), (0,))] == [False, True, False, True, False]
    with pytest.raises(StateExplosionError, match="more than 5 states") as caught:
        explore(lambda n, symbol: n + 1, 0, (7,), lambda n: True, max_states=5)
    assert (caught.value.word, caught.value.state, caught.value.max_states) == ((7,) * 5, 5, 5)
    with pytest.raises(ValueError, match=r"after \(7, 7\) is 2"):
        explore(lambda n, symbol: n + 1, 0, (7,), lambda n: n if n == 2 else 0)


@pytest.mark.claim("C5")
def test_squares_in_a_start_have_ever_more_states():
    """Two units, whatever the number of digits; the minimal machine counts to the last square."""
    sizes = []
    for N in (5, 17, 50, 101):
        digits = [int(isqrt(n) ** 2 == n) for n in range(N)]
        net = digit_net(digits)
        assert net.units == 2
        assert list(net.outputs("a" * (N - 1))) == digits[1:]
        assert net.accepts("")
        dfa = rnn_to_dfa(net)
        assert [dfa.accepts("a" * n) for n in range(2 * N)] == [n < N and bool(digits[n]) for n in range(2 * N)]
        sizes.append(len(dfa.minimize().states))
    assert sizes == [isqrt(N - 1) ** 2 + 2 for N in (5, 17, 50, 101)]
    with pytest.raises(ValueError, match="integers"):
        state_bound(net)


@pytest.mark.claim("C5")
@given(st.lists(st.sampled_from([0, 1]), max_size=12))
def test_any_digits_are_read_back(digits):
    net = digit_net(digits)
    states = net.run("a" * (len(digits) + 2))
    tops = [state.get(1, 0) for state in states]
    assert tops == [*digits, 0, 0, 0][: len(tops)]
    assert [net.accepts("a" * n) for n in range(len(digits) + 3)] == [*digits, 0, 0, 0]
    assert net.rnn.W.dense() == ((3, -2), (9, -6))


def test_digits_are_0_or_1():
    with pytest.raises(ValueError, match="digit 1 must be 0 or 1, got 2"):
        digit_net([0, 2])


def test_a_compiled_step_comes_back_as_a_machine():
    """Whether some letter came twice in a row: a step of three layers, and the machine found from its net."""
    last, x, seen = variable("last"), variable("x"), variable("seen")
    same = slu(1 - slu(last - x) - slu(x - last))
    step = Step({"last": x, "seen": slu(seen + same)}, ["x"], {"last": 2, "seen": 0})
    network = step_to_rnn(step, seen, steps_per_symbol=3)
    w = network.V.dense()[0]
    dfa = rnn_to_dfa(Recognizer(network.rnn, w, network.c[0], "1", 3, network.decoder))
    assert [dfa.accepts("1" * n) for n in range(5)] == [False, False, True, True, True]


@pytest.mark.claim("E1")
def test_round_trip_of_a_large_machine():
    dfa = machine(300, 4, seed=1)
    assert rnn_to_dfa(dfa_to_rnn(dfa)).minimize().canonical() == dfa.minimize().canonical()


@pytest.mark.parametrize("most", [0, -1, 2.5])
@pytest.mark.usefixtures("unchecked")
def test_a_number_of_states_is_a_number(most):
    with pytest.raises(ValueError, match=r"^max_states must be an integer of at least 1"):
        rnn_to_dfa(dfa_to_rnn(divisible_by(3)), most)
