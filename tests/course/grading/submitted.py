"""Submissions of chapter 3, made of its notebook and its solutions, and of what goes wrong in a class."""

import ast
import json
import re
from pathlib import Path
from typing import Any

NOTEBOOKS = Path(__file__).parents[3] / "notebooks"
Cells = list[dict[str, Any]]


def chapter(number: int = 3) -> Cells:
    """The cells of a chapter as a student gets them: no solutions, no outputs."""
    path = next(NOTEBOOKS.glob(f"{number:02}-*.ipynb"))
    cells, kept = json.loads(path.read_text("utf-8"))["cells"], []
    for cell in cells:
        source = "".join(cell["source"])
        if "solution" in cell["metadata"].get("tags", []) or source.startswith(("```{solution", ":::{solution")):
            continue
        kept.append({"cell_type": cell["cell_type"], "metadata": cell["metadata"], "source": source})
        if cell["cell_type"] == "code":
            kept[-1] |= {"outputs": [], "execution_count": None}
    return kept


def solutions(number: int = 3) -> dict[str, str]:
    """The code of the solutions by exercise, under the names that the exercises ask for."""
    path = next(NOTEBOOKS.glob(f"{number:02}-*.ipynb"))
    found: dict[str, list[ast.stmt]] = {}
    for cell in json.loads(path.read_text("utf-8"))["cells"]:
        if "solution" in cell["metadata"].get("tags", []):
            tree = ast.parse("".join(cell["source"]))
            for name in re.findall(r'check\("(\d\d-[\w-]+)"', "".join(cell["source"])):
                kinds = (ast.FunctionDef, ast.Import, ast.ImportFrom)
                found[name] = [node for node in tree.body if isinstance(node, kinds)]
    return {name: re.sub(r"_solution\b", "", "\n\n".join(map(ast.unparse, nodes))) for name, nodes in found.items()}


def answered(answers: dict[str, str], cells: Cells | None = None) -> Cells:
    """The cells with the code of some answers in their holes."""
    filled = []
    for cell in chapter() if cells is None else cells:
        name = re.search(r'check\("(\d\d-[\w-]+)"', cell["source"])
        if "hole" in cell["metadata"].get("tags", []) and name and name[1] in answers:
            _first, call, _ = cell["source"].rpartition("\ncheck(")
            cell = cell | {"source": f"{answers[name[1]]}\n\n\ncheck({_}" if call else answers[name[1]]}
        filled.append(cell)
    return filled


def code(source: str) -> dict[str, Any]:
    return {"cell_type": "code", "metadata": {}, "source": source, "outputs": [], "execution_count": None}


def text(cells: Cells) -> str:
    """A notebook file."""
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
