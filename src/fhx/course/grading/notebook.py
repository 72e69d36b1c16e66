"""The code cells of a notebook, and which of them a function depends on."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from fhx.course.grading.cells import Cell, parsed
from fhx.course.notebooks import NotebookError, cells_of, is_code, text_of

__all__ = ["LARGEST", "Notebook", "read_notebook"]

LARGEST = 256 * 2**20
"""Bytes of a file."""
DYNAMIC = re.compile(
    r"\b(exec|eval|globals|locals|vars|setattr|get_ipython)\b|^[ \t]*%(?!pip|matplotlib)|import \*", re.M
)
"""What can make names that are not written down."""


class Notebook:
    """The code cells of a notebook in order.

    Args:
        sources: their texts.
    """

    def __init__(self, sources: list[str]) -> None:
        self.cells = [parsed(number, source) for number, source in enumerate(sources)]
        changed = {name: names for cell in self.cells for name, names in cell.globals.items()}
        for number, cell in enumerate(self.cells):
            called = frozenset().union(*(changed[name] for name in cell.calls & changed.keys()))
            self.cells[number] = replace(cell, changes=cell.changes | called)

    def definitions(self, name: str) -> list[Cell]:
        """The cells that make a name, the one that counts last: the last that may be an answer and is filled in.

        A number or a list of the same name is not an answer, and a hole is one only where there is nothing else.
        """
        made = [cell for cell in self.cells if name in cell.makes]
        offers = [cell for cell in made if name in cell.offers]
        filled = [cell for cell in offers if cell.offers[name]]
        return filled or offers or made

    def has_answer(self, name: str) -> bool:
        """Whether a function is there that is more than a hole."""
        return any(cell.offers.get(name) for cell in self.cells)

    @property
    def to_run(self) -> list[Cell]:
        """All cells, but those with nothing except holes that are filled in elsewhere."""

        def is_superseded(cell: Cell) -> bool:
            return bool(cell.offers) and not any(
                cell.offers.get(name, True) or self.definitions(name)[-1] is cell for name in cell.makes
            )

        return [cell for cell in self.cells if not is_superseded(cell)]

    def broken(self, name: str) -> Cell | None:
        """A cell that would define a function if it were Python."""
        pattern = re.compile(rf"^[ \t]*(def[ \t]+{re.escape(name)}\b|{re.escape(name)}[ \t]*=)", re.M)
        return next((cell for cell in reversed(self.cells) if cell.error and pattern.search(cell.source)), None)

    def may_make(self, name: str) -> bool:
        """Whether a name could be there once all cells have run."""
        return any(name in cell.makes or DYNAMIC.search(cell.source) for cell in self.cells)

    def slice(self, name: str) -> list[Cell]:
        """The cells, in order, that the last definition of a name depends on; of the others their basics.

        What a cell uses when it runs is looked up above it, and what a function uses when it is called also at the end.
        """
        made = self.definitions(name)
        chosen = {cell.number for cell in made[-1:]}
        todo = list(chosen)
        while todo:
            new = set(self._needed(self.cells[todo.pop()])) - chosen
            chosen |= new
            todo += new
        if made and name not in made[-1].needs:
            chosen -= {cell.number for cell in self.cells if name in cell.makes and cell is not made[-1]}
        cells = (cell if cell.number in chosen else replace(cell, source="") for cell in self.cells)
        return [cell for cell in cells if cell.source or cell.basics]

    def _needed(self, cell: Cell) -> Iterator[int]:
        for name in cell.needs | cell.later:
            yield from self._sources(name, cell.number)
        for name in cell.later:
            yield from self._sources(name, len(self.cells))

    def _sources(self, name: str, before: int) -> Iterator[int]:
        """The cells that a name's value comes from, seen from before a cell."""
        for cell in reversed(self.cells[:before]):
            if name in cell.makes or name in cell.changes:
                yield cell.number
            if cell.makes.get(name) and name not in cell.needs:
                return


def read_notebook(path: Path) -> Notebook:
    """The code cells of a file; outputs and metadata are not looked at.

    Raises:
        NotebookError: it is not a notebook.
    """
    if not path.is_file() or path.is_symlink():
        raise NotebookError("there is no file")
    if not (size := path.stat().st_size):
        raise NotebookError("the file is empty")
    if size > LARGEST:
        raise NotebookError(f"the file is {size / 2**20:.0f} MiB long; clear its outputs")
    code = [cell for cell in cells_of(path.read_bytes()) if isinstance(cell, dict) and is_code(cell)]
    # Half a character could not cross to a kernel.
    return Notebook([text_of(cell).encode("utf-8", "replace").decode() for cell in code])
