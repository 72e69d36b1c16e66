"""A chapter's notebook as a course sees it: its exercises, and which cells belong to solutions."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nbformat import NotebookNode

from fhx.course import CourseError
from fhx.course.book import Book
from fhx.exercises import EXERCISES, Exercise, Notes

__all__ = ["Assigned", "Chapter", "Placed"]

STATEMENT = re.compile(r"^(?:`{3,}|:{3,})\{exercise\}[^\n]*\n:label:[ \t]*(\S+)", re.M)
START = re.compile(r"^(?:`{3,}|:{3,})\{solution-start\}", re.M)
END = re.compile(r"^(?:`{3,}|:{3,})\{solution-end\}", re.M)
CHECK = re.compile(r"""\bcheck\(\s*["']([\w-]+)["']""")


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
        return "hole" in self.cell.metadata.get("tags", ())


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
        self.cells = tuple(self._placed())

    @property
    def page(self) -> str:
        """Its name in the rendered book."""
        return f"notebooks/{self.path.stem}"

    @property
    def assigned(self) -> list[Assigned]:
        """Its exercises in order."""
        return [placed.assigned for placed in self.cells if placed.ends and placed.assigned]

    def _placed(self) -> Iterator[Placed]:
        current: Assigned | None = None
        inside = False
        cells = self.notebook.cells
        for place, cell in enumerate(cells):
            is_text = cell.cell_type == "markdown"
            starts, ends = (is_text and pattern.search(cell.source) for pattern in (START, END))
            found = STATEMENT.search(cell.source) if is_text else None
            if (found and current) or (starts and inside) or (ends and not (inside or starts)):
                raise CourseError(f"{self.path}: cell {place} begins or ends an exercise out of turn")
            if found:
                current = self._assigned(found[1], cells[place + 1 :])
            inside = inside or bool(starts)
            if inside and current is None:
                raise CourseError(f"{self.path}: cell {place} begins a solution of no exercise")
            yield Placed(cell, current, inside, bool(ends))
            if ends:
                current, inside = None, False
        if current:
            raise CourseError(f"{self.path}: the solution of {current.label} does not end")

    def _assigned(self, label: str, after: list[NotebookNode]) -> Assigned:
        """The exercise that the first check after a statement is about."""
        checks = (CHECK.search(cell.source) for cell in after if cell.cell_type == "code")
        id = next((found[1] for found in checks if found), "")
        exercise = EXERCISES.get(id)
        if exercise is None or exercise.notes is None:
            raise CourseError(f"{self.path}: no check of an exercise that the package knows follows {label}")
        words = self.book.targets[label].words
        return Assigned(label, exercise, exercise.notes, words.rpartition(" ")[2])
