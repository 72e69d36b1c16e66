"""Versions in which only the assigned exercises stand."""

import ast
import builtins
import re
import sys

import pytest
from IPython.core.inputtransformer2 import TransformerManager

from fhx import __version__
from fhx.course import CourseError
from fhx.course.chapters import Chapter
from fhx.course.main import main
from fhx.course.versions import instructor_version, student_version


def text(notebook):
    return "\n".join(cell.source for cell in notebook.cells)


def names(notebook):
    """The names that the cells load, and those that they bind anywhere."""
    loaded, bound = set(), {"get_ipython", *dir(builtins)}
    for cell in notebook.cells:
        if cell.cell_type == "code":
            for node in ast.walk(ast.parse(TransformerManager().transform_cell(cell.source))):
                if isinstance(node, ast.Name):
                    (loaded if isinstance(node.ctx, ast.Load) else bound).add(node.id)
                elif isinstance(node, ast.FunctionDef | ast.ClassDef):
                    bound.add(node.name)
                elif isinstance(node, ast.Import | ast.ImportFrom):
                    bound |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
                elif isinstance(node, ast.arg):
                    bound.add(node.arg)
                elif isinstance(node, ast.ExceptHandler) and node.name:
                    bound.add(node.name)
    return loaded, bound


@pytest.mark.parametrize("version", [student_version, instructor_version])
def test_only_the_assigned_exercises_stand_there(book, version):
    chosen = ["03-pair-net", "03-hat"]
    whole, made = Chapter(book, 3), version(Chapter(book, 3, chosen))
    left = {one.exercise.id: one for one in whole.assigned}
    kept = [left.pop(name) for name in ("03-pair-net", "03-hat")]
    for one in kept:
        assert f"### Exercise {one.number}. " in text(made)
        assert f"def {one.exercise.function}(" in text(made)
    for one in left.values():
        assert f"### Exercise {one.number}. " not in text(made)
        assert one.exercise.id not in text(made)
        assert f"solution of exercise {one.number}\n" not in text(made).lower()
        assert f"def {one.exercise.function}(" not in text(made)
    points, minutes = (sum(getattr(one.notes, name) for one in kept) for name in ("points", "minutes"))
    assert f"There are 2 exercises with {points} points in all, for about {minutes} minutes" in made.cells[1].source


def test_what_is_no_exercise_is_all_there(chapter, student):
    one = chapter.assigned[-1]
    made = student_version(Chapter(chapter.book, chapter.number, [one.exercise.id]))
    outside = {placed.cell.id for placed in chapter.cells if placed.assigned is None}
    ids = [cell.id for cell in made.cells]
    assert [id for id in (cell.id for cell in student.cells) if id in outside and id not in ids] == []
    above = [
        cell.source.partition("### Exercise")[0].strip() for cell in student.cells if "### Exercise" in cell.source
    ]
    assert [words for words in above if words not in text(made)] == []


def test_each_exercise_alone_has_all_that_it_needs(chapter):
    for one in chapter.assigned:
        loaded, bound = names(student_version(Chapter(chapter.book, chapter.number, [one.exercise.id])))
        assert loaded - bound == set(), one.exercise.id


def test_the_student_is_told_what_grades_it(book):
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    head = student_version(Chapter(book, 3)).cells[1].source
    assert f"says whether it is right. It is graded with Python {here} and fhx {__version__}." in head
    assert "graded with" not in text(instructor_version(Chapter(book, 3)))


@pytest.mark.parametrize(
    ("chapters", "only", "words"),
    [
        (["3"], ["03-hat", "03-hut"], "there is no exercise 03-hut in 03-automata-in-integer-weights.ipynb; there are"),
        (["3"], ["04-rows"], "there is no exercise 04-rows in 03-automata"),
        (["3", "5"], ["03-hat"], "--only names no exercise of 05-turing"),
    ],
)
def test_exercises_of_no_or_another_chapter(book, tmp_path, capsys, chapters, only, words):
    out = tmp_path / "out"
    for kind in ("student", "instructor"):
        status = main([kind, *chapters, "--only", *only, "--out", str(out), "--notebooks", str(book.folder)])
        error = capsys.readouterr().err
        assert (status, error.count("\n")) == (2, 1)
        assert re.match(f"fhx-course: error: {words}", error)
        assert not out.exists()
    with pytest.raises(CourseError, match="03-hut is no exercise of 03-automata"):
        Chapter(book, 3, ["03-hut"])


def test_the_command_leaves_the_others_out(book, tmp_path):
    arguments = ["3", "5", "--only", "05-pop", "03-hat", "--out", str(tmp_path), "--notebooks", str(book.folder)]
    assert main(["student", *arguments]) == 0
    found = {path.name[:2]: path.read_text("utf-8") for path in tmp_path.iterdir()}
    assert re.findall(r"check\(\\\"([\w-]+)", found["03"]) == ["03-hat"]
    assert re.findall(r"check\(\\\"([\w-]+)", found["05"]) == ["05-pop"]
