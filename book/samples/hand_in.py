"""Seven made-up students hand in chapter 3: ``python hand_in.py MADE SUBMISSIONS``.

``MADE`` holds the student's and the instructor's version. Ada puts the book's solution into every hole. Ben, Cleo, Dan
and Emma do so too, but for the one cell that lies under their names in ``answers/``. Finn stops half-way. Gus's file
breaks off in its middle; with ``--again`` he alone hands in, and all of it.
"""

import argparse
import json
import re
from pathlib import Path

ANSWERS = Path(__file__).parent / "answers"
HOLE, SOLVED = "# Your turn: complete ", re.compile(r'^check\("[\w-]+", (\w+)_solution\)$', re.M)


def read(folder: Path, kind: str) -> dict:
    """A version of the chapter, its cells as one text each."""
    notebook = json.loads(next(folder.glob(f"03-*-{kind}.ipynb")).read_text("utf-8"))
    return notebook | {"cells": [cell | {"source": "".join(cell["source"])} for cell in notebook["cells"]]}


def solutions(instructors: dict) -> dict[str, str]:
    """The cells with the book's solutions, by the function that is asked for, under whose name they define it."""
    sources = [cell["source"] for cell in instructors["cells"] if cell["cell_type"] == "code"]
    return {found[1]: re.sub(r"_solution\b", "", source) for source in sources if (found := SOLVED.search(source))}


def filled(handed_out: dict, answers: dict[str, str]) -> str:
    """The student version as a file, with answers in its holes."""
    cells = []
    for cell in handed_out["cells"]:
        function = cell["source"].removeprefix(HOLE).partition(",")[0]
        cells.append(cell | {"source": answers.get(function, cell["source"])})
    return json.dumps(handed_out | {"cells": cells})


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("made", type=Path)
    parser.add_argument("submissions", type=Path)
    parser.add_argument("--again", action="store_true")
    arguments = parser.parse_args()
    handed_out, right = read(arguments.made, "student"), solutions(read(arguments.made, "instructor"))
    whole = filled(handed_out, right)
    half = dict(list(right.items())[: len(right) // 2])
    files = {"ada": whole, "finn": filled(handed_out, half), "gus": whole[: len(whole) // 2]}
    for path in ANSWERS.glob("*.py"):
        cell = path.read_text("utf-8")
        function = re.search(r"^def (\w+)", cell, re.M)[1]
        files[path.stem] = filled(handed_out, right | {function: cell})
    arguments.submissions.mkdir(exist_ok=True)
    for name, text in ({"gus": whole} if arguments.again else files).items():
        (arguments.submissions / f"{name}.ipynb").write_text(text, "utf-8")


if __name__ == "__main__":
    main()
