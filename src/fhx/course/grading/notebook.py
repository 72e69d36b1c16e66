"""The code cells of a notebook, and which of them a function depends on."""

import re
import time
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from fhx.course.grading.asked import asked_in_text
from fhx.course.grading.cells import Cell, parsed
from fhx.course.notebooks import NotebookError, data_of, is_code, text_of

__all__ = ["LARGEST", "MOST_CELLS", "READING", "Notebook", "Way", "read_notebook"]

LARGEST = 50 * 2**20
"""Bytes of a file."""
MOST_VALUES, MOST_CELLS = 2_000_000, 2_000
"""Values of JSON in a file, each of which takes more memory than it is long, and cells with code."""
VERSION = re.compile(r"(\d{1,2}\.\d{1,3})(\.|$)")
"""The beginning of a version of Python."""
READING, LONGEST_CELL = 30.0, 5.0
"""Seconds in which all cells are read, and one of them."""
LATE = "it could not be read: other cells had taken all the time"
CHECKS = 3
"""As many of the last checks of an exercise are tried."""


@dataclass(frozen=True)
class Way:
    """A way to an answer.

    Attributes:
        words: what was run; empty for the cells that the answer depends on where it is checked.
        cells: in order, those to run.
        expression: whose value is the answer, after them.
        own: the number of the cell that defines it, if it is known.
    """

    words: str
    cells: tuple[Cell, ...]
    expression: str
    own: int | None = None

    @property
    def texts(self) -> tuple[str, ...]:
        """What is run of other cells than those that only show something."""
        return tuple(cell.to_run or "\n".join(cell.basics) for cell in self.cells)


class Notebook:
    """The code cells of a notebook in order.

    Args:
        sources: their texts.
        outputs: what the file shows below them, as one text.
        python: the version of Python that the file names.
        seconds: in which all cells are read; those for which no time is left are not Python, as far as it is known.
    """

    def __init__(self, sources: list[str], outputs: str = "", python: str = "", seconds: float = READING) -> None:
        self.outputs, self.python = outputs, python
        self.cells = list[Cell]()
        end = time.process_time() + seconds
        for number, source in enumerate(sources):
            left = end - time.process_time()
            late = Cell(number, source, error=LATE, unread=asked_in_text(source))
            self.cells.append(parsed(number, source, min(left, LONGEST_CELL)) if left > 0 else late)
        written = {module: parsed(-1, text) for cell in self.cells for module, text in cell.written}
        for cell in [cell for cell in self.cells if set(cell.stars) & written.keys()]:
            for module in (written[star] for star in cell.stars if star in written):
                cell.makes.update(module.makes)
                cell.offers.update(module.offers)
        changed = {name: names for cell in self.cells for name, names in cell.effects.items()}
        aliases = defaultdict[str, set[str]](set)
        for one, other in (pair for cell in self.cells for pair in cell.aliases):
            aliases[one].add(other)
            aliases[other].add(one)
        self._makers = defaultdict[str, list[int]](list)
        for cell in self.cells:
            for name in cell.makes:
                self._makers[name].append(cell.number)
        self._sources_of = defaultdict[str, list[int]](list)
        objects = self._makers.keys() - frozenset().union(*(cell.imported for cell in self.cells))
        for number, cell in enumerate(self.cells):
            changes = cell.changes.union(*(changed[name] for name in cell.calls & changed.keys()))
            changes = changes.union(*(aliases[name] for name in changes & aliases.keys()))
            named = [(self._constant(name), given) for name, given in cell.asks_by_name]
            asks = tuple((exercise, given) for exercise, given in named if exercise is not None)
            unread = cell.unread | ({""} if len(asks) < len(named) else set())
            # What is set of an object of the notebook, as by ax.set_xticks(...), is run with that object or not at all.
            basics = tuple(text for text in cell.basics if cell.set_of.get(text) not in objects)
            self.cells[number] = replace(cell, changes=changes, asks=cell.asks + asks, unread=unread, basics=basics)
            for name in cell.makes.keys() | changes:
                self._sources_of[name].append(number)

    def _constant(self, name: str) -> str | None:
        """The text that a name stands for, if one cell assigns it, and once."""
        makers = self._makers.get(name, [])
        return self.cells[makers[0]].constants.get(name) if len(makers) == 1 else None

    def was_right(self, title: str) -> bool:
        """Whether ``check`` had called the answer of an exercise with this title right, as the file has it."""
        return f"✓ {title}: passed" in self.outputs

    def ways(self, exercise: str, function: str) -> list["Way"]:
        """How an answer may be come by, best first, without those that are the same.

        Where ``check`` was called, the cells above it count that the answer depends on; and if that is not right, all
        cells down to there, as they ran at home. Last come the same for the end of the notebook.
        """
        asks = [(cell.number, given) for cell in self.cells for name, given in cell.asks if name == exercise]
        asks = [(number, given) for number, given in asks if self._is_given(given, number)][: -1 - CHECKS : -1]
        last, end = asks[0][1] if asks else function, len(self.cells)
        found = [self._sliced(given, number + 1) for number, given in asks] if asks else []
        found += [
            Way(f"all cells down to that with its check, cell {number + 1}", tuple(self.cells[: number + 1]), given)
            for number, given in asks
        ]
        if self.definitions(function):
            words = "the cells that it depends on at the end of the notebook" if asks else ""
            found.append(self._sliced(function, end, words))
        if found:
            found.append(Way("all cells of the notebook", tuple(self.to_run), last))
        different: dict[tuple[str, tuple[str, ...]], Way] = {}
        for way in found:
            different.setdefault((way.expression, way.texts), way)
        return list(different.values())

    def _is_given(self, expression: str, number: int) -> bool:
        """Whether what is given to a check above the end of a cell can be there: it is made above, or not a name."""
        return not expression.isidentifier() or bool(self.definitions(expression, number + 1))

    def _sliced(self, expression: str, end: int, words: str = "") -> "Way":
        made = self.definitions(expression, end)
        return Way(words, tuple(self.slice(expression, end)), expression, made[-1].number if made else None)

    def definitions(self, name: str, end: int | None = None) -> list[Cell]:
        """The cells that make a name, the one that counts last: the last that may be an answer and is filled in.

        A number or a list of the same name is not an answer, and a hole is one only where there is nothing else.
        Cells from number ``end`` on do not count.
        """
        made = [self.cells[number] for number in self._makers.get(name, []) if end is None or number < end]
        offers = [cell for cell in made if name in cell.offers]
        filled = [cell for cell in offers if cell.offers[name]]
        return filled or offers or made

    def unread_check(self, exercise: str, function: str) -> Cell | None:
        """A cell that may check an answer to an exercise, which cannot be read off it."""
        for cell in self.cells:
            given = [answer for name, answer in cell.asks if name == exercise and answer != function]
            if cell.unread & {exercise, ""} or not all(self._is_given(answer, cell.number) for answer in given):
                return cell
        return None

    def is_about(self, exercise: str, function: str) -> bool:
        """Whether an exercise is in it: its function, or a check of it."""
        checked = any(name == exercise for cell in self.cells for name, _ in cell.asks)
        return checked or bool(self.definitions(function) or self.broken(function))

    def is_filled(self, way: "Way") -> bool:
        """Whether what a way leads to is more than a hole."""
        return not way.expression.isidentifier() or self.has_answer(way.expression)

    def has_answer(self, name: str) -> bool:
        """Whether a function is there that is more than a hole."""
        return any(cell.offers.get(name) for cell in self.cells)

    @cached_property
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

    def slice(self, expression: str, end: int | None = None) -> list[Cell]:
        """The cells, in order, that the last definition of a name depends on; of the others their basics.

        What a cell uses when it runs is looked up above it, and what a function uses when it is called also at the end.
        For an expression, such as ``lambda n: f(n)``, they are those that its names depend on.

        Args:
            expression: a name, or another expression.
            end: cells from this number on do not count.
        """
        end = len(self.cells) if end is None else end
        made = self.definitions(expression, end)
        chosen = {cell.number for cell in made[-1:]}
        if not expression.isidentifier():
            asked = parsed(-1, expression)
            chosen = {number for name in asked.needs | asked.later for number in self._sources(name, end)}
        todo = list(chosen)
        while todo:
            new = set(self._needed(self.cells[todo.pop()], end)) - chosen
            chosen |= new
            todo += new
        if made and expression not in made[-1].needs:
            chosen -= {cell.number for cell in self.cells if expression in cell.makes and cell is not made[-1]}
        cells = (cell if cell.number in chosen else replace(cell, source="") for cell in self.cells[:end])
        return [cell for cell in cells if cell.source or cell.basics]

    def _needed(self, cell: Cell, end: int) -> Iterator[int]:
        for name in cell.needs | cell.later:
            yield from self._sources(name, cell.number)
        for name in cell.later:
            yield from self._sources(name, end)

    def _sources(self, name: str, before: int) -> Iterator[int]:
        """The cells that a name's value comes from, seen from before a cell."""
        numbers = self._sources_of.get(name, [])
        for number in reversed(numbers[: bisect_left(numbers, before)]):
            yield number
            if self.cells[number].makes.get(name) and name not in self.cells[number].needs:
                return


