r"""The shape of an exercise, four or more cells:

1. Markdown with an ``{exercise}`` directive, a short title and ``:label: ex-...``;
2. a code cell tagged ``hole``: a function whose body holds ``...``; it, or a code cell after it, calls ``check``;
3. Markdown that begins with ``{solution-start} ex-...``, ``:label: sol-...`` and ``:class: dropdown``;
4. code cells tagged ``solution``; one of them calls ``check`` and carries ``nbval-check-output``, so that CI compares
   what it says. Its functions have names of their own, so that running all cells never hides the reader's answer;
5. Markdown that is ``{solution-end}``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from nbformat import NotebookNode
from notebook_parts import CHECKED, begins_section, calls_check, defined, has_hole, prose_cells

from fhx.course.notebooks import STATEMENT, is_code, is_markdown, tags

MIN_EXERCISES = 5
SOLUTION = re.compile(r"\A(?:`{3,}|:{3,})\{solution-start\}[ \t]+(?P<exercise>\S+)\n(?P<options>(?::[^\n]*\n)*)")
SOLUTION_END = re.compile(r"\A(`{3,}|:{3,})\{solution-end\}\s*\1\s*\Z")


def exercise_problems(label: str, cells: list[NotebookNode]) -> Iterator[str]:
    """What is wrong with one exercise, given the cells after its statement up to the next exercise or section."""
    prose = [(place, cell.source) for place, cell in enumerate(cells) if is_markdown(cell)]
    starts = [place for place, source in prose if "{solution-start}" in source]
    ends = [place for place, source in prose if SOLUTION_END.match(source)]
    yield from task_problems(label, cells[: min(starts, default=len(cells))])
    if len(starts) != 1 or len(ends) != 1 or starts > ends:
        yield f"{label} needs one solution-start and one solution-end after it"
    else:
        yield from solution_problems(label, cells[starts[0] : ends[0]])
        holes, solutions = (
            set().union(*(defined(cell) for cell in cells if is_code(cell) and tag in tags(cell)))
            for tag in ("hole", "solution")
        )
        yield from (f"the solution of {label} defines {twin} again" for twin in sorted(holes & solutions))


def task_problems(label: str, cells: list[NotebookNode]) -> Iterator[str]:
    """The reader's part: a hole and a check."""
    code = [cell for cell in cells if is_code(cell)]
    holes = [cell for cell in code if "hole" in tags(cell)]
    if not holes:
        yield f"{label} has no cell tagged hole"
    elif not any(map(has_hole, holes)):
        yield f"the hole of {label} holds no '...'"
    if not any(map(calls_check, code)):
        yield f"{label} calls no check before its solution"


def solution_problems(label: str, cells: list[NotebookNode]) -> Iterator[str]:
    """The book's part: a dropdown around code that CI runs and checks."""
    found = SOLUTION.match(cells[0].source)
    options = found["options"] if found else ""
    if not found or found["exercise"] != label or ":class: dropdown" not in options or ":label: sol-" not in options:
        yield f"the solution of {label} must begin: {{solution-start}} {label}, :label: sol-..., :class: dropdown"
    code = [cell for cell in cells if is_code(cell)]
    if not code or any("solution" not in tags(cell) for cell in code):
        yield f"the solution of {label} needs code cells, each tagged solution"
    if not any(calls_check(cell) and CHECKED in tags(cell) for cell in code):
        yield f"the solution of {label} calls no check in a cell tagged {CHECKED}"


def has_whole_exercises(notebook: NotebookNode, name: str) -> list[str]:
    """Every exercise has a hole, a check and a solution that CI runs; a chapter has five or more."""
    cells = notebook.cells
    statements = [(place, found) for place, cell in prose_cells(notebook) for found in STATEMENT.finditer(cell.source)]
    stops = {place for place, _ in statements} | {place for place, cell in enumerate(cells) if begins_section(cell)}
    found = [f"{len(statements)} exercises, fewer than {MIN_EXERCISES}"] * (len(statements) < MIN_EXERCISES)
    claimed: set[int] = set()
    for place, statement in statements:
        label = statement["label"] or f"the exercise in cell {place}"
        if not label.startswith("ex-") or not statement["title"]:
            found.append(f"{label} needs a title and a label that begins with 'ex-'")
        stop = min((other for other in stops if other > place), default=len(cells))
        claimed.update(range(place + 1, stop))
        found += exercise_problems(label, cells[place + 1 : stop])
    return found + [
        f"cell {place} belongs to no exercise"
        for place, cell in enumerate(cells)
        if place not in claimed and ({"hole", "solution"} & set(tags(cell)) or "{solution" in cell.source)
    ]
