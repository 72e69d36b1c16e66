"""Each student version runs from top to bottom, in a fresh kernel and a folder with nothing else."""

import os
from pathlib import Path

import pytest
from nbclient import NotebookClient

from fhx.course.book import Book
from fhx.course.chapters import Chapter
from fhx.course.versions import student_version

pytestmark = pytest.mark.full

ROOT = Path(__file__).parents[2]
QUICK = (3, 6)
REST = tuple(number for number in range(1, 14) if number not in QUICK)
QUIET = {"TQDM_DISABLE": "1", "OMP_NUM_THREADS": "1", "MPLBACKEND": "module://matplotlib_inline.backend_inline"}
# Stored results of long runs are downloaded if they are not found; here they are those of this clone.
FOUND = {"FHX_RESULTS": str(ROOT / "results")}


@pytest.mark.parametrize(
    "number", [*QUICK, *(pytest.param(number, marks=pytest.mark.slow) for number in REST)], ids="{:02}".format
)
@pytest.mark.filterwarnings("default")  # those of kernels and their sockets
def test_from_top_to_bottom(number, tmp_path):
    chapter = Chapter(Book(ROOT / "notebooks"), number)
    notebook = student_version(chapter)
    (tmp_path / "home").mkdir()
    client = NotebookClient(
        notebook, kernel_name="python3", timeout=180, resources={"metadata": {"path": str(tmp_path / "home")}}
    )
    client.execute(env={**os.environ, **QUIET, **FOUND})
    said = [
        output.data["text/plain"] for cell in notebook.cells for output in cell.get("outputs", ()) if "data" in output
    ]
    found = [next(text for text in said if f" {one.exercise.title}: " in text) for one in chapter.assigned]
    assert all(text.startswith(("○", "✗")) for text in found)  # ✗ where a function with a hole returns a value
    assert sum(text.startswith("○") for text in found) >= len(found) - 1
    assert os.listdir(tmp_path / "home") == []
