"""Reals digit by digit: their arithmetic, and runs that look at no more digits than decide."""

from fractions import Fraction
from itertools import count, islice, repeat

import pytest
from exact_nets import RATIONALS, one_hot, rnns
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from fhx.exact import DigitStream, Endless, LazyReal, LazyRun, SimpleRNN, UndecidedError

PATIENCE = 24


def stream(digits, base=3):
    """A number with the given digits, and zeros behind them."""
    return DigitStream(lambda t: digits[t - 1] if t <= len(digits) else 0, base)


def tail(digits, place, base):
    """What lies behind the first digits, as one number."""
    return sum((Fraction(d, base**t) for t, d in enumerate(digits[place:], start=1)), Fraction(0))


def exact(value, digits, base):
    return value.at(tail(digits, value.place, base)) if isinstance(value, LazyReal) else value


@st.composite
def starts(draw):
    """A net, the unit of it that starts from a real, that real's digits and base, and inputs."""
    rnn, base = draw(rnns()), draw(st.integers(2, 5))
    unit = draw(st.integers(0, rnn.units - 1))
    digits = draw(st.lists(st.integers(0, base - 1), max_size=12))
    columns = st.one_of(st.none(), st.integers(0, rnn.input_size - 1))
    return rnn, unit, digits, base, draw(st.lists(columns, max_size=6))


def with_start(rnn, unit, value):
    h0 = [value if j == unit else h for j, h in enumerate(rnn.h0)]
    return SimpleRNN(rnn.W, rnn.U, rnn.b, h0, rnn.activation)


def states_of(run):
    """Its states as far as it decides, and how many digits were looked at by then."""
    found = []
    try:
        for state in run:
            found.append((state, run.digits))
    except UndecidedError:
        pass
    return found


def oracle(rnn, unit, real, word):
    """The definition, in arithmetic with ``LazyReal``."""

    def relu(x):
        return x.relu(PATIENCE) if isinstance(x, LazyReal) else max(x, 0)

    h = [real if j == unit else value for j, value in enumerate(rnn.h0)]
    yield h
    for symbol in word:
        x = one_hot(symbol, rnn.input_size)
        sums = [
            sum(rnn.W.row(i).get(j, 0) * h[j] for j in range(rnn.units))
            + sum(rnn.U.row(i).get(j, 0) * x[j] for j in range(rnn.input_size))
            + rnn.b[i]
            for i in range(rnn.units)
        ]
        h = [relu(e) if rnn.activation == "relu" else relu(e) - relu(relu(e) - 1) for e in sums]
        yield h


@settings(max_examples=120, deadline=None)
@given(starts())
def test_a_run_is_the_definition(start):
    """On a rational start every state is that of the definition, as far as finitely many digits decide it."""
    rnn, unit, digits, base, word = start
    found = states_of(LazyRun(rnn, {unit: stream(digits, base)}, word, PATIENCE))
    rational = with_start(rnn, unit, tail(digits, 0, base))
    wanted = list(rational.run(word))
    for (state, _), values in zip(found, wanted, strict=False):
        held = {i: exact(value, digits, base) for i, value in state.items()}
        assert {i: value for i, value in held.items() if value} == values
    if len(found) <= len(word):  # undecided: only where an argument is next to a kink
        h, symbol = wanted[len(found) - 1], word[len(found) - 1]
        sums = [
            sum(w * h.get(j, 0) for j, w in rnn.W.row(i).items()) + rnn.U.row(i).get(symbol, 0) + rnn.b[i]
            for i in range(rnn.units)
        ]
        assert min(abs(e - kink) for e in sums for kink in (0, 1)) < 6**6 * Fraction(1, base**PATIENCE)


@settings(max_examples=80, deadline=None)
@given(starts())
def test_a_run_is_arithmetic_with_lazy_reals_and_looks_as_often(start):
    rnn, unit, digits, base, word = start
    real = stream(digits, base).lazy()
    found = states_of(LazyRun(rnn, {unit: stream(digits, base)}, word, PATIENCE))
    assume(len(found) == len(word) + 1)
    for (state, looked), h in zip(found, oracle(rnn, unit, real, word), strict=True):
        assert looked == real.digits_read
        for i, value in enumerate(h):
            assert exact(state.get(i, 0), digits, base) == exact(value, digits, base)


