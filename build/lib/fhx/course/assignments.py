"""A chapter with some of its exercises: the cells of the others go, but for what the rest needs of them."""

import ast
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from nbformat import NotebookNode

from fhx.course.notebooks import STATEMENT, is_code, text_of

__all__ = ["kept_of", "needed_of"]

MAKES = (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)


@dataclass(frozen=True)
class _Definition:
    """A statement of a cell that is left out.

    Attributes:
        cell: the number of the cell.
        names: that it binds.
        source: its text.
    """

    cell: int
    names: frozenset[str]
    source: str


def kept_of(cell: NotebookNode) -> str:
    """What of the Markdown of an exercise that is left out is not about it: all above the statement in its cell."""
    found = None if is_code(cell) else STATEMENT.search(text_of(cell))
    return text_of(cell)[: found.start()].strip() if found else ""


def needed_of(cells: Sequence[NotebookNode | None], kept: Sequence[str], without: Collection[str]) -> dict[int, str]:
    """Functions, classes and imports of cells that are left out, where other code needs them, by the cell's number.

    Args:
        cells: code cells that are left out; None in the place of others.
        kept: the code that is kept.
        without: functions that exercises ask for, which are left out in any case.
    """
    left = [one for number, cell in enumerate(cells) if cell is not None for one in _definitions(number, text_of(cell))]
    left = [one for one in left if not one.names & set(without)]
    texts, chosen = list(kept), list[_Definition]()
    there = {name for text in kept for one in _definitions(0, text) for name in one.names}
    while new := [one for one in left if one not in chosen and any(_is_in(name, texts) for name in one.names - there)]:
        chosen += new
        texts += [one.source for one in new]
    return {
        number: "\n\n".join(one.source for one in left if one in chosen and one.cell == number)
        for number in sorted({one.cell for one in chosen})
    }


def _is_in(name: str, texts: Sequence[str]) -> bool:
    return any(re.search(rf"\b{re.escape(name)}\b", text) for text in texts)


def _definitions(number: int, source: str) -> Iterator[_Definition]:
    try:
        tree = ast.parse(re.sub(r"^(\s*)[%!]", r"\1pass  # ", source, flags=re.M))
    except SyntaxError:
        return
    for node in tree.body:
        if isinstance(node, MAKES):
            own = [node.name] if isinstance(node, ast.FunctionDef | ast.ClassDef) else []
            imported = [] if own else [alias.asname or alias.name.partition(".")[0] for alias in _aliases(node)]
            first = min(line.lineno for line in (node, *getattr(node, "decorator_list", ())))
            text = "\n".join(source.splitlines()[first - 1 : node.end_lineno])
            yield _Definition(number, frozenset([*own, *imported]), text)


def _aliases(node: ast.stmt) -> list[ast.alias]:
    return node.names if isinstance(node, ast.Import | ast.ImportFrom) else []
