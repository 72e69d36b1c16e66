"""A chapter's notebook as a course sees it: its exercises, and which cells belong to solutions."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nbformat import NotebookNode

from fhx.course import CourseError
from fhx.course.book import Book
from fhx.course.notebooks import CHECK, NotebookError, is_code, placed, tags, text_of
from fhx.exercises import EXERCISES, Exercise, Notes

__all__ = ["Assigned", "Chapter", "Placed"]


@dataclass(frozen=True)
class Assigned:
    """An exercise where it stands in the book.

    Attributes:
        label: of its statement, ``ex-aut-pair-net``.
        exercise: its record.
        notes: what a course needs to know about it.
        number: in the book, ``3.5``.
    """

    label: str
    exercise: Exercise
    notes: Notes
    number: str


@dataclass(frozen=True)
class Placed:
    """A cell of a chapter.

    Attributes:
        cell: the cell.
        assigned: the exercise it belongs to, from the statement to the end of the solution.
        is_solution: whether it stands between the start and the end of a solution, or is one of the two.
        ends: whether the exercise ends with it.
    """

    cell: NotebookNode
    assigned: Assigned | None = None
    is_solution: bool = False
    ends: bool = False

    @property
    def is_hole(self) -> bool:
        """Whether the reader is to fill it in."""
        return "hole" in tags(self.cell)


class Chapter:
    """A chapter of the book.

    Args:
        book: the clone it is in.
        number: the chapter's.

    Raises:
        CourseError: there is no such chapter, or its exercises are not marked as they must be.
    """

    def __init__(self, book: Book, number: int) -> None:
        self.book, self.number = book, number
        self.path: Path = book.paths.get(number, Path())
        self.notebook = book.notebook(number)
        try:
            self.cells = tuple(self._placed())
        except NotebookError as error:
            raise CourseError(f"{self.path}: {error}") from error

    @property
    def page(self) -> str:
        """Its name in the rendered book."""
        return f"notebooks/{self.path.stem}"

    @property
    def assigned(self) -> list[Assigned]:
        """Its exercises in order."""
        return [placed.assigned for placed in self.cells if placed.ends and placed.assigned]

    def _placed(self) -> Iterator[Placed]:
        cells, current = self.notebook.cells, None
        for one in placed(cells):
            if one.is_solution and one.label is None:
                raise NotebookError(f"cell {one.number} begins a solution that belongs to no exercise")
            if current and one.label != current.label:
                raise NotebookError(f"cell {one.number} begins or ends an exercise out of turn")
            if one.label and not current:
                current = self._assigned(one.label, cells[one.number + 1 :])
            yield Placed(one.cell, current, one.is_solution, one.ends)
            current = None if one.ends else current
        if current:
            raise NotebookError(f"the solution of {current.label} does not end")

    def _assigned(self, label: str, after: list[NotebookNode]) -> Assigned:
        """The exercise that the first check after a statement is about."""
        checks = (CHECK.search(text_of(cell)) for cell in after if is_code(cell))
        id = next((found["id"] for found in checks if found), "")
        exercise = EXERCISES.get(id)
        if exercise is None or exercise.notes is None:
            raise CourseError(f"{self.path}: after {label} there is no check of an exercise that the package knows")
        words = self.book.targets[label].words
        return Assigned(label, exercise, exercise.notes, words.rpartition(" ")[2])
