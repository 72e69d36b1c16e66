"""Words over groups: nets of equal size, a stack with skips, gates open for the horizon, evidence of the stored run."""

import json
from itertools import pairwise

import pytest
import torch
from attrs import evolve

from fhx.cells import DeepCell, LSTMCell, SimpleCell
from fhx.dynamics import unroll
from fhx.experiments import words
from fhx.experiments.protocol import judge
from fhx.experiments.words import BANDS, GROUPS, KINDS, PARAMETERS, STATEMENTS, SkipStack, make, units_for
from fhx.tasks import word_problem
from fhx.training import evaluate


@pytest.fixture
def small(monkeypatch):
    """Few words, seeds and updates."""
    problem = word_problem("S3", 4, (40, 20, 30), test_steps=64)
    monkeypatch.setattr(words, "task", lambda group: problem)
    few = {name: evolve(budget, seeds=range(2), others=range(20, 21), updates=6, evaluations=2)
           for name, budget in words.BUDGETS.items()}  # fmt: skip
    monkeypatch.setattr(words, "BUDGETS", few)
    return problem


def test_a_stack_with_skips_is_its_layers_by_hand():
    torch.manual_seed(0)
    layers = [SimpleCell(2, 3), LSTMCell(5, 4)]
    stack, x = SkipStack(layers, 2), torch.randn(7, 5, 2)
    below = unroll(layers[0], x)
    above = unroll(layers[1], torch.cat((below, x), -1))
    states = unroll(stack, x)
    torch.testing.assert_close(states, torch.cat((below, above), -1))
    torch.testing.assert_close(stack.hidden(states), torch.cat((below, above[..., :4]), -1))
    assert stack.state_size == 7


def test_layers_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="layer 1 reads 3 numbers, not 5"):
        SkipStack([SimpleCell(2, 3), SimpleCell(3, 3)], 2)
    with pytest.raises(ValueError, match="at least one"):
        SkipStack([], 2)
    with pytest.raises(ValueError, match="no kind 'tall'; there are simple"):
        make("tall", word_problem("Z2", 2, (2, 2, 2)), 3)


@pytest.mark.parametrize("group", GROUPS)
def test_nets_of_a_group_have_equal_size_up_to_one_unit(group):
    problem = words.task(group)
    for name in set(KINDS) - {"window"}:
        units = units_for(name, group)
        sizes = [sum(p.numel() for p in make(name, problem, n).parameters()) for n in (units, units + 1)]
        assert sizes[0] <= PARAMETERS[group] < sizes[1]


def test_gates_start_open_for_the_horizon_and_the_control_is_frozen(small):
    torch.manual_seed(0)
    cell = make("gated", small, 200).cell
    assert torch.equal(cell.b_i, -cell.b_f)
    u = cell.b_f.exp()
    assert 1 <= u.min() < 5
    assert 58 < u.max() <= words.TEST_STEPS - 1
    assert (cell.W_f @ cell.W_f.T - torch.eye(cell.state_size)).abs().max() < 1e-4
    for control, kind in {"frozen": DeepCell, "frozen gated": LSTMCell}.items():
        net = make(control, small, 5)
        assert isinstance(net.cell, kind)
        assert [name for name, p in net.named_parameters() if p.requires_grad] == ["readout.weight", "readout.bias"]


def test_a_stack_of_lstms_shows_both_layers_and_starts_open(small):
    net = make("gated stack", small, 5)
    assert [type(layer) for layer in net.cell.layers] == [LSTMCell, LSTMCell]
    assert net.cell.state_size == net.readout.in_features == 10
    assert all(torch.equal(layer.b_i, -layer.b_f) for layer in net.cell.layers)


@pytest.mark.parametrize("group", ["A5", "S5"])
def test_two_letters_make_the_whole_group(group):
    """Every element is a product of some word."""
    letters = [tuple(int(c) - 1 for c in label) for label in GROUPS[group]]
    reached, new = {tuple(range(5))}, [tuple(range(5))]
    while new:
        new = [p for p in {tuple(x[i] for i in p) for p in new for x in letters} if p not in reached]
        reached.update(new)
    assert len(reached) == words.task(group).output_size == {"A5": 60, "S5": 120}[group]


def test_gated_nets_have_a_gated_control(small):
    points = [{"group": "S3", "kind": name} for name in ("gated", "gated stack", "frozen gated", "deep", "frozen")]
    found = words.evidence({"points": [{"point": point, "result": words.run(point)} for point in points]})
    assert {name: one.control for name, one in found.items() if name.startswith("S3, 4x")} == {
        "S3, 4x: deep or frozen": "frozen",
        "S3, 4x: gated or frozen gated": "frozen gated",
        "S3, 4x: gated stack or frozen gated": "frozen gated",
        "S3, 4x: gated or deep": "frozen gated",
        "S3, 4x: gated stack or gated": "frozen gated",
    }


@pytest.mark.parametrize("name", KINDS)
def test_one_point(name, small):
    result = words.run({"group": "S3", "kind": name})
    assert json.loads(json.dumps(result)) == result
    for seed, test in enumerate(result["test"]):
        shares = [result["bands"][band][seed] * (end - start) / 64 for band, (start, end) in BANDS.items()]
        assert sum(shares) == pytest.approx(test, rel=1e-4)
    assert result["units"] == units_for(name, "S3")


def test_the_error_of_a_band_is_that_of_its_words(small):
    """Of one net and one band that is all steps it is the error of all steps."""
    net = make("simple", small, 4)
    found, errors = words.banded([net], small)
    right = (net(small.test.inputs).argmax(-1) == small.test.targets).double()
    assert sum(found[band][0] * (end - start) for band, (start, end) in BANDS.items()) / 64 == pytest.approx(
        evaluate(net, small)
    )
    assert errors["1x"] == pytest.approx(right[:16].mean(0).std().item() / 30**0.5)
    assert [start for start, _ in BANDS.values()][1:] == [end for _, end in BANDS.values()][:-1]
    assert all(a[1] == b[0] for a, b in pairwise(BANDS.values()))


def test_a_statement_is_judged_by_group_and_band(small):
    points = [{"group": "S3", "kind": name} for name in ("deep", "simple", "frozen", "window")]
    found = words.evidence({"points": [{"point": point, "result": words.run(point)} for point in points]})
    compared = ("simple or frozen", "deep or frozen", "deep or simple")
    assert list(found) == [f"S3, {band}: {pair}" for band in ("1x", "4x") for pair in compared]
    for name, one in found.items():
        band = name[4:6]
        assert one.kinds["deep"].scores == words.run(points[0])["bands"][band]
        assert one.control == "frozen"
        assert {"guess", "window"} == one.baselines.keys()
        assert one.shown == 2 * len(STATEMENTS) * len(GROUPS)
        assert "seeds" in judge(one).reasons, "two seeds are not enough"