def read_notebook(path: Path, seconds: float = READING) -> Notebook:
    """The code cells of a file. Of outputs and metadata only texts are taken: what ``check`` said, and which Python.

    Args:
        path: of the file.
        seconds: in which its cells are read.

    Raises:
        NotebookError: it is not a notebook, or too much of one.
    """
    if not path.is_file() or path.is_symlink():
        raise NotebookError("there is no file")
    if not (size := path.stat().st_size):
        raise NotebookError("the file is empty")
    if size > LARGEST:
        raise NotebookError(f"the file is {size / 2**20:.0f} MiB long; clear its outputs")
    content = path.read_bytes()
    if (count := sum(map(content.count, (b",", b"[", b"{")))) > MOST_VALUES:  # or such characters in texts
        raise NotebookError(f"the file holds about {count} values, and {MOST_VALUES} are the limit; clear its outputs")
    data = data_of(content)
    code = [cell for cell in data["cells"] if isinstance(cell, dict) and is_code(cell)]
    if len(code) > MOST_CELLS:
        raise NotebookError(f"the notebook has {len(code)} code cells, and {MOST_CELLS} are the limit")
    outputs = "\n".join(text for cell in code for text in _texts(cell.get("outputs")))
    # Half a character could not cross to a kernel.
    sources = [text_of(cell).encode("utf-8", "replace").decode() for cell in code]
    return Notebook(sources, outputs, _version(data.get("metadata")), seconds)


def _version(metadata: Any) -> str:
    """Of Python, as a file names it, or empty."""
    info = metadata.get("language_info") if isinstance(metadata, dict) else None
    version = info.get("version") if isinstance(info, dict) else None
    found = VERSION.match(version) if isinstance(version, str) else None
    return found[1] if found else ""


def _texts(outputs: Any) -> Iterator[str]:
    """The plain texts of the outputs of a cell, whatever they are."""
    for output in outputs if isinstance(outputs, list) else ():
        data = output.get("data") if isinstance(output, dict) else None
        shown = output.get("text") if isinstance(output, dict) else None
        for text in (shown, data.get("text/plain") if isinstance(data, dict) else None):
            lines = text if isinstance(text, list) else [text]
            yield "".join(line for line in lines if isinstance(line, str))
