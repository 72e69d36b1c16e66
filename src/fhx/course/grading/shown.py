"""Results as a table in Markdown: ``python -m fhx.course.grading.shown grades/students/*/results.json``."""

import json
import sys
from pathlib import Path

from fhx.course.grading.texts import spelt_out

__all__ = ["main", "table"]


def table(results: str) -> str:
    """A row for each exercise, with its points and what was said.

    Args:
        results: the text of a file ``results.json``.
    """
    rows = ["| exercise | points | |", "|---|---|---|"]
    for test in json.loads(results)["tests"]:
        points = f"{test['score']:g} of {test['max_score']:g}" if "score" in test else "to be decided"
        rows.append(f"| {_plain(test['name'])} | {points} | {_plain(test['output'])} |")
    return "\n".join(rows)


def _plain(text: str) -> str:
    """On one line, and as text: nothing in it is Markdown or HTML."""
    line = spelt_out(" ".join(text.split()))
    return "".join(f"&#{ord(char)};" if char in "|<>&`*_[]()!\\" else char for char in line)


def main(paths: list[str]) -> None:
    print("\n\n".join(table(Path(path).read_text("utf-8")) for path in paths))


if __name__ == "__main__":
    main(sys.argv[1:])
