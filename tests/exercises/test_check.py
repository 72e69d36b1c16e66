"""``check``: what a reader sees for every kind of answer, and that nothing a function does can break or fool it."""

import random
import re
import signal
import sys
import threading
import time
from contextlib import suppress
from dataclasses import replace
from html.parser import HTMLParser
from itertools import count

import numpy as np
import pytest
import torch

from fhx.exercises import EXERCISES, Exercise, Mistake, Notes, check
from fhx.exercises.time_limit import TooSlowError, time_limit

DOUBLE = Exercise(
    "00-double",
    "Doubling",
    "double(xs)",
    ("xs",),
    cases=(([1, 2],), ([3],)),
    sample=lambda generator: (generator.integers(-9, 9, size=4).tolist(),),
    oracle=lambda xs: [x + x for x in xs],
    seconds=0.2,
)


def right(xs):
    return [2 * x for x in xs]


def test_a_right_answer_is_true_and_counts_its_inputs():
    result = check(DOUBLE, right, random_inputs=7)
    assert result
    assert repr(result) == "✓ Doubling: passed. It agrees on 2 examples and 7 random inputs."


def test_the_first_differing_input_is_shown():
    result = check(DOUBLE, lambda xs: right(xs) if len(xs) > 1 else [7])
    assert not result
    assert repr(result) == (
        "✗ Doubling: differs. On example 2 of 2, at [0]: the values differ: 7 instead of 6.\n"
        "  xs: [3]\n  yours: [7]\n  expected: [6]"
    )


def test_random_inputs_find_what_the_stated_ones_miss():
    table = {(1, 2): [2, 4], (3,): [6]}
    result = check(DOUBLE, lambda xs: table.get(tuple(xs), []))
    assert re.fullmatch(r"On random input \d+, expected 4 items, got 0\.", result.message)
    assert check(DOUBLE, lambda xs: table.get(tuple(xs), []), random_inputs=0)


def test_a_seed_gives_the_same_inputs_and_another_seed_others():
    seen = []
    for seed in (1, 1, 2):
        inputs = []
        check(DOUBLE, lambda xs, inputs=inputs: inputs.append(tuple(xs)) or right(xs), seed=seed)
        seen.append(inputs)
    assert seen[0] == seen[1] != seen[2]


def not_implemented(xs):
    raise NotImplementedError


def half_filled(xs):
    factor = ...
    return [factor * x for x in xs]


@pytest.mark.parametrize(
    "hole",
    [
        lambda xs: ...,
        lambda xs: NotImplemented,
        lambda xs: [..., ...],
        not_implemented,
        half_filled,
        ...,
    ],
)
def test_a_hole_says_that_it_is_not_answered_yet(hole):
    result = check(DOUBLE, hole)
    assert not result
    assert repr(result) == "○ Doubling: not answered yet. Fill the hole in double(xs) and run the cell again."


@pytest.mark.parametrize(
    ("value", "open_"),
    [
        ((1, ...), "Part 2 of what double returns still holds `...`."),
        ([1, ..., [2, ...]], "Parts 2 and 3 of what double returns still hold `...`."),
        ((..., ..., ..., 0), "Parts 1, 2 and 3 of what double returns still hold `...`."),
        ({"W": 1, "b": ...}, "Part b of what double returns still holds `...`."),
    ],
)
def test_a_half_filled_hole_says_what_is_open(value, open_):
    result = check(DOUBLE, lambda xs: value)
    assert not result
    assert repr(result) == f"○ Doubling: not answered yet. {open_}"


def test_a_forgotten_return_is_named():
    wanted = "a list or tuple of 2, each a whole number (int)"
    assert (
        check(DOUBLE, lambda xs: None).message
        == f"On example 1 of 2, expected {wanted}, got None; is a return missing?"
    )


def fails(xs):
    if len(xs) == 1:
        return xs[5]
    return right(xs)


@pytest.mark.parametrize("error", [ValueError("no"), SystemExit(3), RecursionError("deep"), AssertionError()])
def test_an_exception_is_shown_with_its_input_and_not_raised(error):
    def stops(xs):
        raise error

    result = check(DOUBLE, stops)
    assert result.status == "raised"
    assert ("xs", "[1, 2]") in result.lines
    assert type(error).__name__ in dict(result.lines)["yours"]


