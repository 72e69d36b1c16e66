"""The book's chapters and their versions, made once, and a small clone of a book."""

import sys
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

sys.path.insert(0, str(Path(__file__).parent))

from fhx.course.book import Book
from fhx.course.chapters import Chapter
from fhx.course.versions import instructor_version, student_version

ROOT = Path(__file__).parents[2]
NUMBERS = [int(path.name[:2]) for path in sorted((ROOT / "notebooks").glob("*.ipynb"))]
SETUP = 'REVISION = "main"\nfrom fhx.exercises import check'
TEXT = """\
(one-states)=
## What a state is

```{prf:definition} State
:label: one-def

What is kept.
$$
h = 1
$$ (one-eq)
```
"""
EXERCISE = "```{exercise} One step\n:label: ex-one\n\nWrite {prf:ref}`one-def` down.\n```"
SOLUTION = "```{solution-start} ex-one\n:label: sol-one\n:class: dropdown\n```\n\nIt is one line of code and no more."
WORKS = """\
@article{elman1990, author = {Elman, Jeffrey}, title = {T}, year = {1990}, doi = {10.1/a(b)c}}
@misc{bai2018, author = {Bai, A and Kolter, B and Koltun, C}, title = {T}, year = {2018},
    archiveprefix = {arXiv}, eprint = {1.2}}
@book{neumann1947, author = {von Neumann, John and H{\\'e}non, Michel}, title = {T}, year = {1947}}
"""


def chapter_one() -> NotebookNode:
    """A chapter with one exercise, which the package knows."""
    figure = {"mystnb": {"figure": {"name": "one-fig", "caption": "The state of {prf:ref}`one-def`."}}}
    hole = "def one_step(W, U, b, h, x):\n    return ...  # a tensor\n\n\ncheck('01-one-step', one_step)"
    solved = "def one_step_solution(W, U, b, h, x):\n    return torch.tanh(W @ h + U @ x + b)"
    return new_notebook(
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}, "fhx": {"code_sha256": "0"}},
        cells=[
            new_markdown_cell("# The first\n\nRun it in [Colab](https://example.org).", id="launch"),
            new_code_cell(SETUP, id="setup"),
            new_markdown_cell(TEXT, id="text"),
            new_code_cell("print(1)", id="figure", metadata=figure),
            new_markdown_cell(EXERCISE, id="statement"),
            new_code_cell(hole, id="hole", metadata={"tags": ["hole"]}),
            new_markdown_cell(SOLUTION, id="start"),
            new_code_cell(solved, id="solved", metadata={"tags": ["solution"]}),
            new_markdown_cell("```{solution-end}\n```", id="end"),
        ],
    )


def store(notebook: NotebookNode, path: Path) -> None:
    path.write_text(nbformat.writes(notebook), "utf-8")


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """The folder of a small book of two chapters; the second says only its title."""
    for folder in ("notebooks", "book"):
        (tmp_path / folder).mkdir()
    (tmp_path / "_config.yml").write_text("repository: {url: https://example.org/book}\n")
    (tmp_path / "book" / "references.bib").write_text(WORKS, "utf-8")
    (tmp_path / "book" / "notation.md").write_text("# Notation\n\n(letters)=\n## Letters\n", "utf-8")
    store(chapter_one(), tmp_path / "notebooks" / "01-first.ipynb")
    store(new_notebook(cells=[new_markdown_cell("# The second")]), tmp_path / "notebooks" / "02-second.ipynb")
    return tmp_path


@pytest.fixture(scope="session")
def book() -> Book:
    return Book(ROOT / "notebooks")


@pytest.fixture(scope="session", params=NUMBERS, ids=[f"{number:02}" for number in NUMBERS])
def chapter(request: pytest.FixtureRequest, book: Book) -> Chapter:
    return Chapter(book, request.param)


@pytest.fixture(scope="session")
def student(chapter: Chapter) -> NotebookNode:
    return student_version(chapter)


@pytest.fixture(scope="session")
def instructor(chapter: Chapter) -> NotebookNode:
    return instructor_version(chapter)
