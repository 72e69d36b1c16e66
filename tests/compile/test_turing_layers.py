"""The source's construction of Theorem 4.6: repaired, against the machines; as printed, against small ones."""

import copy
import pickle
import re
from fractions import Fraction
from itertools import islice, repeat

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from turing_strategies import machines_with_words, turing_machine

from fhx.compile import (
    MISTAKES,
    UncompilableError,
    source_step,
    step_to_rnn,
    turing_time,
    turing_to_layered_rnn,
    turing_to_rnn,
    turing_units,
)
from fhx.compile.turing_source import BOTTOM, SourceLayout
from fhx.exact import EOS, Step, if_then_else, variable
from fhx.exact.stacks import decode, encode, push
from fhx.machines import TuringMachine, Verdict, palindromes

LAYERS = (2, 3, 4)
STEPS = 40


def small(rules, words="a", start="q"):
    """A machine with the rules ``{"qa": "pbL"}``, in which A is accept and J reject."""
    return TuringMachine({tuple(pair): tuple(rule) for pair, rule in rules.items()}, start, "A", "J", "_", words)


def fed(tm, word, marks):
    """One-hot vectors of the word and so many EOS."""
    read = [*word, *[EOS] * marks]
    return [[int(a == symbol) for a in (*tm.input_alphabet, EOS)] for symbol in read]


def states(tm, word, marks, mistakes=(), layers=4):
    """The states of the step with those mistakes: the one after T end marks has the index |w| + T."""
    return list(source_step(tm, 3, layers, mistakes).run(fed(tm, word, marks)))


def shown(tm, word, mistakes, steps):
    """The configurations that the step with those mistakes shows, up to the first that is none: then None."""
    names = SourceLayout.of(tm)
    found = []
    for state in states(tm, word, len(word) + 2 + steps, mistakes)[2 * len(word) + 2 :]:
        try:
            found.append(names.configuration(state, tm, 3))
        except ValueError:
            return [*found, None]
    return found


@pytest.mark.claim("C7")
@settings(deadline=None, max_examples=25)
@given(machines_with_words(longest=4, states=3, symbols=4), st.integers(3, 6), st.sampled_from(LAYERS))
def test_the_net_is_the_machine_at_every_step(machine_and_word, base, layers):
    tm, word = machine_and_word
    net = turing_to_layered_rnn(tm, base, layers)
    verdict = tm.decide(word, STEPS)
    assert net.decide(word, STEPS) == verdict
    steps = verdict.steps + 1
    assert list(islice(net.configurations(word), steps)) == list(islice(tm.run(word), steps))


@settings(deadline=None, max_examples=20)
@given(machines_with_words(longest=3, states=2, symbols=3), st.sampled_from(LAYERS))
def test_it_answers_once_at_the_stated_time_and_then_all_units_but_the_phases_are_silent(machine_and_word, layers):
    """Read after every net step, the pauses included."""
    tm, word = machine_and_word
    net = turing_to_layered_rnn(tm, layers=layers)
    accepted, steps = tm.decide(word, 30)
    time = turing_time(len(word), steps, layers)
    run = list(islice(net.run(word), time + 2 * layers + 1))
    outputs = [net.c + sum(net.w[j] * v for j, v in state.items()) for state in run]
    if accepted is None:
        assert not any(outputs[: time + 1])
    else:
        assert {t: value for t, value in enumerate(outputs) if value} == {time: 1 if accepted else -1}
        assert list(run[-1].values()) == [1]


@pytest.mark.claim("C9")
@settings(deadline=None, max_examples=10)
@given(machines_with_words(longest=3, states=2, symbols=3), st.sampled_from([2, 3]))
def test_the_step_is_the_same_in_any_number_of_layers(machine_and_word, layers):
    tm, word = machine_and_word
    step = source_step(tm, 3, layers)
    assert step.depth == layers
    assert list(step.run(fed(tm, word, 12))) == states(tm, word, 12)


@pytest.mark.parametrize("layers", LAYERS)
def test_one_layer_less_is_refused(layers):
    tm = small({"qa": "AaR"})
    with pytest.raises(UncompilableError, match=f"needs {layers} hidden layers and not {layers - 1}"):
        step_to_rnn(source_step(tm, layers=layers), variable("yes"), layers - 1)


