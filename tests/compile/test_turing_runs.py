"""The fast runs of Turing nets, against the nets themselves at every step, and against the machines on long runs."""

import pickle
import sys
from fractions import Fraction
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from turing_strategies import machines_with_words

from fhx.compile import turing_to_rnn
from fhx.exact import pieces
from fhx.machines import TuringMachine, marching, palindromes

# Writes the numbers 1, 2, 3, ... in binary, lowest digit first, behind a mark, and never halts.
COUNTER = TuringMachine(
    {
        ("mark", "_"): ("add", "#", "R"),
        ("add", "1"): ("add", "0", "R"),
        ("add", "0"): ("back", "1", "L"),
        ("add", "_"): ("back", "1", "L"),
        **{("back", a): ("back", a, "L") for a in "01"},
        ("back", "#"): ("add", "#", "R"),
    },
    "mark",
    "accept",
    "reject",
    "_",
    "01",
)


def columns(net, word):
    return [net.machine.input_alphabet.index(a) for a in word], net.rnn.input_size - 1


@settings(max_examples=60)
@given(machines_with_words(), st.integers(3, 7))
def test_every_state_and_output_is_that_of_the_net(machine_and_word, base):
    tm, word = machine_and_word
    net = turing_to_rnn(tm, base)
    time = len(word) + 60
    reference = [net.decode(state) for state in islice(net.run(word), time)]
    assert list(islice(net.pieces.states(*columns(net, word)), time)) == reference
    assert list(islice(net.pieces.outputs(*columns(net, word)), time)) == list(islice(net.outputs(word), time))


@settings(max_examples=20)
@given(machines_with_words(longest=5), st.integers(3, 5))
def test_every_state_is_that_of_the_definition_in_fractions(machine_and_word, base):
    tm, word = machine_and_word
    net = turing_to_rnn(tm, base)
    (read, eos), time = columns(net, word), len(word) + 15
    xs = [[int(i == column) for i in range(eos + 1)] for column in [*read, *[eos] * (time - len(word))]]
    assert list(islice(net.pieces.states(read, eos), time + 1)) == list(net.step.run(xs))


@settings(max_examples=40)
@given(machines_with_words(), st.integers(3, 7))
def test_every_number_is_in_the_range_that_its_top_says(machine_and_word, base):
    tm, word = machine_and_word
    net = turing_to_rnn(tm, base)
    names = net.layout
    tops = {names.left[a]: names.left_top[a] for a in names.left}
    tops |= {names.right[a]: names.right_top[a] for a in names.right}
    for state in islice(net.run(word), len(word) + 60):
        state = net.decode(state)
        assert 0 <= state[names.gap] <= Fraction(1, base)
        for name, top in tops.items():
            if state[top]:
                assert Fraction(base - 1, base) <= state[name] <= 1
            else:
                assert 0 <= state[name] <= Fraction(1, base)


@settings(max_examples=60)
@given(machines_with_words(), st.integers(0, 60))
def test_the_verdict_is_the_answer_of_the_net(machine_and_word, cut):
    tm, word = machine_and_word
    net = turing_to_rnn(tm)
    answer, verdict = net.answer(word, cut + 1), net.decide(word, cut)
    assert verdict == ((None, cut) if answer is None else (answer.value == 1, answer.steps - 1))


@pytest.mark.parametrize("base", [3, 4])
@pytest.mark.parametrize("last", ["a", "b"])
def test_a_run_of_a_hundred_thousand_steps_is_the_machines(base, last):
    tm, word = palindromes(), "ab" * 115 + "a" + "ba" * 114 + "b" + last
    verdict = tm.decide(word, 200_000)
    assert (verdict.steps > 100_000) == (last == "a")
    assert turing_to_rnn(tm, base).decide(word, 200_000) == verdict


def test_a_long_run_that_does_not_halt_holds_the_machines_tape():
    net, steps = turing_to_rnn(COUNTER), 30_000
    state = next(islice(net.pieces.states(*columns(net, "")), steps + 1, None))
    assert net.layout.configuration(state, COUNTER, 3) == next(islice(COUNTER.run(""), steps, None))
    assert net.decide("", steps) == (None, steps)


def test_memory_grows_with_the_depth_of_the_stacks_and_not_with_time():
    """A cell of a stack costs each of its components and their denominator log2(B) bits, and nothing else is kept."""
    net = turing_to_rnn(COUNTER)
    run = net.pieces._run(*columns(net, ""))
    bits = [sum(n.bit_length() for n in h) for _, h in islice(run, 20_000)]
    assert max(bits[10_000:]) <= max(bits[:10_000]) + 10
    deep = turing_to_rnn(marching())
    run = deep.pieces._run(*columns(deep, ""))
    sizes = {t: sum(n.bit_length() for n in h) for t, (_, h) in enumerate(islice(run, 2001)) if t in (1000, 2000)}
    components = len(deep.layout.left)
    assert sizes[1000] <= (components + 1) * 1000 * 1.585 + 20
    assert 1.9 <= sizes[2000] / sizes[1000] <= 2.1


@pytest.mark.parametrize("lines", [1, 30, 1_000, 30_000, 100_000])
def test_a_run_can_be_interrupted_and_leaves_nothing_broken(lines):
    net, left = turing_to_rnn(COUNTER), lines

    def interrupt(*_):
        nonlocal left
        left -= 1
        if left == 0:
            raise KeyboardInterrupt  # in the frame whose line it is; tracing ends with it
        return interrupt

    def decide():
        before = sys.gettrace()
        sys.settrace(interrupt)
        try:
            net.decide("", 10**9)
        finally:
            sys.settrace(before)

    with pytest.raises(KeyboardInterrupt):
        decide()
    reference = [net.decode(state) for state in islice(net.run(""), 300)]
    assert list(islice(net.pieces.states(*columns(net, "")), 300)) == reference


def test_progress_is_shown_where_it_is_asked_for(monkeypatch):
    seen = []

    class Bar:
        def __init__(self, total, unit, leave, disable=False):
            self.disable, self.done = disable, 0
            seen.append((self, total))

        def update(self, steps):
            self.done += steps

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

    monkeypatch.setattr(pieces, "tqdm", Bar)
    net = turing_to_rnn(COUNTER)
    net.decide("", 99_999, progress=True)
    net.decide("", 99_999)
    (shown, total), (hidden, _) = seen
    assert (shown.disable, hidden.disable) == (False, True)
    assert shown.done == total == 100_000


def test_a_word_is_read_as_it_comes_and_a_used_net_can_be_pickled():
    net = turing_to_rnn(palindromes())
    read = []

    def endless():
        while True:
            read.append("a")
            yield "a"

    assert not any(islice(net.outputs(endless()), 10))
    assert len(read) <= 11
    assert pickle.loads(pickle.dumps(net)).decide("abba", 100) == net.decide("abba", 100) == (True, 15)
