"""Tapes that are infinite both ways: folded ones against a program with numbered cells and against automata-lib."""

from itertools import islice

import pytest
from automata.base.exceptions import RejectionException
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tape_strategies import both_ways, to_automata_lib, turing_machines

from fhx.machines import FIRST, Configuration, TuringMachine, Verdict, fold_tape, fold_word, unfold_tape

STEPS = 300
WALKER = TuringMachine(
    {("go", "_"): ("go", "a", "L"), ("go", "b"): ("back", "b", "L"), ("back", "_"): ("yes", "c", "R")},
    "go",
    "yes",
    "no",
    "_",
    "b",
)


def cells(configuration):
    return {configuration.first + i: a for i, a in enumerate(configuration.tape)}


@settings(max_examples=120)
@given(st.data())
def test_a_folded_tape_step_for_step(data):
    tm = data.draw(turing_machines())
    word = data.draw(st.lists(st.sampled_from(tm.input_alphabet), max_size=6))
    folded = fold_tape(tm)
    plain = list(islice(both_ways(tm, word), STEPS))
    ours = [unfold_tape(tm, configuration) for configuration in islice(folded.run(fold_word(tm, word)), STEPS)]
    assert [c.state for c in ours] == [state for state, _, _ in plain]
    for configuration, (state, symbols, head) in zip(ours, plain, strict=True):
        written = {i: a for i, a in cells(configuration).items() if a != tm.blank}
        assert written == symbols
        assert configuration.head == (None if state in (tm.accept, tm.reject) else head)
        if configuration.tape:
            assert tm.blank not in (configuration.tape[0], configuration.tape[-1])
        else:
            assert configuration.first == 0
    if len(ours) < STEPS:
        verdict = Verdict(plain[-1][0] == tm.accept, len(plain) - 1)
        assert folded.decide(fold_word(tm, word), STEPS) == verdict


@settings(max_examples=80)
@given(st.data())
def test_against_automata_lib(data):
    tm = data.draw(turing_machines(blank_in_words=False))
    assume(any(q == tm.start for q, _ in tm.transitions))
    word = "".join(data.draw(st.lists(st.sampled_from(tm.input_alphabet), max_size=6)))
    ours = [unfold_tape(tm, configuration) for configuration in islice(fold_tape(tm).run(fold_word(tm, word)), 100)]
    theirs, rejected = [], False
    try:
        theirs.extend(islice(to_automata_lib(tm).read_input_stepwise(word), 100))
    except RejectionException:
        rejected = True
    verdict = fold_tape(tm).decide(fold_word(tm, word), 99)
    assert len(theirs) == len(ours)
    assert verdict.accepted == (False if rejected else True if theirs[-1].state == tm.accept else None)
    for mine, other in zip(ours, theirs, strict=True):
        tape = "".join(other.tape)
        assert (mine.state, "".join(mine.tape)) == (other.state, tape.strip(tm.blank))
        if mine.tape and mine.head is not None:
            lead = len(tape) - len(tape.lstrip(tm.blank))
            assert mine.first - mine.head == lead - other.tape.current_position


def test_a_fold_by_hand():
    folded = fold_tape(WALKER)
    word = fold_word(WALKER, "b")
    assert word == (("b", "_", FIRST),)
    assert list(islice(folded.run(word), 9)) == [
        Configuration(("go", "right"), (("b", "_", FIRST),), 0),
        Configuration(("back", "left"), (("b", "_", FIRST),), 0),
        Configuration("yes", (("b", "c", FIRST),), 0),
    ]
    assert fold_word(WALKER, "") == (("_", "_", FIRST),)
    assert fold_word(WALKER, "bb") == (("b", "_", FIRST), ("b", "_"))
    final = Configuration(("go", "left"), (("_", "b", FIRST), ("_", "a")), 1)
    assert unfold_tape(WALKER, final) == ("go", ("a", "b"), -2, -2)
    assert unfold_tape(WALKER, Configuration(("go", "right"), (("_", "_", FIRST), ("_", "_")), 2)) == ("go", (), 0, 2)


def test_the_first_cell_must_be_marked():
    with pytest.raises(ValueError, match="symbol 'b' is outside the input alphabet"):
        fold_tape(WALKER).decide("b", 9)
    start = TuringMachine({("go", "b"): ("go", "b", "L")}, "yes", "yes", "no", "_", "b")
    assert fold_tape(start).decide(fold_word(start, "b"), 0) == Verdict(accepted=True, steps=0)


@pytest.mark.parametrize(
    ("configuration", "culprit"),
    [(Configuration("go", (("a", "_", FIRST),), 0), "'go' is neither"), (Configuration("yes", (1,), 0), "1 is nei")],
)
def test_what_no_folded_machine_reaches_is_refused(configuration, culprit):
    with pytest.raises(ValueError, match=culprit):
        unfold_tape(WALKER, configuration)
