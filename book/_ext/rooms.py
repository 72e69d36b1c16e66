"""The pages of the package: ``{room} fhx.machines`` lists a room's public names under the modules that define them,
``{rooms} fhx.machines fhx.exact`` says what each of these rooms is for and leads to its page.

The names are the room's ``__all__``. A reference to a class resolves by its own name where that is public once:
types are written where they are defined, and described where they are imported from.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from functools import lru_cache
from types import ModuleType
from typing import Any, ClassVar

import attrs
from docutils import nodes
from docutils.parsers.rst import directives
from docutils.statemachine import StringList
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.errors import ExtensionError
from sphinx.pycode import ModuleAnalyzer
from sphinx.util.docutils import SphinxDirective
from sphinx.util.inspect import signature
from sphinx.util.nodes import make_refnode
from sphinx.util.typing import stringify_annotation


def names_by_module(room: ModuleType) -> dict[str, list[str]]:
    """The room's public names under the modules that define them, in the order of the imports; the room itself, first,
    has its own and those of private modules."""
    tree = ast.parse(inspect.getsource(room))
    imports = [node for node in _statements(tree) if isinstance(node, ast.ImportFrom)]
    home = {alias.asname or alias.name: node.module or "" for node in imports for alias in node.names}
    found: dict[str, list[str]] = {room.__name__: [name for name in room.__all__ if name not in home]}
    for name, module in home.items():
        if name in room.__all__:
            is_private = module.rpartition(".")[2].startswith("_")
            found.setdefault(room.__name__ if is_private else module, []).append(name)
    return found


def _statements(block: ast.Module | ast.With | ast.If) -> Iterator[ast.stmt]:
    """Those of a module, also where they need an extra or are for a type checker."""
    for node in block.body:
        yield node
        if isinstance(node, ast.With | ast.If):
            yield from _statements(node)


def described(room: str, name: str, module: str) -> Iterator[str]:
    """The reStructuredText that describes one public name; data are described where they are defined."""
    value = getattr(importlib.import_module(room), name)
    if inspect.isclass(value):
        yield from (f".. autoclass:: {room}.{name}", "   :members:", "")
    elif callable(value):
        yield from (f".. autofunction:: {room}.{name}", "")
    else:
        lines = ModuleAnalyzer.for_module(module).find_attr_docs().get(("", name))
        if lines is None:
            raise ExtensionError(f"{module}.{name} is public and has no description: write one below its definition")
        yield from (f".. py:data:: {name}", f"   :module: {room}", "", *(f"   {line}" for line in lines), "")


def _shadowed(room: ModuleType, module: str) -> list[str]:
    """A module with the name of one of the room's functions is not indexed: the name means the function."""
    return ["   :no-index:"] if module.rpartition(".")[2] in room.__all__ else []


def accepted(value: type) -> dict[str, str]:
    """The types that the constructor of an attrs class converts, where they are not those of its fields."""
    converters = {one.alias: one.converter for one in attrs.fields(value) if one.converter is not None}
    taken = {name: next(iter(signature(convert).parameters.values())) for name, convert in converters.items()}
    return {name: stringify_annotation(parameter.annotation, "smart") for name, parameter in taken.items()}


class Parsed(SphinxDirective):
    """A directive that writes reStructuredText."""

    def parse(self, lines: list[str], node: nodes.Element) -> None:
        self.state.nested_parse(StringList(["```{eval-rst}", *lines, "```"]), self.content_offset, node)


class Rooms(Parsed):
    """For each room the first paragraph of its docstring, under a link to its page."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        lines: list[str] = []
        for name in self.arguments[0].split():
            purpose = (inspect.getdoc(importlib.import_module(name)) or "").partition("\n\n")[0]
            lines += [f":mod:`{name}`", *(f"   {line}" for line in purpose.splitlines()), ""]
        top = nodes.Element()
        self.parse(lines, top)
        return top.children


class Room(Parsed):
    """The docstring of a package and a section for each of its modules, those of ``:first: one two`` first; with
    ``:modules: one two`` for these too, and with ``:modules:`` for all, if they have an ``__all__`` of their own and no
    public name in the package."""

    required_arguments = 1
    option_spec: ClassVar = {"first": directives.unchanged_required, "modules": directives.unchanged}

    def run(self) -> list[nodes.Node]:
        room = importlib.import_module(self.arguments[0])
        found = names_by_module(room)
        top = nodes.Element()
        self.parse([f".. automodule:: {room.__name__}", "", *self._names(room, found.pop(room.__name__))], top)
        first = [f"{room.__name__}.{name}" for name in self.options.get("first", "").split()]
        if unknown := [module for module in first if module not in found]:
            raise self.error(f"no public name of {room.__name__} is defined in {', '.join(unknown)}")
        for module in dict.fromkeys([*first, *found]):
            names = found[module]
            lines = [f".. automodule:: {module}", *_shadowed(room, module), ""]
            top += self._section(room, module, lines + self._names(room, names, module))
        if "modules" in self.options:
            named = [f"{room.__name__}.{name}" for name in self.options["modules"].split()]
            for module in named or [entry.name for entry in pkgutil.iter_modules(room.__path__, f"{room.__name__}.")]:
                if module not in found and hasattr(importlib.import_module(module), "__all__"):
                    top += self._section(room, module, [f".. automodule:: {module}", "   :members:", ""])
        return top.children

    def _names(self, room: ModuleType, names: list[str], module: str | None = None) -> list[str]:
        return [line for name in names for line in described(room.__name__, name, module or room.__name__)]

    def _section(self, room: ModuleType, module: str, lines: list[str]) -> nodes.section:
        short = module.removeprefix(f"{room.__name__}.")
        section = nodes.section("", nodes.title("", "", nodes.literal("", short)), ids=[nodes.make_id(f"in {module}")])
        self.parse(lines, section)
        return section


@lru_cache(maxsize=1)
def by_last_part(env: BuildEnvironment) -> dict[str, set[tuple[str, str, str]]]:
    """The name, the page and the place on it of all that is described, by the last part of the name."""
    found: dict[str, set[tuple[str, str, str]]] = {}
    for name, _, _, doc, anchor, _ in env.get_domain("py").get_objects():
        found.setdefault(name.rpartition(".")[2], set()).add((name, doc, anchor))
    return found


def resolve(
    app: Sphinx, env: BuildEnvironment, node: addnodes.pending_xref, content: nodes.TextElement
) -> nodes.Element | None:
    """A class or a function by the last part of its name, if just one public name ends so."""
    if node.get("refdomain") != "py":
        return None
    is_annotation = node.get("refspecific") or "refwarn" not in node  # what a role writes is none, and must resolve
    found = by_last_part(env).get(node["reftarget"].rpartition(".")[2], set())
    if len(found) != 1:
        return content if is_annotation else None
    ((name, doc, anchor),) = found
    return make_refnode(app.builder, node.get("refdoc", env.docname), doc, anchor, content, name)


def show_accepted(
    app: Sphinx, kind: str, name: str, value: Any, options: object, taken: str | None, returned: str | None
) -> tuple[str, str | None] | None:
    """Put what a constructor accepts in the place of what autodoc has read off the fields; a default that is computed
    is three dots."""
    if kind != "class" or not attrs.has(value) or taken is None:
        return None
    app.env.temp_data["annotations"][name] |= accepted(value)
    return taken.replace("NOTHING", "..."), returned


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("room", Room)
    app.add_directive("rooms", Rooms)
    app.connect("autodoc-process-signature", show_accepted, priority=600)  # after autodoc's own, which has 500
    app.connect("missing-reference", resolve)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
