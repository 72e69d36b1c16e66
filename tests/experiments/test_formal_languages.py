"""The long runs on formal languages: small versions of them, and what their stored results must hold."""

from pathlib import Path

import pytest

from fhx.experiments import counting, formal_languages
from fhx.experiments.protocol import judge
from fhx.experiments.recognition import CELLS, reach, right
from fhx.experiments.results import read
from fhx.tasks import LANGUAGES, formal_language

RESULTS = Path(__file__).parents[2] / "results"


@pytest.fixture
def small(monkeypatch):
    """Two seeds, two rates, few updates."""
    for experiment in (formal_languages, counting):
        monkeypatch.setattr(experiment, "SEEDS", range(2))
        monkeypatch.setattr(experiment, "OTHER_SEEDS", range(10, 12))
        monkeypatch.setattr(experiment, "LEARNING_RATES", (1e-9, 0.02))
        monkeypatch.setattr(experiment, "UPDATES", 10)
        monkeypatch.setattr(experiment, "MAX_COUNT", 12)
    words = formal_language("a^n b^n", (1, 6), (60, 20, 20))
    monkeypatch.setattr(formal_languages, "task", lambda language: words)


def check_rates(result):
    assert set(result["rates"]) == {"1e-09", "0.02"}
    assert result["rate"] == 0.02  # with the other one nothing is learnt
    assert result["rates"]["0.02"] < result["rates"]["1e-09"]


@pytest.mark.usefixtures("small")
def test_formal_languages_run_one_point():
    point = {"language": "a^n b^n", "cell": "relu"}
    result = formal_languages.run(point)
    check_rates(result)
    assert set(result["words"]) == set(result["right"]) == {"1x", "2x", "5x", "10x"}
    net, i = formal_languages.net(point, result), result["seed"]
    assert result["valid"][i] == min(result["valid"])
    for name in formal_languages.BANDS:
        share = right(net, formal_languages.band("a^n b^n", name)).double().mean().item()
        assert result["words"][name][i] == pytest.approx(share)
        assert result["right"][name] == [value == 1 for value in result["words"][name]]


@pytest.mark.usefixtures("small")
def test_a_regular_language_has_no_reach_and_a_diverged_seed_no_success(monkeypatch):
    def diverged(*arguments):
        result = train(*arguments)
        result.diverged[1] = 3
        return result

    train = formal_languages.train
    monkeypatch.setattr(formal_languages, "train", diverged)
    monkeypatch.setattr(formal_languages, "right", lambda net, part: part.lengths > 0)
    words = formal_language("parity", (1, 6), (60, 20, 20))
    monkeypatch.setattr(formal_languages, "task", lambda language: words)
    result = formal_languages.run({"language": "parity", "cell": "tanh"})
    assert result["reach"] is None
    assert result["diverged"] == 1
    assert result["right"] == {name: [True, False] for name in formal_languages.BANDS}
    assert result["seed"] == 0


@pytest.mark.usefixtures("small")
def test_counting_runs_one_point():
    point = {"language": "a^n b^n c^n", "cell": "relu"}
    result = counting.run(point)
    check_rates(result)
    assert len(result["reach"]) == len(result["valid"]) == 2
    assert all(0 <= n <= 12 for n in result["reach"])
    assert counting.net(point, result)(counting.task("a^n b^n c^n").test.inputs).shape[-1] == 4


@pytest.mark.usefixtures("small")
def test_the_stored_counter_is_the_first_of_those_that_count_farthest(monkeypatch):
    monkeypatch.setattr(counting, "SEEDS", range(4))
    found = iter([2, 5, 5, 3])
    monkeypatch.setattr(counting, "reach", lambda net, part, max_count: next(found))
    result = counting.run({"language": "a^n b^n", "cell": "tanh"})
    assert (result["reach"], result["seed"]) == ([2, 5, 5, 3], 1)


@pytest.mark.full
def test_bands_are_new_words_of_their_lengths():
    for language in formal_languages.NAMES:
        trained = set(LANGUAGES[language].words(4000, formal_languages.LENGTHS, 0))
        for name, (low, high) in formal_languages.BANDS.items():
            part = formal_languages.band(language, name)
            assert low <= int(part.lengths.min()) - 1 <= int(part.lengths.max()) - 1 <= high
        words = LANGUAGES[language].words(formal_languages.WORDS, (21, 40), formal_languages.TEST_SEED)
        assert not trained & set(words)


@pytest.mark.parametrize("experiment", [formal_languages, counting])
def test_stored_points_say_which_rate_was_best_and_a_number_for_each_seed(experiment):
    name = experiment.__name__.rpartition(".")[2]
    for entry in read(RESULTS / f"{name}.json")["points"]:
        result, seeds = entry["result"], len(experiment.SEEDS)
        assert result["rates"][str(result["rate"])] == min(result["rates"].values())
        assert len(result["valid"]) == seeds
        assert result["reach"] is None or len(result["reach"]) == seeds
        for name in result.get("words", {}):
            assert len(result["words"][name]) == len(result["right"][name]) == seeds


@pytest.mark.parametrize("cell", CELLS)
def test_stored_nets_do_what_is_stored_about_them(cell):
    entries = read(RESULTS / "formal_languages.json")["points"]
    entry = next(e for e in entries if e["point"] == {"language": "tomita-6", "cell": cell})
    net = formal_languages.net(entry["point"], entry["result"])
    share = right(net, formal_languages.band("tomita-6", "2x")).double().mean().item()
    # stored to six digits, so that a logit near zero may change its sign
    assert entry["result"]["words"]["2x"][entry["result"]["seed"]] == pytest.approx(share, abs=0.02)
    entries = read(RESULTS / "counting.json")["points"]
    entry = next(e for e in entries if e["point"] == {"language": "a^n b^n", "cell": cell})
    far = entry["result"]["reach"][entry["result"]["seed"]]
    net = counting.net(entry["point"], entry["result"])
    assert abs(reach(net, lambda numbers: counting.members("a^n b^n", numbers), far + 2) - far) <= 1


@pytest.mark.parametrize("experiment", [formal_languages, counting])
def test_the_stored_runs_decide_between_no_cells_and_the_rules_say_why(experiment):
    found = experiment.evidence(read(RESULTS / f"{experiment.__name__.rpartition('.')[2]}.json"))
    assert set(found) == set(experiment.NAMES)
    for evidence in found.values():
        verdict = judge(evidence)
        assert {"control", "plateau", "tuning"} <= set(verdict.reasons)
        assert {verdict[one] for one in evidence.statements} == {"undecided at this budget"}


def test_a_net_that_never_accepts_is_right_on_words_without_a_member_among_their_prefixes():
    words = LANGUAGES["tomita-6"].words(formal_languages.WORDS, formal_languages.LENGTHS, formal_languages.TEST_SEED)
    share = sum(not any(LANGUAGES["tomita-6"].prefixes(word)) for word in words) / len(words)
    evidence = formal_languages.evidence(read(RESULTS / "formal_languages.json"))
    assert evidence["tomita-6"].baselines["always no"] == pytest.approx(share)
