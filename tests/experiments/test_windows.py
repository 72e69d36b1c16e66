"""Windows that certificates ask for: stored ones follow from stored norms, without a solver, and none is too short."""

import pytest
import torch

from fhx.dynamics import unroll
from fhx.experiments import stored, windows
from fhx.stability import slope_restricted_gain, truncated_states

ENTRIES = {tuple(entry["point"].values()): entry["result"] for entry in stored("windows")["points"]}


def norm_of(result):
    return (torch.tensor(result[name], dtype=torch.float64) for name in "PT")


@pytest.mark.parametrize("rate", windows.RATES)
def test_stored_norms_certify_the_stored_windows(rate):
    for seed in windows.SEEDS:
        net, result = windows.cell(rate, seed), ENTRIES[rate, seed]
        P, T = norm_of(result)
        assert slope_restricted_gain(net.W, P, T) == pytest.approx(result["rate"], rel=1e-5)
        found = windows.certified(net, P, T)
        assert found == {name: result[name] for name in found}


@pytest.mark.parametrize("rate", windows.RATES)
def test_a_stored_tube_is_that_of_the_code(rate):
    net, result = windows.cell(rate, 3), ENTRIES[rate, 3]
    P, T = norm_of(result)
    assert windows.tube_window(net, windows.noise(3), P, slope_restricted_gain(net.W, P, T)) == result["tube"]
    assert windows.tube_window(net, windows.noise(3), P, 1.0, result["tube"] - 1) is None


def test_a_window_found_is_enough_and_none_shorter():
    for rate, seed in ((0.5, 0), (0.95, 1)):
        net, x, k = windows.cell(rate, seed), windows.noise(seed), ENTRIES[rate, seed]["found"]
        gaps = [(unroll(net, x) - truncated_states(net, x, n)).norm(dim=-1).max() for n in (k - 1, k)]
        assert gaps[0] > windows.EPS >= gaps[1]


def test_certified_windows_are_long_enough():
    assert len(ENTRIES) == len(windows.RATES) * len(windows.SEEDS)
    for result in ENTRIES.values():
        for name in ("2", "weighted", "inequality", "tube"):
            assert result[name] is None or result[name] >= result["found"]
