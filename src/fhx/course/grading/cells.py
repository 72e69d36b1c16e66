"""A code cell: which names it makes, changes and needs, read off its text."""

import ast
import re
import symtable
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from IPython.core.inputtransformer2 import TransformerManager

from fhx.course.grading.asked import asked, asked_in_text
from fhx.course.grading.effects import DEFINES, aliases, called, changed, root
from fhx.exercises.time_limit import TooSlowError, time_limit

__all__ = ["Cell", "nodes_at_once", "offered", "parsed"]

PYTHON_MAGICS = ("%%time", "%%timeit", "%%capture", "%%prun")
"""First words of cells whose other lines are Python."""
RUNNERS = ("%%time", "%%timeit", "%%prun")
"""Those that also run what stands behind them."""
SETTINGS = re.compile(r"(set_|manual_seed|seed|use)\w*|setrecursionlimit|filterwarnings|simplefilter")
"""Names of functions that set something for the whole process."""
CONTEXTS = {"getcontext", "mp", "mpmath", "torch", "np", "numpy", "plt"}
"""What attributes are set of, for the whole process."""
COMPREHENSIONS = ("listcomp", "setcomp", "dictcomp", "genexpr")
FILES = ("%%writefile", "%%file")
STATEMENT = re.compile(r"(?!(else|elif|except|finally|case)\b)[^\s)\]}#]")
"""How a line begins that may be the first of a statement."""
MOST_LINES = 500
"""Above an error, in which the beginning of its statement is looked for."""


@dataclass(frozen=True)
class Cell:
    """A code cell, as far as its text tells.

    Attributes:
        number: from 0, among the code cells.
        source: what is run.
        python: the same without magic commands; empty if it is not Python.
        makes: names that it binds, each with whether it does so in any case, and not only under a condition.
        offers: of the names that it makes, those that may be an answer, each with whether that is filled in.
        changes: names of objects that it changes, by ``a[0] = 1``, ``a.b = 1``, ``a.append(1)`` or ``change(a)``.
        needs: names that must be there when it runs.
        later: names that its functions need when they are called.
        basics: of its statements, those that every answer may rely on: imports and ``torch.set_default_dtype(...)``.
        set_of: of the basics that call a method, the name with which they begin, such as ``torch``.
        imported: of the names that it makes, those that it imports.
        error: the syntax error, with its line, if it is not Python.
        readable: of such a cell, what stands above the statement with the error, and is Python.
        asks: the exercises that it has checked, each with the answer as it is given to ``check``.
        asks_by_name: the same with a name in place of the exercise, which other cells assign.
        unread: the exercises that it may check in a way that cannot be read off; an empty text stands for any.
        constants: names that it assigns a text, and nothing else.
        effects: names that its functions and classes assign by ``global`` or whose objects they change, by function.
        calls: functions that it calls when it runs, also as decorators, and classes from which it derives others.
        aliases: pairs of names that it gives to one object.
        written: the module that it writes as a file, with its text, if it does.
        stars: modules of which it imports all names.
    """

    number: int
    source: str
    python: str = ""
    makes: dict[str, bool] = field(default_factory=dict)
    offers: dict[str, bool] = field(default_factory=dict)
    changes: frozenset[str] = frozenset()
    needs: frozenset[str] = frozenset()
    later: frozenset[str] = frozenset()
    basics: tuple[str, ...] = ()
    set_of: dict[str, str | None] = field(default_factory=dict)
    imported: frozenset[str] = frozenset()
    error: str | None = None
    readable: str = ""
    asks: tuple[tuple[str, str], ...] = ()
    asks_by_name: tuple[tuple[str, str], ...] = ()
    unread: frozenset[str] = frozenset()
    constants: dict[str, str] = field(default_factory=dict)
    effects: dict[str, frozenset[str]] = field(default_factory=dict)
    calls: frozenset[str] = frozenset()
    aliases: frozenset[tuple[str, str]] = frozenset()
    written: tuple[tuple[str, str], ...] = ()
    stars: tuple[str, ...] = ()

    @property
    def called(self) -> str:
        """How a person finds it."""
        first = next((line.strip() for line in self.source.splitlines() if line.strip()), "")
        return f"The cell that begins with “{first[:60]}”"

    @property
    def to_run(self) -> str:
        """What of it is run."""
        return self.source if self.error is None or not self.source else self.readable

    def statements(self) -> list[str]:
        """Its statements, one by one."""
        return [ast.unparse(node) for node in ast.parse(self.python).body]


