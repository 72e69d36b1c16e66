"""Versions as files: all or none, each in one move, and never over what somebody has changed."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from fhx._files import write_atomically
from fhx.course import CourseError
from fhx.course.notebooks import cells_of, text_of

__all__ = ["as_made", "mark", "write"]

HEAD = "version"


def mark(notebook: NotebookNode) -> None:
    """Put a hash of the notebook's cells into the id of the cell below its title, to recognise it later."""
    for cell in notebook.cells:
        if cell.id == HEAD:
            cell.id = f"{HEAD}-{_hash(notebook.cells)}"


def as_made(path: Path) -> bool:
    """Whether a file is a marked notebook with the cells that it was made with. Having run it is not a change."""
    try:
        cells = cells_of(path.read_bytes())
        marks = [cell["id"] for cell in cells if cell["id"].startswith(f"{HEAD}-")]
        return marks == [f"{HEAD}-{_hash(cells)}"]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):  # not a notebook, or one made by something else
        return False


def write(files: Mapping[Path, NotebookNode], force: bool) -> None:
    """Write marked notebooks.

    Args:
        files: what to write where.
        force: also over files that are not as this command made them.

    Raises:
        CourseError: a file is in the way, or cannot be written; in the first case nothing was written.
    """
    changed = [path for path in files if path.exists() and not (force and path.is_file()) and not as_made(path)]
    if changed:
        names = ", ".join(map(str, changed))
        raise CourseError(f"not as this command made it: {names}. Nothing was written; --force writes over files")
    for path, notebook in files.items():
        mark(notebook)
        try:
            write_atomically(path, (nbformat.writes(notebook) + "\n").encode())
        except OSError as error:
            raise CourseError(f"{path} cannot be written: {error.strerror or error}") from error


def _hash(cells: Sequence[Mapping[str, Any]]) -> str:
    content = [(cell["cell_type"], text_of(cell)) for cell in cells]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:32]
