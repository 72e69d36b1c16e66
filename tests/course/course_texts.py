"""What a version says, and what gives a solution away."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from fhx.course.chapters import Chapter

LONG = 16  # characters: shorter lines, such as "return low", are in any code
LONG_SENTENCE = 30


def strings(value: Any) -> Iterator[str]:
    """Every string in JSON data, keys included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from (key, *strings(inner))
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)


def lines(code: str) -> Iterator[str]:
    """The lines of code that are long enough to know again."""
    yield from (line.strip() for line in code.splitlines() if len(line.strip()) >= LONG)


def sentences(text: str) -> Iterator[str]:
    """The pieces of Markdown between its full stops, formulas, links and code, if long enough."""
    pieces = re.split(r"\$[^$]*\$|`[^`]*`|\{[^}]*\}|\.\s|\n|[*:]", text)
    yield from (piece.strip() for piece in pieces if len(piece.strip()) >= LONG_SENTENCE)


def distinctive(chapter: Chapter) -> dict[str, set[str]]:
    """For each exercise the lines and sentences of its solution that stand nowhere in the chapter but in solutions."""
    public = "\n".join(placed.cell.source for placed in chapter.cells if not placed.is_solution)
    found: dict[str, set[str]] = {one.exercise.id: set() for one in chapter.assigned}
    for placed in chapter.cells:
        if placed.is_solution:
            pieces = lines if placed.cell.cell_type == "code" else sentences
            found[placed.assigned.exercise.id] |= {one for one in pieces(placed.cell.source) if one not in public}
    return found
