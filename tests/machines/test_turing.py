"""A Turing machine as a value: its laws, its runs, and the same runs by other programs."""

import copy
import pickle
import re
from itertools import islice

import pytest
from attrs import evolve
from attrs.exceptions import FrozenInstanceError
from automata.base.exceptions import RejectionException
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tape_strategies import ACCEPT, to_automata_lib, turing_machines, two_stacks

from fhx.machines import Configuration, TuringMachine, Verdict

STEPS = 300
PARTS = {
    "transitions": {("p", "a"): ("q", "c", "R"), ("q", "b"): ("p", "a", "L"), ("p", "_"): ("yes", "_", "L")},
    "start": "p",
    "accept": "yes",
    "reject": "no",
    "blank": "_",
    "input_alphabet": "ab",
}
SMALL = TuringMachine(**PARTS)


# Laws


def test_every_fault_is_told_at_once():
    rules = {
        ("p", "a"): ("q", "a", "U"),
        ("p", "b"): ("q", "b"),
        ("p",): ("q", "a", "R"),
        ("no", "a"): ("q", "a", "R"),
        "pa": "qaR",
    }
    with pytest.raises(ValueError, match="not a Turing machine") as caught:
        TuringMachine(rules, "s", "no", "no", "_", "aba")
    told = str(caught.value)
    for fault in (
        "symbol 'a' is listed 2 times",
        "'no' is to accept and to reject",
        "the rule for ('p', 'a') moves 'U', and a move is 'L' or 'R'",
        "the rule for ('p', 'b') is ('q', 'b'), which is not a triple",
        "a rule leaves from ('p',), which is not a pair",
        "a rule leaves from 'no' on 'a', and in 'no' the machine halts",
        "a rule leaves from 'pa', which is not a pair",
        "the rule for 'pa' is 'qaR', which is not a triple",
        "the start 's' has no rules, and none leads to it",
    ):
        assert fault in told
    assert told.count(";") == 8


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"start": "s"}, "the start 's' has no rules"),
        ({"transitions": {}}, "the start 'p' has no rules"),
        ({"accept": "q"}, "a rule leaves from 'q' on 'b'"),
        ({"reject": "p"}, "a rule leaves from 'p' on 'a'; a rule leaves from 'p' on '_'"),
        ({"input_alphabet": ""}, "the input alphabet is empty"),
        ({"reject": "yes"}, "'yes' is to accept and to reject"),
        ({"transitions": {("p", "a"): ("q", "a", "r")}}, "moves 'r'"),
    ],
)
def test_a_broken_law(change, told):
    with pytest.raises(ValueError, match="this is not a Turing machine") as caught:
        TuringMachine(**(PARTS | change))
    for part in told.split("; "):
        assert part in str(caught.value)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            {"transitions": [(("p", "a"), ("q", "a", "R"))]},
            re.escape("transitions is a mapping {(state, symbol): (state, symbol, move)}, not list"),
        ),
        ({"transitions": {("p", "a"): ["q", "a", "R"]}}, "the targets of transitions must be several hashable"),
        ({"input_alphabet": {"a", "b"}}, "the symbols of the input alphabet must have an order"),
        ({"input_alphabet": 2}, "the symbols of the input alphabet must be several"),
        ({"blank": []}, "start, accept, reject, blank"),
        ({"start": {}}, "start, accept, reject, blank"),
    ],
)
def test_what_cannot_be_a_machine_is_a_type_error(change, told):
    with pytest.raises(TypeError, match=told):
        TuringMachine(**(PARTS | change))


@pytest.mark.parametrize("run", [lambda word: list(SMALL.run(word)), lambda word: SMALL.decide(word, 9)])
@pytest.mark.parametrize("symbol", ["c", "_", 0])
def test_a_foreign_symbol_in_a_word(run, symbol):
    with pytest.raises(ValueError, match=rf"symbol {symbol!r} is outside the input alphabet \('a', 'b'\)"):
        run(["a", symbol])


def test_a_number_of_steps():
    with pytest.raises(ValueError, match="max_steps must be an integer of at least 0, got -1"):
        SMALL.decide("", -1)
    with pytest.raises(ValueError, match=r"max_steps must be an integer of at least 0, got 1\.5"):
        SMALL.decide("", 1.5)


# Values


def test_order_is_that_of_the_rules():
    assert SMALL.states == ("p", "q")
    assert SMALL.tape_alphabet == ("_", "a", "b", "c")
    rules = {("r", "z"): ("t", "y", "L"), ("s", "a"): ("yes", "a", "L"), ("p", "x"): ("u", "w", "R")}
    other = TuringMachine(rules, "p", "yes", "no", "_", ["b", "a"])
    assert other.states == ("p", "r", "s", "t", "u")
    assert other.tape_alphabet == ("_", "b", "a", "z", "x", "y", "w")
    assert TuringMachine(rules, "yes", "yes", "no", "b", ["b", "a"]).states == ("r", "s", "p", "t", "u")
    assert TuringMachine(rules, "yes", "yes", "no", "b", ["b", "a"]).tape_alphabet[:3] == ("b", "a", "z")


def test_nothing_can_be_changed():
    table = dict(PARTS["transitions"])
    tm = TuringMachine(**(PARTS | {"transitions": table}))
    table["p", "a"] = ("p", "a", "R")
    assert tm == SMALL
    with pytest.raises(FrozenInstanceError):
        tm.start = "q"
    with pytest.raises(TypeError, match="item assignment"):
        tm.transitions["p", "a"] = ("p", "a", "R")


