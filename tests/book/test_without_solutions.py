"""``SOLUTIONS=0``: nothing of a solution is left in the built book, and the book is whole all the same.

The book built here is small: the exercises of two chapters and a page that refers to solutions, in the real
configuration. What is searched for is taken from the notebooks; the same search finds it in the book with solutions.
"""

from __future__ import annotations

import base64
import io
import json
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import redirect_stderr
from html import unescape
from pathlib import Path

import nbformat
import pytest
from jupyter_book.sphinx import build_sphinx
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell
from sitecheck import ROOT
from sphinx.errors import ExtensionError

from fhx.exercises import EXERCISES

sys.path.append(str(ROOT / "book" / "_ext"))

import search_index
import solutions

pytestmark = pytest.mark.full

CHAPTERS = ("01-the-recurrence", "03-automata-in-integer-weights")
ROLE = re.compile(r"\{[a-z:]+\}`(?:([^`<]*) )?<?[^`]*`")
LEAST = 24  # characters that make a line, and a run of words, distinctive
PAGES = {
    "start": """# A small book

:::{only} solutions
The solutions are here.
:::
:::{only} not solutions
They are not.
:::
""",
    "after": """# After

See {ref}`sol-01-one-step`, {ref}`this one <sol-aut-hat>`, {numref}`aut-fig-hats` and {ref}`ex-aut-hat`.
""",
}
MADE = {"start.md", "after.md", "_toc.yml", *(f"chapters/{name}.ipynb" for name in CHAPTERS)}

LINE = re.compile(r'<path d="([^"]{30,})"')


def source_of(name: str) -> NotebookNode:
    return nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", as_version=4)


def parts(notebook: NotebookNode) -> tuple[list[NotebookNode], list[NotebookNode]]:
    """The cells of the chapter that belong to no solution, and those of the solutions."""
    kept, solutions, inside = [], [], False
    for cell in notebook.cells:
        inside = inside or cell.source.startswith("```{solution-start}")
        (solutions if inside else kept).append(cell)
        inside = inside and not cell.source.startswith("```{solution-end}")
    return kept, solutions


def exercises_of(name: str) -> NotebookNode:
    """A chapter's first cell and its exercises, without references to what a small book lacks."""
    notebook = source_of(name)
    start = next(place for place, cell in enumerate(notebook.cells) if "## Exercises" in cell.source)
    head = (new_markdown_cell(text, id=f"head-{len(text)}") for text in (notebook.cells[0].source, "## Exercises"))
    notebook.cells = [*head, *notebook.cells[start:]]
    notebook.cells[2].source = notebook.cells[2].source.partition("## Exercises")[2]
    for cell in notebook.cells[1:]:
        if cell.cell_type == "markdown":
            cell.source = ROLE.sub(lambda found: found[1] or "it", cell.source)
    return notebook


def small_book(folder: Path) -> Path:
    """The real tree, but for its contents."""
    folder.mkdir()
    for path in ROOT.iterdir():
        if not path.name.startswith(".") and path.name not in {"_build", *MADE}:
            (folder / path.name).symlink_to(path)
    (folder / "chapters").mkdir()
    for name in CHAPTERS:
        nbformat.write(exercises_of(name), folder / "chapters" / f"{name}.ipynb")
    for name, text in PAGES.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    files = "".join(f"  - file: {name}\n" for name in (*(f"chapters/{name}" for name in CHAPTERS), "after"))
    (folder / "_toc.yml").write_text(f"format: jb-book\nroot: start\nparts:\n- numbered: true\n  chapters:\n{files}")
    return folder


def build(folder: Path, wanted: str) -> Path:
    """The folder of the built book."""
    html, said, settings = folder / "_build" / "html", io.StringIO(), {"latex_individualpages": False, "nitpicky": True}
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings(), redirect_stderr(said):
        patch.setenv("SOLUTIONS", wanted)
        warnings.simplefilter("ignore")
        status = build_sphinx(
            folder,
            html,
            noconfig=True,
            path_config=folder / "_config.yml",
            confoverrides=settings,
            warningiserror=True,
            keep_going=True,
            quiet=True,
        )
    assert status == 0, said.getvalue()[-3000:]
    return html


