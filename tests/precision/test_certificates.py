"""Turing nets in floats: what is certified holds in any order of summation, and above it words fail."""

from fractions import Fraction
from itertools import islice, takewhile
from random import Random

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from turing_strategies import machines_with_words

from recurrence.compile import (
    StateExplosion,
    certified_steps,
    error_bounds,
    exact_height,
    first_wrong_step,
    float_net_to_dfa,
    lossy_length,
    significand_bits,
    stack_height,
    turing_to_rnn,
)
from recurrence.exact.stacks import decode
from recurrence.experiments.finite_precision import there_and_back
from recurrence.machines import TuringMachine, all_words

FLOATS = (torch.bfloat16, torch.float16, torch.float32, torch.float64)
BASES = (3, 4, 5, 8)
NUMPY = {torch.float16: np.float16, torch.float32: np.float32, torch.float64: np.float64}
STEPS = 40

BACK, SWEEPS = there_and_back(), there_and_back(for_ever=True)
COUNTS = TuringMachine(
    {
        ("s", "a"): ("r", "A", "R"), ("r", "a"): ("r", "a", "R"), ("r", "B"): ("r", "B", "R"),
        ("r", "b"): ("l", "B", "L"), ("l", "B"): ("l", "B", "L"), ("l", "a"): ("l", "a", "L"),
        ("l", "A"): ("s", "A", "R"), ("s", "B"): ("c", "B", "R"), ("c", "B"): ("c", "B", "R"),
        ("c", "_"): ("yes", "_", "R"), ("s", "_"): ("yes", "_", "R"),
    },
    "s", "yes", "no", "_", "ab",
)  # fmt: skip


def dtypes(*names):
    return st.sampled_from([getattr(torch, name) for name in names] or FLOATS)


def runs_in_random_order(net, word, dtype, steps, random):
    """The states of the net in numpy's floats, each product and each sum rounded, every sum in an order of its own."""
    number = NUMPY[dtype]
    rnn = net.rnn
    state = {j: number(value) for j, value in enumerate(rnn.h0) if value}
    yield state
    for column in islice(net.net.recognizer.columns(net.net.fed(word)), steps):
        after = {}
        for i in range(rnn.size):
            terms = [number(float(w)) * state[j] for j, w in rnn.W.row(i).items() if j in state]
            terms += [number(float(u)) for u in (rnn.U.row(i).get(column, 0), rnn.b[i]) if u]
            random.shuffle(terms)
            while len(terms) > 1:
                terms.insert(random.randrange(len(terms) - 1), terms.pop() + terms.pop())
            if terms and not terms[0] <= 0:
                after[i] = terms[0]
        state = after
        yield state


def meaningful(bounds):
    """A bound that says something: the net is far from overflow."""
    return max([bounds.output, *bounds.names.values()]) < 100


def test_the_bits_of_the_types():
    assert [significand_bits(dtype) for dtype in FLOATS] == [8, 11, 24, 53]
    with pytest.raises(TypeError):
        significand_bits(torch.int32)


@settings(max_examples=25)
@given(machines_with_words(), st.integers(3, 5))
def test_the_height_is_that_of_the_numbers_in_the_net(machine_and_word, base):
    tm, word = machine_and_word
    net = turing_to_rnn(tm, base)
    found = 0
    for state in islice(map(net.net.decode, net.net.run(word)), len(word) + STEPS + 1):
        for stack in (net.layout.left, net.layout.right):
            found = max(found, len(decode([state[name] for name in stack.values()], tuple(stack), base)))
    height = stack_height(tm, word, STEPS - 1)
    assert found <= height <= max(found, len(word))


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
        bounds, islice(floats, 1, None), islice(net.net.run(word), 1, None), strict=False
    ):
        state = {j: Fraction(float(value)) for j, value in state.items()}
        found, true = net.net.decode(state), net.net.decode(exact)
        assert all(abs(found[name] - true[name]) <= names.get(name, 0) for name in true)
        assert abs(sum(net.net.w[j] * (state.get(j, 0) - exact.get(j, 0)) for j in {*state, *exact})) <= output


@settings(max_examples=25)
@given(machines_with_words(longest=6), dtypes("float16", "float32", "float64"), st.integers(0, 2**32))
def test_in_base_4_a_tape_of_certified_height_is_exact_in_any_order(machine_and_word, dtype, seed):
    tm, word = machine_and_word
    net = turing_to_rnn(tm, 4)
    height = exact_height(net, dtype)
    steps = 0
    while steps < STEPS and stack_height(tm, word, steps) <= height:
        steps += 1
    if stack_height(tm, word, 0) > height:
        word, steps = "", 1
    time = len(word) + steps
    exact = list(islice(net.net.run(word), time + 1))
    assert list(runs_in_random_order(net, word, dtype, time, Random(seed))) == exact
    floats = net.to_torch(dtype).states([word], steps)[0].double().tolist()
    assert floats == [[float(h.get(j, 0)) for j in range(net.units)] for h in exact]


def test_base_4_alone_is_exact():
    assert [exact_height(turing_to_rnn(BACK, 4), dtype) for dtype in FLOATS] == [1, 2, 9, 23]
    others = (3, 5, 6, 7, 8, 10, 16)
    assert {exact_height(turing_to_rnn(BACK, base), dtype) for base in others for dtype in FLOATS} == {None}


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


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("base", BASES)
def test_a_lossy_word_is_wrong(base, dtype):
    net, n = turing_to_rnn(BACK, base), lossy_length(base, dtype)
    digit = torch.tensor(1 - 1 / base, dtype=dtype)
    for stack in (digit, 1 - torch.finfo(dtype).eps * digit, torch.ones_like(digit)):
        assert stack + digit * base ** (1 - n) == stack < stack + digit * base ** (3 - n)
    assert first_wrong_step(net, "a" * n, dtype, 3 * n) is not None


def test_the_automaton_of_a_float_net_says_what_it_says_and_is_not_the_machine():
    net = turing_to_rnn(COUNTS, 8)
    dfa = float_net_to_dfa(net.net, torch.float16)
    words = list(all_words("ab", 6))
    said = [answer is not None and answer.value == 1 for answer in net.to_torch(torch.float16).answers(words, 300)]
    assert [dfa.accepts(word) for word in words] == said
    wrong = [word for word in words if dfa.accepts(word) != COUNTS.decide(word, 300).accepted]
    assert wrong
    assert len(dfa.minimize().states) < len(dfa.states) < 1000


def test_the_automaton_knows_runs_that_never_end():
    goes = TuringMachine({("q", "a"): ("q", "a", "R"), ("q", "_"): ("q", "_", "L")}, "q", "yes", "no", "_", "a")
    dfa = float_net_to_dfa(turing_to_rnn(goes, 16).net, torch.float16)
    assert not any(dfa.accepts("a" * n) for n in range(20))


def test_the_search_for_an_automaton_has_a_limit():
    net = turing_to_rnn(COUNTS, 8).net
    with pytest.raises(StateExplosion, match="more than 100 states"):
        float_net_to_dfa(net, torch.float16, limit=100)
    with pytest.raises(ValueError, match="a run over EOS meets too many states: the limit is 1"):
        float_net_to_dfa(net, torch.float16, limit=1)


def test_bad_input():
    net = turing_to_rnn(BACK, 4)
    for function in (certified_steps, first_wrong_step):
        with pytest.raises(ValueError, match="'c' at position 1 is outside"):
            function(net, "ac", torch.float32, 5)
        with pytest.raises(TypeError):
            function(net, "ab", torch.int32, 5)