def parsed(number: int, source: str, seconds: float = 5.0) -> Cell:
    """A cell from its text, unless it takes longer than that to read it."""
    source = source.removeprefix("\ufeff")  # a mark of the order of bytes
    body, is_python = source, True
    if source.lstrip().startswith("%%"):
        first, _, rest = source.lstrip().partition("\n")
        word, _, more = first.partition(" ")
        if word in FILES:
            return _file(number, source, first, rest)
        is_python = word in PYTHON_MAGICS
        if is_python:
            body = f"%{word[2:]} {more}\n{rest}" if word in RUNNERS and more.strip() else rest
    python = ""
    try:
        with time_limit(seconds, "cpu"):
            python = TransformerManager().transform_cell(body)
            if not is_python:  # what IPython makes of it is known, and nothing else
                ast.parse(python)
                return Cell(number, source, python, unread=asked_in_text(source))
            return _understood(number, source, python)
    except TooSlowError:
        error = f"it could not be read within {seconds:.1g} s"
        return Cell(number, source, error=error, unread=asked_in_text(source))
    except Exception as error:  # whatever IPython and Python say to such a text
        where = f" in line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        told = f"{type(error).__name__}{where}: {getattr(error, 'msg', error)}"
        readable = _above(python, error.lineno) if isinstance(error, SyntaxError) and error.lineno else ""
    cell = _understood(number, source, readable) if readable else Cell(number, source)
    return replace(cell, error=told, readable=readable, unread=cell.unread | asked_in_text(source))


def _file(number: int, source: str, first: str, text: str) -> Cell:
    """A cell that is written to a file."""
    path, unread = PurePosixPath(first.split()[-1].strip("'\"")), asked_in_text(text)
    name = path.parent.name if path.stem == "__init__" else path.stem
    return Cell(number, source, basics=(source,), written=((name, text),), unread=unread)


def _above(python: str, number: int) -> str:
    """What stands above the statement that line ``number`` is in, if it is Python."""
    lines = python.splitlines()
    for end in range(min(number, len(lines)) - 1, max(0, number - MOST_LINES), -1):
        if STATEMENT.match(lines[end]):
            text = "\n".join(lines[:end])
            with suppress(SyntaxError, ValueError, RecursionError):
                return text if ast.parse(text).body else ""
    return ""


def _understood(number: int, source: str, python: str) -> Cell:
    tree, table = ast.parse(python), symtable.symtable(python, "cell", "exec")
    needs, later = set[str](), set[str]()
    _uses(table, needs, later)
    symbols = table.get_symbols()
    bound = (symbol for symbol in symbols if symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace())
    declared = {child.get_name(): frozenset(_globals(child)) for child in table.get_children()}
    makes = {symbol.get_name(): False for symbol in bound} | dict.fromkeys(frozenset().union(*declared.values()), False)
    makes |= {name: True for statement in tree.body for name in _certain(statement)}
    needs &= _needed_first(tree)
    imported = frozenset(symbol.get_name() for symbol in symbols if symbol.is_imported())
    nodes, top = list(ast.walk(tree)), list(nodes_at_once(tree))
    checks = asked(tree, top)
    basics = [(ast.unparse(node), node) for node in tree.body if _is_basic(node)]
    calls = frozenset(name for node in top for name in called(node))
    inside = {
        node.name: {name for part in ast.walk(node) for name in changed(part)}
        for node in top
        if isinstance(node, DEFINES)
    }
    effects = {name: declared.get(name, frozenset()) | (names & later) for name, names in inside.items()}
    return Cell(
        number,
        source,
        python,
        makes,
        offers={name: filled for statement in top for name, filled in offered(statement)},
        changes=frozenset(name for node in nodes for name in changed(node)) - imported,
        needs=frozenset(needs),
        later=frozenset(later),
        basics=tuple(text for text, _ in basics),
        set_of={text: root(node.value) for text, node in basics if isinstance(node, ast.Expr)},
        imported=imported,
        effects={name: names for name, names in effects.items() if names},
        calls=calls,
        aliases=frozenset(pair for node in top for pair in aliases(node)),
        asks=checks.read,
        asks_by_name=checks.named,
        unread=checks.unread,
        constants=checks.constants,
        stars=tuple(node.module for node in top if isinstance(node, ast.ImportFrom) and node.module and _is_star(node)),
    )


