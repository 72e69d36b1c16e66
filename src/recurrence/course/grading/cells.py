"""The code cells of a notebook: which names each one makes and needs, and which of them a function depends on."""

import ast
import json
import re
import symtable
from collections.abc import Container, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from IPython.core.inputtransformer2 import TransformerManager

__all__ = ["LARGEST", "Cell", "InvalidFile", "Notebook", "read_notebook"]

LARGEST = 256 * 2**20
"""Bytes of a file."""
PYTHON_MAGICS = ("%%time", "%%timeit", "%%capture", "%%prun")
"""First words of cells whose other lines are Python."""
DYNAMIC = re.compile(r"\b(exec|eval|globals|locals|vars|setattr|get_ipython)\b|^\s*%(?!pip|matplotlib)|import \*", re.M)
"""What can make names that are not written down."""
DEFINES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class InvalidFile(Exception):
    """A file that is no notebook; the message says why."""


@dataclass(frozen=True)
class Cell:
    """A code cell, as far as its text tells.

    Attributes:
        number: from 0, among the code cells.
        source: what is run.
        makes: names that it binds, each with whether it does so in any case, and not only under a condition.
        changes: names of objects that it changes, by ``a[0] = 1``, ``a.b = 1`` or ``a.append(1)``.
        needs: names that must be there when it runs.
        later: names that its functions need when they are called.
        basics: of the source, what every answer may rely on: imports and calls such as ``torch.set_default_dtype``.
        error: the syntax error, with its line, if it is no Python.
    """

    number: int
    source: str
    makes: dict[str, bool] = field(default_factory=dict)
    changes: frozenset[str] = frozenset()
    needs: frozenset[str] = frozenset()
    later: frozenset[str] = frozenset()
    basics: str = ""
    error: str | None = None


