"""What floats leave of Turing nets: the stored runs, and one of them again."""

from pathlib import Path

import pytest

from fhx.experiments import finite_precision
from fhx.experiments.results import read
from fhx.machines import TURING_MACHINES

RESULTS = Path(__file__).parents[2] / "results"


@pytest.fixture(scope="module")
def entries():
    return [(entry["point"], entry["result"]) for entry in read(RESULTS / "finite_precision.json")["points"]]


def lengths(entries):
    return {(point["base"], point["type"]): result for point, result in entries if "machine" not in point}


def test_the_machines_go_there_and_back():
    there = finite_precision.there_and_back()
    for word in ("a", "b", "ab", "ba", "aabb"):
        assert there.decide(word, 50) == (word[0] == "a", 2 * len(word) + 1)
    assert finite_precision.there_and_back(for_ever=True).decide("ab", 500).accepted is None


def test_words_have_their_length_and_come_again():
    assert all(len(word) == n for n in (1, 2, 9) for word in finite_precision.words(n))
    assert finite_precision.words(9) == finite_precision.words(9) != finite_precision.words(10)
    assert {"aaa", "bbb", "aab", "baa"} <= set(finite_precision.words(3))


def test_the_first_wrong_step_is_between_what_is_certified_and_what_is_lost(entries):
    for result in lengths(entries).values():
        assert (result["exact height"] or 0) <= result["certified length"] < result["wrong step"]
        assert result["wrong step"] <= result["wrong answer"]
        assert result["wrong step"] <= result["lossy length"]


def test_in_base_4_the_interval_is_short_and_sweeps_do_not_end(entries):
    for (base, name), result in lengths(entries).items():
        assert (result["exact height"] is not None) == (base == 4)
        if base == 4:
            assert result["wrong step"] - result["certified length"] <= 2
            assert result["lossy length"] - result["wrong step"] <= 2
        if base == 4 and name in ("float32", "float64"):
            assert result["certified sweeps"] == finite_precision.MAX_SWEEP_STEPS
            assert result["wrong sweep"] is None
        if base != 4:
            assert result["certified sweeps"] < result["wrong sweep"] < 60


def test_every_automaton_differs_from_its_machine(entries):
    automata = [(point, result) for point, result in entries if "machine" in point]
    assert len(automata) == len(finite_precision.AUTOMATA)
    for point, result in automata:
        assert 2 <= result["minimal states"] < result["states"]
        assert TURING_MACHINES[point["machine"]].decide(result["differs"], 500).accepted is not None


PREDICTED = ("exact height", "certified length", "lossy length", "certified sweeps")


def test_a_point_predicts_again_what_is_stored_and_observes_between(entries):
    point = {"base": 8, "type": "bfloat16"}
    result, before = finite_precision.run(point), lengths(entries)[8, "bfloat16"]
    assert {key: result[key] for key in PREDICTED} == {key: before[key] for key in PREDICTED}
    assert result["certified length"] < result["wrong step"] <= min(result["lossy length"], result["wrong answer"])


def test_an_automaton_differs_again_at_a_short_word():
    result = finite_precision.run({"machine": "palindromes", "base": 8, "type": "float16"})
    assert 1 < result["minimal states"] < result["states"] < 2000
    assert 0 < len(result["differs"]) < 8
