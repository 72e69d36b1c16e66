"""What an instructor and a student get: a table, and for each student a record for Gradescope and a page."""

import csv
import io
import json
from collections.abc import Sequence
from html import escape
from pathlib import Path

from fhx._files import write_atomically
from fhx.course.grading.batch import Graded
from fhx.course.grading.marks import STATUSES, Mark
from fhx.exercises import EXERCISES

__all__ = ["COLOURS", "grades_csv", "page", "write_student"]

_PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark }}
body {{ font: 1rem/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }}
table {{ border-collapse: collapse }}
th, td {{ text-align: left; padding: .2rem .8rem .2rem 0; border-bottom: 1px solid #8888; vertical-align: top }}
td.whole {{ white-space: nowrap }}
td span {{ border-left: .5rem solid #8888; padding-left: .4rem }}
section {{ border-left: .25rem solid #8888; padding: 0 1rem; margin: 1.5rem 0 }}
{colours}
code, pre {{ font-size: .9rem; white-space: pre-wrap; overflow-wrap: anywhere }}
dt {{ font-weight: 600 }}
dd {{ margin: 0 0 .5rem 1rem }}
figure {{ margin: 1.5rem 0; overflow-x: auto; background: white; color: black; padding: .5rem }}
figure svg {{ max-width: 100%; height: auto }}
</style>
</head>
<body>
{body}
</body>
</html>
"""


COLOURS = dict(
    zip(STATUSES, ("#009E73", "#D55E00", "#BBBBBB", "#E69F00", "#CC79A7", "#56B4E9", "#0072B2"), strict=True)
)
"""Of the statuses, distinct for the colour-blind."""


def page(title: str, body: str) -> str:
    """A page that needs no other file."""
    rules = (f".{_class(status)} {{ border-color: {colour} !important }}" for status, colour in COLOURS.items())
    return _PAGE.format(title=escape(title), body=body, colours="\n".join(rules))


def grades_csv(batch: Sequence[Graded]) -> bytes:
    """A row a student: points and status of each exercise; an empty cell where a person has to decide."""
    names = [mark.exercise for mark in batch[0].marks]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    most = sum(mark.most for mark in batch[0].marks)
    columns = [column for name in names for column in (name, f"{name} status")]
    writer.writerow(["student", "file", "total", f"of {most:g}", *columns, "look at"])
    for graded in batch:
        cells = [cell for mark in graded.marks for cell in (_number(mark.points), mark.status)]
        share = "" if graded.total is None else f"{graded.total / most:.1%}"
        looks = "; ".join(f"{m.exercise}: {', '.join(m.uses)}" for m in graded.marks if m.uses and m.points)
        undecided = {m.message: None for m in graded.marks if m.points is None}
        look = "; ".join(filter(None, (looks, *undecided)))
        row = [graded.student, graded.file, _number(graded.total), share, *cells, look]
        writer.writerow([_harmless(cell) for cell in row])
    return out.getvalue().encode()


def write_student(graded: Graded, folder: Path) -> None:
    """``results.json``, as Gradescope reads it, and ``feedback.html``."""
    write_atomically(folder / "results.json", (json.dumps(_results(graded), indent=1) + "\n").encode())
    write_atomically(folder / "feedback.html", _page(graded).encode())


def _number(points: float | None) -> str:
    return "" if points is None else f"{points:g}"


def _harmless(cell: str) -> str:
    """A text that no spreadsheet takes for a formula."""
    return f"'{cell}" if cell.startswith(("=", "+", "-", "@", "\t", "\r")) else cell


def _results(graded: Graded) -> dict:
    tests = []
    for number, mark in enumerate(graded.marks, 1):
        test = {
            "name": f"{mark.exercise}: {EXERCISES[mark.exercise].title}",
            "number": str(number),
            "max_score": mark.most,
            "output": _told(mark),
            "output_format": "text",
            "visibility": "visible",
        }
        if mark.points is not None:
            test |= {"score": mark.points, "status": "passed" if mark.points == mark.most else "failed"}
        tests.append(test)
    decided = sum(mark.points for mark in graded.marks if mark.points is not None)
    results = {
        "score": decided,
        "tests": tests,
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "execution_time": graded.seconds,
    }
    if graded.total is None:
        results["output"] = "Not all of it could be graded; a person will look at it."
    return results


def _told(mark: Mark) -> str:
    lines = [f"{name}: {value}" for name, value in mark.lines]
    return "\n".join([f"{mark.status}. {mark.message}".strip(), *lines, *mark.remarks])


def _page(graded: Graded) -> str:
    """The marks in a table, and what is to be said on those that are not right."""
    most = sum(mark.most for mark in graded.marks)
    said = "not decided yet" if graded.total is None else f"{graded.total:g}"
    parts = [f"<h1>{escape(graded.student)}</h1>", f"<p>{said} of {most:g} points. File: {escape(graded.file)}</p>"]
    if graded.marks[0].status == "invalid file":
        parts.append(f"<p>{escape(graded.marks[0].message)} Hand the notebook in again.</p>")
        return page(graded.student, "\n".join(parts))
    parts.append("<table><tr><th>exercise</th><th>status</th><th>points</th></tr>")
    parts += [_row(mark) for mark in graded.marks]
    parts.append("</table>")
    parts += [_section(mark) for mark in graded.marks if mark.message or mark.remarks]
    return page(graded.student, "\n".join(parts))


def _row(mark: Mark) -> str:
    title, said = escape(EXERCISES[mark.exercise].title), f'<span class="{_class(mark.status)}">{mark.status}</span>'
    title = f'<a href="#{mark.exercise}">{title}</a>' if mark.message or mark.remarks else title
    points = "to be decided" if mark.points is None else f"{mark.points:g} of {mark.most:g}"
    return f'<tr><td>{title}</td><td class="whole">{said}</td><td class="whole">{points}</td></tr>'


def _section(mark: Mark) -> str:
    exercise = EXERCISES[mark.exercise]
    rows = "".join(f"<dt>{escape(name)}</dt><dd><code>{escape(value)}</code></dd>" for name, value in mark.lines)
    hint = exercise.notes.hint if exercise.notes and mark.status in ("wrong", "timeout", "crashed") else ""
    parts = [
        f"<h2>{escape(exercise.title)}</h2>",
        f"<p><strong>{mark.status}</strong>: <code>{escape(exercise.signature)}</code></p>",
        f"<p>{escape(mark.message)}</p>" if mark.message else "",
        f"<dl>{rows}</dl>" if rows else "",
        *(f"<p>{escape(remark)}</p>" for remark in mark.remarks),
        f"<p>Hint: {escape(hint)}</p>" if hint else "",
    ]
    return f'<section id="{mark.exercise}" class="{_class(mark.status)}">{"".join(filter(None, parts))}</section>'


def _class(status: str) -> str:
    return status.replace(" ", "-")
