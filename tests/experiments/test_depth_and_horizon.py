"""Trained against frozen over depth and horizon: starts open for the horizon, one grid for all, evidence."""

import json
from math import exp

import pytest
import torch
from attrs import evolve

from fhx.cells import DeepLSTMCell
from fhx.experiments import depth_and_horizon
from fhx.experiments.depth_and_horizon import (
    BUDGET,
    EXPERIMENT,
    FAR,
    GATED,
    KINDS,
    LONGER,
    NEAR,
    RESIDUAL,
    SLOW,
    UNITS,
    evidence,
    label,
    make,
    task,
)
from fhx.experiments.protocol import judge
from fhx.experiments.results import stored


@pytest.mark.parametrize(("depth", "steps"), NEAR + FAR)
def test_a_highways_direct_path_keeps_about_a_third_of_a_number(depth, steps):
    """With all weights 0 a layer carries on the share of its gate, and what it would write is 0."""
    cell = make("highway", depth, steps).cell
    with torch.no_grad():
        for W in (cell.W, cell.U, *cell.W_upper):
            W.zero_()
        for b in (cell.b, *cell.b_upper):
            b[:UNITS] = 0
        h = torch.ones(1, UNITS)
        for _ in range(steps):
            h = cell(h, torch.zeros(1, cell.input_size))
    assert h.mean().item() == pytest.approx(exp(-1), rel=0.06)


@pytest.mark.parametrize(
    ("name", "scale", "kept"),
    [
        ("residual", 1 / 3, 1),
        ("residual, root", 3**-0.5, 1),
        ("residual, one", 1, 1),
        ("leaky", 1 / 3, 1 - 1 / 30),
    ],
)
def test_what_a_residual_layer_adds_and_keeps(name, scale, kept):
    cell = make(name, 3, 10).cell
    with torch.no_grad():
        for W in (cell.W, cell.U, *cell.W_upper):
            W.zero_()
        for b in (cell.b, *cell.b_upper):
            b.fill_(100.0)  # of which tanh makes 1
        found = cell(torch.zeros(1, UNITS), torch.zeros(1, cell.input_size))
    expected = scale * (1 + kept + kept**2)
    torch.testing.assert_close(found, torch.full_like(found, expected))


@pytest.mark.parametrize("depth", [1, 2, 4])
def test_an_lstms_gates_are_open_for_times_up_to_the_horizon(depth):
    torch.manual_seed(0)
    cell = make("gated", depth, 30).cell
    assert isinstance(cell, DeepLSTMCell)
    bias = cell.b_upper[-1] if depth > 1 else cell.b
    opened, kept = bias[:UNITS], bias[UNITS : 2 * UNITS]
    torch.testing.assert_close(opened, -kept)
    times = 1 / (1 - torch.sigmoid(kept))  # a memory falls by a factor e in about so many steps
    assert 2 <= times.min() < 8
    assert 22 < times.max() <= 30


def test_every_net_is_trained_and_frozen():
    points = [tuple(p.values()) for p in EXPERIMENT.points]
    assert len(points) == len(set(points))
    nets = {p[:-1] for p in points}
    assert set(points) == {(*net, is_frozen) for net in nets for is_frozen in (True, False)}
    near = {(k, *at, BUDGET.updates) for k in KINDS for at in NEAR} - {("stacked", *NEAR[0], BUDGET.updates)}
    assert nets == near | {(k, *at, BUDGET.updates) for k in GATED for at in FAR} | {
        (k, *NEAR[-1], LONGER) for k in SLOW
    }


@pytest.fixture
def small(monkeypatch):
    """Few units, words and updates."""
    budget = evolve(BUDGET, rates=(0.01, 0.03), seeds=range(2), others=(2,), updates=4, evaluations=2)
    for name, value in {"UNITS": 5, "SIZES": (40, 20, 30), "BUDGET": budget}.items():
        monkeypatch.setattr(depth_and_horizon, name, value)
    task.cache_clear()
    yield
    task.cache_clear()


@pytest.mark.parametrize("kind", sorted({*KINDS, *RESIDUAL}))
def test_a_point_has_a_number_for_every_net(small, kind):
    found = {}
    for frozen in (True, False):
        point = {"kind": kind, "depth": 2, "steps": 4, "updates": 6, "frozen": frozen}
        found[frozen] = depth_and_horizon.run(point)
        assert found[frozen]["at"][-1] == 6
        assert json.loads(json.dumps(found[frozen])) == found[frozen]
        assert len(found[frozen]["test"]) == 2
        assert len(found[frozen]["settings"]) == 4
    assert found[True]["parameters"] == 6 * (5 + 1) < found[False]["parameters"]
    starts = [found[frozen]["valid"][0][0] for frozen in (True, False)]
    assert starts[0] == pytest.approx(starts[1]), "both start as the same net"


def test_stored_evidence_is_of_every_place_and_its_verdicts_follow_from_it():
    result = stored("depth_and_horizon")
    found = evidence(result)
    assert list(found) == list(dict.fromkeys(map(label, EXPERIMENT.points)))
    for one in found.values():
        verdict, (statement,) = judge(one), one.statements
        ahead = one.lead("trained", "frozen").low > 0
        assert (verdict[statement] == "holds") is (verdict.all_rules_hold and ahead)
        assert max(one.kinds["frozen"].scores) < 0.5, "a frozen cell does what is asked"


def test_stored_settings_are_the_best_of_their_grids():
    for entry in stored("depth_and_horizon")["points"]:
        tried = entry["result"]["settings"]
        best = max(mean for _, _, mean in tried if mean is not None)
        assert [entry["result"]["rate"], entry["result"]["decay"], best] in tried
