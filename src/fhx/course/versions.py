"""A chapter as plain notebooks: for readers, as it is; for students, without solutions; for instructors, with notes."""

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from fhx import __version__
from fhx.course import CourseError, annotations
from fhx.course.bibliography import linked
from fhx.course.chapters import Chapter, Placed
from fhx.course.instructions import with_instructions
from fhx.course.notebooks import figure, is_code, tags
from fhx.course.plain_markdown import PlainMarkdown
from fhx.exercises import EXERCISES, Exercise
from fhx.exercises.show import show

__all__ = ["instructor_version", "reader_version", "student_version"]

KEPT = ("kernelspec", "language_info")
LAUNCH = re.compile(r"^Run it in \[Colab\][^\n]*\n*", re.M)
INSTALL = re.compile(r'^REVISION = "[^"]*"$', re.M)
FOLDS = ("jupyter", "cellView", "tags")
"""What of a cell's metadata says whether it is shown folded."""
FOLDED = "The solutions fold out."


def student_version(chapter: Chapter) -> NotebookNode:
    """The chapter to hand out: no solutions and outputs, plain Markdown, the release pinned, instructions in the holes.

    Raises:
        CourseError: something in the chapter has no plain form.
    """
    head = (
        f"Student version of {_origin(chapter)}. Run the cells in order. In each exercise put your own code "
        f"for `...`{_checked(chapter)}. {_graded_with()}\n\n"
        f"{annotations.totals(chapter.assigned)}."
    )
    return _Version(chapter, head).notebook()


def reader_version(chapter: Chapter, solved: bool = True) -> NotebookNode:
    """The chapter for any notebook program: plain Markdown with outputs, solutions and figures as in the book.

    Args:
        chapter: the chapter.
        solved: with its solutions.

    Raises:
        CourseError: something in the chapter has no plain form.
    """
    page = chapter.book.link("rendered page", chapter.page)
    head = f"The notebook of {_origin(chapter)}, to be run from the top. What is written here is on its {page} too."
    return _Version(chapter, head, solved=solved, shown=True).notebook()


def instructor_version(chapter: Chapter) -> NotebookNode:
    """The chapter with its outputs, solutions and, after each exercise, notes: what it teaches, what goes wrong.

    Raises:
        CourseError: something in the chapter has no plain form.
    """
    head = (
        f"Instructor's version of {_origin(chapter)}. It holds the solutions: not for students.\n\n"
        f"{annotations.totals(chapter.assigned)}.\n\n{annotations.overview(chapter.assigned)}"
    )
    return _Version(chapter, head, solved=True, shown=True, noted=True).notebook()


def _graded_with() -> str:
    """What this machine has, which is to be that of the grader."""
    return f"It is graded with Python {sys.version_info.major}.{sys.version_info.minor} and fhx {__version__}."


def _origin(chapter: Chapter) -> str:
    words = f"{chapter.path.stem}, which goes with" if chapter.is_own else f"chapter {chapter.number} of"
    return f"{words} {linked('Recurrence', chapter.book.home)}, release {__version__}"


def _checked(chapter: Chapter) -> str:
    is_book = [one.exercise.id in EXERCISES for one in chapter.assigned]
    return "; `check` then says whether it is right" if any(is_book) or not is_book else ""


def _with_examples(source: str, exercise: Exercise) -> str:
    """A hole with instructions. ``check`` knows the book's exercises only, and others have examples instead."""
    if exercise.id in EXERCISES:
        return with_instructions(source, exercise.function)
    return with_instructions(_without_check(source, exercise), exercise.function, is_checked=False)


def _without_check(source: str, exercise: Exercise) -> str:
    calls = re.compile(rf"""^check\(\s*["']{exercise.id}["'][^\n]*$""", re.M)
    return calls.sub(lambda call: "\n".join(_examples(exercise)), source)


def _examples(exercise: Exercise) -> Iterator[str]:
    """The stated cases with their right values, as comments."""
    if exercise.inputs:
        yield "# Examples:"
    for case in exercise.cases if exercise.inputs else ():
        given = ", ".join(f"{name} = {show(value)}" for name, value in zip(exercise.inputs, case, strict=True))
        yield f"# {given} gives {show(exercise.oracle(*case))}"


@dataclass(frozen=True)
class _Version:
    """A chapter with ``head`` below its title.

    Attributes:
        chapter: what it is of.
        head: one cell.
        solved: with the solutions.
        shown: with the outputs.
        noted: with what helps to mark the exercises.
    """

    chapter: Chapter
    head: str
    solved: bool = False
    shown: bool = False
    noted: bool = False

    def notebook(self) -> NotebookNode:
        source = self.chapter.notebook
        if not any(INSTALL.search(cell.source) for cell in source.cells if is_code(cell)):
            raise CourseError(f"{self.chapter.path}: no cell installs the package, so its version cannot be pinned")
        metadata = {key: source.metadata[key] for key in KEPT if key in source.metadata}
        made = new_notebook(cells=list(self._cells()), metadata=metadata)
        made.nbformat_minor = 5
        nbformat.validate(made)
        return made

    @property
    def is_course(self) -> bool:
        """Whether it is for students or instructors."""
        return self.noted or not self.shown

    def _cells(self) -> Iterator[NotebookNode]:
        below = {one.label: annotations.below_statement(one) for one in self.chapter.assigned} if self.is_course else {}
        plain = PlainMarkdown(self.chapter.book, self.chapter.page, below)
        for place, placed in enumerate(self.chapter.cells):
            if self.solved or not (placed.is_solution or "solution" in tags(placed.cell)):
                yield from self._code(placed, plain) if is_code(placed.cell) else self._text(placed, plain)
            if place == 0:
                yield new_markdown_cell(self.head, id="version")
            if self.noted and placed.ends and placed.assigned:
                text = annotations.notes(placed.assigned)
                yield new_markdown_cell(text, id=f"notes-{placed.assigned.exercise.id}")

    def _text(self, placed: Placed, plain: PlainMarkdown) -> Iterator[NotebookNode]:
        source = placed.cell.source.replace(FOLDED, "Solutions and notes follow." if self.noted else "")
        if text := plain(LAUNCH.sub("", source)):
            yield new_markdown_cell(text, id=placed.cell.id)

    def _code(self, placed: Placed, plain: PlainMarkdown) -> Iterator[NotebookNode]:
        cell = placed.cell
        source = INSTALL.sub(f'REVISION = "{self.chapter.book.revision}"', cell.source)
        made = new_code_cell(source, id=cell.id)
        if self.shown:
            made.update(outputs=cell.outputs, execution_count=cell.execution_count)
        if not self.is_course:
            made.metadata.update({key: cell.metadata[key] for key in FOLDS if key in cell.metadata})
        elif not self.solved and placed.is_hole and placed.assigned:
            made.source = _with_examples(made.source, placed.assigned.exercise)
        yield made
        drawn = figure(cell)
        if "caption" in drawn:
            number = self.chapter.book.targets[drawn["name"]].words
            yield new_markdown_cell(f"**{number}** {plain(drawn['caption'])}", id=f"{cell.id}-caption")
