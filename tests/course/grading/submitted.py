"""Submissions of chapter 3, made of its notebook and its solutions, and of what goes wrong in a class."""

import ast
import json
import re
from pathlib import Path
from typing import Any

from fhx.course.notebooks import CHECK, cells_of, is_code, placed, tags, text_of

NOTEBOOKS = Path(__file__).parents[3] / "notebooks"
Cells = list[dict[str, Any]]


def chapter(number: int = 3) -> Cells:
    """The cells of a chapter as a student gets them: no solutions, no outputs."""
    path = next(NOTEBOOKS.glob(f"{number:02}-*.ipynb"))
    kept: Cells = []
    for cell in (one.cell for one in placed(cells_of(path.read_bytes())) if not one.is_solution):
        kept.append({"cell_type": cell["cell_type"], "metadata": cell["metadata"], "source": text_of(cell)})
        if is_code(cell):
            kept[-1] |= {"outputs": [], "execution_count": None}
    return kept


def solutions(number: int = 3) -> dict[str, str]:
    """The code of the solutions by exercise, under the names that the exercises ask for."""
    path = next(NOTEBOOKS.glob(f"{number:02}-*.ipynb"))
    found: dict[str, list[ast.stmt]] = {}
    for cell in cells_of(path.read_bytes()):
        if "solution" in tags(cell):
            tree = ast.parse(text_of(cell))
            kinds = (ast.FunctionDef, ast.Import, ast.ImportFrom)
            for name in dict.fromkeys(CHECK.findall(text_of(cell))):
                found.setdefault(name, []).extend(node for node in tree.body if isinstance(node, kinds))
    return {name: re.sub(r"_solution\b", "", "\n\n".join(map(ast.unparse, nodes))) for name, nodes in found.items()}


def answered(answers: dict[str, str], cells: Cells | None = None) -> Cells:
    """The cells with the code of some answers in their holes."""
    filled = []
    for cell in chapter() if cells is None else cells:
        name = CHECK.search(cell["source"])
        if "hole" in tags(cell) and name and name[1] in answers:
            _first, call, _ = cell["source"].rpartition("\ncheck(")
            cell = cell | {"source": f"{answers[name[1]]}\n\n\ncheck({_}" if call else answers[name[1]]}
        filled.append(cell)
    return filled


def code(source: str) -> dict[str, Any]:
    return {"cell_type": "code", "metadata": {}, "source": source, "outputs": [], "execution_count": None}


def text(cells: Cells) -> str:
    """A notebook file."""
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
