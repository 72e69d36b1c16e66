"""The notebook format, in one place: files and their cells, and how exercises stand in them.

A cell is a dictionary of the JSON file; the cells of ``nbformat`` have the same shape. For exercises see
``CONTRIBUTING.md``: a statement, a hole, and a solution between two cells that begin and end it.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from fhx._files import replacing

if TYPE_CHECKING:
    from nbformat import NotebookNode

__all__ = [
    "CHECK",
    "HEADING",
    "STATEMENT",
    "NotebookError",
    "Placed",
    "cells_of",
    "data_of",
    "figure",
    "is_code",
    "is_markdown",
    "placed",
    "read",
    "tags",
    "text_of",
    "write",
]

Cell = Mapping[str, Any]
C = TypeVar("C", bound=Cell)
FENCE = r"^(?:`{3,}|:{3,})"
STATEMENT = re.compile(
    FENCE + r"\{exercise\}[ \t]*(?P<title>[^\n]*)\n(?::label:[ \t]*(?P<label>\S+))?",
    re.M,
)
SOLUTION_START = re.compile(FENCE + r"\{solution-start\}", re.M)
SOLUTION_END = re.compile(FENCE + r"\{solution-end\}", re.M)
CHECK = re.compile(r"""\bcheck\(\s*["'](?P<id>[\w-]+)["']""")
HEADING = re.compile(r"^(?:\((?P<label>[\w:-]+)\)=\n+)?(?P<marks>#+)[ \t]+(?P<title>[^\n]*?)[ \t#]*$", re.M)


class NotebookError(ValueError):
    """A file that is not a notebook, or a notebook whose cells are not in order; the message says why."""


def read(path: Path) -> "NotebookNode":
    """The notebook in a file, as ``nbformat`` has it.

    Raises:
        NotebookError: it is not a notebook.
    """
    import nbformat  # slow where jsonschema checks addresses too, and the grader reads cells alone

    try:
        return nbformat.read(path, as_version=4)
    except (ValueError, KeyError, AttributeError, nbformat.ValidationError) as error:
        raise NotebookError(f"{path.name} is not a notebook ({type(error).__name__}: {error})") from error


def write(notebook: "NotebookNode", path: Path) -> None:
    """Replace the file in one move, so that neither a reader nor an interruption finds half a notebook."""
    import nbformat  # as above

    nbformat.validate(notebook)
    with replacing(path) as part:
        part.write_text(nbformat.writes(notebook).rstrip("\n") + "\n", encoding="utf-8")


def cells_of(content: bytes | str) -> list[Any]:
    """The cells of a file's content, whatever they are; nothing else in it is looked at.

    Raises:
        NotebookError: it is not JSON, or it has no cells.
    """
    return data_of(content)["cells"]


def data_of(content: bytes | str) -> dict[str, Any]:
    """All that a file's content holds; ``cells`` is a list, and nothing else is looked at.

    Raises:
        NotebookError: it is not JSON, or it has no cells.
    """
    try:
        data = json.loads(content)
    except (ValueError, RecursionError, MemoryError) as error:
        raise NotebookError("the file is not a notebook, or it is cut off") from error
    data = data if isinstance(data, dict) else {}
    if isinstance(data.get("cells"), list):
        return data
    if isinstance(data.get("worksheets"), list) and (version := data.get("nbformat")) in (1, 2, 3):
        raise NotebookError(f"the file is a notebook of version {version}; open it in Jupyter and save it again")
    raise NotebookError("the file is not a notebook of version 4: it has no cells")


def text_of(cell: Cell) -> str:
    """The source of a cell, which a file may hold as a list of lines."""
    source = cell.get("source", "")
    lines = source if isinstance(source, list) else [source]
    return "".join(line for line in lines if isinstance(line, str))


def is_code(cell: Cell) -> bool:
    return cell.get("cell_type") == "code"


def is_markdown(cell: Cell) -> bool:
    return cell.get("cell_type") == "markdown"


def tags(cell: Cell) -> list[str]:
    return list(cell.get("metadata", {}).get("tags", ()))


def figure(cell: Cell) -> Mapping[str, str]:
    """What a code cell says about the figure that it draws: name and caption, if it draws one."""
    return cell.get("metadata", {}).get("mystnb", {}).get("figure", {}) if is_code(cell) else {}


@dataclass(frozen=True)
class Placed(Generic[C]):
    """A cell, and the exercise that it belongs to.

    Attributes:
        cell: the cell.
        number: its place in the notebook.
        label: of the exercise, from its statement to the end of its solution; None outside of exercises.
        is_solution: whether it stands between the start and the end of a solution, or is one of the two.
        ends: whether the solution ends with it.
    """

    cell: C
    number: int
    label: str | None = None
    is_solution: bool = False
    ends: bool = False


def placed(cells: Iterable[C]) -> Iterator[Placed[C]]:
    """The cells with the exercises that they belong to.

    Raises:
        NotebookError: an exercise or a solution begins or ends where it must not.
    """
    label, is_solution, number = None, False, 0
    for number, cell in enumerate(cells):
        text = text_of(cell) if is_markdown(cell) else ""
        starts, ends = bool(SOLUTION_START.search(text)), bool(SOLUTION_END.search(text))
        statement = STATEMENT.search(text)
        if (is_solution and (starts or statement)) or (ends and not is_solution):
            raise NotebookError(f"cell {number} begins or ends an exercise out of turn")
        label = (statement["label"] or f"the exercise in cell {number}") if statement else label
        is_solution = is_solution or starts
        yield Placed(cell, number, label, is_solution, ends)
        if ends:
            label, is_solution = None, False
    if is_solution:
        raise NotebookError(f"the solution of {label or 'no exercise'} does not end")
