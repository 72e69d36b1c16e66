"""Deep cells on problems that are not trivial: pieces of chorales, rivals without recurrence, one point."""

import json
from itertools import product
from pathlib import Path

import pytest
import torch

from fhx.experiments import deep_cells
from fhx.experiments.deep_cells import BUDGETS, DEEP, DEPTHS, affine, pieces
from fhx.experiments.results import read
from fhx.tasks import Sequences, Task, teacher_recurrence

RESULT = Path(__file__).parents[2] / "results" / "deep_cells.json"


def test_pieces_hold_every_step_of_every_sequence_once():
    lengths = torch.tensor([7, 3, 4, 8])
    inputs = torch.arange(1.0, 33.0).view(8, 4, 1)
    part = Sequences(inputs, -inputs, lengths)
    cut = pieces(part, 3)
    assert cut.inputs.shape == (3, 9, 1)
    assert cut.lengths.tolist() == [3, 3, 3, 3, 3, 1, 3, 1, 2]
    assert cut.inputs[cut.mask].sort(0).values.tolist() == part.inputs[part.mask].sort(0).values.tolist()
    torch.testing.assert_close(cut.targets, -cut.inputs)
    assert cut.inputs[:, 0, 0].tolist() == [1, 5, 9]  # the first sequence, then where it goes on
    assert cut.inputs[:, 4, 0].tolist() == [13, 17, 21]


def test_the_affine_rival_of_a_recurrence_reads_the_last_inputs():
    problem = teacher_recurrence(1, 30, sizes=(5, 4, 4))
    net, x = affine(problem), problem.train.inputs
    window = torch.stack([x[24 - k] for k in range(20)]).movedim(0, 1).flatten(1)
    torch.testing.assert_close(net(x)[24], net.readout(window))
    torch.testing.assert_close(net(x)[0], net.readout(torch.nn.functional.pad(x[0], (0, 38))))


def test_every_net_has_its_points_once():
    points = [tuple(point.values()) for point in deep_cells.EXPERIMENT.points]
    assert len(points) == len(set(points)) == 3 * (2 + len(DEEP) * len(DEPTHS) - 1)
    assert ("digits", "stacked", 1) not in points  # that is the simple cell
    assert {task for task, *_ in points} == set(BUDGETS)


@pytest.fixture
def small(monkeypatch):
    """A problem of each kind, few seeds and updates."""
    recurrence = teacher_recurrence(2, 7, sizes=(20, 8, 8))
    bits = torch.zeros(7, 20, 2)
    chords = Sequences(bits, bits, torch.arange(20) % 7 + 1)
    labels = Sequences(bits, torch.arange(20) % 3)
    problems = {
        "teacher": recurrence,
        "chorales": Task("chords", chords, chords, chords, 2, 2, "bits per step"),
        "digits": Task("images", labels, labels, labels, 2, 3, "class at end"),
    }
    monkeypatch.setattr(deep_cells, "task", problems.get)
    monkeypatch.setattr(deep_cells, "SEEDS", range(2))
    monkeypatch.setattr(deep_cells, "OTHER_SEEDS", range(5, 6))
    few = {"parameters": 300, "updates": 4, "batch_size": 8, "evaluate_every": 2}
    monkeypatch.setattr(deep_cells, "BUDGETS", dict.fromkeys(problems, few))
    return problems


@pytest.mark.parametrize(("task", "cell"), [*product(["teacher"], ["affine", *DEEP]), ("chorales", "GRU")])
def test_one_point(task, cell, small):
    result = deep_cells.run({"task": task, "cell": cell, "depth": 2})
    assert json.loads(json.dumps(result)) == result
    assert len(result["test"]) == len(result["valid"]) == len(result["best update"]) == 2
    assert result["at"] == [0, 2, 4]
    assert (result["units"] is None) == (cell == "affine")
    assert result["parameters"] <= 300
    assert result["rate"] in (deep_cells.AFFINE_LEARNING_RATES if cell == "affine" else deep_cells.LEARNING_RATES)


@pytest.mark.parametrize("task", ["teacher", "digits", "chorales"])
def test_multiplications_are_those_of_the_steps_that_are_read(task, small):
    result = deep_cells.run({"task": task, "cell": "plain", "depth": 2})
    d, outputs = result["units"], small[task].output_size
    step, readout = 2 * d * d + 2 * d, outputs * d
    expected = {"teacher": 7 * (step + readout), "digits": 7 * step + readout, "chorales": 4 * (step + readout)}
    assert result["multiply-adds"] == expected[task]


def test_the_affine_rival_of_digits_reads_the_whole_image(small):
    result = deep_cells.run({"task": "digits", "cell": "affine", "depth": 1})
    assert result["multiply-adds"] == 7 * 2 * 3
    assert result["parameters"] == 7 * 2 * 3 + 3


def stored():
    return [(entry["point"], entry["result"]) for entry in read(RESULT)["points"]]


def test_stored_nets_are_of_equal_size():
    for point, result in stored():
        if point["cell"] != "affine":
            assert 0.85 * BUDGETS[point["task"]]["parameters"] < result["parameters"]
            assert result["parameters"] <= BUDGETS[point["task"]]["parameters"]


def test_stored_points_say_which_rate_the_others_chose():
    for point, result in stored():
        best = max if point["task"] == "digits" else min
        assert result["rates"][str(result["rate"])] == best(result["rates"].values())
        assert result["test"] == result["test by rate"][str(result["rate"])]
        assert all(len(result[key]) == len(deep_cells.SEEDS) for key in ("test", "valid", "best update", "diverged"))
        assert all(len(curve) == len(result["at"]) for curve in result["valid"])
