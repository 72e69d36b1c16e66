"""Which functions of the package an answer calls, by the names in its code; for a person to look at."""

import ast
import json
import symtable
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from importlib.resources import files
from inspect import isclass

__all__ = ["known_uses", "package_uses"]

ROOMS = ("machines", "exact", "compile", "cells", "dynamics", "stability", "approximation", "precision", "tasks")
METHODS = (
    *("canonical", "configurations", "decide", "equivalent", "exact_weights", "from_regex", "input_jacobian"),
    *("jacobian", "minimize", "outputs", "prefixes", "reachable", "run_scaled", "to_torch"),
)
"""Methods of the package's classes that answer what is asked somewhere."""


def package_uses(name: str, sources: Iterable[str]) -> set[str]:
    """Public functions of the package that the last function of a name calls, itself or through others beside it.

    Args:
        name: of a function.
        sources: the cells in their order; those that are no Python are passed over.

    Returns:
        Dotted names such as ``recurrence.compile.dfa_to_rnn``, and methods of the package's classes such as
        ``.equivalent``, whatever they are called on.
    """
    trees = [tree for source in sources if (tree := _tree(source)) is not None]
    made: dict[str, ast.AST] = {}
    imported: dict[str, str] = {}
    for tree in trees:
        for node in ast.walk(tree):
            imported |= dict(_imported(node))
        for node in tree.body:
            made |= dict.fromkeys(_bound(node), node)
    todo, seen, found = [name], {name}, set[str]()
    while todo:
        node = made.get(todo.pop())
        names = _free(node) if node is not None else set()
        todo += names - seen
        seen |= names
        for part in ast.walk(node) if node is not None else ():
            if dotted := _dotted(part, {name: imported[name] for name in names & imported.keys()}):
                found.add(dotted)
            if isinstance(part, ast.Attribute) and part.attr in METHODS:
                found.add(f".{part.attr}")
    return {use for use in found if use.startswith(".") or _is_public(use)}


@cache
def known_uses() -> dict[str, frozenset[str]]:
    """What the book's own solution of an exercise uses, by the exercise's id; that is no news."""
    text = files("recurrence.course.grading").joinpath("known_uses.json").read_text("utf-8")
    return {exercise: frozenset(names) for exercise, names in json.loads(text).items()}


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


def _bound(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Assign | ast.AnnAssign):
        yield from (
            part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
        )


def _imported(node: ast.AST) -> Iterator[tuple[str, str]]:
    if isinstance(node, ast.Import):
        yield from ((alias.asname or alias.name.partition(".")[0], alias.name) for alias in node.names if alias.asname)
        yield from ((top, top) for alias in node.names if (top := alias.name.partition(".")[0]) == "recurrence")
    elif isinstance(node, ast.ImportFrom) and node.module:
        yield from ((alias.asname or alias.name, f"{node.module}.{alias.name}") for alias in node.names)


def _dotted(node: ast.AST, imported: dict[str, str]) -> str | None:
    """The full name of what a node of the package's names stands for."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.insert(0, node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or not imported.get(node.id, "").startswith("recurrence"):
        return None
    return ".".join((imported[node.id], *parts))


@cache
def _is_public(dotted: str) -> bool:
    """Whether it is a function of one of the rooms; a class is only material."""
    room, _, name = dotted.removeprefix("recurrence.").partition(".")
    if room not in ROOMS or not name:
        return False
    value = import_module(f"recurrence.{room}")
    for step in name.split("."):
        value = getattr(value, step, None)
    return callable(value) and not isclass(value)
