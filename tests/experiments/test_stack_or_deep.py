"""Students of many teachers: own sequences in one batch, one teacher for all settings, evidence of the stored run."""

import json

import pytest
import torch
from attrs import evolve
from torch import nn

from fhx.cells import SimpleCell
from fhx.dynamics import Realization
from fhx.experiments import stack_or_deep as experiment
from fhx.experiments.protocol import judge
from fhx.experiments.stack_or_deep import BANDS, DEPTHS, KINDS, SIZES, STATEMENTS, OwnSequences, make, numbered, task
from fhx.tasks import teacher, teacher_recurrence
from fhx.training import evaluate


@pytest.fixture
def small(monkeypatch):
    """Few sequences, seeds and updates, and small nets."""
    monkeypatch.setattr(experiment, "task", lambda depth, draw: few_sequences(depth, draw))
    monkeypatch.setattr(experiment, "PARAMETERS", 120)
    monkeypatch.setattr(experiment, "RUNS", 50)
    few = evolve(experiment.BUDGET, seeds=range(2), others=range(100, 101), updates=6, evaluations=2, rates=(0.01, 0.1))
    monkeypatch.setattr(experiment, "BUDGET", few)


def few_sequences(depth, draw):
    return teacher_recurrence(depth, 16, sizes=(16, 10, 12), seed=draw, test_steps=64)


def test_a_net_answers_with_its_errors_on_its_own_sequences():
    problem, net = few_sequences(1, 3), Realization(SimpleCell(2, 4), nn.Linear(4, 1))
    inputs, targets = (torch.cat([problem.train.inputs, problem.valid.inputs], 1),
                       torch.cat([problem.train.targets, problem.valid.targets], 1))  # fmt: skip
    own, asked = OwnSequences(net, inputs, targets), torch.tensor([2, 20, 7]).expand(5, 3)
    torch.testing.assert_close(own(asked), net(inputs[:5, [2, 20, 7]]) - targets[:5, [2, 20, 7]])


@pytest.mark.parametrize("name", ["simple", "gated", "frozen", "window"])
def test_errors_by_number_are_those_of_the_net_on_its_teacher(name, small):
    torch.manual_seed(5)
    own, problem = make(name, 2, 3), few_sequences(2, 5)
    torch.manual_seed(5)
    net = experiment.student(name, problem, 3)
    asked = numbered(few_sequences(2, 0), 8)
    assert len(asked.train) == 8
    for split in ("valid", "test"):
        assert evaluate(own, asked, split) == pytest.approx(evaluate(net, problem, split), rel=1e-5)
    first = evolve(problem, train=problem.train.take(slice(8)))
    assert evaluate(own, asked, "train") == pytest.approx(evaluate(net, first, "train"), rel=1e-5)


def test_all_kinds_and_settings_meet_the_teacher_of_the_seed_and_start_apart(small):
    made = {}
    for name, seed in (("simple", 7), ("deep", 7), ("deep", 7 + experiment.DRAWS), ("deep", 8)):
        torch.manual_seed(seed)
        made[name, seed] = make(name, 1, 3)
    same = made["simple", 7].targets
    assert torch.equal(same, made["deep", 7].targets)
    assert torch.equal(same, made["deep", 7 + experiment.DRAWS].targets)
    assert not torch.equal(same, made["deep", 8].targets)
    starts = [made["deep", seed].net.cell.W for seed in (7, 7 + experiment.DRAWS)]
    assert not torch.equal(*starts)
    assert not {seed % experiment.DRAWS for seed in experiment.BUDGET.others} & set(experiment.BUDGET.seeds)


def test_the_largest_sets_hold_the_smaller_ones_and_tests_are_longer():
    problem = task(1, 2)
    assert len(problem.train) == max(SIZES)
    assert (problem.train.steps, problem.test.steps) == (16, 64)
    assert [start for start, _ in BANDS.values()] == [0, 16, 32]


def test_frozen_cells_stay_and_only_the_readout_is_trained(small):
    torch.manual_seed(1)
    assert {name for name, _ in make("frozen", 1, 3).named_parameters()} == {"net.weight", "net.bias"}


@pytest.mark.parametrize("name", KINDS)
def test_one_point(name, small):
    result = experiment.run({"depth": 2, "size": 8, "kind": name})
    assert json.loads(json.dumps(result)) == result
    assert result["parameters"] <= 120
    for seed, test in enumerate(result["test"]):
        shares = [result["bands"][band][seed] * (end - start) / 64 for band, (start, end) in BANDS.items()]
        assert sum(shares) == pytest.approx(test, rel=1e-4)
    if name != "frozen":
        assert all(0 <= part <= whole for part, whole in zip(result["linear part"], result["late error"], strict=True))


def test_the_linear_part_is_that_of_a_linear_error():
    """A student that is off by 3 times the input of two steps ago has just that error, and all of it is linear."""
    master, problem = teacher(2, seed=4).double(), task(2, 4)
    spread, mean = torch.std_mean(master(problem.train.inputs.double()), correction=0)

    def off(x):
        late = nn.functional.pad(x, (0, 0, 0, 0, 2, 0))[: len(x), :, :1]
        return (master(x.double()) - mean) / spread + 3 * late

    whole, linear = experiment.linear_part(off, 2, 4)
    assert whole == pytest.approx(9, rel=0.05)
    assert linear == pytest.approx(whole, rel=0.05)
    assert experiment.linear_part(lambda x: (master(x.double()) - mean) / spread + 1, 2, 4)[1] < 0.01


def test_statements_are_judged_by_depth_and_size(small):
    points = [{"depth": 1, "size": 8, "kind": name} for name in ("deep", "stack", "frozen", "window")]
    entries = [{"point": point, "result": experiment.run(point)} for point in points]
    found = experiment.evidence({"points": entries})
    assert list(found) == ["1, 8: deep or stack"]
    (one,) = found.values()
    assert one.kinds["deep"].scores == entries[0]["result"]["bands"]["1x"]
    assert not one.higher_is_better
    assert one.kinds["deep"].item_error == 0
    assert one.control == "frozen"
    assert {"constant", "window"} == one.baselines.keys()
    assert one.shown == len(STATEMENTS) * len(DEPTHS) * len(SIZES)
    assert "seeds" in judge(one).reasons, "two teachers are not enough"


def test_every_kind_is_run_once_everywhere():
    points = [tuple(point.values()) for point in experiment.EXPERIMENT.points]
    assert len(points) == len(set(points)) == len(KINDS) * len(DEPTHS) * len(SIZES)
