"""Long runs: written point by point, resumed where they stopped, refused where they do not fit."""

import io
import json
import os
import re
import sys
from functools import partial
from time import sleep

import pytest
import torch
from attrs import evolve
from tqdm import tqdm

from fhx.experiments import Experiment, runner
from fhx.experiments import __main__ as command
from fhx.experiments.results import WrongResultError
from fhx.jobs import JobFailedError
from fhx.tasks import DataNotFoundError


class Squares:
    """An experiment on squares of numbers; it notes what it was asked, and is interrupted at the point ``stop``."""

    def __init__(self, numbers, stop=None):
        self.numbers, self.stop, self.asked = numbers, stop, []

    @property
    def experiment(self):
        return Experiment(
            name="squares",
            question="How large are squares?",
            settings={"seeds": (0, 1)},
            points=[{"number": number} for number in self.numbers],
            run=lambda point: self.run(point),  # which tests replace
        )

    def run(self, point):
        if point["number"] == self.stop:
            raise KeyboardInterrupt
        self.asked.append(point["number"])
        return {"square": point["number"] ** 2 / 3, "dtype": str(torch.get_default_dtype())}


def numbers(path):
    return [entry["point"]["number"] for entry in json.loads(path.read_text())["points"]]


def test_interrupted_run_goes_on_with_the_rest(tmp_path):
    path = tmp_path / "squares.json"
    with pytest.raises(KeyboardInterrupt):
        runner.perform(Squares([1, 2, 3], stop=2).experiment, tmp_path)
    assert numbers(path) == [1]
    second = Squares([1, 2, 3])
    assert runner.perform(second.experiment, tmp_path) == path
    assert second.asked == [2, 3]
    assert numbers(path) == [1, 2, 3]
    third = Squares([1, 2, 3])
    runner.perform(third.experiment, tmp_path)
    assert third.asked == []


def test_new_points_are_added_in_order_and_old_ones_go(tmp_path):
    runner.perform(Squares([2, 3]).experiment, tmp_path)
    more = Squares([1, 2])
    path = runner.perform(more.experiment, tmp_path)
    assert more.asked == [1]
    assert numbers(path) == [1, 2]
    runner.perform(Squares([2]).experiment, tmp_path)
    assert numbers(path) == [2]


def test_result_says_how_it_was_made(tmp_path):
    result = json.loads(runner.perform(Squares([2]).experiment, tmp_path / "new").read_text())
    assert result["experiment"] == "squares"
    assert result["settings"] == {"seeds": [0, 1], "dtype": "float32"}
    assert set(result["versions"]) == {"python", "torch", "fhx"}
    assert torch.device(result["device"]).type in ("cpu", "cuda")
    (entry,) = result["points"]
    assert entry["result"] == {"square": 1.33333, "dtype": "torch.float32"}
    assert entry["seconds"] >= 0


def test_defaults_of_torch_are_set_and_put_back(tmp_path):
    before = torch.get_default_dtype(), torch.get_num_threads()
    torch.set_default_dtype(torch.float64)
    try:
        with pytest.raises(KeyboardInterrupt):
            runner.perform(Squares([1, 2], stop=2).experiment, tmp_path)
        assert torch.get_default_dtype() == torch.float64
    finally:
        torch.set_default_dtype(before[0])
    assert torch.get_num_threads() == before[1]
    (entry,) = json.loads((tmp_path / "squares.json").read_text())["points"]
    assert entry["result"]["dtype"] == "torch.float32"


@pytest.mark.parametrize("terminal", [True, False])
def test_the_clock_of_a_terminal_goes_on_while_a_point_is_computed(tmp_path, monkeypatch, terminal):
    """A person sees that a long point is alive; a log has no line for it."""

    class Screen(io.StringIO):
        def isatty(self):
            return terminal

    monkeypatch.setattr(runner, "tqdm", partial(tqdm, disable=False))  # which the environment may say
    monkeypatch.setattr(runner, "REDRAW_SECONDS", 0.05)
    monkeypatch.setattr(sys, "stderr", screen := Screen())
    slow = Squares([1])
    slow.run = lambda point: sleep(2.5)
    runner.perform(slow.experiment, tmp_path)
    clocks = re.findall(r"0/1 \[(\d\d:\d\d)<", screen.getvalue())
    assert {"00:01", "00:02"} <= set(clocks) if terminal else set(clocks) <= {"00:00"}
    written = screen.getvalue()
    sleep(0.2)
    assert screen.getvalue() == written  # nobody draws any more


