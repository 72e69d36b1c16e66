"""The grid of ``python -m benchmarks.grid``: what its methods compute, what is measured, and what is left out."""

import json
import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from fhx.dynamics import unroll
from fhx.experiments.results import read, stored
from fhx.stability import truncated_states

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))  # the benchmarks are not part of the package
from benchmarks import grid, isolated, methods  # noqa: E402
from benchmarks.methods import EPS, Case  # noqa: E402

CPU = torch.device("cpu")
ITERATED = ["truncation", "jacobi", "quasi-newton", "newton"]
METHODS = [
    ("tanh", "torch.nn.RNN", None),
    *(("tanh", method, rate) for method in ITERATED for rate in (0.5, 0.99)),
    ("linear", "scan", None),
    ("diagonal", "scan", None),
]


@pytest.mark.parametrize(("net", "method", "rate"), METHODS)
def test_every_method_computes_the_states_of_the_loop(net, method, rate):
    case = Case(net, method, "states", 400, 3, 2, rate)
    outcome, loop = (methods.prepare(p, 1, CPU)() for p in (case, replace(case, method="unroll")))
    exact = method not in ITERATED
    assert outcome.tensor.shape == (400, 2, 3)
    assert not outcome.tensor.requires_grad
    assert (outcome.tensor - loop.tensor).abs().max() <= (1e-12 if exact else 2 * EPS)
    assert loop.tensor.std() > 0.01
    assert (outcome.sweeps is None) == exact
    assert outcome.converged is (True if method in ITERATED[1:] else None)


@pytest.mark.parametrize(
    ("net", "method"),
    [("tanh", "torch.nn.RNN"), ("tanh", "truncation"), ("tanh", "newton"), ("linear", "scan"), ("diagonal", "scan")],
)
def test_gradients_are_those_of_the_loop(net, method):
    case = Case(net, method, "gradient", 300, 3, 2, 0.9)
    got, right = (methods.prepare(p, 1, CPU)().tensor for p in (case, replace(case, method="unroll")))
    assert got.shape == ((3,) if net == "diagonal" else (3, 3))
    torch.testing.assert_close(got, right, rtol=1e-4, atol=1e-4 * float(right.abs().max()))


def test_an_lstm_has_states_and_a_gradient():
    case = Case("LSTM", "torch.nn.LSTM", "states", 7, 3, 2, None, "float32")
    states = methods.prepare(case, 0, CPU)().tensor
    assert (states.shape, states.dtype) == ((7, 2, 3), torch.float32)
    assert methods.prepare(replace(case, what="gradient"), 0, CPU)().tensor.shape == (12, 3)


@pytest.mark.parametrize("kind", ["tanh", "linear", "diagonal"])
def test_a_net_has_its_rate_exactly(kind):
    cell = methods.make_net(kind, 5, 0.7, torch.Generator().manual_seed(0))
    torch.testing.assert_close(cell.W.T @ cell.W, 0.49 * torch.eye(5, dtype=torch.float64))
    assert (cell.W.count_nonzero() == 5) == (kind == "diagonal")


def test_a_window_is_long_enough_and_no_longer():
    cell = methods.make_net("tanh", 4, 0.9, torch.Generator().manual_seed(0))
    k = methods.window(cell, torch.Generator().manual_seed(1))
    inputs = methods.noise(cell, 1000, 1, torch.Generator().manual_seed(2))
    with torch.no_grad():
        run = unroll(cell, inputs)
        long, short = (float((truncated_states(cell, inputs, length) - run).abs().max()) for length in (k, k - 10))
    assert long <= EPS < short


def test_cases_grow_within_a_line_and_none_comes_twice():
    lines = list(grid.lines())
    assert all([case.T for case in line] == [10**2, 10**3, 10**4, 10**5, 10**6] for line in lines)
    assert all(len({replace(case, T=0) for case in line}) == 1 for line in lines)
    cases = [case for line in lines for case in line]
    assert len(set(cases)) == len(cases)
    assert {(case.D, case.batch) for case in cases} == {(D, batch) for D in (1, 4, 16, 64) for batch in (1, 16)}
    assert {case.rate for case in cases if case.method == "newton"} == {0.5, 0.9, 0.99}
    assert {case.method for case in cases if case.what == "gradient"} >= {"torch.nn.LSTM", "newton", "scan"}
    assert all(case.memory() > methods.FLOOR for case in cases)


def test_what_is_predicted_to_take_too_long_is_not_run():
    cases, run = [Case("tanh", "unroll", "states", T, 1, 1, None) for T in (10, 100, 1000, 10_000)], []

    def measured(case):
        run.append(case.T)
        return {"seconds": case.T / 100}

    rows = list(grid.run_line(cases, measured, seconds=2, memory=1e12))
    assert run == [10, 100]
    assert [case for case, _ in rows] == cases
    assert [result for _, result in rows[2:]] == [{"skipped": "too long", "seconds": s} for s in (10, 100)]