class Notebook:
    """The code cells of a notebook in order.

    Args:
        sources: their texts.
    """

    def __init__(self, sources: list[str]) -> None:
        self.cells = [_parsed(number, source) for number, source in enumerate(sources)]

    def definitions(self, name: str) -> list[Cell]:
        """The cells that make a name."""
        return [cell for cell in self.cells if name in cell.makes]

    def broken(self, name: str) -> Cell | None:
        """A cell that would define a function if it were Python."""
        pattern = re.compile(rf"^\s*(def\s+{re.escape(name)}\b|{re.escape(name)}\s*=)", re.M)
        return next((cell for cell in reversed(self.cells) if cell.error and pattern.search(cell.source)), None)

    def may_make(self, name: str) -> bool:
        """Whether a name could be there once all cells have run."""
        return any(name in cell.makes or DYNAMIC.search(cell.source) for cell in self.cells)

    def slice(self, name: str, leave_out: Container[int] = ()) -> list[Cell]:
        """The cells, in order, that the last definition of a name depends on; of the others their basics.

        What a cell uses when it runs is looked up above it, and what a function uses when it is called also at the end.

        Args:
            name: of a function.
            leave_out: numbers of cells that are not run.
        """
        made = self.definitions(name)
        chosen = {cell.number for cell in made[-1:]}
        todo = list(chosen)
        while todo:
            new = set(self._needed(self.cells[todo.pop()])) - chosen
            chosen |= new
            todo += new
        chosen -= {cell.number for cell in made[:-1]}
        cells = (cell if cell.number in chosen else replace(cell, source=cell.basics) for cell in self.cells)
        return [cell for cell in cells if cell.source and cell.number not in leave_out]

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
        InvalidFile: it is no notebook.
    """
    if not path.is_file() or path.is_symlink():
        raise InvalidFile("there is no file")
    if not (size := path.stat().st_size):
        raise InvalidFile("the file is empty")
    if size > LARGEST:
        raise InvalidFile(f"the file has {size / 2**20:.0f} MiB; clear its outputs and hand it in again")
    try:
        data = json.loads(path.read_bytes())
    except (ValueError, RecursionError, MemoryError) as error:
        raise InvalidFile(f"the file is no notebook, or it is cut off: {str(error)[:200]}") from error
    cells = data.get("cells") if isinstance(data, dict) else None
    if not isinstance(cells, list):
        raise InvalidFile("the file is no notebook of version 4: it has no cells")
    return Notebook([text for cell in cells if (text := _source(cell)) is not None])


def _source(cell: Any) -> str | None:
    """The text of a code cell."""
    if not isinstance(cell, dict) or cell.get("cell_type") != "code":
        return None
    source = cell.get("source", "")
    lines = source if isinstance(source, list) else [source]
    return "".join(line for line in lines if isinstance(line, str))


def _parsed(number: int, source: str) -> Cell:
    if source.lstrip().startswith("%%"):
        first, _, rest = source.lstrip().partition("\n")
        if not first.startswith(PYTHON_MAGICS):
            return Cell(number, source)
        source = rest
    try:
        python = TransformerManager().transform_cell(source)
        tree = ast.parse(python)
        table = symtable.symtable(python, "cell", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        where = f" in line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        return Cell(number, source, error=f"{type(error).__name__}{where}: {getattr(error, 'msg', error)}")
    needs, later = set[str](), set[str]()
    _uses(table, needs, later)
    symbols = table.get_symbols()
    bound = (symbol for symbol in symbols if symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace())
    makes = {symbol.get_name(): False for symbol in bound} | dict.fromkeys(_globals(table), False)
    makes |= {name: True for statement in tree.body for name in _certain(statement)}
    needs &= _needed_first(tree)
    imported = {symbol.get_name() for symbol in symbols if symbol.is_imported()}
    nodes = list(ast.walk(tree))
    changes = frozenset(filter(None, map(_changed, nodes))) - imported
    return Cell(number, source, makes, changes, frozenset(needs), frozenset(later), _basics(tree))


def _needed_first(tree: ast.Module) -> set[str]:
    """Names that a statement uses before another one above it has bound them."""
    found, bound = set[str](), set[str]()
    for statement in tree.body:
        names = [node for node in ast.walk(statement) if isinstance(node, ast.Name)]
        own = {statement.name} if isinstance(statement, DEFINES) else set[str]()
        found |= {node.id for node in names if isinstance(node.ctx, ast.Load | ast.Del)} - bound - own
        bound |= set(_certain(statement))
    return found


def _basics(tree: ast.Module) -> str:
    return "\n".join(ast.unparse(node) for node in tree.body if _is_basic(node))


def _is_basic(node: ast.stmt) -> bool:
    call = node.value.func if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) else None
    is_setting = isinstance(call, ast.Attribute) and call.attr.startswith("set_default")
    return is_setting or isinstance(node, ast.Import | ast.ImportFrom)


def _uses(table: symtable.SymbolTable, needs: set[str], later: set[str], deferred: bool = False) -> None:
    """Collects the notebook's names that are used when the cell runs, and when its functions are called."""
    for symbol in table.get_symbols():
        if symbol.is_referenced() and (table.get_type() == "module" or symbol.is_global()):
            (later if deferred else needs).add(symbol.get_name())
    for child in table.get_children():
        at_once = child.get_type() != "function" or child.get_name() in ("listcomp", "setcomp", "dictcomp", "genexpr")
        _uses(child, needs, later, deferred or not at_once)


def _globals(table: symtable.SymbolTable) -> Iterator[str]:
    """Names that a function assigns by ``global``."""
    for child in table.get_children():
        yield from (symbol.get_name() for symbol in child.get_symbols() if symbol.is_declared_global())
        yield from _globals(child)


def _certain(node: ast.stmt) -> Iterator[str]:
    """Names that a statement binds in any case."""
    if isinstance(node, DEFINES):
        yield node.name
    elif isinstance(node, ast.Import | ast.ImportFrom):
        yield from (alias.asname or alias.name.partition(".")[0] for alias in node.names)
    elif isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target] if node.value else []
        names = (part for target in targets for part in ast.walk(target) if isinstance(part, ast.Name))
        yield from (name.id for name in names if isinstance(name.ctx, ast.Store))


def _changed(node: ast.AST) -> str | None:
    """The name whose object a node may change."""
    if isinstance(node, ast.Subscript | ast.Attribute) and not isinstance(node.ctx, ast.Load):
        return _root(node)
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute):
        return _root(node.value.func)
    return None


def _root(node: ast.AST) -> str | None:
    while isinstance(node, ast.Subscript | ast.Attribute | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else None