@pytest.mark.parametrize(("start", "accepted"), [("A", True), ("J", False)])
@pytest.mark.parametrize("word", ["", "a", "aa"])
def test_a_machine_that_begins_at_its_end_answers_after_the_rewinding(word, start, accepted):
    net = turing_to_layered_rnn(small({"qa": "AaR"}, start=start))
    assert net.decide(word, 0) == Verdict(accepted, 0)
    assert [len(c.tape) for c in net.configurations(word)] == [len(word)]


def test_a_missing_rule_rejects_and_is_no_step_on_the_mark_too():
    tm = small({"qa": "qaR", "pa": "qaL"}, words="ab")
    net = turing_to_layered_rnn(tm, layers=2)
    assert [net.decide(word, 9) for word in ("", "a", "ab", "aab")] == [Verdict(False, k) for k in (0, 1, 1, 2)]


def test_the_blank_may_be_a_symbol_of_words_and_states_may_be_called_as_ours():
    rules = {("load", "_"): ("yes", "1", "R"), ("yes", "_"): (1, "$", "L"), (1, "1"): ("EOS", "$", "L")}
    tm = TuringMachine(rules, "load", "EOS", "no", "_", ("_", "1", 1))
    net = turing_to_layered_rnn(tm)
    for word in (["_", "_"], [], ["_", 1], ["1"]):
        assert net.decide(word, 5) == tm.decide(word, 5)
        assert list(net.configurations(word)) == list(tm.run(word))


@pytest.mark.parametrize("layers", LAYERS)
def test_names_of_the_state_and_of_units_that_hold_it(layers):
    """Beside the tops of the stacks all is held that the step reads, and it does not read the answer."""
    net = turing_to_layered_rnn(small({"qa": "AaR"}), layers=layers)
    read = {"load", "rewind", "q", "A", "J", *(f"{side}[{a}]" for side in ("left", "right") for a in "_a$")}
    assert set(net.decoder.names) == read | {"yes", "no"}
    assert net.step.inputs == ("x=a", "EOS")
    assert {unit for unit in net.rnn.unit_names if unit.endswith(" held")} == {
        f"{name} held" for name in read | {"x=a", "EOS"}
    }


@settings(deadline=None, max_examples=15)
@given(machines_with_words(longest=3, states=2, symbols=3))
def test_the_extra_blank_of_the_start_is_not_needed(machine_and_word):
    """(4.28) puts it under the word, where the mark is read as a blank anyway."""
    tm, word = machine_and_word
    step, names = source_step(tm), SourceLayout.of(tm)
    marked = tuple(names.right)
    empty = dict(zip(names.right.values(), encode([BOTTOM], marked), strict=True))
    bare = Step(step.state, step.inputs, step.h0 | empty)
    for one, other in zip(step.run(fed(tm, word, 14)), bare.run(fed(tm, word, 14)), strict=True):
        assert names.configuration(one, tm, 3) == names.configuration(other, tm, 3)
        assert [one[name] for name in names.added_states] == [other[name] for name in names.added_states]


@pytest.mark.claim("C9")
@given(st.integers(0, 2**32), st.integers(1, 3), st.integers(2, 3), st.booleans())
@settings(deadline=None, max_examples=12)
def test_sizes_are_as_stated(seed, states, symbols, blank_in_words):
    tm = turing_machine(states, symbols, seed, missing=0.3, blank_in_words=blank_in_words)
    assert [turing_to_layered_rnn(tm, layers=k).units for k in LAYERS] == [turing_units(tm, k) for k in LAYERS]
    assert turing_to_rnn(tm).units <= turing_units(tm)


