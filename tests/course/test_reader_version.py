"""Plain notebooks for readers: all chapters without MyST, with the code, the outputs and the solutions of the book."""

import re

import nbformat
import pytest
from course_texts import distinctive, strings
from test_student import MYST, code, markdown

from fhx.course.notebooks import is_code
from fhx.course.versions import INSTALL, reader_version


@pytest.fixture(scope="session")
def reader(chapter):
    return reader_version(chapter)


@pytest.mark.parametrize("kind", MYST)
def test_no_myst(reader, kind):
    assert [match[0] for text in markdown(reader) for match in re.finditer(MYST[kind], text, re.M)] == []


def test_it_runs_what_the_chapter_runs(chapter, reader):
    """The chapters themselves are run by nbval."""
    ours = [cell for cell in chapter.notebook.cells if is_code(cell)]
    plain = [cell for cell in reader.cells if is_code(cell)]
    assert [INSTALL.sub("", cell.source) for cell in plain] == [INSTALL.sub("", cell.source) for cell in ours]
    assert [cell.outputs for cell in plain] == [cell.outputs for cell in ours]
    nbformat.validate(reader)


def test_the_first_cell_installs_the_version_that_the_notebook_is_of(chapter, reader):
    (revision,) = [found[0] for source in code(reader) for found in [INSTALL.search(source)] if found]
    assert revision == f'REVISION = "{chapter.book.revision}"'
    assert re.fullmatch(r"[0-9a-f]{40}|v\d[\w.]*|main", chapter.book.revision)


def test_solutions_are_there_and_nothing_for_courses(chapter, reader):
    texts = "\n".join(markdown(reader))
    for one in chapter.assigned:
        assert f"#### Solution of exercise {one.number}\n" in texts
        assert f"### Exercise {one.number}. " in texts
        assert f"about {one.exercise.notes.minutes} minute" not in texts
        assert one.exercise.notes.teaches not in texts
    folded = [cell for cell in reader.cells if "solution" in cell.metadata.get("tags", ())]
    assert all(cell.metadata.jupyter.source_hidden for cell in folded)


def test_without_solutions_nothing_of_them_is_left(chapter):
    text = "\n".join(strings(nbformat.from_dict(reader_version(chapter, solved=False))))
    assert [(id, one) for id, pieces in distinctive(chapter).items() for one in pieces if one in text] == []


def test_references_lead_into_the_rendered_book(chapter, reader):
    texts = "\n".join(markdown(reader))
    home = chapter.book.home
    assert home.startswith("https://")
    assert f"[rendered page]({home}{chapter.page}.html)" in texts
    others = set(re.findall(rf"\]\({re.escape(home)}(notebooks/[\w-]+|book/[\w-]+)\.html", texts))
    pages = {f"notebooks/{path.stem}" for path in chapter.book.paths.values()} | set(chapter.book.titles)
    assert others <= pages
    assert len(others) > 2
