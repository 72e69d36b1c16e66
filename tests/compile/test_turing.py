"""Turing machines as simple RNNs, compared with the machines themselves at every step."""

from fractions import Fraction
from itertools import islice, product
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from turing_strategies import machines_with_words, turing_machines

from fhx.compile import language_to_rnn, turing_time, turing_to_layered_rnn, turing_to_rnn, turing_units
from fhx.compile.turing_numbers import least_base
from fhx.exact import EOS, Recognizer, SimpleRNN
from fhx.machines import TuringMachine, Verdict, busy_beaver, fold_tape, universal

STEPS = 300


def small(rules, words="a", start="q"):
    return TuringMachine(rules, start, "accept", "reject", "_", words)


def check_run(net, tm, word):
    """The net has the machine's verdict and is in its configuration at every step."""
    verdict = tm.decide(word, STEPS)
    assert net.decide(word, STEPS) == verdict
    steps = verdict.steps + 1
    assert list(islice(net.configurations(word), steps)) == list(islice(tm.run(word), steps))


@pytest.mark.claim("C8", "E2")
@settings(deadline=None, max_examples=80)
@given(machines_with_words(), st.integers(3, 6))
def test_the_net_is_the_machine_at_every_step(machine_and_word, base):
    tm, word = machine_and_word
    net = turing_to_rnn(tm, base)
    check_run(net, tm, word)


@pytest.mark.claim("C8", "E2")
@settings(deadline=None, max_examples=100)
@given(machines_with_words(), st.integers(0, 40))
def test_it_answers_once_and_then_all_units_are_silent(machine_and_word, cut):
    tm, word = machine_and_word
    net = turing_to_rnn(tm)
    accepted, steps = tm.decide(word, cut)
    outputs = list(islice(net.outputs(word), len(word) + 1 + cut + 3))
    said = {t: value for t, value in enumerate(outputs, start=1) if value}
    if accepted is None:
        assert not any(outputs[: len(word) + 1 + cut])
    else:
        assert said == {len(word) + 1 + steps: 1 if accepted else -1}
        assert not list(islice(net.run(word), len(word) + steps + 4))[-1]


@pytest.mark.claim("C8", "E17")
@settings(deadline=None, max_examples=80)
@given(machines_with_words(), st.sampled_from([3, 4]))
def test_whole_weights_do_as_well_at_every_step(machine_and_word, base):
    tm, word = machine_and_word
    net = turing_to_rnn(tm, base, weights="integer")
    check_run(net, tm, word)


@pytest.mark.claim("E17")
@settings(deadline=None, max_examples=60)
@given(machines_with_words(), st.sampled_from([3, 4]))
def test_whole_weights_are_small_and_so_are_units_and_time(machine_and_word, base):
    tm, word = machine_and_word
    net = turing_to_rnn(tm, base, weights="integer")
    weights = [*net.rnn.W.entries.values(), *net.rnn.U.entries.values(), *net.rnn.b, *net.w, net.c]
    assert all(type(w) is int and abs(w) <= {3: 27, 4: 32}[base] for w in weights)
    assert all(type(value) is int for h in islice(net.run(word), len(word) + 40) for value in h.values())
    assert net.units <= turing_units(tm, weights="integer")
    assert turing_units(tm, weights="integer") - turing_units(tm) == 3 - len({*tm.input_alphabet} - {"_"})
    accepted, steps = tm.decide(word, 30)
    if accepted is not None:
        time = turing_time(len(word), steps, weights="integer")
        *silent, said = islice(net.outputs(word), time)
        assert not any(silent)
        assert said == (1 if accepted else -1) * base**time


def test_whole_weights_are_those_of_one_layer_in_base_3_or_4():
    tm = small({("q", "a"): ("q", "a", "R")})
    with pytest.raises(ValueError, match="3 or 4, got 5"):
        turing_to_rnn(tm, 5, weights="integer")
    with pytest.raises(ValueError, match="weights"):
        turing_to_rnn(tm, weights="real")
    with pytest.raises(ValueError, match="one layer, not 2"):
        turing_units(tm, 2, weights="integer")
    with pytest.raises(ValueError, match="one layer, not 2"):
        turing_time(3, 4, 2, weights="integer")
    with pytest.raises(ValueError, match="pieces"):
        _ = turing_to_rnn(tm, weights="integer").pieces


@settings(deadline=None, max_examples=25)
@given(machines_with_words(longest=4, states=3, symbols=3), st.integers(3, 4))
def test_the_run_is_that_of_the_definition(machine_and_word, base):
    tm, word = machine_and_word
    net = turing_to_rnn(tm, base)
    time = len(word) + 12
    symbols = [*word, *[EOS] * (time - len(word))]
    xs = [[int(a == symbol) for a in net.column_labels] for symbol in symbols]
    dense = tuple(net.rnn.reference_states(xs))
    sparse = list(islice(net.run(word), time + 1))[1:]
    assert [{j: value for j, value in enumerate(h) if value} for h in dense] == sparse


