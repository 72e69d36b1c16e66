"""Which functions of the package an answer calls, by the names in its code; for a person to look at."""

import ast
import json
import re
import symtable
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib import import_module
from importlib.resources import files
from inspect import isclass

from fhx.course.grading.cells import Cell, nodes_at_once, offered
from fhx.course.grading.effects import DEFINES, changed
from fhx.exercises import Exercise
from fhx.exercises.time_limit import TooSlowError, time_limit

__all__ = ["named_in", "package_uses", "uses_in"]

ROOMS = ("machines", "exact", "compile", "cells", "dynamics", "stability", "approximation", "precision", "tasks")
METHODS = (
    *("canonical", "configurations", "decide", "equivalent", "exact_weights", "from_regex", "input_jacobian"),
    *("jacobian", "minimize", "outputs", "prefixes", "reachable", "run_scaled", "to_torch"),
)
"""Methods of the package's classes that answer what is asked somewhere."""
INSIDES = (
    *("__bases__", "__closure__", "__code__", "__dict__", "__func__", "__getattribute__", "__globals__", "__mro__"),
    *("__self__", "__subclasses__", "_getframe", "cell_contents", "f_back", "f_globals", "f_locals", "modules"),
    *("write_bytes", "write_text"),
)
"""What shows a function's text or its variables, or all that is loaded; or writes a file that may be run."""
FINDERS = (
    "attrgetter",
    "get_type_hints",
    "getattr",
    "globals",
    "import_module",
    "methodcaller",
    "resolve_name",
    "vars",
)
OPAQUE = (
    *("IPython", "__builtins__", "__import__", "builtins", "cProfile", "codeop", "ctypes", "doctest", "eval", "exec"),
    *("gc", "get_ipython", "importlib", "inspect", "marshal", "open", "pickle", "pkgutil", "pydoc", "runpy", "timeit"),
    *FINDERS,
)
"""What may stand for any function: a name, or a module of which it comes; and attributes that do, of anything."""


ANSWER = "_answer"
SECONDS = 10.0
TIMERS = ("time", "timeit", "prun", "memit")
"""Magic commands that run the code behind them."""
OPTIONS = re.compile(r"\s*(-\S+\s+(\d+\s+)?)*")
RUNNERS = ("edit", "load", "load_ext", "macro", "recall", "rerun", "run")
"""Those that run code of elsewhere."""


def uses_in(cells: Sequence[Cell], expression: str, exercise: Exercise) -> set[str]:
    """What an answer uses that a person should look at: not the solution of the exercise, and not the chapter itself.

    It is never an error, and ends in time.

    Args:
        cells: that are run for it, in order.
        expression: whose value is the answer, after them.
        exercise: that it answers.
    """
    sources = [*(cell.python for cell in cells), f"{ANSWER} = {expression}"]
    written = [module for cell in cells for module in cell.written]
    try:
        with time_limit(SECONDS, "cpu"):
            named = named_in(texts_of(cells)) - known_uses().get(exercise.id[:2], frozenset())
            return (package_uses(ANSWER, sources, written) | named) - allowed_uses(exercise)
    except (Exception, TooSlowError) as error:
        return {f"something that cannot be followed ({type(error).__name__})"}


def texts_of(cells: Sequence[Cell]) -> list[str]:
    """The code of cells that are run: their own, and that of the modules that they write and import.

    Args:
        cells: in order; of those without a source only what every answer may rely on is run.
    """
    texts, new = list[str](), [cell.python for cell in cells if cell.source]
    written = {module: text for cell in cells for module, text in cell.written}
    while new:
        texts += new
        named = {name for text in new if (tree := _tree(text)) for node in ast.walk(tree) for name in _modules(node)}
        new = [written.pop(name) for name in sorted(named & written.keys())]
    return texts


def _modules(node: ast.AST) -> list[str]:
    if isinstance(node, ast.ImportFrom):
        return [node.module] if node.module else []
    return [alias.name for alias in node.names] if isinstance(node, ast.Import) else []


