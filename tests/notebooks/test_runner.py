"""``book/tools/notebooks.py``: good runs are stored, failing ones leave the file, and the hash tells old from new."""

import os
from pathlib import Path

import nbformat
import notebook_cells
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

import notebooks
from fhx.course.notebooks import read

pytestmark = [pytest.mark.full, pytest.mark.filterwarnings("default")]  # warnings of the Jupyter libraries


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for chapters whose set-up takes no time."""
    monkeypatch.setattr(notebook_cells, "SETUP", "url = '{url}@{{REVISION}}'  # REVISION = \"{branch}\"")
    return tmp_path


def chapter(folder: Path, *sources: str, name: str = "01-a.ipynb", title: str = "# A title") -> Path:
    path = folder / name
    nbformat.write(new_notebook(cells=[new_markdown_cell(title), *map(new_code_cell, sources)]), path)
    return path


def call(command: str, folder: Path, *options: str) -> int:
    return notebooks.main([command, "--folder", str(folder), *options])


def sources(path: Path) -> list[str]:
    return [cell.source for cell in read(path).cells]


def test_good_run_is_stored_and_a_second_one_gives_the_same_bytes(folder: Path) -> None:
    noisy = "for i in range(3):\n    print(i, flush=True)\n'last'"
    quiet = "import os; os.environ['TQDM_DISABLE']"
    paths = [chapter(folder, noisy, quiet, name=name) for name in ("01-a.ipynb", "02-b.ipynb")]
    assert call("check", folder) == 1
    assert call("run", folder) == 0
    assert call("check", folder) == 0
    first = [path.read_bytes() for path in paths]
    outputs = read(paths[0]).cells[2].outputs
    assert [output.output_type for output in outputs] == ["stream", "execute_result"]
    assert outputs[0].text == "0\n1\n2\n"
    assert call("run", folder) == 0
    assert [path.read_bytes() for path in paths] == first
    assert sorted(os.listdir(folder)) == ["01-a.ipynb", "02-b.ipynb"]


@pytest.mark.parametrize(
    ("source", "told"),
    [("1 / 0", "ZeroDivisionError"), ("import time; time.sleep(9)", "timed out")],
    ids=["error", "slow"],
)
def test_failing_cell_leaves_the_stored_notebook(
    folder: Path, capsys: pytest.CaptureFixture[str], source: str, told: str
) -> None:
    path = chapter(folder, "print('first')", source, "2")
    before = path.read_bytes()
    assert call("run", folder, "--timeout", "2") == 1
    assert path.read_bytes() == before
    assert os.listdir(folder) == [path.name]
    said = capsys.readouterr().err
    assert all(part in said for part in (told, source, "01-a.ipynb: cell 3"))


def test_one_failure_does_not_keep_the_others_from_being_stored(folder: Path) -> None:
    chapter(folder, "1 / 0", name="01-bad.ipynb")
    chapter(folder, "1", name="02-good.ipynb")
    assert call("run", folder) == 1
    assert call("check", folder, "--only", "02") == 0
    assert call("check", folder, "--only", "01") == 1


def test_interrupted_write_leaves_the_stored_notebook(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = chapter(folder, "1")
    before = path.read_bytes()

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        call("stamp", folder)
    assert path.read_bytes() == before
    assert os.listdir(folder) == [path.name]


def test_dry_run_stores_nothing(folder: Path) -> None:
    path = chapter(folder, "1")
    before = path.read_bytes()
    assert call("run", folder, "--dry") == 0
    assert path.read_bytes() == before


def test_only_runs_what_it_names(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chapter(folder, "1", name="01-a.ipynb")
    other = chapter(folder, "1 / 0", name="03-c.ipynb")
    before = other.read_bytes()
    assert call("run", folder, "--only", "01") == 0
    assert other.read_bytes() == before
    assert call("run", folder, "--only", "9") == 1
    assert "begins with '9'" in capsys.readouterr().err


def edit(path: Path, place: int, source: str) -> None:
    notebook = read(path)
    notebook.cells[place].source = source
    nbformat.write(notebook, path)


@pytest.mark.parametrize(
    ("place", "source", "told"),
    [(2, "2", "older than the code"), (1, "x = 1", "standard setup cell"), (0, "# A title", "standard launch cell")],
)
def test_check_finds_what_was_changed_since_the_run(
    folder: Path, capsys: pytest.CaptureFixture[str], place: int, source: str, told: str
) -> None:
    path = chapter(folder, "1")
    assert call("run", folder) == 0
    edit(path, place, source)
    assert call("check", folder) == 1
    assert told in capsys.readouterr().err


def test_stamp_keeps_label_title_text_and_outputs(folder: Path) -> None:
    path = chapter(folder, "1", title="(chap)=\n# A title\n\nThe question.")
    assert call("run", folder) == 0
    before = path.read_bytes()
    assert call("stamp", folder) == 0
    assert path.read_bytes() == before
    first, _, question, _ = sources(path)
    assert first.startswith("(chap)=\n# A title\n\nRun it in [Colab](")
    assert question == "The question."


def test_links_follow_the_configuration(folder: Path) -> None:
    settings = notebook_cells.config()
    settings["repository"] = {"url": "https://github.com/x/y", "branch": "dev"}
    notebook: NotebookNode = read(chapter(folder, "1"))
    launch, setup = notebook_cells.standard_cells(notebook, "01-a.ipynb", settings)
    assert "/github/x/y/blob/plain/notebooks/01-a.ipynb" in launch.source
    assert "/gh/x/y/plain?urlpath=lab/tree/notebooks/01-a.ipynb" in launch.source
    assert "https://github.com/x/y/blob/dev/notebooks/01-a.ipynb" in launch.source
    assert "https://github.com/x/y@{REVISION}" in setup.source
    assert 'REVISION = "dev"' in setup.source
    assert "recurrence-book/recurrence" not in launch.source + setup.source


@pytest.mark.parametrize("title", ["A title", "## A title", ""])
def test_notebook_without_a_title_is_refused(folder: Path, capsys: pytest.CaptureFixture[str], title: str) -> None:
    path = chapter(folder, "1", title=title)
    before = path.read_bytes()
    assert call("stamp", folder) == call("run", folder) == call("check", folder) == 1
    assert path.read_bytes() == before
    assert capsys.readouterr().err.count("01-a.ipynb: the first cell must be Markdown") == 3


def test_file_that_is_no_notebook_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "01-a.ipynb").write_text("<<<<<<< HEAD", encoding="utf-8")
    assert call("check", folder) == 1
    assert "01-a.ipynb is not a notebook" in capsys.readouterr().err


def test_metadata_keeps_what_an_author_wrote_and_nothing_of_the_machine() -> None:
    cells = [new_code_cell("1", id=name) for name in ("0a1b2c3d", "4e5f6a7b", "parity-table")]
    cells[2].metadata = NotebookNode(tags=["solution"], execution={"iopub.status.idle": "2026"}, label="kept")
    language = {"name": "python", "version": "3.11.7"}
    notebook = new_notebook(cells=cells, metadata={"widgets": {}, "language_info": language, "mystnb": {"a": 1}})
    notebook_cells.tidy(notebook)
    first, second, third = (cell.id for cell in notebook.cells)
    folded = {"tags": ["solution"], "label": "kept", "jupyter": {"source_hidden": True}, "cellView": "form"}
    assert second == f"{first}-2"
    assert first not in ("0a1b2c3d", "4e5f6a7b")
    assert third == "parity-table"
    assert notebook.cells[2].metadata == folded
    assert set(notebook.metadata) == {"kernelspec", "language_info", "mystnb"}
    assert "version" not in notebook.metadata.language_info