@settings(deadline=None, max_examples=60)
@given(turing_machines(), st.integers(3, 9))
def test_weights_are_rational_and_units_few(tm, base):
    net = turing_to_rnn(tm, base)
    Q, S = len(tm.states), len(tm.tape_alphabet)
    assert net.units <= 4 * Q * S + Q + 20 * S
    assert net.rnn.activation == "relu"
    denominators = {Fraction(w).denominator for w in [*net.rnn.W.entries.values(), *net.rnn.U.entries.values()]}
    assert all(base**2 * (base - 2) % d == 0 for d in denominators)


def test_names_of_units_and_of_what_they_hold():
    net = turing_to_rnn(small({("q", "a"): ("q", "a", "R"), ("q", "_"): ("p", "a", "L")}))
    assert net.rnn.unit_names == (
        *("start", "load", "gap", "q&_ by R", "q&a by R", "p&a by L", "p&a stays"),
        *("left[a] push", "left[a] pop", "left top=a over 0", "left top=a over 1"),
        *("right[a] push", "right[a] pop", "right[a] keep", "right[a] read"),
        *("right top=a over 0", "right top=a over 1", "right top=a keep", "right top=a push"),
    )
    pairs, stacks = ("q&_", "q&a", "p&a"), ("left[a]", "left top=a", "right[a]", "right top=a")
    assert net.decoder.names == ("load", "gap", "first", *pairs, *stacks)
    assert net.layout.inputs == ("x=a", "EOS")


@pytest.mark.parametrize("seed", range(5))
def test_at_most_180_units_for_4_states_and_6_symbols(seed):
    random = Random(seed)
    moves = ["L"] * 12 + ["R"] * 12
    random.shuffle(moves)
    letters = "_abcde"
    targets = ["p", "q", "r", "s", "accept", "reject"]
    rules = {
        pair: (random.choice(targets), random.choice(letters), move)
        for pair, move in zip(product("pqrs", letters), moves, strict=True)
    }
    assert turing_to_rnn(small(rules, letters[1:], "p")).units <= 180


@pytest.mark.parametrize("word", ["", "a", "aaaa"])
@pytest.mark.parametrize(("start", "accepted"), [("accept", True), ("reject", False)])
def test_a_machine_that_begins_at_its_end_answers_at_the_first_end_mark(word, start, accepted):
    net = turing_to_rnn(small({}, start=start))
    assert net.decide(word, 0) == Verdict(accepted, 0)
    assert list(islice(net.outputs(word), len(word) + 3)) == [0] * len(word) + [1 if accepted else -1, 0, 0]


def test_a_missing_rule_rejects_and_is_no_step():
    tm = small({("q", "a"): ("q", "a", "R")})
    assert turing_to_rnn(tm).decide("aaa", 10) == Verdict(False, 3) == tm.decide("aaa", 10)


def test_a_move_to_the_left_at_the_left_end_stays_and_writes():
    tm = small({("q", "a"): ("p", "b", "L"), ("p", "b"): ("accept", "c", "L")})
    assert list(turing_to_rnn(tm).configurations("aa")) == [
        ("q", ("a", "a"), 0),
        ("p", ("b", "a"), 0),
        ("accept", ("c", "a"), 0),
    ]


@pytest.mark.parametrize("move", "LR")
def test_a_machine_that_never_halts_is_never_answered(move):
    net = turing_to_rnn(small({("q", a): ("q", "a", move) for a in "a_"}))
    assert net.decide("aa", STEPS) == Verdict(None, STEPS)
    assert not any(islice(net.outputs("aa"), STEPS))


def test_states_and_symbols_may_be_anything_and_look_alike():
    tm = TuringMachine(
        {(1, 1): ("1", "1", "R"), ("1", "1"): (1, 1, "L"), ("1", 0): ((), 1, "R")}, 1, (), None, 0, (1, "1")
    )
    for word in product((1, "1"), repeat=3):
        assert turing_to_rnn(tm).decide(word, 20) == tm.decide(word, 20)


@pytest.mark.parametrize("base", [2, 1, 0, -3, 3.0, True, Fraction(7, 2)])
def test_a_base_below_3_is_refused(base):
    with pytest.raises(ValueError, match="the base must be an integer of at least 3"):
        turing_to_rnn(small({("q", "a"): ("accept", "a", "R")}), base)


def test_bad_words_and_bounds_are_refused():
    net = turing_to_rnn(small({("q", "a"): ("accept", "a", "R")}))
    with pytest.raises(ValueError, match=r"'b' at position 1 is outside the alphabet"):
        net.decide("ab", 5)
    with pytest.raises(ValueError, match="max_steps must be an integer of at least 0, got -1"):
        net.decide("a", -1)
    with pytest.raises(ValueError, match=r"max_steps must be an integer of at least 0, got 1\.5"):
        net.decide("a", 1.5)
    with pytest.raises(ValueError, match="EOS at position 1 is outside the alphabet"):
        net.decide(["a", EOS], 5)
    with pytest.raises(ValueError, match="'_' at position 0"):
        next(net.configurations("_"))