def _names_of(module: str, node: ast.AST) -> Iterator[str]:
    """What an import of a module binds; a star for all."""
    for alias in node.names if isinstance(node, ast.Import | ast.ImportFrom) and module in _modules(node) else ():
        if isinstance(node, ast.ImportFrom) or alias.name == module:
            yield alias.asname or alias.name


def package_uses(name: str, sources: Iterable[str], written: Iterable[tuple[str, str]] = ()) -> set[str]:
    """Public functions of the package that the last function of a name calls, itself or through others beside it.

    Args:
        name: of a function.
        sources: the cells in their order, without magic commands; those that are not Python are passed over.
        written: modules that the cells write as files, each with its text.

    Returns:
        Dotted names such as ``fhx.compile.dfa_to_rnn``, methods of the package's classes such as
        ``.equivalent``, whatever they are called on, and what cannot be followed or looks into a function, such as
        ``getattr`` and ``.__code__``.
    """
    trees = [tree for source in sources if (tree := _tree(source)) is not None]
    made: dict[str, ast.AST] = {}
    put: dict[str, list[ast.AST]] = {}
    filled = set[str]()
    imported: dict[str, str] = {}
    for tree in trees:
        imported |= {name: full for node in ast.walk(tree) for name, full in _imported(node)}
        for node in nodes_at_once(tree):
            answers = {bound for bound, is_filled in offered(node) if is_filled}
            made |= {bound: node for bound in _bound(node) if bound in answers or bound not in filled}
            filled |= answers
        for statement in tree.body:
            for other in _filled(statement):
                put.setdefault(other, []).append(statement)
    for module, tree in ((module, tree) for module, text in written if (tree := _tree(text))):
        imported |= {name: full for node in ast.walk(tree) for name, full in _imported(node)}
        bound = {name for other in trees for node in ast.walk(other) for name in _names_of(module, node)}
        every = {name for node in nodes_at_once(tree) for name in _bound(node)} if "*" in bound else set()
        made |= dict.fromkeys(bound | every, tree)
    seen = {name, *(name for name in put if imported.get(name, "").startswith("fhx"))}  # whose classes were changed
    todo, found = [*seen], set[str]()
    while todo:
        name = todo.pop()
        for definition in filter(None, [made.get(name), *put.get(name, ())]):
            names = _free(definition)
            todo += names - seen
            seen |= names
            known = {name: imported[name] for name in names & imported.keys()}
            found |= {use for part in ast.walk(definition) for use in _used(part, known)}
    named = {use.rpartition(".")[2] for use in found if not use.startswith(".") and _is_public(use)}
    return {use for use in found if (use[1:] not in named if use.startswith(".") else _is_public(use) or use in OPAQUE)}


def named_in(sources: Iterable[str]) -> set[str]:
    """Public functions of the package that are named anywhere in these cells, and what looks into functions.

    Args:
        sources: the cells in their order, without magic commands; those that are not Python are passed over.
    """
    trees = [tree for source in sources if (tree := _tree(source)) is not None]
    imported = {name: full for tree in trees for node in ast.walk(tree) for name, full in _imported(node)}
    found = {use for tree in trees for node in ast.walk(tree) for use in _used(node, imported)}
    insides = {f".{name}" for name in INSIDES}
    return {use for use in found if use in insides or use in OPAQUE or (not use.startswith(".") and _is_public(use))}


def _used(node: ast.AST, imported: dict[str, str]) -> Iterator[str]:
    if dotted := _dotted(node, imported):
        yield dotted
    attributes = [node.attr] if isinstance(node, ast.Attribute) else getattr(node, "kwd_attrs", ())  # of a pattern
    yield from (f".{name}" for name in attributes if name in (*METHODS, *INSIDES))
    yield from (name for name in attributes if name in FINDERS)
    if isinstance(node, ast.Name):
        yield from {node.id, imported.get(node.id, "").partition(".")[0]} & set(OPAQUE)


