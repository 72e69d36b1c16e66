"""A chapter's notebook as a course sees it: its exercises, and which cells belong to solutions."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from fhx.course import CourseError
from fhx.course.assignments import kept_of, needed_of
from fhx.course.book import Book
from fhx.course.exercises import known
from fhx.course.notebooks import CHECK, NotebookError, is_code, placed, tags, text_of
from fhx.exercises import Exercise, Notes

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
        only: ids of the exercises that are assigned; all if there are none. The others are left out.
        variant: makes of an exercise that of one student.

    Raises:
        CourseError: there is no such chapter, or it lacks an exercise, or its exercises are not marked as they must be.
    """

    def __init__(
        self,
        book: Book,
        number: int,
        only: Collection[str] = (),
        variant: Callable[[Exercise], Exercise] = lambda exercise: exercise,
    ) -> None:
        self.book, self.number, self._variant = book, number, variant
        self.path: Path = book.paths.get(number, Path())
        self.notebook = book.notebook(number)
        try:
            self.cells = tuple(self._placed())
        except NotebookError as error:
            raise CourseError(f"{self.path}: {error}") from error
        if only:
            self._leave_out(only)

    @property
    def page(self) -> str:
        """Its name in the rendered book."""
        return f"notebooks/{self.path.stem}"

    @property
    def is_own(self) -> bool:
        """Whether it is not the book's."""
        return self.path in self.book.own

    @property
    def assigned(self) -> list[Assigned]:
        """Its exercises in order."""
        return [placed.assigned for placed in self.cells if placed.ends and placed.assigned]

    def _leave_out(self, only: Collection[str]) -> None:
        """Drop the cells of all exercises but some; what stands above a statement in its cell is kept."""
        ids = [one.exercise.id for one in self.assigned]
        if unknown := [id for id in only if id not in ids]:
            raise CourseError(f"{unknown[0]} is no exercise of {self.path.name}, which has {', '.join(ids) or 'none'}")
        self.cells = tuple(self._with_only(only))

    def _with_only(self, only: Collection[str]) -> Iterator[Placed]:
        gone = [one.assigned is not None and one.assigned.exercise.id not in only for one in self.cells]
        code = [one.cell if is_code(one.cell) and not one.is_solution else None for one in self.cells]
        needed = needed_of(
            [cell if is_gone else None for cell, is_gone in zip(code, gone, strict=True)],
            [
                text_of(one.cell)
                for one, is_gone in zip(self.cells, gone, strict=True)
                if is_code(one.cell) and not is_gone
            ],
            [one.exercise.function for one in self.assigned],
        )
        for number, one in enumerate(self.cells):
            if not gone[number]:
                yield one
            elif source := needed.get(number) or kept_of(one.cell):
                yield Placed(_with_source(one.cell, source))

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
        exercise = known().get(id)
        if exercise is None or exercise.notes is None:
            raise CourseError(f"{self.path}: after {label} there is no check of an exercise that the package knows")
        words = self.book.targets[label].words
        return Assigned(label, self._variant(exercise), exercise.notes, words.rpartition(" ")[2])


def _with_source(cell: NotebookNode, source: str) -> NotebookNode:
    more: dict[str, Any] = {"outputs": [], "execution_count": None} if is_code(cell) else {}
    return NotebookNode(cell | {"source": source, "metadata": NotebookNode()} | more)
