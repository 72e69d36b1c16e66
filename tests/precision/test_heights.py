"""Heights: of a run's stacks, and those up to which a net in base 4 is exact in any order of summation."""

from itertools import islice
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st
from precision_runs import BACK, FLOATS, STEPS, dtypes, runs_in_random_order
from turing_strategies import machines_with_words

from fhx.compile import turing_to_rnn
from fhx.exact.stacks import decode
from fhx.precision import exact_height, stack_height


@settings(max_examples=25)
@given(machines_with_words(), st.integers(3, 5))
def test_the_height_is_that_of_the_numbers_in_the_net(machine_and_word, base):
    tm, word = machine_and_word
    net = turing_to_rnn(tm, base)
    found = 0
    for state in islice(map(net.decode, net.run(word)), len(word) + STEPS + 1):
        for stack in (net.layout.left, net.layout.right):
            found = max(found, len(decode([state[name] for name in stack.values()], tuple(stack), base)))
    height = stack_height(tm, word, STEPS - 1)
    assert found <= height <= max(found, len(word))


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
    exact = list(islice(net.run(word), time + 1))
    assert list(runs_in_random_order(net, word, dtype, time, Random(seed))) == exact
    floats = net.to_torch(dtype).states([word], steps)[0].double().tolist()
    assert floats == [[float(h.get(j, 0)) for j in range(net.units)] for h in exact]


def test_base_4_alone_is_exact():
    assert [exact_height(turing_to_rnn(BACK, 4), dtype) for dtype in FLOATS] == [1, 2, 9, 23]
    others = (3, 5, 6, 7, 8, 10, 16)
    assert {exact_height(turing_to_rnn(BACK, base), dtype) for base in others for dtype in FLOATS} == {None}