def _is_star(node: ast.ImportFrom) -> bool:
    return node.names[0].name == "*"


def nodes_at_once(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes that are met when the cell runs: not those within functions."""
    for node in ast.iter_child_nodes(tree):
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from nodes_at_once(node)


def offered(node: ast.AST) -> Iterator[tuple[str, bool]]:
    """Names that a statement binds to what may be called, with whether it is more than a hole."""
    if isinstance(node, DEFINES):
        yield node.name, not _has_hole(node)
    elif isinstance(node, ast.Import | ast.ImportFrom):
        yield from ((alias.asname or alias.name, True) for alias in node.names)
    elif isinstance(node, ast.Assign | ast.AnnAssign) and _is_function(node.value):
        yield from ((name, True) for name in _certain(node))


def _is_function(node: ast.expr | None) -> bool:
    """Whether it may be one: a lambda, another one's name, or one that is made of another one."""
    if isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        return name in ("cache", "lru_cache", "partial", "vectorize", "wraps")
    return isinstance(node, ast.Lambda | ast.Name | ast.Attribute)


def _has_hole(node: ast.AST) -> bool:
    """Whether ``...`` stands in it, but as an index."""
    if isinstance(node, ast.Constant):
        return node.value is ...
    parts = [node.value] if isinstance(node, ast.Subscript) else ast.iter_child_nodes(node)
    return any(map(_has_hole, parts))


def _needed_first(tree: ast.Module) -> set[str]:
    """Names that a statement uses before another one above it has bound them."""
    found, bound = set[str](), set[str]()
    for statement in tree.body:
        names = [node for node in ast.walk(statement) if isinstance(node, ast.Name)]
        own = {statement.name} if isinstance(statement, DEFINES) else set[str]()
        found |= {node.id for node in names if isinstance(node.ctx, ast.Load | ast.Del)} - bound - own
        bound |= set(_certain(statement))
    return found


def _is_basic(node: ast.stmt) -> bool:
    """Whether it imports, or sets something for the whole process: ``np.seterr(...)``, ``getcontext().prec = 60``."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute):
        return bool(SETTINGS.fullmatch(node.value.func.attr))
    if isinstance(node, ast.Assign):
        return all(isinstance(target, ast.Attribute) and root(target) in CONTEXTS for target in node.targets)
    return isinstance(node, ast.Import | ast.ImportFrom)


def _uses(table: symtable.SymbolTable, needs: set[str], later: set[str], deferred: bool = False) -> None:
    """Collects the notebook's names that are used when the cell runs, and when its functions are called."""
    for symbol in table.get_symbols():
        if symbol.is_referenced() and (table.get_type() == "module" or symbol.is_global()):
            (later if deferred else needs).add(symbol.get_name())
    for child in table.get_children():
        at_once = child.get_type() != "function" or child.get_name() in COMPREHENSIONS
        _uses(child, needs, later, deferred or not at_once)


def _globals(table: symtable.SymbolTable) -> Iterator[str]:
    """Names that a function, or one within it, assigns by ``global``."""
    yield from (symbol.get_name() for symbol in table.get_symbols() if symbol.is_declared_global())
    for child in table.get_children():
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
