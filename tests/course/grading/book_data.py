"""What the grader knows of the book: run this file when exercises or solutions change, and it writes that anew."""

import json
from functools import cache
from pathlib import Path

from submitted import NOTEBOOKS, chapter, solutions

from fhx.course import grading
from fhx.course.grading.cells import Cell, parsed
from fhx.course.grading.notebook import Notebook
from fhx.course.grading.uses import named_in, package_uses
from fhx.course.notebooks import cells_of, is_code, tags, text_of
from fhx.exercises import EXERCISES

Names = dict[str, frozenset[str]]


def made() -> tuple[Names, dict[str, str]]:
    """What solutions use and student versions name; and the code of each solution with all that it needs."""
    uses: Names = {}
    solved: dict[str, str] = {}
    for number in range(1, 14):
        cells = [cell["source"] for cell in chapter(number) if cell["cell_type"] == "code"]
        student = [cell.python for cell in Notebook(cells).cells]
        named = frozenset(named_in(student))
        uses[f"{number:02}"] = named
        for name, code in solutions(number).items():
            function = EXERCISES[name].function
            uses[name] = frozenset(package_uses(function, [*student, code]) | (named_in([code]) - named))
        solved |= _solved(number)
    return {name: names for name, names in uses.items() if names}, solved


def _solved(number: int) -> dict[str, str]:
    """The statements of a chapter that each of its solutions needs, and settings such as the default dtype."""
    path = next(NOTEBOOKS.glob(f"{number:02}-*.ipynb"))
    cells = [cell for cell in cells_of(path.read_bytes()) if is_code(cell)]
    statements: list[str] = []
    found = {}
    for cell in cells:
        read = parsed(-1, text_of(cell))
        statements += read.statements()
        for name, given in read.asks if "solution" in tags(cell) else ():
            found[name] = _needed(statements, f"{EXERCISES[name].function} = {given}")
    return found


def _needed(statements: list[str], last: str) -> str:
    """A statement with those above it that its names come from."""
    chosen = {place for place, text in enumerate(statements) if "set_default_dtype" in text}
    todo = [last, *(statements[place] for place in chosen)]
    while todo:
        cell = _read(todo.pop())
        for name in cell.needs | cell.later:
            places = [place for place, text in enumerate(statements) if name in _read(text).makes]
            if places and places[-1] not in chosen:
                chosen.add(places[-1])
                todo.append(statements[places[-1]])
    return "\n".join([*(statements[place] for place in sorted(chosen)), last])


@cache
def _read(statement: str) -> Cell:
    return parsed(-1, statement)


def main() -> None:
    uses, solved = made()
    texts = {
        "known_uses": {name: sorted(uses[name]) for name in sorted(uses)},
        "solutions": dict(sorted(solved.items())),
    }
    for name, data in texts.items():
        (Path(grading.__file__).parent / f"{name}.json").write_text(
            json.dumps(data, indent=1, ensure_ascii=False) + "\n"
        )


if __name__ == "__main__":
    main()
