"""How the house rules read a notebook: its cells, headings, outputs, and the syntax of its code."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
from collections.abc import Iterator
from functools import cache

from IPython.core.inputtransformer2 import TransformerManager
from nbformat import NotebookNode

import fhx
from fhx.course.notebooks import HEADING, is_code, is_markdown

CHECKED = "nbval-check-output"
FENCE = re.compile(r"^(?P<mark>`{3,}|:{3,})(?P<head>[^\n]*)\n(?P<body>.*?)^(?P=mark)[ \t]*$", re.M | re.S)
Placed = list[tuple[int, NotebookNode]]


def code_cells(notebook: NotebookNode) -> Placed:
    """The code cells with their places."""
    return [(place, cell) for place, cell in enumerate(notebook.cells) if is_code(cell)]


def prose_cells(notebook: NotebookNode) -> Placed:
    """The Markdown cells with their places."""
    return [(place, cell) for place, cell in enumerate(notebook.cells) if is_markdown(cell)]


def headings(cell: NotebookNode) -> list[tuple[int, str]]:
    """(level, text) of each heading of a Markdown cell; what stands inside a fence is none."""
    found = HEADING.finditer(FENCE.sub("", cell.source)) if is_markdown(cell) else ()
    return [(len(one["marks"]), one["title"]) for one in found]


def begins_section(cell: NotebookNode) -> bool:
    """Whether a cell holds a heading of the second level or the title."""
    return any(level <= 2 for level, _ in headings(cell))


def texts(cell: NotebookNode) -> Iterator[str]:
    """Every text that a code cell puts out."""
    for output in cell.outputs:
        if output.output_type == "stream":
            yield output.text
        yield from (text for kind, text in output.get("data", {}).items() if kind.startswith("text/"))


def parse(cell: NotebookNode) -> ast.Module:
    """The syntax tree of a code cell, its magics turned into calls."""
    return ast.parse(TransformerManager().transform_cell(cell.source))


def calls_check(cell: NotebookNode) -> bool:
    """Whether a code cell calls ``check``."""
    calls = (node.func for node in ast.walk(parse(cell)) if isinstance(node, ast.Call))
    return any(getattr(call, "id", getattr(call, "attr", "")) == "check" for call in calls)


def has_hole(cell: NotebookNode) -> bool:
    """Whether a code cell has a ``...`` to fill in."""
    return any(isinstance(node, ast.Constant) and node.value is ... for node in ast.walk(parse(cell)))


def defined(cell: NotebookNode) -> set[str]:
    """The functions and classes that a code cell defines at its top."""
    return {node.name for node in parse(cell).body if isinstance(node, ast.FunctionDef | ast.ClassDef)}


@cache
def public_names() -> frozenset[str]:
    """The functions and classes that the package offers, from the ``__all__`` of every room."""
    names: set[str] = set()
    for module in pkgutil.iter_modules(fhx.__path__, "fhx."):
        if module.ispkg:
            loaded = importlib.import_module(module.name)
            names |= {name for name in getattr(loaded, "__all__", ()) if callable(getattr(loaded, name))}
    return frozenset(names)
