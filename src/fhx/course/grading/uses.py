"""Which functions of the package an answer calls, by the names in its code; for a person to look at."""

import ast
import json
import symtable
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from importlib import import_module
from importlib.resources import files
from inspect import isclass

from fhx.course.grading.cells import Cell, nodes_at_once, offered
from fhx.course.grading.effects import DEFINES, changed
from fhx.course.grading.magics import plain_tree
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
    *("__bases__", "__builtins__", "__closure__", "__code__", "__dict__", "__func__", "__getattribute__"),
    *("__globals__", "__mro__", "__self__", "__subclasses__", "_getframe", "cell_contents", "f_back", "f_globals"),
    *("f_locals", "modules", "write_bytes", "write_text"),
)
"""What shows a function's text or its variables, or all that is loaded; or writes a file that may be run."""
FINDERS = (
    *("BaseConfigurator", "DictConfigurator", "ForwardRef", "Formatter", "FunctionType", "InteractiveConsole"),
    *("InteractiveInterpreter", "_importer", "attrgetter", "dictConfig", "get_field", "get_ipython", "get_type_hints"),
    *("getattr", "globals", "import_module", "lambdify", "methodcaller", "open", "parse_expr", "popen", "resolve_name"),
    *("run_cell", "run_cell_magic", "run_line_magic", "runcode", "runsource", "sympify", "vars"),
)
"""What finds any function by a text, or runs a text, or writes one: a name, or an attribute of anything."""
OPAQUE = (
    *("IPython", "__builtins__", "__import__", "builtins", "cProfile", "codeop", "ctypes", "doctest", "eval"),
    *("exec", "gc", "importlib", "inspect", "marshal", "pickle", "pkgutil", "posix", "pydoc", "runpy", "shutil"),
    *("subprocess", "timeit", *FINDERS),
)
"""What may stand for any function: a name, or a module of which it comes."""
FLAGGED = {*OPAQUE, "compile", "os"}
"""All such, with the function ``compile`` of Python, and the module of which :data:`SHELLS` come."""
SHELLS = (
    "execv",
    "execve",
    "fdopen",
    "link",
    "posix_spawn",
    "rename",
    "replace",
    "spawnv",
    "symlink",
    "system",
    "write",
)
"""What of the module ``os`` writes a file, or runs one, or gives it another name."""
KNOWN = ("IPython.__version__", "IPython.display", "IPython.version_info", "inspect.signature")
"""What stands for nothing else, although its module does."""

Read = tuple[dict[str, str], list[tuple[ast.AST, list[str], set[str]]], list[tuple[str, ast.stmt]]]
ANSWER = "_answer"
SECONDS = 10.0


def uses_in(cells: Sequence[Cell], expression: str, exercise: Exercise) -> set[str]:
    """What an answer uses that a person should look at: not the solution of the exercise, and not the chapter itself.

    It is never an error, and ends in time.

    Args:
        cells: that are run for it, in order.
        expression: whose value is the answer, after them.
        exercise: that it answers.
    """
    sources = [*(cell.python for cell in cells), f"{ANSWER} = {expression}"]
    try:
        with time_limit(SECONDS, "cpu"):
            named = named_in(texts_of(cells)) - known_uses().get(exercise.id[:2], frozenset())
            return (package_uses(ANSWER, sources, _written(cells)) | named) - allowed_uses(exercise)
    except (Exception, TooSlowError) as error:
        return {f"something that cannot be followed ({type(error).__name__})"}


def texts_of(cells: Sequence[Cell]) -> list[str]:
    """The code of cells that are run: their own, and that of the modules that they write and import.

    Args:
        cells: in order; of those without a source only what every answer may rely on is run.
    """
    texts, new = list[str](), [cell.python for cell in cells if cell.source]
    written = _written(cells)
    while new:
        texts += new
        nodes = [node for text in new if (tree := plain_tree(text)) for node in ast.walk(tree)]
        named = {module for module, _ in written if any(name for node in nodes for name in _names_of(module, node))}
        new = [text for module, text in written if module in named]
        written = [(module, text) for module, text in written if module not in named]
    return texts


def _written(cells: Iterable[Cell]) -> list[tuple[str, str]]:
    """Modules that cells write, each with a text; and with all of them, since one may be put behind the other."""
    texts = defaultdict[str, list[str]](list)
    for module, text in (pair for cell in cells for pair in cell.written):
        texts[module].append(text)
    return [(module, text) for module, own in texts.items() for text in (*own, *(["".join(own)] if own[1:] else []))]