def test_failed_write_leaves_the_old_result(tmp_path, monkeypatch):
    path = runner.perform(Squares([1]).experiment, tmp_path)
    before = path.read_text()

    def full(source, target):
        assert numbers(source) == [1, 2]  # what would be put in place is complete
        raise OSError("no space left")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="no space"):
        runner.perform(Squares([1, 2]).experiment, tmp_path)
    assert path.read_text() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("change", ["settings", "device", "versions"])
def test_result_made_otherwise_is_not_mixed_with_this_one(tmp_path, change):
    path = runner.perform(Squares([1]).experiment, tmp_path)
    result = json.loads(path.read_text())
    path.write_text(json.dumps({**result, change: "other"}))
    with pytest.raises(WrongResultError, match=rf"squares\.json was made with {change} other.*--results"):
        runner.perform(Squares([1, 2]).experiment, tmp_path)


@pytest.fixture
def squares(monkeypatch):
    """The command line knows one experiment, which is returned."""
    experiment = Squares([1, 2, 3])
    monkeypatch.setattr(command, "EXPERIMENTS", {"squares": experiment.experiment})
    return experiment


def test_command_lists_runs_and_resumes(squares, tmp_path, capsys):
    assert command.main([]) == 0
    assert capsys.readouterr().out == "squares: How large are squares?\n"
    squares.stop = 3
    assert command.main(["squares", "--results", str(tmp_path)]) == 130
    assert "interrupted; 2 of 3 points are finished and kept in" in capsys.readouterr().err
    assert numbers(tmp_path / "squares.json") == [1, 2]
    squares.stop = None
    assert command.main(["squares", "--results", str(tmp_path)]) == 0
    assert squares.asked == [1, 2, 3]


def test_one_point_that_was_stopped_is_counted_alone(squares, tmp_path, capsys):
    here = ["--results", str(tmp_path)]
    assert command.main(["squares", "--only", "number=3", *here]) == 0
    squares.stop = 2
    assert command.main(["squares", "--only", "number=2", *here]) == 130
    assert "interrupted; 0 of 1 points are finished and kept in" in capsys.readouterr().err


def test_one_point_is_repeated_alone_and_the_rest_stays_as_it_is(squares, tmp_path):
    path, here = tmp_path / "squares.json", ["--results", str(tmp_path)]
    assert command.main(["squares", "--only", "number=3", *here]) == 0
    assert (squares.asked, numbers(path)) == ([3], [3])
    assert command.main(["squares", "--only", "number=1", *here]) == 0
    assert (squares.asked, numbers(path)) == ([3, 1], [1, 3])
    assert command.main(["squares", *here]) == 0
    assert (squares.asked, numbers(path)) == ([3, 1, 2], [1, 2, 3])
    assert command.main(["squares", "--only", "number=2", *here]) == 0
    assert (squares.asked, numbers(path)) == ([3, 1, 2], [1, 2, 3])


@pytest.mark.parametrize(
    ("conditions", "words"),
    [
        (["number"], "'number' is not KEY=VALUE"),
        (["n=1"], "no point of squares has 'n'; there are number"),
        (["number=4"], "no point of squares has number=4; there are '1', '2', '3'"),
    ],
)
def test_points_that_are_not_there_are_refused(squares, tmp_path, capsys, conditions, words):
    with pytest.raises(SystemExit, match="2"):
        command.main(["squares", "--results", str(tmp_path), "--only", *conditions])
    assert words in capsys.readouterr().err
    assert squares.asked == []