@settings(max_examples=80, deadline=None)
@given(starts(), st.lists(st.integers(0, 1), max_size=8))
def test_digits_that_were_not_looked_at_do_not_matter(start, others):
    """Another number with the same digits as far as they were looked at gives the same states, tail for tail."""
    rnn, unit, digits, base, word = start
    found = states_of(LazyRun(rnn, {unit: stream(digits, base)}, word, PATIENCE))
    assume(len(found) == len(word) + 1)
    seen = found[-1][1]
    other = (digits + [0] * seen)[:seen] + others
    rational = list(with_start(rnn, unit, tail(other, 0, base)).run(word))
    for (state, _), values in zip(found, rational, strict=True):
        held = {i: exact(value, other, base) for i, value in state.items()}
        assert {i: value for i, value in held.items() if value} == values


def test_by_hand():
    """top = relu(3z - 1) asks for one digit, relu(3z - 4) and relu(z + 1) for none."""
    net = SimpleRNN(
        [[0, 0, 0, 0], [3, 0, 0, 0], [3, 0, 0, 0], [1, 0, 0, 0]], [[0]] * 4, [0, -1, -4, 1], [0] * 4, "relu"
    )
    run = LazyRun(net, {0: stream([2, 0, 2])}, [None])
    start = next(run)
    assert (start[0].place, start[0].slope, start[0].offset, run.digits) == (0, 1, 0, 0)
    state = next(run)
    assert sorted(state) == [1, 3]
    assert (state[1].slope, state[1].offset, state[1].place, run.digits) == (1, 1, 1, 1)
    assert state[3].bounds() == (Fraction(5, 3), 2)
    assert list(run) == []


def test_arithmetic():
    x = stream([1, 2]).lazy()
    y = 1 - 2 * x
    assert (y.slope, y.offset, x.digits_read) == (-2, 1, 0)
    assert y.bounds() == (-1, 1)
    assert x - x == 0
    assert 0 * x == 0
    assert (x + Fraction(1, 2)).bounds() == (Fraction(1, 2), Fraction(3, 2))
    assert y.relu() == 0  # the second digit tells: 1 - 2 * 5/9 < 0
    assert x.digits_read == 2
    assert x.bounds() == (Fraction(5, 9), Fraction(6, 9))
    assert (x.relu() + y).at(1) == Fraction(3, 9)  # 1 - x, behind the second digit


def test_whole_numbers_stay_ints():
    """Behind the first digit of z = 0.1... in base 3, 3z - 1 is the tail itself."""
    y = (3 * stream([1, 2]).lazy() - 1).relu(max_digits=1)
    assert (y.place, y.slope, y.offset) == (1, 1, 0)
    assert type(y.slope) is type(y.offset) is int


def test_looking_ends():
    """1/2 = 0.111... in base 3: no digit tells whether x - 1/2 is positive; with a closed gate none is needed."""
    half = DigitStream(lambda t: 1, 3)
    x = half.lazy()
    with pytest.raises(UndecidedError, match="7 more digits"):
        (x - Fraction(1, 2)).relu(max_digits=7)
    assert x.digits_read == 7
    assert (x - 1).relu(max_digits=0) == 0
    assert x.digits_read == 7
    net = SimpleRNN([[1]], [[0]], [Fraction(-1, 2)], [0], "relu")
    run = LazyRun(net, {0: half}, [None], max_digits=5)
    next(run)
    with pytest.raises(UndecidedError, match="'u0'"):
        next(run)
    assert run.digits == 5


def test_numbers_longer_than_a_float():
    """u0 pops digit after digit beside u1, which holds 3^-1000."""
    tiny = Fraction(1, 3**1000)
    net = SimpleRNN([[3, 0], [0, 1]], [[0], [0]], [-1, 0], [0, tiny], "relu")
    run = LazyRun(net, {0: stream([1, 2, 1])}, [None] * 2)
    states = [(state[0].slope, state[0].offset, state[1]) for state in run]
    assert states == [(1, 0, tiny), (1, 0, tiny), (1, 1, tiny)]
    assert run.digits == 2