@cache
def known_uses() -> dict[str, frozenset[str]]:
    """What needs no look: what the book's own solution of an exercise uses, by the exercise's id, and what the student
    version of a chapter names, by the chapter's number as two digits."""
    text = files("fhx.course.grading").joinpath("known_uses.json").read_text("utf-8")
    return {exercise: frozenset(names) for exercise, names in json.loads(text).items()}


def allowed_uses(exercise: Exercise) -> frozenset[str]:
    """What the solution of an exercise uses, the book's or that of its record."""
    own = package_uses(exercise.function, [exercise.solution]) if exercise.solution else set[str]()
    return known_uses().get(exercise.id, frozenset()) | own


def _tree(source: str) -> ast.Module | None:
    """A cell with the code that its magic commands run; None if it is not Python."""
    magics = _Magics()
    try:
        tree = magics.visit(ast.parse(source))
        tree.body += [node for text in magics.codes for node in ast.parse(text).body]
    except (SyntaxError, ValueError, RecursionError):
        return None
    return tree


class _Magics(ast.NodeTransformer):
    """Takes the calls away that magic commands have become, and keeps the code that they run.

    Attributes:
        codes: of ``%time`` and the like.
    """

    def __init__(self) -> None:
        self.codes: list[str] = []

    def visit_Call(self, node: ast.Call) -> ast.AST:
        is_magic = isinstance(node.func, ast.Attribute) and node.func.attr in ("run_line_magic", "run_cell_magic")
        words = [part.value for part in node.args if isinstance(part, ast.Constant) and isinstance(part.value, str)]
        if not is_magic or len(words) != len(node.args) or not words:
            return self.generic_visit(node)
        name, *rest = words
        if name in TIMERS:
            self.codes += [OPTIONS.sub("", text) for text in rest]
        return ast.Name("IPython", ast.Load()) if name in RUNNERS else ast.Constant(None)


def _free(node: ast.AST) -> set[str]:
    """Names of the notebook in a statement: without the variables of functions, but with what these import."""
    tables, found = [symtable.symtable(ast.unparse(node), "cell", "exec")], set[str]()
    for table in tables:
        is_module = table.get_type() == "module"
        found |= {s.get_name() for s in table.get_symbols() if is_module or s.is_global() or s.is_imported()}
        tables += table.get_children()
    return found


def _bound(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Assign | ast.AnnAssign):
        yield from (
            part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
        )


def _filled(statement: ast.stmt) -> set[str]:
    """Names of objects into which a statement puts something at once: ``a.b = f``, ``a[0] = f``, ``a.append(f)``."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
        return set()
    nodes = (node for node in nodes_at_once(statement) if not isinstance(node, (ast.Expr, *DEFINES)))
    return {name for node in nodes for name in changed(node)}


def _imported(node: ast.AST) -> Iterator[tuple[str, str]]:
    if isinstance(node, ast.Import):
        yield from ((alias.asname or alias.name.partition(".")[0], alias.name) for alias in node.names if alias.asname)
        yield from ((top, top) for alias in node.names if (top := alias.name.partition(".")[0]) == "fhx")
    elif isinstance(node, ast.ImportFrom) and node.module and node.names[0].name == "*":
        package, _, room = node.module.partition(".")
        public = import_module(f"fhx.{room}").__all__ if package == "fhx" and room in ROOMS else ()
        yield from ((name, f"{node.module}.{name}") for name in public)
    elif isinstance(node, ast.ImportFrom) and node.module:
        yield from ((alias.asname or alias.name, f"{node.module}.{alias.name}") for alias in node.names)


def _dotted(node: ast.AST, imported: dict[str, str]) -> str | None:
    """The full name of what a node of the package's names stands for."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.insert(0, node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or not imported.get(node.id, "").startswith("fhx"):
        return None
    return ".".join((imported[node.id], *parts))


def _is_public(dotted: str) -> bool:
    """Whether it is a function of one of the rooms; a class is only material."""
    room, _, name = dotted.removeprefix("fhx.").partition(".")
    if room not in ROOMS or not name:
        return False
    value: object = import_module(f"fhx.{room}")
    for step in name.split("."):
        value = getattr(value, step, None)
    return callable(value) and not isclass(value)