def test_a_net_is_shown_in_a_line():
    rnn = "SimpleRNN(units=1, input_size=1, activation='relu')"
    net = Recognizer(SimpleRNN([[1]], [[1]], [0], [1], "relu"), [1], 0, "a")
    assert (repr(net.rnn), repr(net)) == (rnn, f"Recognizer({rnn}, alphabet=('a',))")
    assert repr(net.network) == f"Network({rnn}, outputs=1)"
    tm = small({("q", "a"): ("accept", "a", "R")})
    direct, layered = turing_to_rnn(tm), turing_to_layered_rnn(tm)
    assert repr(direct) == f"TuringNet({direct.rnn!r}, base=3, steps_per_symbol=1)"
    assert repr(layered) == f"TuringNet({layered.rnn!r}, base=3, steps_per_symbol=4)"
    assert repr(language_to_rnn("ab", [])) == "LanguageNet(units=39, alphabet=('a', 'b'))"
    assert len(repr(turing_to_rnn(fold_tape(busy_beaver(4))))) < 120


@pytest.mark.claim("E19")
@settings(deadline=None, max_examples=80)
@given(machines_with_words(), st.integers(0, 3), st.sampled_from(["relu", "slu"]))
def test_one_number_for_a_stack_does_as_well_at_every_step(machine_and_word, more, activation):
    tm, word = machine_and_word
    net = turing_to_rnn(tm, least_base(tm) + more, activation=activation, stacks="numbers")
    check_run(net, tm, word)


@pytest.mark.claim("E19")
@settings(deadline=None, max_examples=60)
@given(machines_with_words(), st.integers(3, 6))
def test_saturated_units_hold_what_relus_do(machine_and_word, base):
    tm, word = machine_and_word
    relus, net = turing_to_rnn(tm, base), turing_to_rnn(tm, base, activation="slu")
    time = len(word) + 20
    assert net.rnn.activation == "slu"
    for one, other in zip(islice(relus.run(word), time), islice(net.run(word), time), strict=True):
        assert net.decode(other) == relus.decode(one)
        assert all(0 <= value <= 1 for value in other.values())
    assert net.decide(word, STEPS) == tm.decide(word, STEPS)


@settings(deadline=None, max_examples=60)
@given(turing_machines(), st.sampled_from(["relu", "slu"]), st.sampled_from(["vectors", "numbers"]))
def test_units_are_as_few_as_they_are_said_to_be(tm, activation, stacks):
    net = turing_to_rnn(tm, activation=activation, stacks=stacks)
    most = turing_units(tm, activation=activation, stacks=stacks)
    names = net.layout.names if stacks == "numbers" else net.layout
    left, right = len(names.left), len(names.right)
    assert net.units <= most
    saved = (left + right) * (activation == "slu")
    if stacks == "numbers":
        saved += 2 * left + 3 * right - 2 * bool(left) - 3 * bool(right)
    assert most == turing_units(tm) - saved


@pytest.mark.claim("E19")
def test_a_universal_net_has_fewer_than_a_hundred_units():
    tm = universal()
    sizes = {
        (activation, stacks): turing_to_rnn(tm, activation=activation, stacks=stacks).units
        for activation in ("relu", "slu")
        for stacks in ("vectors", "numbers")
    }
    assert sizes == {
        ("relu", "vectors"): 121,
        ("relu", "numbers"): 99,
        ("slu", "vectors"): 110,
        ("slu", "numbers"): 88,
    }


def test_options_that_do_not_go_together_are_refused():
    tm = small({("q", "a"): ("q", "a", "R"), ("q", "_"): ("q", "b", "L")}, "ab")
    with pytest.raises(ValueError, match="at least 5, got 4"):
        turing_to_rnn(tm, 4, stacks="numbers")
    for options in ({"activation": "slu"}, {"stacks": "numbers"}):
        with pytest.raises(ValueError, match="whole weights go with relu and vectors"):
            turing_to_rnn(tm, weights="integer", **options)
        with pytest.raises(ValueError, match="whole weights go with relu and vectors"):
            turing_units(tm, weights="integer", **options)
        with pytest.raises(ValueError, match="a net of 4 layers has relus and vectors"):
            turing_units(tm, 4, **options)
    with pytest.raises(ValueError, match="activation"):
        turing_to_rnn(tm, activation="tanh")
    with pytest.raises(ValueError, match="stacks"):
        turing_to_rnn(tm, stacks="lists")
    with pytest.raises(ValueError, match="pieces"):
        _ = turing_to_rnn(tm, stacks="numbers").pieces
