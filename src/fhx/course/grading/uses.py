"""Which functions of the package an answer calls, by the names in its code; for a person to look at."""

import ast
import json
import symtable
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from importlib.resources import files
from inspect import isclass

from fhx.course.grading.cells import nodes_at_once, offered
from fhx.exercises import Exercise

__all__ = ["allowed_uses", "known_uses", "named_in", "package_uses"]

ROOMS = ("machines", "exact", "compile", "cells", "dynamics", "stability", "approximation", "precision", "tasks")
METHODS = (
    *("canonical", "configurations", "decide", "equivalent", "exact_weights", "from_regex", "input_jacobian"),
    *("jacobian", "minimize", "outputs", "prefixes", "reachable", "run_scaled", "to_torch"),
)
"""Methods of the package's classes that answer what is asked somewhere."""
INSIDES = ("__closure__", "__code__", "__dict__", "__globals__", "__subclasses__", "cell_contents", "modules")
"""What shows a function's text or its variables, or all that is loaded."""
OPAQUE = (
    *("__builtins__", "__import__", "attrgetter", "eval", "exec", "gc", "getattr", "globals", "import_module"),
    *("importlib", "inspect", "methodcaller", "pickle", "resolve_name", "vars"),
)
"""What may stand for any function."""


def package_uses(name: str, sources: Iterable[str]) -> set[str]:
    """Public functions of the package that the last function of a name calls, itself or through others beside it.

    Args:
        name: of a function.
        sources: the cells in their order, without magic commands; those that are not Python are passed over.

    Returns:
        Dotted names such as ``fhx.compile.dfa_to_rnn``, methods of the package's classes such as
        ``.equivalent``, whatever they are called on, and what cannot be followed or looks into a function, such as
        ``getattr`` and ``.__code__``.
    """
    trees = [tree for source in sources if (tree := _tree(source)) is not None]
    made: dict[str, ast.AST] = {}
    filled = set[str]()
    imported: dict[str, str] = {}
    for tree in trees:
        imported |= {name: full for node in ast.walk(tree) for name, full in _imported(node)}
        for node in nodes_at_once(tree):
            answers = {bound for bound, is_filled in offered(node) if is_filled}
            made |= {bound: node for bound in _bound(node) if bound in answers or bound not in filled}
            filled |= answers
    todo, seen, found = [name], {name}, set[str]()
    while todo:
        if definition := made.get(todo.pop()):
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
    if isinstance(node, ast.Attribute) and node.attr in (*METHODS, *INSIDES):
        yield f".{node.attr}"
    if isinstance(node, ast.Name) and node.id in OPAQUE:
        yield node.id


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
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return None


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
