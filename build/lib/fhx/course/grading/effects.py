"""What the statements of a cell do to the objects of a notebook, read off their syntax trees."""

import ast
from collections.abc import Iterator

__all__ = ["DEFINES", "aliases", "called", "changed", "root"]

DEFINES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
MUTATORS = {"add", "append", "clear", "discard", "extend", "insert", "pop", "remove", "setdefault", "sort", "update"}
MUTATES_FIRST = {
    *("copyto", "fill_diagonal", "heapify", "heappop", "heappush", "insort", "place", "put", "put_along_axis"),
    *("putmask", "setattr", "shuffle"),
}
"""Functions that change their first argument."""
WITHOUT_EFFECT = {"check", "display", "len", "print", "repr", "type"}


def changed(node: ast.AST) -> Iterator[str]:
    """The names whose objects a node may change."""
    if isinstance(node, ast.Subscript | ast.Attribute) and not isinstance(node.ctx, ast.Load):
        roots = [root(node)]
    elif isinstance(node, ast.Expr) and isinstance(call := node.value, ast.Call):
        named = isinstance(call.func, ast.Name) and call.func.id not in WITHOUT_EFFECT
        roots = [root(call.func)] if isinstance(call.func, ast.Attribute) else [*map(root, call.args)] if named else []
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in MUTATORS:
        roots = [root(node.func)]
    elif isinstance(node, ast.Call) and _name(node.func) in MUTATES_FIRST:
        roots = [root(argument) for argument in node.args[:1]]
    elif isinstance(node, DEFINES):  # @dispatch.register
        roots = [root(decorator) for decorator in node.decorator_list if not isinstance(decorator, ast.Name)]
    else:
        return
    yield from filter(None, roots)


def called(node: ast.AST) -> Iterator[str]:
    """The names of what a node calls at once."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        yield node.func.id
    if isinstance(node, DEFINES):
        others = node.bases if isinstance(node, ast.ClassDef) else []
        yield from (part.id for part in (*node.decorator_list, *others) if isinstance(part, ast.Name))


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def aliases(node: ast.AST) -> Iterator[tuple[str, str]]:
    """Pairs of names that a node gives to one object."""
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name):
        yield from ((target.id, node.value.id) for target in node.targets if isinstance(target, ast.Name))


def root(node: ast.AST) -> str | None:
    """The name with which an expression such as ``a.b[0]`` begins."""
    while isinstance(node, ast.Subscript | ast.Attribute | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else None
