"""The harness of ``make bench``: every file's pairs run, are compared, judged by their targets, and stored."""

import json
import time
from pathlib import Path

import pytest
import torch

ROOT = Path(__file__).parents[2]
QUICK = ["--tiny", "--rounds", "3", "--turn", "0.0001"]

TOY = """
import time
import torch
from benchmarks.harness import Pair

def wait(milliseconds):
    return lambda: time.sleep(milliseconds / 1000)

def pairs(tiny, seed):
    yield Pair("toy", "sleep", wait({ours}), wait(20), target=2, clock="wall")
    yield Pair("reported only", "sleep", wait(40), wait(4), clock="wall")
    yield Pair("alone", "sleep", wait({alone}), target=0.05, clock="wall")
    yield Pair("tensors", "addition", lambda: torch.ones(2) + {added}, lambda: torch.ones(2) + 1)
"""


@pytest.fixture
def bench(monkeypatch, tmp_path, capsys):
    """Runs the command with arguments; returns its exit status, its table's lines and its JSON."""
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks.__main__ import main

    def run(*arguments):
        path = tmp_path / "results" / "bench.json"
        status = main([*arguments, *QUICK, "--json", str(path)])
        return status, capsys.readouterr().out.splitlines(), json.loads(path.read_text())

    return run


@pytest.fixture
def toy(monkeypatch, tmp_path, request):
    """A package of pairs made for one test, by its name."""

    def write(ours=4, added=1, alone=2):
        name = f"toy_{abs(hash(request.node.name))}"
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").touch()
        (tmp_path / name / "sleeping.py").write_text(TOY.format(ours=ours, added=added, alone=alone))
        monkeypatch.syspath_prepend(str(tmp_path))
        return ["--package", name]

    return write


def test_every_file_runs_at_toy_size(bench):
    _, lines, record = bench()
    assert lines[0].split() == ["name", "ours", "other", "ratio", "target", "met"]
    assert len(lines) == len(record["rows"]) + 2
    names = [row["name"] for row in record["rows"]]
    assert len(set(names)) == len(names)
    for kind in ("simple cell", "linear cell", "LSTM", "GRU", "stack of 2 GRUs"):
        for what in ("forward", "gradient"):
            row = next(row for row in record["rows"] if row["name"] == f"{kind} / loop, {what}")
            assert row["target"] == 1.5
            assert row["met"] == (row["ratio"] <= 1.5)
    targets = {row["name"]: row["target"] for row in record["rows"]}
    assert targets["diagonal scan / loop, batch 2"] == 0.5
    assert targets["Newton / torch.nn.RNN, d=3, batch 2"] == (0.1 if record["device"]["type"] == "cuda" else None)
    assert {"date", "device", "versions", "seed", "rounds"} <= set(record)
    assert {"python", "torch", "fhx"} <= set(record["versions"])


def test_a_target_that_is_met(bench, toy):
    status, lines, record = bench(*toy(ours=4))
    assert status == 0
    assert lines[2].split()[-1] == "yes"
    assert [row["met"] for row in record["rows"]] == [True, None, True, None]
    assert record["rows"][1]["ratio"] > 1
    assert record["rows"][1]["ours"] >= 0.04


def test_a_target_that_is_missed_fails_the_command(bench, toy):
    status, lines, record = bench(*toy(ours=80))
    assert status == 1
    assert lines[2].split()[-1] == "NO"
    assert record["rows"][0]["met"] is False
    assert record["rows"][0]["ratio"] > 2


@pytest.mark.parametrize(("alone", "met"), [(2, True), (80, False)])
def test_a_limit_in_seconds(bench, toy, alone, met):
    status, lines, record = bench(*toy(alone=alone))
    row = record["rows"][2]
    assert status == (not met)
    assert (row["ours"] <= 0.05, row["met"]) == (met, met)
    assert row["ours"] >= alone / 1000
    assert (row["other"], row["ratio"]) == (None, None)
    assert lines[4].split()[0] == "alone"
    assert lines[4].split()[2:] == ["ms", "<=", "0.05", "s", "yes" if met else "NO"]


def test_sides_that_differ_are_not_timed(bench, toy):
    with pytest.raises(ValueError, match="tensors: the two sides do not compute the same"):
        bench(*toy(added=2))


def test_a_file_that_is_not_there(bench):
    with pytest.raises(SystemExit, match="2"):
        bench("nothing")


def test_a_passing_disturbance_does_not_decide(monkeypatch):
    """One round in three hit by a pause leaves the ratio where it was."""
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks import harness

    clock, calls = [0.0], [0]
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)

    def side():
        calls[0] += 1
        clock[0] += 100.0 if calls[0] % 6 == 0 else 1.0

    monkeypatch.setattr(harness.time, "process_time", lambda: clock[0])
    row = harness.measure(harness.Pair("a", "b", side, side, 1.1), rounds=15, turn=1.0)
    assert row.ratio == 1
    assert row.met


def test_waiting_is_no_work_unless_the_pair_says_so(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks import harness

    def work():
        end = time.process_time() + 0.002
        while time.process_time() < end:
            pass

    def work_and_wait():
        work()
        time.sleep(0.05)

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert harness.measure(harness.Pair("a", "b", work_and_wait, work, 2), rounds=5, turn=1e-4).met
    assert not harness.measure(harness.Pair("a", "b", work_and_wait, work, 2, "wall"), rounds=5, turn=1e-4).met