@pytest.fixture(scope="module")
def without(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(small_book(tmp_path_factory.mktemp("without") / "book"), "0")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(small_book(tmp_path_factory.mktemp("whole") / "book"), "1")


def words(text: str) -> str:
    return " ".join(text.split())


def runs(cell: NotebookNode) -> Iterator[str]:
    """Lines of code and of what it printed, and runs of words between the marks of the prose."""
    if cell.cell_type == "markdown":
        prose = re.sub(r"^```\{solution.*(\n:.*)*", "", cell.source)
        yield from re.split(r"[`$*{}\[\]<>|'\"]|(?<=[.:])\s", prose)
        return
    yield from cell.source.splitlines()
    for output in cell.outputs:
        data = output.get("data", {})
        yield from "".join(output.get("text", data.get("text/plain", ""))).splitlines()


def distinctive(notebook: NotebookNode) -> list[str]:
    """What only the solutions of a chapter say."""
    kept, solutions = parts(notebook)
    said = words(" ".join(cell.source + json.dumps(cell.get("outputs", "")) for cell in kept))
    found = dict.fromkeys(words(run) for cell in solutions for run in runs(cell))
    return [run for run in found if (len(run) >= LEAST or run.startswith("def ")) and run not in said]


def images(notebook: NotebookNode) -> set[bytes]:
    """What the solutions of a chapter draw: pictures, and of a drawing its longest line, which a page holds too."""
    shown = [output.get("data", {}) for cell in parts(notebook)[1] for output in cell.get("outputs", ())]
    return {base64.b64decode(data["image/png"]) for data in shown if "image/png" in data} | {
        max(LINE.findall(words(data["image/svg+xml"])), key=len).encode() for data in shown if "image/svg+xml" in data
    }


def text_of(path: Path) -> str:
    """What a file says: a page without its tags, a notebook as its cells and outputs."""
    text = path.read_text(encoding="utf-8", errors="replace")
    if path.suffix == ".html":
        text += unescape(re.sub(r"<[^>]*>", "", text))
    elif path.suffix == ".ipynb":
        text = " ".join(cell.source + " " + words(str(cell)) for cell in nbformat.reads(text, as_version=4).cells)
    return words(text)


def said_in(html: Path) -> str:
    """All that the files of a built book say, those of its theme left out."""
    files = (path for path in html.rglob("*") if path.is_file() and "_static" not in path.parts)
    return "\n".join(text_of(path) for path in files if path.suffix not in {".png", ".pdf", ".inv"})


def drawn_in(html: Path) -> set[bytes]:
    """Pictures beside a book, and the lines of drawings beside it and in its pages."""
    texts = (words(path.read_text("utf-8")) for kind in ("svg", "html", "js") for path in html.rglob(f"*.{kind}"))
    return {path.read_bytes() for path in html.rglob("*.png")} | {
        line.encode() for text in texts for line in LINE.findall(text.replace('\\"', '"'))
    }


def test_the_search_finds_every_solution_in_the_book_with_solutions(whole: Path) -> None:
    said = said_in(whole)
    for chapter in map(exercises_of, CHAPTERS):
        found = distinctive(chapter)
        assert len(found) > 50
        assert [run for run in found if run not in said] == []
        assert images(chapter) & drawn_in(whole)


def test_nothing_of_a_solution_is_left_without_them(without: Path) -> None:
    said = said_in(without)
    for chapter in map(exercises_of, CHAPTERS):
        assert [run for run in distinctive(chapter) if run in said] == []
        assert not images(chapter) & drawn_in(without)


def test_the_search_of_neither_book_has_a_solution(without: Path, whole: Path) -> None:
    for html in (without, whole):
        found = words((html / search_index.FILE).read_text("utf-8").replace("’", "'"))
        for notebook in map(exercises_of, CHAPTERS):
            chapter = nbformat.from_dict(notebook | {"cells": [c for c in notebook.cells if c.cell_type == "markdown"]})
            said = distinctive(chapter)
            assert len(said) > 20
            assert [run for run in said if run in found] == []
            names = re.findall(r"^```\{exercise\} (.+)", "\n".join(cell.source for cell in chapter.cells), re.M)
            assert len(names) > 5
            assert [name for name in names if f"({name})" not in found] == []


def test_exercises_holes_and_checks_stay(without: Path) -> None:
    for name, chapter in zip(CHAPTERS, map(exercises_of, CHAPTERS), strict=True):
        page = text_of(without / "chapters" / f"{name}.html")
        copy = nbformat.read(without / "_sources" / "chapters" / f"{name}.ipynb", as_version=4)
        holes = [cell.source for cell in chapter.cells if "hole" in cell.metadata.get("tags", ())]
        assert len(holes) == sum(exercise.startswith(name[:2]) for exercise in EXERCISES)
        assert [words(hole) for hole in holes if words(hole) not in page] == []
        kept = [cell.id for cell in parts(chapter)[0]]
        assert [cell.id for cell in copy.cells] == kept
        nbformat.validate(copy)


def test_references_to_solutions_become_words(without: Path) -> None:
    page = (without / "after.html").read_text(encoding="utf-8")
    assert "See the solution, this one, the solution and Exercise 2.8." in text_of(without / "after.html")
    assert re.findall(r'href="([^"]*#(?:sol|ex|aut)-[^"]*)"', page) == [f"chapters/{CHAPTERS[1]}.html#ex-aut-hat"]


def test_no_way_leads_to_the_notebooks_that_hold_solutions(without: Path, whole: Path) -> None:
    ways = r"colab\.research|mybinder|/edit/|/blob/"
    for name in CHAPTERS:
        assert re.search(ways, (whole / "chapters" / f"{name}.html").read_text("utf-8"))
        for path in (without / "chapters" / f"{name}.html", without / "_sources" / "chapters" / f"{name}.ipynb"):
            assert not re.search(ways, path.read_text("utf-8")), path
            assert "fold out" not in path.read_text("utf-8")
        assert f'href="../_sources/chapters/{name}.ipynb"' in (without / "chapters" / f"{name}.html").read_text("utf-8")


def test_a_page_knows_which_book_it_is_in(without: Path, whole: Path) -> None:
    assert "The solutions are here." in text_of(whole / "start.html")
    assert "The solutions are here." not in text_of(without / "start.html")
    assert "They are not." in text_of(without / "start.html")


@pytest.mark.parametrize("damage", ["start", "end"])
def test_half_a_solution_is_refused(damage: str) -> None:
    notebook = exercises_of(CHAPTERS[0])
    mark = f"```{{solution-{damage}}}"
    place = next(place for place, cell in reversed(list(enumerate(notebook.cells))) if cell.source.startswith(mark))
    del notebook.cells[place]
    with pytest.raises(ExtensionError, match=f"^{CHAPTERS[0]}: .*(out of turn|does not end)$"):
        solutions.stripped(nbformat.writes(notebook), CHAPTERS[0])


def test_a_solution_inside_another_is_refused() -> None:
    notebook = exercises_of(CHAPTERS[0])
    places = [place for place, cell in enumerate(notebook.cells) if cell.source.startswith("```{solution-end}")]
    del notebook.cells[places[0]]
    with pytest.raises(ExtensionError, match="out of turn"):
        solutions.stripped(nbformat.writes(notebook), CHAPTERS[0])


@pytest.mark.parametrize(("value", "wanted"), [(None, True), ("", True), ("1", True), ("0", False)])
def test_solutions_are_wanted_unless_the_setting_is_0(value: str | None, wanted: bool) -> None:
    assert solutions.are_wanted(value) is wanted


@pytest.mark.parametrize("value", ["no", "false", "00", " 0"])
def test_a_misspelt_setting_is_refused(value: str) -> None:
    with pytest.raises(ExtensionError, match="must be 0"):
        solutions.are_wanted(value)