def test_sizes_and_times_of_a_machine_by_hand():
    """Two symbols, n = 3: one move to the right and, from q on a blank or $, two to the left."""
    tm = small({"qa": "qaR", "q_": "AaL"})
    values, conditions, parts, held = (4 + 1 + 3 * 2) * 7 + 2, 6 + 1 + 3 * 2, 6 + 1 + 2, 18 + 1
    above = [values, conditions + held + 2 * values, parts + conditions + 2 * held + 2 * values]
    assert [turing_units(tm, k) for k in LAYERS] == [
        1 + k + 5 + held + 1 + more for k, more in zip(LAYERS, above, strict=True)
    ]
    assert turing_to_rnn(tm).units == turing_units(tm) == 2 + 1 + 1 + 4 + 7 + 1 + 3
    assert (
        turing_units(small({"qa": "AaR"}, start="A"), 4) == turing_to_layered_rnn(small({"qa": "AaR"}, start="A")).units
    )
    assert (
        turing_units(bare := TuringMachine({}, "A", "A", "J", "_", "a"), 3)
        == turing_to_layered_rnn(bare, layers=3).units
    )
    assert [turing_time(2, 3, k) for k in (1, *LAYERS)] == [6, 20, 30, 40]
    for layers in (1, *LAYERS):
        net = turing_to_rnn(tm) if layers == 1 else turing_to_layered_rnn(tm, layers=layers)
        assert (2 + net.answer("aa", 99).steps) * layers == turing_time(2, tm.decide("aa", 9).steps, layers)


