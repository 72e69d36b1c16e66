"""The map of what can be trained: nets of a gain, rates chosen by other seeds, points in order, one point."""

import json
from itertools import chain
from pathlib import Path

import pytest
import torch

from fhx.cells import DeepLSTMCell
from fhx.experiments import trainability
from fhx.experiments.results import read
from fhx.experiments.trainability import (
    CELLS,
    DEPTHS,
    EXPERIMENT,
    GAINS,
    MORE_UPDATES,
    STEPS,
    UPDATES,
    initialize,
    make,
)

RESULT = Path(__file__).parents[2] / "results" / "trainability.json"


def test_points_are_the_grid_up_to_a_length_with_the_cheap_ones_first():
    found = EXPERIMENT.points
    keys = [tuple(p.values()) for p in found]
    within = [(depth, steps) for depth in DEPTHS for steps in STEPS if depth * steps <= trainability.MAX_LAYERS]
    assert len(set(keys)) == len(keys) == 2 * (len(CELLS) + 1) * len(within)
    assert max(depth * steps for depth, steps in within) == trainability.MAX_LAYERS
    whole = [p for p in found if "frozen" not in p]
    assert found == (*whole, *({**p, "frozen": True} for p in whole))
    layers = [p["depth"] * p["steps"] for p in whole]
    assert layers == sorted(layers)
    assert [p["variant"] for p in found[: len(CELLS) + 1]] == [*CELLS, "plain"]
    assert [p["updates"] for p in found[: len(CELLS) + 1]] == [UPDATES] * len(CELLS) + [MORE_UPDATES]


@pytest.mark.parametrize("kind", CELLS)
def test_a_net_has_matrices_of_the_gain(kind):
    torch.manual_seed(0)
    cell = make(kind, 4, 0.8).cell
    norms = torch.stack([torch.linalg.matrix_norm(W) / W.shape[0] ** 0.5 for W in cell.layer_matrices()])
    torch.testing.assert_close(norms, torch.full_like(norms, 0.8), rtol=0.1, atol=0)
    if kind == "orthogonal":
        W = cell.layer_matrices()[2]
        torch.testing.assert_close(W @ W.T, 0.64 * torch.eye(32), rtol=0, atol=1e-5)
    on = {i for i, b in enumerate(cell.layer_biases()) if b.any()}  # the biases of a highway's gates are not among them
    assert on == ({len(cell.layer_biases()) - 1} if kind == "gated" else set())


@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize("orthogonal", [False, True])
def test_an_lstm_starts_with_forget_gates_open_and_the_others_half_open(depth, orthogonal):
    cell = DeepLSTMCell(2, 5, depth)
    initialize(cell, 0.0, orthogonal)
    memory = torch.linspace(-2, 2, 5)
    h, c = cell.step(torch.cat((torch.ones(5), memory)), cell.drive(torch.zeros(2))).chunk(2)
    torch.testing.assert_close(c, memory * torch.tensor(1.0).sigmoid())
    torch.testing.assert_close(h, c.tanh() / 2)


@pytest.fixture
def small(monkeypatch):
    """Two gains, few units, seeds and updates."""
    small = {"GAINS": (0.8, 1.0), "SEEDS": range(2), "OTHER_SEEDS": range(2, 3), "UNITS": 6, "EVERY": 2}
    small |= {"LEARNING_RATES": (0.001, 0.01), "RATE_DEPTHS": (1,), "RATE_STEPS": 3}
    for name, value in small.items():
        monkeypatch.setattr(trainability, name, value)
    tuned = trainability.tuned
    tuned.cache_clear()
    yield
    tuned.cache_clear()


@pytest.mark.parametrize("frozen", [{}, {"frozen": True}])
@pytest.mark.parametrize("kind", ["plain", "gated"])
def test_a_point_has_a_number_for_every_net(small, kind, frozen):
    found = trainability.run({"variant": kind, "depth": 2, "steps": 3, "updates": 4, **frozen})
    assert json.loads(json.dumps(found)) == found
    assert set(found["rates"]) == {"0.001", "0.01"}
    for name in ("reached", "loss", "diverged"):
        assert [len(row) for row in found[name]] == [2, 2]
    for reached, loss in zip(*(chain(*found[name]) for name in ("reached", "loss")), strict=True):
        assert (reached is not None) == (loss <= trainability.TARGET)
        assert 0 < loss < 3


@pytest.mark.parametrize(
    ("found", "rate"),
    [
        ({0.001: (1, 0.9), 0.01: (1, 0.2)}, 0.001),  # of equally good ones the smallest
        ({0.001: (1, 0.2), 0.01: (2, 0.9)}, 0.01),
        ({0.001: (0, 0.9), 0.01: (0, 0.8)}, 0.01),  # counts that are all 0 say nothing
    ],
)
def test_the_rate_is_that_of_most_successes_or_of_the_least_loss_where_there_are_none(small, monkeypatch, found, rate):
    monkeypatch.setattr(trainability, "tuned", lambda kind, updates, frozen: found)
    result = trainability.run({"variant": "plain", "depth": 1, "steps": 3, "updates": 4})
    assert result["rate"] == rate
    assert result["rates"] == {str(one): count for one, (count, _) in found.items()}


def test_a_task_that_is_easy_is_reached(small, monkeypatch):
    monkeypatch.setattr(trainability, "TARGET", 10.0)
    assert trainability.run({"variant": "plain", "depth": 1, "steps": 3, "updates": 4})["reached"] == [[2, 2], [2, 2]]


def test_the_stored_result_was_made_with_these_settings():
    result = read(RESULT)
    stated = {key: value for key, value in result["settings"].items() if key in EXPERIMENT.settings}
    assert stated == EXPERIMENT.settings
    keys = [tuple(p["point"].values()) for p in result["points"]]
    planned = [tuple(p.values()) for p in EXPERIMENT.points]
    assert keys == planned[: len(keys)]
    assert len(keys) >= 100


def test_the_stored_successes_agree_with_the_stored_losses():
    target = EXPERIMENT.settings["target"]
    for point in read(RESULT)["points"]:
        found = point["result"]
        assert len(found["reached"]) == len(GAINS)
        for row, losses in zip(found["reached"], found["loss"], strict=True):
            assert [u is not None for u in row] == [x is not None and x <= target for x in losses]
