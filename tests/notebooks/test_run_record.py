"""The record of an nbval run: what it holds, when it tells of the book as it is, and the limit that it has to keep."""

import copy
import json
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from nbval_run import ROOT, Nbval, write

import run_record
from fhx.course.notebooks import read
from notebook_cells import code_sha256

LIMIT = 600  # seconds, for all notebooks on two cores
BUSY = "from time import process_time as t\nend = t() + 0.6\nwhile t() < end:\n    pass"
ASLEEP = "import time\ntime.sleep(1.5)"
CELLS = {
    "01-busy": [(BUSY, "", {}), ("1", "", {})],
    "02-asleep": [(ASLEEP, "", {}), ("2", "", {}), ("3", "", {})],
    "03-fails": [("1 / 0", "", {}), ("print(2)", "2\n", {})],
}


@pytest.fixture(scope="module")
def measured(nbval: Nbval, tmp_path_factory: pytest.TempPathFactory) -> tuple[dict, Path]:
    """The record of three small notebooks, run as the book's are, and their folder."""
    folder = tmp_path_factory.mktemp("record")
    for name, cells in CELLS.items():
        write(folder, name, *cells)
    run = nbval(folder, "-p", "recorder", f"--run-record={folder / 'record.json'}")
    assert "3 notebooks in" in run.stdout, run.stdout + run.stderr
    assert run.returncode == 1  # one of them fails
    return run_record.load(folder / "record.json"), folder


def test_every_notebook_is_recorded_with_its_cells_and_result(measured: tuple[dict, Path]) -> None:
    rows = measured[0]["notebooks"]
    assert {name: row["cells"] for name, row in rows.items()} == {name: len(cells) for name, cells in CELLS.items()}
    assert [row["passed"] for row in rows.values()] == [True, True, False]


def test_seconds_are_those_of_the_clock_and_cpu_seconds_those_of_the_kernel(measured: tuple[dict, Path]) -> None:
    record = measured[0]
    busy, asleep, _ = record["notebooks"].values()
    assert busy["seconds"] >= 0.6
    assert asleep["seconds"] >= 1.5
    assert busy["cpu_seconds"] - asleep["cpu_seconds"] >= 0.3
    assert 0 < asleep["cpu_seconds"]
    assert record["seconds"] >= max(row["seconds"] for row in record["notebooks"].values())


def test_the_hash_is_that_of_the_code_that_ran(measured: tuple[dict, Path]) -> None:
    record, folder = measured
    for name, row in record["notebooks"].items():
        assert row["code_sha256"] == code_sha256(read(folder / f"{name}.ipynb"))


def test_the_record_says_where_it_was_made(measured: tuple[dict, Path]) -> None:
    record = measured[0]
    assert record["processes"] == 2
    assert record["device"] in {"cpu", "cuda"}
    assert list(record["versions"]) == ["python", "torch", "numpy", "fhx"]
    assert all((record["processor"], record["cores"], record["date"]))


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """A book of two notebooks, with a record that tells of it as it is, not kept yet."""
    folder = tmp_path / "notebooks"
    folder.mkdir()
    rows = {}
    for name in ("01-a", "02-b"):
        write(folder, name, ("1", "", {}), ("2", "", {}))
        sha = code_sha256(read(folder / f"{name}.ipynb"))
        rows[name] = {"cells": 2, "passed": True, "seconds": 3.0, "cpu_seconds": 2.0, "code_sha256": sha}
    record = {"device": "cpu", "processes": 2, "seconds": 6.0, "notebooks": rows}
    run_record.save(record, tmp_path / run_record.MEASURED)
    return tmp_path


def record_of(book: Path) -> dict:
    return json.loads((book / run_record.MEASURED).read_text(encoding="utf-8"))


def test_a_record_of_the_book_as_it_is_gets_kept(book: Path) -> None:
    assert run_record.main(root=book) == 0
    assert run_record.load(book / run_record.KEPT) == record_of(book)


WRONG = {
    "01-a: not run yet": lambda record: record["notebooks"].pop("01-a"),
    "02-b: its code has changed since": lambda record: record["notebooks"]["02-b"].update(code_sha256="0"),
    "01-a: not run to its end": lambda record: record["notebooks"]["01-a"].update(cells=1),
    "02-b: failed": lambda record: record["notebooks"]["02-b"].update(passed=False),
    "03-c: there is no such notebook": lambda record: record["notebooks"].update({"03-c": {}}),
    "measured on cuda": lambda record: record.update(device="cuda"),
    "notebooks ran 1 at a time": lambda record: record.update(processes=1),
}


@pytest.mark.parametrize("told", WRONG)
def test_a_record_that_does_not_tell_of_the_book_is_refused(
    book: Path, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    kept, record = record_of(book), record_of(book)
    run_record.save(kept, book / run_record.KEPT)
    WRONG[told](record)
    run_record.save(record, book / run_record.MEASURED)
    assert run_record.main(root=book) == 1
    assert told in capsys.readouterr().err
    assert run_record.load(book / run_record.KEPT) == kept


def test_without_a_run_nothing_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_record.main(root=tmp_path) == 1
    assert "there is none" in capsys.readouterr().err


def test_only_code_makes_a_record_old(book: Path) -> None:
    path, record = book / "notebooks" / "01-a.ipynb", record_of(book)
    notebook = read(path)
    notebook.cells.append(nbformat.v4.new_markdown_cell("Words."))
    nbformat.write(notebook, path)
    assert run_record.outdated(record, path.parent) == {}
    nbformat.write(new_notebook(cells=[*copy.deepcopy(notebook.cells), new_code_cell("3")]), path)
    assert run_record.outdated(record, path.parent) == {"01-a": "its code has changed since"}


def test_the_books_notebooks_pass_within_the_limit_on_two_cores() -> None:
    record = run_record.load(ROOT / run_record.KEPT)
    rows = record["notebooks"].values()
    assert all(row["passed"] for row in rows)
    assert (record["device"], record["processes"]) == ("cpu", 2)
    assert sum(row["seconds"] for row in rows) / 2 <= record["seconds"] < LIMIT
