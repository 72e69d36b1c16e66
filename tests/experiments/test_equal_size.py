"""What comparisons at equal size stand on: widths, starts, and the choice of the rate."""

import numpy as np
import pytest
import torch
from torch import nn

from fhx.cells import SimpleCell, Stack
from fhx.dynamics import Realization
from fhx.experiments.equal_size import CELLS, make, multiply_adds, parameters, sweep, units_for
from fhx.tasks import running_parity, teacher_recurrence
from fhx.training import Fit

NETS = [(cell, depth) for cell in CELLS for depth in (1, 2, 4) if (cell, depth) not in {("GRU", 2), ("GRU", 4)}]


@pytest.fixture(scope="module")
def task():
    return teacher_recurrence(2, 6, sizes=(24, 8, 8))


@pytest.mark.parametrize(("cell", "depth"), NETS)
def test_a_net_is_as_wide_as_its_budget_allows(cell, depth, task):
    units = units_for(700, cell, depth, task)
    sizes = [sum(p.numel() for p in make(cell, depth, task, d).parameters()) for d in (units, units + 1)]
    assert sizes[0] <= 700 < sizes[1]
    assert sizes == [parameters(cell, depth, task, d) for d in (units, units + 1)]


def test_a_budget_too_small_is_refused(task):
    with pytest.raises(ValueError, match="'plain' of depth 4 for teacher of depth 2 has more than 20 parameters"):
        units_for(20, "plain", 4, task)


@pytest.mark.parametrize(("cell", "depth"), NETS)
def test_state_side_matrices_start_with_gain_1(cell, depth, task):
    for orthogonal in (True, False):
        net = make(cell, depth, task, 60, orthogonal).cell
        matrices = net.layer_matrices()
        if isinstance(net, Stack):
            matrices += [layer.U for layer in net.layers[1:]]
            assert all(isinstance(layer.U, nn.Parameter) for layer in net.layers)
        for W in matrices:
            exact = torch.linalg.svdvals(W.detach()).sub(1).abs().max() < 1e-4
            assert exact == (orthogonal or cell == "orthogonal")
            assert W.detach().square().mean().mul(60).sqrt() == pytest.approx(1, abs=0.08)


@pytest.mark.parametrize("cell", ["gated", "highway", "GRU"])
def test_starting_leaves_the_gates_open(cell, task):
    net = make(cell, 2, task, 10, orthogonal=True).cell
    if cell == "gated":
        assert (net.b_upper[-1][10:20] == 1).all()
    if cell == "highway":
        assert (net.b[10:] == -2).all()
    assert net.state_size == 10


def test_multiplications_of_a_run(task):
    net = Realization(SimpleCell(2, 5), nn.Linear(5, 3))
    assert multiply_adds(net, 7, 7) == 7 * (5 * 5 + 5 * 2 + 3 * 5)
    assert multiply_adds(net, 7, 1) == 7 * (5 * 5 + 5 * 2) + 3 * 5
    delay = Realization(lambda h, x: torch.cat([x, h[..., :-2]], -1), nn.Linear(6, 3), h0=torch.zeros(6))
    assert multiply_adds(delay, 7, 1) == 18


@pytest.fixture(scope="module")
def swept():
    task = running_parity(steps=3, sizes=(60, 20, 20))
    units = units_for(100, "plain", 1, task)

    def train(rates):
        return sweep(
            lambda: make("plain", 1, task, units),
            task,
            rates=rates,
            seeds=range(3),
            others=range(7, 9),
            updates=60,
            batch_size=16,
            evaluate_every=20,
        )

    return train


def test_the_others_choose_the_rate_and_the_rest_is_reported(swept):
    found = swept((1e-9, 0.05))
    result = found.result
    assert found.fit.seeds == (7, 8, 0, 1, 2, 1007, 1008, 1000, 1001, 1002)
    assert set(result["rates"]) == set(result["test by rate"]) == {"1e-09", "0.05"}
    others = found.fit.valid[5:7]
    assert result["rates"]["0.05"] == pytest.approx(others.max(1).mean())
    assert result["rate"] == found.rate == 0.05
    assert found.rows == range(7, 10)
    assert result["test"] == result["test by rate"]["0.05"] == found.fit.test[7:].tolist()
    assert result["valid"] == found.fit.valid[7:].tolist()
    assert result["at"] == [0, 20, 40, 60]
    assert result["diverged"] == [None] * 3
    assert all(at in result["at"] for at in result["best update"])
    assert result["seconds"] > 0


def test_of_two_equal_rates_the_smaller_one_is_taken(swept, monkeypatch):
    monkeypatch.setattr(Fit, "best_valid", np.full(10, 0.5))
    assert swept((0.05, 0.002)).rate == 0.002


def test_a_rate_at_which_the_others_fail_is_not_taken(swept, monkeypatch):
    nan = float("nan")
    monkeypatch.setattr(Fit, "best_valid", np.array([0.9, nan, 1, 1, 1, 0.6, 0.5, 0, 0, 0]))
    assert swept((0.002, 0.05)).rate == 0.05