def _names_of(module: str, node: ast.AST) -> Iterator[str]:
    """What an import of a module binds, or of what is in it, whatever its package; a star for all."""
    package = (node.module or "").split(".") if isinstance(node, ast.ImportFrom) else []
    for alias in node.names if isinstance(node, ast.Import | ast.ImportFrom) else ():
        if module in (*package, *alias.name.split(".")):
            yield alias.asname or alias.name.partition(".")[0]


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
    sources = list(sources)
    made: dict[str, ast.AST] = {}
    put: dict[str, list[ast.AST]] = {}
    filled = set[str]()
    imported: dict[str, str] = {}
    for imports, bindings, statements in map(_read, sources):
        imported |= imports
        for node, bound, answers in bindings:
            made |= {name: node for name in bound if name in answers or name not in filled}
            filled |= answers
        for other, statement in statements:
            put.setdefault(other, []).append(statement)
    for module, tree in ((module, tree) for module, text in written if (tree := plain_tree(text))):
        imported |= {name: full for node in ast.walk(tree) for name, full in _imported(node)}
        trees = filter(None, map(plain_tree, sources))
        names = {name for other in trees for node in ast.walk(other) for name in _names_of(module, node)}
        every = {name for node in nodes_at_once(tree) for name in _bound(node)} if "*" in names else set()
        for other in names | every:
            put.setdefault(other, []).append(tree)
    seen = {name, *(name for name in put if imported.get(name, "").startswith("fhx"))}  # whose classes were changed
    todo, found = [*seen], set[str]()
    while todo:
        name = todo.pop()
        for definition in filter(None, [made.get(name), *put.get(name, ())]):
            names = _free(definition)
            todo += names - seen
            seen |= names
            known = {name: imported[name] for name in names & imported.keys()}
            found |= set(_used(definition, known))
    named = {use.rpartition(".")[2] for use in found if not use.startswith(".") and _is_public(use)}
    return {
        use for use in found if (use[1:] not in named if use.startswith(".") else _is_public(use) or use in FLAGGED)
    }


@lru_cache(maxsize=256)  # the cells of a notebook are read for each of its answers
def _read(source: str) -> Read:
    """What a cell imports; what its nodes bind, and which of that is filled in; and what it puts into objects."""
    if (tree := plain_tree(source)) is None:
        return {}, [], []
    nodes = ((node, [*_bound(node)], {name for name, full in offered(node) if full}) for node in nodes_at_once(tree))
    bound = [(node, names, filled) for node, names, filled in nodes if names or filled]
    put = [(name, statement) for statement in tree.body for name in _filled(statement)]
    return {name: full for node in ast.walk(tree) for name, full in _imported(node)}, bound, put


def named_in(sources: Iterable[str]) -> set[str]:
    """Public functions of the package that are named anywhere in these cells, and what looks into functions.

    Args:
        sources: the cells in their order, without magic commands; those that are not Python are passed over.
    """
    trees = [tree for source in sources if (tree := plain_tree(source)) is not None]
    imported = {name: full for tree in trees for node in ast.walk(tree) for name, full in _imported(node)}
    found = {use for tree in trees for use in _used(tree, imported)}
    insides = {f".{name}" for name in INSIDES}
    return {use for use in found if use in insides or use in FLAGGED or (not use.startswith(".") and _is_public(use))}


def _used(tree: ast.AST, imported: dict[str, str]) -> Iterator[str]:
    """What is named in a piece of code, but for :data:`KNOWN`."""
    todo = [tree]
    while todo:
        node = todo.pop()
        if not _is_known(node, imported):
            yield from _named(node, imported)
            todo += ast.iter_child_nodes(node)


def _is_known(node: ast.AST, imported: dict[str, str]) -> bool:
    full = _full(node, imported)
    is_known = any(full == name or full.startswith(f"{name}.") for name in KNOWN)
    return is_known and not {*INSIDES, *FINDERS} & set(full.split("."))


def _named(node: ast.AST, imported: dict[str, str]) -> Iterator[str]:
    full = _full(node, imported)
    first, _, last = full.rpartition(".")
    if full.startswith("fhx") and first:
        yield full
    attributes = [node.attr] if isinstance(node, ast.Attribute) else getattr(node, "kwd_attrs", ())  # of a pattern
    yield from (f".{name}" for name in attributes if name in (*METHODS, *INSIDES))
    yield from (name for name in attributes if name in FINDERS)
    if isinstance(node, ast.Name):
        top = full.partition(".")[0]
        yield from {node.id, top if top in OPAQUE else last} & {*OPAQUE}
        yield from {"compile"} & ({node.id} - imported.keys())
    if first == "os" and last in SHELLS:
        yield "os"
    if isinstance(node, ast.keyword) and node.arg == "eval_str":  # of inspect.signature
        yield "inspect"


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


def _full(node: ast.AST, imported: dict[str, str]) -> str:
    """The full name of what a name, or an attribute of one, stands for; empty for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join((imported.get(node.id, node.id), *reversed(parts))) if isinstance(node, ast.Name) else ""


def _is_public(dotted: str) -> bool:
    """Whether it is a function of one of the rooms; a class is only material."""
    room, _, name = dotted.removeprefix("fhx.").partition(".")
    if room not in ROOMS or not name:
        return False
    value: object = import_module(f"fhx.{room}")
    for step in name.split("."):
        value = getattr(value, step, None)
    return callable(value) and not isclass(value)
