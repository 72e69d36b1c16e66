"""Cut gradients: what is stored follows from the code, cuts of training are those of the lags, means are right."""

import pytest
import torch
from torch.nn.utils import parameters_to_vector

from fhx.experiments import cut_gradients, stored
from fhx.experiments.cut_gradients import STEPS, _states, bias, cell, lags, run, trained
from fhx.stability import lag_gradients

DOUBLE = {"dtype": torch.float64}


@pytest.mark.parametrize("seed", [0, 11])
def test_stored_biases_are_those_of_the_code(seed):
    found, kept = bias(seed), stored("cut_gradients")["points"][0]["result"]["nets"][seed]
    assert found["chosen"] == kept["chosen"]
    for name in ("left_out", "bound", "size"):
        assert found[name] == pytest.approx(kept[name], rel=1e-4)
    assert all(gap <= bound for gap, bound in zip(found["left_out"], found["bound"], strict=True))


@pytest.mark.parametrize(("back", "keep"), [(1, 1.0), (7, 1.0), (STEPS, 1.0), (9, 0.8)])
def test_training_goes_back_as_far_as_it_says(back, keep):
    """Against lags: those within the cut, divided by how likely each is to be reached."""
    net, x = cell(3), torch.randn(STEPS, 4, 1, generator=torch.Generator().manual_seed(1), **DOUBLE)
    slopes = torch.autograd.grad((_states(net, x, back, keep) ** 2).sum(), list(net.parameters()))
    parts = lag_gradients(net, x, lambda h: (h**2).sum())[:back]
    wanted = (parts / keep ** torch.arange(back, **DOUBLE)[:, None]).sum(0)
    torch.testing.assert_close(parameters_to_vector(slopes), wanted, rtol=1e-9, atol=1e-12)


def test_every_method_trains(monkeypatch):
    monkeypatch.setattr(cut_gradients, "UPDATES", 3)
    monkeypatch.setattr(cut_gradients, "EVERY", 2)
    monkeypatch.setattr(cut_gradients, "SEEDS", range(2))
    monkeypatch.setattr(cut_gradients, "OTHER_SEEDS", range(20, 21))
    ends = {method: run({"method": method}) for method in cut_gradients.METHODS}
    assert all(result["rate"] in cut_gradients.RATES and len(result["losses"]) == 2 for result in ends.values())
    assert [len(windows) for windows in ends["half"]["windows"]] == [2, 2]
    assert ends["full"]["windows"] == [[], []]


def test_the_same_seed_trains_the_same(monkeypatch):
    monkeypatch.setattr(cut_gradients, "UPDATES", 3)
    assert trained("random", 0.01, 0) == trained("random", 0.01, 0)


def test_nets_start_stable_and_lags_are_all_there():
    net, parts = lags(0)
    assert torch.linalg.matrix_norm(net.W, 2).item() == pytest.approx(0.95)
    assert len(parts) == STEPS