def test_what_is_read_out_is_the_sum_of_weights_times_states():
    net = SimpleRNN([[Fraction(1, 2), 0], [0, 1]], [[0], [1]], [0, 0], [0, 0], "relu")
    run = LazyRun(net, {0: stream([1])}, [0, 0, 0])
    next(run)
    outputs = list(run.read_out([0, Fraction(1, 2)]))
    assert outputs == [Fraction(1, 2), 1, Fraction(3, 2)]
    run = LazyRun(net, {0: stream([1])}, [0])
    assert [value.bounds() for value in run.read_out([4, 1])] == [(0, 4), (1, 3)]


def test_what_is_read_out_of_an_endless_run_is_refused_by_list():
    net = SimpleRNN([[1]], [[1]], [0], [0], "relu")
    run = LazyRun(net, {0: stream([1])}, Endless(repeat(0)))
    for endless in (run, run.read_out([1])):
        with pytest.raises(OverflowError, match="goes on for ever"):
            list(endless)
    assert len(list(islice(run.read_out([1]), 5))) == 5


def test_a_reading_looks_at_no_digit_for_other_units():
    """u1 asks for a digit at each step, and u0 doubles for ever."""
    net = SimpleRNN([[2, 0], [3, 0]], [[0], [0]], [0, -1], [0, 0], "relu")
    run = LazyRun(net, {0: stream([1, 2])}, [None] * 3)
    outputs = run.read_out([Fraction(1, 2), 0])
    assert [(value.bounds(), run.digits) for value in outputs] == [
        ((0, Fraction(1, 2)), 0),
        ((0, 1), 0),
        ((Fraction(2, 3), Fraction(4, 3)), 1),
        ((Fraction(4, 3), Fraction(8, 3)), 1),
    ]
    assert states_of(LazyRun(net, {0: stream([1, 2])}, [None] * 3))[1][1] == 1


def test_a_run_is_lazy_and_finite_digits_are_read_once():
    asked = []

    def digit(t):
        asked.append(t)
        return 1

    pop = SimpleRNN([[3, 0], [3, 0]], [[0], [0]], [-1, -2], [0, 0], "relu")
    run = LazyRun(pop, {0: DigitStream(digit, 3)}, (None for _ in count()))
    assert [run.digits for _ in islice(run, 6)] == [0, 1, 2, 3, 4, 5]
    assert asked == [1, 2, 3, 4, 5]
    assert run.digits_read == {0: 5}


@given(st.integers(2, 6), st.lists(st.integers(0, 1), max_size=9), st.integers(0, 12))
def test_truncated(base, digits, length):
    assert stream(digits, base).truncated(length) == tail(digits[:length], 0, base)


@settings(max_examples=50, deadline=None)
@given(RATIONALS, RATIONALS, st.lists(st.integers(0, 2), max_size=6))
def test_a_relu_of_a_lazy_real(slope, offset, digits):
    x = slope * stream(digits).lazy() + offset
    value = slope * tail(digits, 0, 3) + offset
    assume(value)
    assert exact(x.relu() if isinstance(x, LazyReal) else max(x, 0), digits, 3) == max(value, 0)


def test_bad_input():
    with pytest.raises(ValueError, match="the base must be an integer of at least 2, got 1"):
        DigitStream(lambda t: 0, 1)
    with pytest.raises(ValueError, match="digit 4 must be an integer from 0 to 2, got 3"):
        DigitStream(lambda t: 3, 3).digit(4)
    with pytest.raises(ValueError, match="and not 0"):
        stream([1]).digit(0)
    with pytest.raises(TypeError, match="a summand is the float"):
        stream([1]).lazy() + 0.5
    with pytest.raises(TypeError, match="a factor is the float"):
        0.5 * stream([1]).lazy()
    with pytest.raises(ValueError, match="one real only"):
        stream([1]).lazy() + stream([1]).lazy()
    net = SimpleRNN([[1, 1], [0, 0]], [[0], [0]], [0, 0], [0, 0], "relu")
    with pytest.raises(ValueError, match="unit 2, but the net has 2"):
        LazyRun(net, {2: stream([1])}, [])
    with pytest.raises(ValueError, match="'u0' depends on two reals"):
        list(LazyRun(net, {0: stream([1]), 1: stream([1])}, [None]))
    with pytest.raises(ValueError, match="input 1 is neither a column"):
        list(LazyRun(net, {0: stream([1])}, [1]))