def test_what_does_not_fit_is_not_tried():
    cases, run = [Case("tanh", "newton", "states", T, 64, 16, 0.5) for T in (100, 10**6)], []
    rows = list(grid.run_line(cases, lambda case: run.append(case.T) or {"seconds": 0.0}, seconds=9, memory=4e9))
    assert run == [100]
    assert rows[1][1]["skipped"] == "too large"
    assert rows[1][1]["bytes"] >= 10**6 * 16 * 64 * 8


@pytest.mark.parametrize(
    ("net", "method", "what", "at_least"),
    [
        ("tanh", "newton", "states", 16 * 16),
        ("tanh", "newton", "gradient", 16 * 16),
        ("tanh", "quasi-newton", "states", 16),
        ("tanh", "jacobi", "states", 16),
        ("diagonal", "scan", "states", 16),
        ("tanh", "truncation", "states", 16),
        ("tanh", "unroll", "gradient", 2 * 16),
    ],
)
def test_memory_is_measured_and_stays_below_what_was_expected(net, method, what, at_least):
    case = Case(net, method, what, 1000, 16, 8, None if net == "diagonal" else 0.5)
    result = isolated.measure(case, seed=0, device="cpu", budget=0)
    assert 0.9 * at_least * 1000 * 8 * 8 < result["bytes"] < case.memory() - methods.FLOOR
    assert (result["calls"], result["spread"]) == (1, None)
    assert 0 < result["seconds"] < 30
    assert method == "unroll" or result["error"] < 1e-4


def test_calls_are_repeated_as_long_as_the_budget_lasts(monkeypatch):
    case = Case("linear", "scan", "states", 50, 2, 1, None)
    result = isolated.call(case, seed=0, device="cpu", budget=1e9)
    assert result["calls"] == isolated.CALLS
    assert result["spread"] > 0
    monkeypatch.setattr(isolated, "_timed", lambda way, clock: (way(), 1.0))
    assert [isolated.call(case, 0, "cpu", budget)["calls"] for budget in (0, 3.5)] == [1, 3]


def test_a_process_that_the_system_ends_was_too_large():
    assert isolated.in_new_process(os._exit, 1) is None
    assert isolated.in_new_process(max, 1, 2) == 2


def row(device, T):
    return {"point": {"device": device, "T": T}, "result": {"seconds": 1.0}}


def test_rows_of_other_devices_are_kept(tmp_path, monkeypatch):
    path = tmp_path / "parallel.json"
    grid.store(path, "cpu", {"seed": 0}, [row("cpu", 1), row("cpu", 2)])
    grid.store(path, "cuda", {"seed": 1}, [row("cuda", 1)])
    grid.store(path, "cpu", {"seed": 2}, [row("cpu", 3)])
    monkeypatch.setenv("FHX_RESULTS", str(tmp_path))
    result = stored("parallel")
    assert result["points"] == [row("cuda", 1), row("cpu", 3)]
    assert result["machines"] == {"cpu": {"seed": 2}, "cuda": {"seed": 1}}


def test_the_command_measures_marks_and_prints(tmp_path, capsys, monkeypatch):
    path = tmp_path / "parallel.json"
    monkeypatch.setattr(grid, "measure", isolated.call)
    assert grid.main(["--tiny", "--json", str(path), "--budget", "0", "--seconds", "9", "--memory", "2e8"]) == 0
    assert "torch.nn.RNN" in capsys.readouterr().out
    result = json.loads(path.read_text())
    cases = [case for line in grid.lines(tiny=True) for case in line]
    assert len(result["points"]) == len(cases)
    assert all({"seconds", "bytes", "sweeps", "converged", "error"} <= set(p["result"]) for p in result["points"])
    assert {"date", "name", "versions", "seed", "seconds", "limit_bytes"} <= set(result["machines"]["cpu"])
    grid.main(["--tiny", "--json", str(path), "--memory", "1"])
    assert {p["result"]["skipped"] for p in read(path)["points"]} == {"too large"}


def test_the_table_names_the_winner_of_either_kind():
    points = [
        {
            "point": {
                "net": "tanh",
                "method": m,
                "what": "states",
                "T": 10,
                "D": 2,
                "batch": 1,
                "rate": r,
                "dtype": "float64",
            }
        }
        for m, r in (("unroll", None), ("torch.nn.RNN", None), ("jacobi", 0.5), ("newton", 0.9))
    ]
    rows = [{**p, "result": {"seconds": s}} for p, s in zip(points, (0.003, 0.002, 0.001, 0.004), strict=True)]
    words = grid.table(rows).splitlines()[1].split()
    assert words == ["10", "2", "1", "torch.nn.RNN", "2", "ms", "jacobi", "0.5", "1", "ms", "0.5"]


def test_the_stored_table_is_that_of_the_grid():
    result = read(ROOT / "results" / "parallel.json")
    names = [name for name in Case.__dataclass_fields__]
    for device in result["machines"]:
        points = [p["point"] for p in result["points"] if p["point"]["device"] == device]
        cases = [Case(**{name: point[name] for name in names}) for point in points]
        assert cases == [case for line in grid.lines() for case in line]