def test_the_line_that_failed_is_shown():
    result = check(DOUBLE, fails)
    assert ("xs", "[3]") in result.lines
    assert "IndexError: list index out of range" in dict(result.lines)["yours"]
    assert "return xs[5]" in dict(result.lines)["yours"]


def test_a_wrong_number_of_parameters_is_an_answer_that_stopped():
    assert "TypeError" in repr(check(DOUBLE, lambda: 1))


def test_an_interrupt_is_the_readers_own():
    def interrupted(xs):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        check(DOUBLE, interrupted)


def endless(xs):
    while True:
        with suppress(Exception):
            time.sleep(0.01)


def test_an_endless_loop_is_stopped_and_the_old_handler_is_back():
    before = signal.getsignal(signal.SIGALRM)
    began = time.perf_counter()
    result = check(DOUBLE, endless)
    assert time.perf_counter() - began < 2
    assert result.status == "too slow"
    assert "No value within 0.2 s on example 1 of 2" in result.message
    assert signal.getsignal(signal.SIGALRM) is before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_a_package_whose_import_took_too_long_can_be_imported_afterwards(tmp_path, monkeypatch):
    package = tmp_path / "slow_package"
    package.mkdir()
    package.joinpath("part.py").write_text("value = 3\n")
    package.joinpath("__init__.py").write_text(
        "import os, time\nfrom slow_package.part import value\nos.environ.get('IN_A_HURRY') or time.sleep(5)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)

    def importing(xs):
        import slow_package

        return slow_package.value

    assert check(DOUBLE, importing).status == "too slow"
    monkeypatch.setenv("IN_A_HURRY", "yes")
    import slow_package

    assert slow_package.part.value == 3
    for name in ("slow_package.part", "slow_package"):
        monkeypatch.delitem(sys.modules, name)


def lost_at_first(xs):
    with suppress(BaseException):  # as Python does in a `__del__`
        endless(xs)
    endless(xs)


def test_a_stop_that_is_lost_is_followed_by_another():
    assert check(DOUBLE, lost_at_first).status == "too slow"
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_it_works_in_another_thread_too():
    found = []
    thread = threading.Thread(target=lambda: found.append(bool(check(DOUBLE, right))))
    thread.start()
    thread.join()
    assert found == [True]


def test_changing_the_input_in_place_fools_nobody():
    def emptied(xs):
        value = right(xs)
        xs.clear()
        return value

    def spoiled(xs):
        xs[:] = [0] * len(xs)
        return xs

    assert check(DOUBLE, emptied)
    result = check(DOUBLE, spoiled)
    assert result.lines[0] == ("xs", "[1, 2]")
    assert check(DOUBLE, right), "the stated inputs are as before"

    def in_place(W, U, b, h, x):
        return W.mul_(0)[0]

    assert "0.9866" in dict(check("01-one-step", in_place).lines)["expected"]


class Forged(list):
    def __eq__(self, other):
        return True

    __hash__ = None

    def __repr__(self):
        raise RuntimeError("no text")


def test_an_object_that_equals_everything_fails():
    result = check(DOUBLE, lambda xs: Forged([0]))
    assert result.status == "malformed"
    assert dict(result.lines)["yours"] == "<Forged object that cannot be shown>"


def test_a_result_in_place_of_the_function_is_explained():
    result = check(DOUBLE, [2, 4])
    assert not result
    assert repr(result) == (
        "✗ Doubling: malformed. Expected a function, got the list [2, 4]: "
        "pass the function itself, as in check('00-double',\n    double).\n  yours: [2, 4]"
    )


@pytest.mark.parametrize(
    ("id_", "nearest", "chapter"),
    [
        ("03-distingish", "03-distinguish", "03"),
        ("distinguish", "03-distinguish", "03"),
        ("ex-07-growth", "07-growth", "07"),
        ("3-hat", "03-hat", "03"),
        ("03", "03-hat", "03"),
        ("99-hat", "09-rate", ""),
        ("", "", ""),
    ],
)
def test_an_unknown_exercise_is_an_error_that_names_three_near_ones_and_how_to_list_a_chapter(id_, nearest, chapter):
    with pytest.raises(ValueError, match=f"^there is no exercise '{id_}'") as error:
        check(id_, right)
    said = str(error.value)
    near = [name for name in EXERCISES if repr(name) in said]
    assert len(near) == 3
    assert not chapter or nearest in near
    listed = eval(re.search(r"\[id for .*\]", said)[0], {"EXERCISES": EXERCISES})
    assert listed == [name for name in EXERCISES if name.startswith(listed[0][:3])]
    assert listed[0].startswith(chapter)
    assert len(said) < 250


def test_a_function_in_the_place_of_the_id_is_told_so():
    with pytest.raises(TypeError, match=r"expected the id of an exercise, .* got the function right first"):
        check(right, "03-hat")


@pytest.mark.usefixtures("unchecked")  # beartype itself draws random items of what it checks
def test_checking_leaves_the_global_generators_alone():
    states = [random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state().tolist()]
    for name in EXERCISES:
        check(name, lambda *case: 0)
    assert states == [random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state().tolist()]


def test_nothing_is_printed(capsys):
    check(DOUBLE, fails)
    check(DOUBLE, right)
    assert capsys.readouterr() == ("", "")


def test_long_values_are_cut():
    long = check(DOUBLE, lambda xs: list(range(10_000)))
    assert dict(long.lines)["yours"] == "list(shape (10000,): 0, 1, 2, ..., 9997, 9998, 9999)"


class Balanced(HTMLParser):
    def __init__(self):
        super().__init__()
        self.stack, self.text = [], ""

    def handle_starttag(self, tag, attrs):
        assert not any("color" in value.replace("currentColor", "").replace("color: inherit", "") for _, value in attrs)
        self.stack.append(tag)

    def handle_endtag(self, tag):
        assert self.stack.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.mark.parametrize("answer", [right, fails, lambda xs: ..., lambda xs: ["<script>alert(1)</script>"]])
def test_the_notebook_shows_the_same_words_without_colour_and_escaped(answer):
    result = check(DOUBLE, answer)
    page = Balanced()
    page.feed(result._repr_html_())
    assert page.stack == []
    assert f"Doubling: {result.status}. {result.message}" in page.text
    for name, text in result.lines:
        assert name in page.text
        assert text in page.text
    assert "<script" not in result._repr_html_()


def test_in_python_without_timers_it_checks_without_a_limit(monkeypatch):
    monkeypatch.delattr(signal, "setitimer")
    assert check(DOUBLE, right)


def test_points_are_told_and_a_failure_has_a_hint():
    notes = Notes(2, "one line", 5, "Doubling.", "What is a <number> and itself?", (Mistake("Nothing.", ""),))
    doubling = replace(DOUBLE, id="00-hinted", notes=notes)
    wrong = check(doubling, lambda xs: xs)
    assert wrong.hint == notes.hint
    assert repr(wrong).endswith('\n  hint: check("00-hinted", double).hint')
    assert "<details><summary>Hint</summary>What is a &lt;number&gt; and itself?</details>" in wrong._repr_html_()
    assert check(doubling, fails).hint == notes.hint
    assert check(DOUBLE, lambda xs: xs).hint == check(doubling, lambda xs: ...).hint == ""
    passed = check(doubling, right)
    assert passed.message == "It agrees on 2 examples and 20 random inputs. 2 points."
    assert passed.hint == ""
    assert "hint" not in repr(passed) + passed._repr_html_()
    single = replace(doubling, notes=replace(notes, points=1))
    assert check(single, right).message.endswith(" 1 point.")
    assert check(replace(doubling, notes=None), right).message.endswith("inputs.")


def test_what_was_checked_before_makes_no_difference():
    results = [repr(check(DOUBLE, answer)) for answer in (fails, right, fails, fails)]
    assert results[0] == results[2] == results[3]


def late(spin=True):
    """Computes, with what is raised meanwhile passed over or made another error."""
    try:
        endless([])
    except BaseException as error:
        if spin:
            raise SystemError("as C code does") from error


class Collected:
    def __del__(self):
        started = time.monotonic()
        while time.monotonic() < started + 0.15:
            pass


@pytest.mark.parametrize("body", [late, lambda: late(spin=False), lambda: bool(Collected())])
def test_what_is_too_late_is_so_whatever_becomes_of_the_signal(body, monkeypatch):
    seen = []
    monkeypatch.setattr(sys, "unraisablehook", seen.append)
    with pytest.raises(TooSlowError), time_limit(0.1):
        body()
    assert not seen
    assert sys.unraisablehook == seen.append


def test_what_was_passed_over_is_raised_again_soon():
    def busy():
        return any(False for _ in count())

    class Slow:
        def __del__(self):
            busy()

    def both():
        Slow()
        busy()

    began = time.process_time()
    with pytest.raises(TooSlowError):
        time_limit(1.5, "cpu")(both)()
    assert time.process_time() - began < 2.7


def test_what_else_python_passes_over_is_still_told(monkeypatch):
    class Broken:
        def __del__(self):
            raise ValueError("of the code")

    seen = []
    monkeypatch.setattr(sys, "unraisablehook", lambda what: seen.append(what.exc_value))
    with time_limit(10):
        Broken()
    assert [str(error) for error in seen] == ["of the code"]


def test_limits_are_nested():
    @time_limit(0.3)
    def outer():
        with pytest.raises(TooSlowError):
            time_limit(0.05)(endless)([])
        endless([])

    with pytest.raises(TooSlowError):
        outer()
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_a_limit_can_count_what_is_computed():
    with time_limit(0.2, "cpu"):
        time.sleep(0.4)
    with pytest.raises(TooSlowError):
        time_limit(0.1, "cpu")(lambda: any(False for _ in count()))()


LONG = replace(
    DOUBLE,
    cases=(([0],), (list(range(200)),), ([1, 2, 3],)),
    sample=lambda generator: (generator.integers(1, 9, size=generator.integers(2, 50)).tolist(),),
)


def test_an_input_that_is_too_long_to_be_read_gives_way_to_the_smallest_that_fails():
    result = check(LONG, lambda xs: [0] * len(xs))
    assert result.message.startswith("On example 3 of 3, ")
    assert result.case == ([1, 2, 3],)
    sizes = [len(str(xs)) for (xs,) in list(LONG.all_cases(0, 20))[3:]]
    result = check(LONG, lambda xs: right(xs) if len(xs) in (1, 3, 200) else [0] * len(xs))
    assert "On random input" in result.message
    assert len(str(result.case[0])) == min(sizes)
    only = check(LONG, lambda xs: right(xs) if len(xs) != 200 else xs)
    assert dict(only.lines)["xs"] == "list(shape (200,): 0, 1, 2, ..., 197, 198, 199)"
    assert repr(only).endswith('whole input: check("00-double", double).case')
    assert "whole input" in only._repr_html_()
    only.case[0].clear()
    assert len(LONG.cases[1][0]) == 200


def test_what_was_made_of_an_answer_stands_beside_what_was_returned():
    counted = replace(DOUBLE, oracle=lambda xs: f"{len(xs)} items", observe=lambda value, xs: f"{len(value)} items")
    result = check(counted, lambda xs: [7])
    assert result.lines == (("xs", "[1, 2]"), ("returned", "[7]"), ("yours", "1 items"), ("expected", "2 items"))
    broken = check(counted, lambda xs: 7)
    assert broken.status == "malformed"
    assert "got the int 7, with which there is no going on: TypeError: object of type 'int'" in broken.message


def test_a_call_that_fails_says_how_the_function_is_called():
    said = "It is called as double(xs), with 1 argument, and does not take them on example 1 of 2."
    assert check(DOUBLE, lambda: 1).message == check(DOUBLE, lambda a, b: 1).message == said
    assert check(DOUBLE, lambda xs: len(3)).message == "It stopped on example 1 of 2."
