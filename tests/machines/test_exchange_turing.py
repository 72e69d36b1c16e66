"""Turing machines go to automata-lib and come back: the same verdicts, after as many steps as is said."""

from itertools import islice, pairwise

import pytest
from automata.base.exceptions import RejectionException
from automata.tm.dtm import DTM
from hypothesis import given, settings
from hypothesis import strategies as st
from tape_strategies import turing_machines

from fhx.machines import (
    TuringMachine,
    Verdict,
    all_words,
    palindromes,
    turing_from_automata_lib,
    turing_to_automata_lib,
)

STEPS = 60


def theirs(machine: DTM, word: str, max_steps: int = STEPS) -> tuple[Verdict, int]:
    """What automata-lib decides, and how many of its steps stayed where they were and were followed by another."""
    steps, stayed, configurations = 0, 0, machine.read_input_stepwise(word)
    before = next(configurations)
    while before.state not in machine.final_states:
        if steps == max_steps:
            return Verdict(None, steps), stayed
        stays = machine._get_transition(before.state, before.tape.read_symbol())
        try:
            before = next(configurations)
        except RejectionException:
            return Verdict(False, steps), stayed
        steps += 1
        goes_on = machine._get_transition(before.state, before.tape.read_symbol()) is not None
        stayed += stays[2] == "N" and goes_on and before.state not in machine.final_states
    return Verdict(True, steps), stayed


def bounces(tm: TuringMachine, word: str) -> int:
    """Moves to the left from the first cell in a run that halts, but for one into a state in which it halts."""
    run = list(islice(tm.run(word), STEPS + 1))
    return sum(
        before.head == after.head == 0 and after.state not in (tm.accept, tm.reject) for before, after in pairwise(run)
    )


@settings(max_examples=150)
@given(turing_machines(), st.data())
def test_their_machine_decides_as_ours_in_as_many_steps_as_is_said(tm, data):
    word = data.draw(st.text(tm.input_alphabet, max_size=6))
    verdict = tm.decide(word, STEPS)
    found, _ = theirs(turing_to_automata_lib(tm), word, 2 + 2 * STEPS)
    if verdict.accepted is not None:
        assert found == Verdict(verdict.accepted, 2 + verdict.steps + bounces(tm, word))
    else:
        assert found.accepted is None or found.steps > 2 + STEPS


@st.composite
def their_machines(draw) -> DTM:
    """Machines of automata-lib: heads that stay, several final states, rules missing, unhandy names."""
    states = [f"q{i}" for i in range(draw(st.integers(1, 4)))]
    names = st.sampled_from(["accept", "reject", "endless", "begin", "first", "f"])
    final = draw(st.sets(names, max_size=3))
    symbols = "_ab⊢"[: draw(st.integers(2, 4))]
    words = draw(st.sets(st.sampled_from(symbols), min_size=1, max_size=len(symbols) - 1))
    rule = st.tuples(st.sampled_from([*states, *sorted(final)]), st.sampled_from(symbols), st.sampled_from("LRN"))
    row = st.dictionaries(st.sampled_from(symbols), rule, min_size=1)
    transitions = {q: draw(row) for q in states if q == "q0" or draw(st.booleans())}
    return DTM(
        states={*states, *final},
        input_symbols=words,
        tape_symbols=set(symbols),
        transitions=transitions,
        initial_state="q0",
        blank_symbol="_",
        final_states=final,
    )


@settings(max_examples=300)
@given(their_machines(), st.data())
def test_our_machine_decides_as_theirs_in_as_many_steps_as_is_said(machine, data):
    tm = turing_from_automata_lib(machine, sorted(machine.input_symbols))
    word = data.draw(st.text(sorted(machine.input_symbols), max_size=6))
    verdict, stayed = theirs(machine, word)
    if verdict.accepted is None:
        found = tm.decide(word, STEPS - stayed)
        assert found.accepted is None or found.steps == STEPS - stayed
    else:
        assert tm.decide(word, STEPS) == Verdict(verdict.accepted, verdict.steps - stayed)


@settings(max_examples=60)
@given(turing_machines(max_states=4, max_symbols=3), st.data())
def test_there_and_back_the_verdicts_are_the_same(tm, data):
    again = turing_from_automata_lib(turing_to_automata_lib(tm), tm.input_alphabet)
    assert again.input_alphabet == tm.input_alphabet
    word = data.draw(st.text(tm.input_alphabet, max_size=5))
    verdict = tm.decide(word, STEPS)
    if verdict.accepted is not None:
        steps = 2 + verdict.steps + bounces(tm, word)
        assert again.decide(word, 3 * STEPS) == Verdict(verdict.accepted, steps)


def test_palindromes_in_automata_lib():
    machine = turing_to_automata_lib(palindromes())
    assert all(machine.accepts_input(word) == (word == word[::-1]) for word in all_words("ab", 5))


EQUAL = DTM(  # the example of automata-lib: as many 1s as 0s before them
    states={"q0", "q1", "q2", "q3", "q4"},
    input_symbols={"0", "1"},
    tape_symbols={"0", "1", "x", "y", "."},
    transitions={
        "q0": {"0": ("q1", "x", "R"), "y": ("q3", "y", "R")},
        "q1": {"0": ("q1", "0", "R"), "1": ("q2", "y", "L"), "y": ("q1", "y", "R")},
        "q2": {"0": ("q2", "0", "L"), "x": ("q0", "x", "R"), "y": ("q2", "y", "L")},
        "q3": {"y": ("q3", "y", "R"), ".": ("q4", ".", "R")},
    },
    initial_state="q0",
    blank_symbol=".",
    final_states={"q4"},
)


def test_the_example_of_automata_lib_is_ours():
    tm = turing_from_automata_lib(EQUAL, "01")
    for word in all_words("01", 8):
        half = len(word) // 2
        assert tm.decide(word, 1000).accepted == (word == "0" * half + "1" * half != "")


def test_a_machine_that_stays_for_ever_never_halts():
    rules = {"q0": {"a": ("q1", "b", "N")}, "q1": {"b": ("q0", "a", "N")}}
    machine = DTM(
        states={"q0", "q1"},
        input_symbols={"a"},
        tape_symbols={"a", "b", "_"},
        transitions=rules,
        initial_state="q0",
        blank_symbol="_",
        final_states=set(),
    )
    tm = turing_from_automata_lib(machine, "a")
    assert tm.decide("a", 500) == Verdict(None, 500)
    assert tm.decide("", 500) == Verdict(False, 0)


def test_what_does_not_fit_is_refused():
    wide = TuringMachine({("q", "ab"): ("yes", 3, "R")}, "q", "yes", "no", "_", ["ab"])
    with pytest.raises(ValueError, match="single characters, and 'ab', 3 are not"):
        turing_to_automata_lib(wide)
    with pytest.raises(ValueError, match="the machine reads '0', '1', the alphabet is"):
        turing_from_automata_lib(EQUAL, "0")
    with pytest.raises(TypeError, match="order"):
        turing_from_automata_lib(EQUAL, {"0", "1"})
    with pytest.raises(TypeError, match="turing_from_automata_lib"):
        turing_from_automata_lib(palindromes(), "ab")
    with pytest.raises(TypeError, match="turing_to_automata_lib"):
        turing_to_automata_lib(EQUAL)