@pytest.mark.claim("C10")
def test_numbers_grow_by_a_digit_at_most_with_a_step_of_the_step():
    """So T steps take of the order of T^2 operations on bits: what an equality of classes of time needs."""
    tm = small({"qa": "qaR", "q_": "qaR"})
    for net, layers in ((turing_to_rnn(tm), 1), (turing_to_layered_rnn(tm, layers=2), 2)):
        reads = [0, *repeat(None, layers - 1), *[1, *repeat(None, layers - 1)] * 60]
        denominators = [d for _, d in net.rnn.run_scaled(reads)]
        assert all(3 ** (t // layers + 3) % d == 0 for t, d in enumerate(denominators))
        assert denominators[-1] >= 3**50


# The source's formulas as they are printed. Each mistake is left in alone, so that the failure is its own.


@pytest.mark.claim("C7")
@pytest.mark.parametrize(
    ("mistake", "rules", "word", "right_until"),
    [
        ("pop", {"q_": "A_R"}, "", 1),  # a move to the right off a blank leaves a stack that is none
        ("pop", {"qa": "AaR"}, "a", 0),  # so does the rewinding of one letter
        ("write", {"qa": "AbL"}, "a", 1),  # the first cell keeps its a
        ("write", {"q_": "paR", "p_": "AbL"}, "", 2),  # and so does any other
        ("left end", {"q_": "A_L"}, "", 1),
        ("right end", {"q_": "p_R", "p_": "A_L"}, "", 2),
    ],
)
def test_each_mistake_alone_fails_on_a_small_tape(mistake, rules, word, right_until):
    tm = small(rules)
    run = list(tm.run(word))
    seen = shown(tm, word, [mistake], len(run) - 1)
    assert seen[:right_until] == run[:right_until]
    assert seen[right_until] != run[right_until]
    assert shown(tm, word, [], len(run) - 1) == run
    assert shown(tm, word, MISTAKES, len(run) - 1) != run


def test_a_wrong_pop_pushes_two_letters_in_one_place():
    """The word ab: the first pop makes 1 of b and uncovers a, and the second pushes both."""
    names = SourceLayout.of(tm := small({"qa": "AaR"}, words="ab"))
    before, after = states(tm, "ab", 3, ["pop"])[4:]
    assert {a: before[names.left[a]] for a in "ab"} == {"a": Fraction(2, 3), "b": 1}
    assert {a: after[names.right[a]] for a in "ab"} == {"a": Fraction(2, 3), "b": Fraction(8, 9)}
    right = [v[names.right[a]] for v in [states(tm, "ab", 3)[-1]] for a in names.right]
    assert decode(right, tuple(names.right)) == ("a", "b", "_", BOTTOM)


def test_a_wrong_pop_makes_two_rules_fire():
    """On the empty word the popped stack shows the blank and the mark, and accept becomes 2."""
    tm = small({"q_": "p_R", "p_": "A_R"})
    assert states(tm, "", 4, ["pop"])[-1]["A"] == 2
    assert states(tm, "", 4)[-1]["A"] == 1


def test_a_choice_leaks_above_one():
    """(4.29) is for t in [0, 1] only; (4.26) makes a 2 of the 1 that it has made of the stack a."""
    chosen = if_then_else(variable("c"), variable("t"))
    values = [chosen.evaluate({"c": c, "t": t}) for c, t in ((0, 1), (0, 2), (1, 1), (1, 2))]
    assert values == [0, 1, 1, 1]
    assert states(small({"qa": "AaR"}), "a", 3, ["pop"])[-1]["left[a]"] == 2


def test_without_the_write_a_machine_repeats_itself():
    tm = small({"qa": "qbL", "qb": "AbL"})
    assert [c.state for c in shown(tm, "a", ["write"], 9)] == ["q"] * 10
    assert tm.decide("a", 9) == Verdict(True, 2)


def test_the_unbound_symbol_of_the_left_end_must_be_the_mark():
    """push(pop(l), c) with l = $ is l for c = $ and for no other; summed over all others it doubles the state too."""
    marked = ("_", "a", BOTTOM)
    l = encode([BOTTOM], marked)
    kept = [c for c in marked if tuple(push(variable("z"), int(a == c)).evaluate({"z": 0}) for a in marked) == l]
    assert kept == [BOTTOM]
    state = states(small({"q_": "A_L"}, words="a"), "", 3, ["left end"])[-1]
    assert (state["A"], state["left[$]"]) == (2, 0)


def test_past_the_right_end_a_move_to_the_left_is_lost_and_all_is_silent():
    """The extra blank of (4.28) is used up by one move to the right."""
    tm = small({"q_": "p_R", "p_": "A_L"})
    assert not any(states(tm, "", 4, ["right end"])[-1].values())
    assert states(tm, "", 5)[-1]["yes"] == 1


@pytest.mark.claim("C9")
def test_a_net_of_several_layers_needs_its_pauses():
    """Theorem 4.6 feeds an end mark at every step; without zero vectors between them two layers answer wrongly."""
    net = turing_to_layered_rnn(small({"qa": "AaR"}, start="A"), layers=2)
    run = islice(net.rnn.run(repeat(1)), 12)
    outputs = [sum(net.w[j] * v for j, v in state.items()) for state in run]
    assert outputs[:7] == [0, 0, 0, 0, 0, 0, 1]
    assert max(outputs) > 1


def test_bad_arguments_are_refused():
    tm = small({"qa": "AaR"})
    for layers in (0, 1, 5, 2.0, True, None):
        with pytest.raises(ValueError, match="has 2, 3 or 4 layers"):
            turing_to_layered_rnn(tm, layers=layers)
    for wrong in (lambda: turing_units(tm, 5), lambda: turing_time(1, 1, 0), lambda: turing_units(tm, True)):
        with pytest.raises(ValueError, match="has 2, 3 or 4 layers"):
            wrong()
    for wrong in (lambda: turing_time(-1, 0), lambda: turing_time(0, 1.0)):
        with pytest.raises(ValueError, match="must be an integer of at least 0"):
            wrong()
    with pytest.raises(ValueError, match="at least 3, got 2"):
        turing_to_layered_rnn(tm, 2)
    with pytest.raises(ValueError, match=r"unknown mistakes \['push'\]"):
        source_step(tm, mistakes=["pop", "push"])
    net = turing_to_layered_rnn(tm)
    for wrong in (lambda: net.decide("b", 9), lambda: next(net.outputs("b")), lambda: list(net.configurations("b"))):
        with pytest.raises(ValueError, match="'b' at position 0 is outside"):
            wrong()
    with pytest.raises(ValueError, match="max_steps must be an integer of at least 0, got -1"):
        net.decide("a", -1)
    with pytest.raises(ValueError, match=r"max_steps must be an integer of at least 0, got 1\.0"):
        net.decide("a", 1.0)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda net: pickle.loads(pickle.dumps(net))])
def test_a_copy_is_the_net(copied):
    net = turing_to_layered_rnn(palindromes())
    assert copied(net) == net
    assert BOTTOM in copied(net).layout.left
    assert repr(BOTTOM) == "$"


def test_stacks_without_their_mark_are_no_configuration():
    tm = palindromes()
    layout = SourceLayout.of(tm)
    names = (*layout.added_states, *layout.states.values(), *layout.left.values(), *layout.right.values())
    state = dict.fromkeys(names, 0) | {layout.states[tm.start]: 1}
    with pytest.raises(ValueError, match=re.escape("not a configuration: the stacks are () and ()")):
        layout.configuration(state, tm, 3)
