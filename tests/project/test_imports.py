"""Imports stand at the top of a module, or have a reason to stand in a function."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
EXTRAS = {"IPython", "distributed", "ipykernel", "ipywidgets", "matplotlib_inline"}  # a reader may lack them


def unexplained(source: str) -> Iterator[str]:
    """Imports in functions, with no comment between the first line of the function and their own, of no extra."""
    lines = source.splitlines()
    for function in (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)):
        for node in ast.walk(function):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            else:
                continue
            said = any("# " in line for line in lines[function.lineno - 1 : node.end_lineno])
            if not said and not {name.partition(".")[0] for name in names} <= EXTRAS:
                yield f"{function.name}: {ast.unparse(node)}"


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(ROOT / "src").as_posix())
def test_an_import_in_a_function_says_why(path):
    assert list(unexplained(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("def f():\n    import scipy\n", ["f: import scipy"]),
        ("def f():\n    from scipy import stats  # slow\n", []),
        ("def f():\n    import ipywidgets\n", []),
        ("import scipy\n", []),
    ],
)
def test_one_without_a_reason_is_found(source, found):
    assert list(unexplained(source)) == found
