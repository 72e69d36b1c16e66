"""The rooms are the levels of the theory: each imports only rooms below it, inside functions too."""

import ast
from collections.abc import Container, Mapping
from graphlib import CycleError, TopologicalSorter
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


def modules() -> dict[str, Path]:
    """All modules of the package by their names."""
    paths = {".".join(path.relative_to(SOURCE.parent).with_suffix("").parts): path for path in SOURCE.rglob("*.py")}
    return {name.removesuffix(".__init__"): path for name, path in paths.items()}


def imports(source: str, known: Container[str]) -> set[str]:
    """The known modules that a module imports, in functions and for a type checker too."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            inner = ((f"{node.module}.{alias.name}", node.module) for alias in node.names)
            names |= {module if module in known else parent for module, parent in inner}
    return {name for name in names if name in known}


def circle(sources: Mapping[str, str]) -> list[str]:
    """Modules of which each imports the one before it, the first again at the end; none if there is no circle."""
    try:
        TopologicalSorter({name: imports(source, sources) for name, source in sources.items()}).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def test_no_modules_import_one_another_in_a_circle():
    assert circle({name: path.read_text(encoding="utf-8") for name, path in modules().items()}) == []


def test_a_circle_for_types_or_in_a_function_is_found():
    sources = {
        "fhx.a": "if TYPE_CHECKING:\n    from fhx.b import B\n",
        "fhx.b": "def f():\n    from fhx import c\n",
        "fhx.c": "import fhx.a\n",
    }
    assert set(circle(sources)) == set(sources)
    assert circle({**sources, "fhx.c": ""}) == []