@settings(max_examples=40)
@given(turing_machines())
def test_copies_are_equal_with_equal_hashes(tm):
    for other in (copy.copy(tm), copy.deepcopy(tm), pickle.loads(pickle.dumps(tm)), evolve(tm), eval(repr(tm))):
        assert other == tm
        assert hash(other) == hash(tm)
        assert (other.states, other.tape_alphabet) == (tm.states, tm.tape_alphabet)


def test_each_part_is_part_of_the_value():
    rules = PARTS["transitions"]
    changes = [
        {"transitions": rules | {("q", "a"): ("q", "a", "R")}},
        {"start": "q"},
        {"start": "yes"},
        {"accept": "no", "reject": "yes"},
        {"blank": "c"},
        {"input_alphabet": "ba"},
        {"input_alphabet": "abc"},
    ]
    assert len({SMALL, *(TuringMachine(**(PARTS | change)) for change in changes)}) == 8


def test_order_is_part_of_the_value_where_it_can_be_seen():
    rows = [(("p", "a"), ("q", "a", "R")), (("q", "a"), ("p", "a", "R")), (("r", "a"), ("q", "b", "R"))]
    tm, same, other = (
        TuringMachine(dict(order), "p", "yes", "no", "_", ["a"]) for order in (rows, rows[1::-1] + rows[2:], rows[::-1])
    )
    assert (same, hash(same)) == (tm, hash(tm))
    assert other != tm
    assert other.transitions == tm.transitions


def test_printed_as_a_table():
    assert str(SMALL).splitlines() == [
        "   _        a      b      c",
        "p  yes _ L  q c R  -      -",
        "q  -        -      p a L  -",
    ]


# Runs


def test_a_run_by_hand():
    """Both at the left end: p writes c and goes right, q comes back and finds the c for which p has no rule."""
    assert list(islice(SMALL.run("ab"), 9)) == [
        Configuration("p", ("a", "b"), 0),
        Configuration("q", ("c", "b"), 1),
        Configuration("p", ("c", "a"), 0),
    ]
    assert SMALL.decide("ab", 100) == Verdict(accepted=False, steps=2)
    assert list(SMALL.run("")) == [Configuration("p", (), 0), Configuration("yes", (), 0)]
    assert SMALL.decide("", 100) == Verdict(accepted=True, steps=1)
    assert SMALL.decide("b", 100) == Verdict(accepted=False, steps=0)


@pytest.mark.parametrize(("start", "accepted"), [("yes", True), ("no", False)])
def test_a_start_that_halts(start, accepted):
    tm = evolve(SMALL, start=start)
    assert tm.decide("ab", 0) == Verdict(accepted, 0)
    assert list(tm.run("ab")) == [Configuration(start, ("a", "b"), 0)]


def test_blanks_of_a_word_are_blanks():
    tm = evolve(SMALL, input_alphabet=("a", "_"))
    assert next(tm.run("_a__")).tape == ("_", "a")
    assert tm.decide("_a", 9) == Verdict(accepted=True, steps=1)


def words_of(tm):
    return st.lists(st.sampled_from(tm.input_alphabet), max_size=8)


@settings(max_examples=150)
@given(st.data())
def test_runs_against_two_stacks(data):
    tm = data.draw(turing_machines())
    word = data.draw(words_of(tm))
    plain = list(islice(two_stacks(tm, word), STEPS + 1))
    assert list(islice(tm.run(word), STEPS + 1)) == plain
    last, steps = plain[-1], len(plain) - 1
    for limit in {0, 1, steps // 2, steps - 1} & set(range(steps)):
        assert tm.decide(word, limit) == Verdict(None, limit)
    if len(list(islice(two_stacks(tm, word), STEPS + 2))) == len(plain):
        assert tm.decide(word, steps) == tm.decide(word, 10**6) == Verdict(last[0] == tm.accept, steps)
    else:
        assert tm.decide(word, STEPS) == Verdict(None, STEPS)


def bounces(tm, configuration):
    """Whether the next step is a move to the left from the first cell."""
    state, tape, head = configuration
    return head == 0 and tm.transitions.get((state, (*tape, tm.blank)[0]), "-")[-1] == "L"


@settings(max_examples=150)
@given(st.data())
def test_runs_against_automata_lib_until_the_left_end(data):
    """Its tape goes on to the left of the word, so the runs agree while no step moves to the left from the first cell.

    Where ours halts before that, theirs halts in the same way.
    """
    tm = data.draw(turing_machines(blank_in_words=False))
    assume(any(q == tm.start for q, _ in tm.transitions))
    word = "".join(data.draw(words_of(tm)))
    ours, theirs, rejected = [], [], False
    for configuration in islice(tm.run(word), STEPS):
        ours.append(configuration)
        if bounces(tm, configuration):
            break
    halts = not bounces(tm, ours[-1]) and len(ours) < STEPS
    try:
        for configuration in islice(to_automata_lib(tm).read_input_stepwise(word), len(ours) + halts):
            tape = configuration.tape
            theirs.append((configuration.state, tuple("".join(tape).rstrip(tm.blank)), tape.current_position))
    except RejectionException:
        rejected = True
    assert theirs == ours
    if halts:
        assert rejected == (ours[-1].state != ACCEPT)
        assert tm.decide(word, STEPS) == Verdict(not rejected, len(ours) - 1)
