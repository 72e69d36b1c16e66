"""The form of an answer: its code without names, docstrings, annotations and the spelling of constants."""

import ast
import builtins
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

__all__ = ["LONGEST", "Form", "form_of"]

LONGEST, LONGEST_TEXT = 3_000, 50_000
"""Nodes and characters of a form that is kept. Of a longer one there is a digest, so that only the same is like it."""

DEFINES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True)
class Form:
    """What an answer looks like, whatever its names.

    Attributes:
        parts: the function first and then what it uses, each as code with names by order, ``v0``, ``v1``.
        size: nodes of the syntax trees of the parts.
    """

    parts: tuple[str, ...]
    size: tuple[int, ...]


def form_of(function: str, sources: Iterable[str]) -> Form | None:
    """The form of a function, and of what the sources define that it uses; None if they do not define it.

    Args:
        function: its name.
        sources: texts of cells, in order. What is not Python is passed over.
    """
    made: dict[str, ast.stmt] = {}
    modules: dict[str, str] = {}
    for source in sources:
        try:
            body = ast.parse(source).body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        for node in body:
            made |= dict.fromkeys(_defined(node), node)
            modules |= _imported(node)
    if function not in made:
        return None
    order, todo = [function], [function]
    while todo:
        node = made[todo.pop(0)]
        others = made.keys() - _bound_in(node) - set(order)
        new = list(dict.fromkeys(name for one in ast.walk(node) if (name := _name(one)) in others))
        order += new
        todo += new
    helpers = {name: f"f{number}" for number, name in enumerate(order)}
    distinct = list(dict.fromkeys(id(made[name]) for name in order))
    nodes = {id(made[name]): made[name] for name in order}
    parts = [_part(nodes[one], helpers, modules) for one in distinct]
    texts, size = [text for text, _ in parts], sum(size for _, size in parts)
    if size > LONGEST or sum(map(len, texts)) > LONGEST_TEXT:
        digest = hashlib.sha256("\n\n".join(texts).encode("utf-8", "backslashreplace")).hexdigest()
        return Form((f"# {size} nodes, too long to be shown: {digest}",), (size,))
    return Form(tuple(texts), tuple(size for _, size in parts))


def _name(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _bound_in(node: ast.AST) -> set[str]:
    """The names that a function binds for itself."""
    if not isinstance(node, DEFINES):
        return set()
    stored = {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    return stored | {one.arg for one in ast.walk(node) if isinstance(one, ast.arg)}


def _defined(node: ast.stmt) -> list[str]:
    """The names that a statement defines, if it is a definition or an assignment."""
    if isinstance(node, DEFINES):
        return [node.name]
    if isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return [one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name)]
    return []


def _imported(node: ast.stmt) -> dict[str, str]:
    """What imported names stand for."""
    if isinstance(node, ast.Import):
        return {alias.asname or alias.name: alias.name for alias in node.names}
    if isinstance(node, ast.ImportFrom):
        return {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    return {}


def _part(node: ast.stmt, helpers: Mapping[str, str], modules: Mapping[str, str]) -> tuple[str, int]:
    """The code of a definition with other names, and the number of its nodes."""
    plain = _Plain(helpers, modules, _bound_in(node)).visit(node)
    return ast.unparse(ast.fix_missing_locations(plain)), sum(1 for _ in ast.walk(plain))


class _Plain(ast.NodeTransformer):
    """Renames in the order of the text, and drops what has no effect."""

    def __init__(self, helpers: Mapping[str, str], modules: Mapping[str, str], local: set[str]) -> None:
        self._helpers, self._modules, self._local = helpers, dict(modules), local
        self._own: dict[str, str] = {}

    def _renamed(self, name: str) -> str:
        if name in self._own or name in self._local:
            return self._bound(name)
        if name in self._helpers:
            return self._helpers[name]
        if name in self._modules:
            return self._modules[name]
        return name if hasattr(builtins, name) else self._bound(name)

    def _bound(self, name: str) -> str:
        return self._own.setdefault(name, f"v{len(self._own)}")

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Name(self._renamed(node.id), node.ctx)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        return ast.arg(self._bound(node.arg))

    def visit_Call(self, node: ast.Call) -> ast.AST:
        function, arguments = self.visit(node.func), [self.visit(one) for one in node.args]
        is_own = isinstance(node.func, ast.Name) and function.id in {*self._own.values(), *self._helpers.values()}
        named = [ast.keyword("v" if is_own and one.arg else one.arg, self.visit(one.value)) for one in node.keywords]
        return ast.Call(function, arguments, named)

    def visit_Import(self, node: ast.Import) -> None:
        self._modules |= _imported(node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        self._modules |= _imported(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        if node.value is None:
            return None
        return ast.Assign([self.visit(node.target)], self.visit(node.value))

    def visit_Global(self, node: ast.Global | ast.Nonlocal) -> None:
        """It says nothing of what is computed."""

    visit_Nonlocal = visit_Global

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        name = self._helpers.get(node.name) or self._bound(node.name)
        decorators = [self.visit(one) for one in node.decorator_list]
        arguments = self.visit(node.args)
        return ast.FunctionDef(name, arguments, self._body(node.body), decorators)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        name = self._helpers.get(node.name) or self._bound(node.name)
        bases = [self.visit(one) for one in node.bases]
        return ast.ClassDef(name, bases, [self.visit(one) for one in node.keywords], self._body(node.body), [])

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        caught = self.visit(node.type) if node.type else None
        return ast.ExceptHandler(caught, self._bound(node.name) if node.name else None, self._body(node.body))

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        value = node.value
        if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
            return ast.Constant(int(value))
        return ast.Constant(value)

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """As usual; a block that is left empty passes."""
        found = super().generic_visit(node)
        if getattr(found, "body", None) == []:
            found.body = [ast.Pass()]  # type: ignore[attr-defined]
        return found

    def _body(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """Statements without those that are only a constant, such as docstrings, and without ``pass``."""
        kept = []
        for node in body:
            if isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
                continue
            if (new := self.visit(node)) is not None:
                kept.append(new)
        return kept or [ast.Pass()]