def test_a_point_has_all_values_or_is_not_run():
    points = [{"task": "a", "net": "x"}, {"task": "b", "net": "x"}, {"task": "b", "net": "y", "size": 3}]
    experiment = evolve(Squares([]).experiment, points=points)
    found = command.having(experiment, ["task=b", "net=x"])
    assert [found(point) for point in points] == [False, True, False]
    assert [command.having(experiment, ["size=3"])(point) for point in points] == [False, False, True]
    assert [command.having(experiment, ["size=None"])(point) for point in points] == [True, True, False]
    with pytest.raises(ValueError, match="no point of squares has task=a and net=y"):
        command.having(experiment, ["task=a", "net=y"])


def test_unknown_name_is_refused(squares, capsys):
    with pytest.raises(SystemExit, match="2"):
        command.main(["cubes"])
    assert "there is no experiment 'cubes'; there are squares" in capsys.readouterr().err


def test_unreadable_result_is_refused(squares, tmp_path, capsys):
    (tmp_path / "squares.json").write_text('{"points": [')
    with pytest.raises(SystemExit, match="2"):
        command.main(["squares", "--results", str(tmp_path)])
    assert "squares.json is not the result of an experiment" in capsys.readouterr().err
    assert squares.asked == []


def test_missing_data_file_is_an_error_of_one_message(squares, tmp_path, capsys, monkeypatch):
    def missing(point):
        raise DataNotFoundError("the data file chorales.mat is not to be had")

    monkeypatch.setattr(squares, "run", missing)
    with pytest.raises(SystemExit, match="2"):
        command.main(["squares", "--results", str(tmp_path)])
    said = capsys.readouterr().err
    assert "job 1 of 3, {'number': 1}: DataNotFoundError: the data file chorales.mat is not to be had" in said
    assert "0 of 3 points are finished" in said


def test_mistake_in_an_experiment_keeps_its_traceback(squares, tmp_path, monkeypatch):
    monkeypatch.setattr(squares, "run", lambda point: 1 / 0)
    with pytest.raises(JobFailedError) as caught:
        command.main(["squares", "--results", str(tmp_path)])
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_points_are_written_in_their_order_whatever_comes_first(tmp_path, monkeypatch):
    """Jobs of which the last comes first."""

    def backwards(function, arguments, *, workers, scheduler):
        assert (workers, scheduler) == (3, None)
        yield from ((index, function(arguments[index])) for index in reversed(range(len(arguments))))

    monkeypatch.setattr(runner, "map_unordered", backwards)
    with pytest.raises(KeyboardInterrupt):
        runner.perform(Squares([1, 2, 3, 4], stop=2).experiment, tmp_path, workers=3)
    assert numbers(tmp_path / "squares.json") == [3, 4]
    last = Squares([1, 2, 3, 4])
    assert numbers(runner.perform(last.experiment, tmp_path, workers=3)) == [1, 2, 3, 4]
    assert last.asked == [2, 1]


@pytest.mark.parametrize(
    ("flags", "where"),
    [
        ([], {"workers": 1, "scheduler": None, "only": None}),
        (["--workers", "3"], {"workers": 3, "scheduler": None, "only": None}),
        (["--scheduler", "tcp://a:1"], {"workers": 1, "scheduler": "tcp://a:1", "only": None}),
    ],
)
def test_command_says_where_the_points_run(squares, tmp_path, monkeypatch, flags, where):
    asked = []
    monkeypatch.setattr(command, "perform", lambda *_, **options: asked.append(options))
    assert command.main(["squares", "--results", str(tmp_path), *flags]) == 0
    assert asked == [where]


@pytest.mark.parametrize(
    ("flags", "law"),
    [
        (["--workers", "0"], "--workers is 0, and there must be at least one"),
        (["--workers", "2", "--scheduler", "tcp://a:1"], "not allowed with"),
        (["--scheduler", "a"], "a scheduler's address looks like tcp://"),
    ],
)
def test_places_that_cannot_be_are_refused(squares, tmp_path, capsys, flags, law):
    with pytest.raises(SystemExit, match="2"):
        command.main(["squares", "--results", str(tmp_path), *flags])
    assert law in capsys.readouterr().err
    assert squares.asked == []
