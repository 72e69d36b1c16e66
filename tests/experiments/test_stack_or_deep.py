"""The search for a difference between stacks and deep cells: nested sets, bands of steps, one point."""

import json
from pathlib import Path

import pytest
import torch

from fhx.experiments import stack_or_deep
from fhx.experiments.protocol import judge
from fhx.experiments.results import read
from fhx.experiments.stack_or_deep import BANDS, BUDGETS, SIZES, STUDENTS, TEACHERS, by_band
from fhx.tasks import Sequences, teacher_recurrence, word_problem
from fhx.training import OBJECTIVES, evaluate

RESULT = Path(__file__).parents[2] / "results" / "stack_or_deep.json"


def test_bands_are_steps_of_one_run():
    targets = torch.zeros(64, 4, 1)
    outputs = torch.cat([torch.full((n, 4, 1), v) for n, v in ((16, 1.0), (16, 2.0), (32, 3.0))])
    part = Sequences(torch.zeros(64, 4, 2), targets)
    found = by_band(lambda inputs, lengths: outputs, part, OBJECTIVES["value per step"])
    assert found == {"1x": 1, "2x": 4, "4x": 9}
    assert [end for _, end in BANDS.values()] == [16, 32, 64]


def test_every_student_has_its_points_once():
    points = [tuple(point.values()) for point in stack_or_deep.EXPERIMENT.points]
    assert len(points) == len(set(points)) == len(STUDENTS) * 6 * 3
    assert set(SIZES) == set(BUDGETS)


def test_a_teacher_is_that_of_its_draw():
    name = "teacher 2, draw 1"
    depth, draw = TEACHERS[name]
    task, again = stack_or_deep.task(name), teacher_recurrence(depth, 16, sizes=(1024, 4, 4), seed=draw)
    torch.testing.assert_close(task.train.targets, again.train.targets)
    assert task.test.steps == 64
    assert task.train.steps == 16


@pytest.fixture
def small(monkeypatch):
    """One problem of each kind, few seeds and updates."""
    monkeypatch.setattr(stack_or_deep, "SEEDS", range(2))
    monkeypatch.setattr(stack_or_deep, "OTHER_SEEDS", range(5, 6))
    monkeypatch.setattr(stack_or_deep, "LEARNING_RATES", (1e-9, 0.02))
    problems = {
        "words": word_problem("Z2", 4, (32, 16, 16), test_steps=64),
        "teacher": teacher_recurrence(2, 4, sizes=(32, 16, 16), test_steps=64),
    }
    monkeypatch.setattr(stack_or_deep, "task", problems.get)
    few = {"parameters": 200, "updates": 20, "evaluate_every": 10}
    monkeypatch.setattr(stack_or_deep, "BUDGETS", dict.fromkeys(problems, few))
    return problems


@pytest.mark.parametrize(("cell", "depth"), STUDENTS)
def test_one_point(cell, depth, small):
    result = stack_or_deep.run({"task": "teacher", "size": 8, "cell": cell, "depth": depth})
    assert json.loads(json.dumps(result)) == result
    assert 140 <= result["parameters"] <= 200
    assert result["rate"] == 0.02
    for seed, test in enumerate(result["test"]):
        shares = [result["bands"][name][seed] * (end - start) / 64 for name, (start, end) in BANDS.items()]
        assert sum(shares) == pytest.approx(test, rel=1e-4)


def test_bands_are_of_the_nets_that_are_reported(small, monkeypatch):
    kept = []

    def sweep(*arguments, **options):
        kept.append((real(*arguments, **options), arguments[1]))
        return kept[0][0]

    real = stack_or_deep.sweep
    monkeypatch.setattr(stack_or_deep, "sweep", sweep)
    result = stack_or_deep.run({"task": "words", "size": 8, "cell": "plain", "depth": 2})
    found, problem = kept[0]
    assert len(problem.train) == 8
    assert torch.equal(problem.train.inputs, small["words"].train.inputs[:, :8])
    for net, test in zip([found.fit.models[row] for row in found.rows], result["test"], strict=True):
        assert evaluate(net, small["words"]) == pytest.approx(test)


def stored():
    return [(entry["point"], entry["result"]) for entry in read(RESULT)["points"]]


def test_stored_nets_are_of_equal_size_and_their_rate_was_chosen_by_others():
    for point, result in stored():
        budget = BUDGETS[point["task"]]["parameters"]
        assert 0.85 * budget < result["parameters"] <= budget
        assert result["rates"][str(result["rate"])] == min(result["rates"].values())
        assert all(len(values) == len(stack_or_deep.SEEDS) for values in result["bands"].values())


def test_the_evidence_is_that_of_the_stored_nets_and_settles_nothing():
    found = stack_or_deep.evidence(read(RESULT))
    assert len(found) == sum(map(len, SIZES.values()))
    for point, result in stored():
        one = found[f"{point['task']}, {point['size']} sequences"]
        assert not one.higher_is_better
        kinds = [kind for kind in one.kinds.values() if kind.scores == result["bands"]["1x"]]
        assert result["valid"] in [kind.valid for kind in kinds]
        assert result["rate"] in [kind.rate for kind in kinds]
    for one in found.values():
        verdict = judge(one)
        assert set(one.kinds) >= {"deep, 2", "deep, 4", "stack of 2", "stack of 4", "simple", "LSTM", "GRU"}
        assert {"control", "tuning", "seeds"} <= verdict.reasons.keys()
        assert {verdict[statement] for statement in stack_or_deep.STATEMENTS} == {"undecided at this budget"}


def test_all_that_is_shown_shares_a_level():
    assert {one.shown for one in stack_or_deep.evidence(read(RESULT)).values()} == {6 * 3 * 2}
