"""Student versions of all chapters: nothing of a solution is left, and all that an exercise needs is there."""

import ast
import builtins
import json
import re

import nbformat
import pytest
from course_texts import distinctive, lines, strings
from IPython.core.inputtransformer2 import TransformerManager

from fhx.course.versions import student_version

MYST = {
    "directive": r"^\s*(>\s*)*[`:]{3,}\s*\{",
    "role": r"\{[\w:+-]+\}`",
    "label": r"^\([\w:.-]+\)=",
    "label of an equation": r"\$\$[ \t]*\([\w:.-]+\)",
    "option": r"^\s*:[\w-]+:",
    "link to a label": r"\]\((?!https?://)[^)]*\)",
    "comment": r"^% ",
    "quote that cuts a formula": r"^>[^$\n]*(\$\$?)[^$\n]+$(?<!\$)\n>[^$\n]*\1\s*$",
}


def markdown(notebook):
    return [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]


def code(notebook):
    return [cell.source for cell in notebook.cells if cell.cell_type == "code"]


def tree(source):
    return ast.parse(TransformerManager().transform_cell(source))


def names(source, context):
    """The names that a cell loads, or those that it binds at its top or in loops there."""
    found = {node.id for node in ast.walk(tree(source)) if isinstance(node, ast.Name) and isinstance(node.ctx, context)}
    if context is ast.Store:
        for node in tree(source).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                found.add(node.name)
            elif isinstance(node, ast.Import | ast.ImportFrom):
                found |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    return found


def test_nothing_of_a_solution_is_left(chapter, student):
    text = "\n".join(strings(json.loads(nbformat.writes(student))))
    given_away = distinctive(chapter)
    assert all(given_away.values())  # each solution has something to know it by
    assert [(id, one) for id, pieces in given_away.items() for one in pieces if one in text] == []
    assert "solution" not in {tag for cell in student.cells for tag in cell.metadata.get("tags", ())}


def test_nothing_of_the_notes_is_left(chapter, student):
    text = "\n".join(strings(json.loads(nbformat.writes(student))))
    public = "\n".join(placed.cell.source for placed in chapter.cells if not placed.is_solution)
    for one in chapter.assigned:
        notes = one.exercise.notes
        hidden = {notes.hint, notes.teaches, *notes.looks_for, *(mistake.says for mistake in notes.mistakes)}
        code = {line for mistake in notes.mistakes for line in lines(mistake.code)}
        assert [piece for piece in hidden | {line for line in code if line not in public} if piece in text] == []


def test_no_outputs_and_no_metadata(student):
    assert set(student.metadata) == {"kernelspec", "language_info"}
    for cell in student.cells:
        assert cell.metadata == {}
        assert set(cell) <= {"id", "cell_type", "source", "metadata", "outputs", "execution_count"}
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None
    nbformat.validate(student)


@pytest.mark.parametrize("kind", MYST)
def test_no_myst(student, instructor, kind):
    for notebook in (student, instructor):
        found = [match[0] for text in markdown(notebook) for match in re.finditer(MYST[kind], text, re.M)]
        assert found == []


def test_no_cell_needs_a_name_that_only_solutions_define(chapter, student):
    kept = {name for source in code(student) for name in names(source, ast.Store)}
    solutions = [
        placed.cell.source for placed in chapter.cells if placed.is_solution and placed.cell.cell_type == "code"
    ]
    only = {name for source in solutions for name in names(source, ast.Store)} - kept - set(dir(builtins))
    assert only  # the names of the solutions' functions at least
    inner = {arg.arg for source in code(student) for arg in ast.walk(tree(source)) if isinstance(arg, ast.arg)}
    needed = {name for source in code(student) for name in names(source, ast.Load)}
    assert needed & only - inner == set()


def test_each_exercise_is_there_with_its_points_and_its_hole(chapter, student):
    texts, sources = markdown(student), code(student)
    for one in chapter.assigned:
        notes = one.exercise.notes
        head = f"### Exercise {one.number}. "
        (statement,) = [text for text in texts if head in text]
        below = statement[statement.index(head) :].split("\n\n")[1]
        assert below.startswith(f"*{notes.points} point")
        assert f"· {notes.difficulty} · about {notes.minutes} minute" in below
        (hole,) = [source for source in sources if source.startswith(f"# Your turn: complete {one.exercise.function},")]
        assert re.search(rf"^def {one.exercise.function}\(", hole, re.M)
        assert "\n# It returns " in hole or "\n# The exercise says what it returns." in hole
        assert any(f'check("{one.exercise.id}", {one.exercise.function})' in source for source in sources)


def test_the_release_is_pinned_and_the_totals_are_stated(chapter, student):
    (install,) = [line for source in code(student) for line in source.splitlines() if line.startswith("REVISION = ")]
    assert install == f'REVISION = "{chapter.book.revision}"'
    notes = [one.exercise.notes for one in chapter.assigned]
    assert f"{len(notes)} exercises with {sum(note.points for note in notes)} points" in student.cells[1].source
    assert "fold out" not in "".join(markdown(student))
    assert "Run it in [Colab]" not in "".join(markdown(student))


def test_the_same_chapter_makes_the_same_file(chapter, student):
    assert nbformat.writes(student_version(chapter)) == nbformat.writes(student)


def test_every_caption_stands_below_its_figure(chapter, student):
    ids = [cell.id for cell in student.cells]
    for placed in chapter.cells:
        figure = placed.cell.metadata.get("mystnb", {}).get("figure", {})
        if "caption" in figure and not placed.is_solution:
            below = student.cells[ids.index(placed.cell.id) + 1]
            assert below.source.startswith(f"**Fig. {chapter.number}.")
