"""The claims that chapter 3 settles: each correction's smallest example, and what is true instead."""

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fhx.compile import (
    dfa_to_rnn,
    find_disagreement,
    rnn_to_dfa,
    step_to_rnn,
)
from fhx.exact import (
    Recognizer,
    SimpleRNN,
    Step,
    gradient_jump,
    maximum,
    relu,
    separate,
    sum_of,
    variable,
)
from fhx.machines import DFA

WORDS = ["".join(w) for T in range(7) for w in product("01", repeat=T)]
PARITY = Recognizer(SimpleRNN([[1, -2], [1, -2]], [[0, 1], [0, 1]], [0, -1], [0, 0], "relu"), [1, -2], 0, "01")
x1, x2 = variable("x1"), variable("x2")


@pytest.mark.claim("C1")
def test_c1_outputs_other_than_one_and_zero_are_no_verdict():
    count = Recognizer(SimpleRNN([[1]], [[1]], [0], [0], "relu"), [1], 0, "a")
    assert [count.accepts(word) for word in ("", "a")] == [False, True]
    with pytest.raises(ValueError, match="'aa' is 2"):
        count.accepts("aa")


@pytest.mark.claim("C1")
def test_c1_the_empty_word_is_decided_by_the_start():
    assert Recognizer(SimpleRNN([[0]], [[0]], [0], [1], "relu"), [1], 0, "a").accepts("")


@pytest.mark.claim("C2")
def test_c2_a_net_recognises_parity_though_none_of_its_units_is_the_parity():
    states = {word: list(PARITY.run(word))[-1] for word in WORDS}
    parities = [word.count("1") % 2 for word in WORDS]
    assert [PARITY.accepts(word) for word in WORDS] == [bool(p) for p in parities]
    for unit in (0, 1):
        values = [states[word].get(unit, 0) for word in WORDS]
        assert values != parities
        assert values != [1 - p for p in parities]


@pytest.mark.claim("C2")
@settings(deadline=None)
@given(st.tuples(*[st.fractions(-9, 9, max_denominator=9)] * 4), st.sampled_from(["relu", "slu"]))
def test_c2_one_unit_never_separates_odd_words_from_even_ones(weights, activation):
    W, u0, u1, h0 = weights
    net = SimpleRNN([[W]], [[u0, u1]], [0], [max(0, min(1, h0)) if activation == "slu" else h0], activation)
    ends = {word: list(net.run(int(x) for x in word))[-1].get(0, Fraction(0)) for word in WORDS}
    odd = [h for word, h in ends.items() if word.count("1") % 2]
    even = [h for word, h in ends.items() if not word.count("1") % 2]
    assert max(odd) >= min(even)
    assert max(even) >= min(odd)


@pytest.mark.claim("C3")
def test_c3_without_the_starts_entry_in_the_readout_the_empty_word_is_lost():
    everything = DFA([0], "a", {(0, "a"): 0}, 0, [0])
    net = dfa_to_rnn(everything)
    start = net.rnn.unit_names.index("start")
    as_in_the_source = Recognizer(net.rnn, [0 if j == start else w for j, w in enumerate(net.w)], net.c, "a")
    assert [net.accepts(word) for word in ("", "a", "aa")] == [True, True, True]
    assert [as_in_the_source.accepts(word) for word in ("", "a", "aa")] == [False, True, True]


@pytest.mark.claim("C4")
def test_c4_the_largest_of_three_jumps_on_half_a_line_and_is_refused():
    largest = maximum(0, x1, x2)
    jumps = [tuple(gradient_jump(largest, {"x1": 0, "x2": at}, {"x1": 1}).values()) for at in (-1, 1)]
    assert jumps == [(1, 0), (0, 0)]
    step = Step({"m": largest}, ["x1", "x2"], {"m": 0})
    with pytest.raises(ValueError, match="2 hidden layers"):
        step_to_rnn(step, variable("m"))
    points = list(product(range(-2, 3), repeat=2))
    two_steps = step_to_rnn(step, variable("m"), steps_per_symbol=2)
    assert [y for (y,) in two_steps.outputs(points)] == [max(0, *point) for point in points]


INTEGERS = st.integers(-3, 3)


@pytest.mark.claim("C4")
@settings(deadline=None)
@given(
    st.lists(st.tuples(INTEGERS, INTEGERS, INTEGERS, INTEGERS), min_size=1, max_size=6),
    st.tuples(INTEGERS, INTEGERS),
    st.tuples(INTEGERS, INTEGERS).filter(any),
    INTEGERS,
)
def test_c4_one_hidden_layer_jumps_alike_along_a_line(units, slope, normal, offset):
    f = sum_of([slope[0] * x1, slope[1] * x2, *(v * relu(a * x1 + b * x2 + c) for v, a, b, c in units)])
    n1, n2 = normal
    foot = Fraction(-offset, n1 * n1 + n2 * n2)
    jumps = set()
    for step in range(-40, 41):  # generic points of the line n.x + offset = 0: few units cross it there
        along = Fraction(step, 7) + Fraction(1, 1009)
        point = {"x1": foot * n1 - along * n2, "x2": foot * n2 + along * n1}
        crossed = any(
            a * point["x1"] + b * point["x2"] + c == 0 and (a * n2 != b * n1) for _, a, b, c in units if a or b
        )
        if not crossed:
            jumps.add(tuple(gradient_jump(f, point, {"x1": n1, "x2": n2}).values()))
    assert len(jumps) == 1


@pytest.mark.claim("A3", "A4")
def test_a3_the_step_of_parity_is_not_vanilla_and_its_map_is():
    """Exclusive or is not an increasing function of an affine one; yet two vanilla units realise PARITY, for ever."""
    assert not separate([(0, 0), (0, 1), (1, 0), (1, 1)], [0, 1, 1, 0])
    p, ones = variable("p"), variable("1")
    step = Step({"p": relu(p + ones) - 2 * relu(p + ones - 1)}, ["0", "1"], {"p": 0})
    net = step_to_rnn(step, p)
    flip = DFA(
        ["even", "odd"],
        "01",
        {(q, a): ("even", "odd")[(q == "odd") ^ (a == "1")] for q in ("even", "odd") for a in "01"},
        "even",
        ["odd"],
    )
    found = rnn_to_dfa(Recognizer(net.rnn, net.V.dense()[0], net.c[0], "01"))
    assert found.equivalent(flip)
    assert find_disagreement(flip, dfa_to_rnn(flip)) is None
