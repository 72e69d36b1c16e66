"""The rooms are the levels of the theory: each imports only rooms below it, inside functions too."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "fhx"
LEVELS = ["machines", "exact", "compile", "precision", "cells", "dynamics", "approximation", "stability", "tasks"]
LEVELS += ["training", "jobs", "experiments", "figures", "exercises", "course"]
ROOMS = sorted(folder.name for folder in SOURCE.iterdir() if (folder / "__init__.py").exists())


def imported(source: str) -> set[str]:
    """The rooms that a module imports, wherever the import stands."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {f"fhx.{a.name}" for a in node.names} if node.module == "fhx" else {node.module}
    return {name.split(".")[1] for name in names if name.startswith("fhx.")} & set(LEVELS)


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_only_rooms_below_it(room):
    below = set(LEVELS[: LEVELS.index(room) + 1])
    modules = {path: imported(path.read_text(encoding="utf-8")) for path in (SOURCE / room).rglob("*.py")}
    assert {path.name: rooms - below for path, rooms in modules.items() if rooms - below} == {}


def test_an_import_inside_a_function_counts():
    assert imported("def f():\n    from fhx.cells import Cell\n    import fhx.tasks.text\n") == {"cells", "tasks"}
    assert imported("from fhx import device, stability\nfrom fhx._checks import positive\n") == {"stability"}
