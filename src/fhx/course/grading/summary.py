"""A page about a whole batch: scores, what failed most, how long it took, and what a person has to look at."""

import io
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import matplotlib
import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from fhx.course.grading.marks import FAILED, STATUSES, Mark
from fhx.course.grading.pages import COLORS, page
from fhx.course.grading.records import Graded
from fhx.exercises import EXERCISES, Exercise

__all__ = ["summary_page", "warnings"]

FEWEST = 3
"""Answers that are enough to doubt an input on which all of them fail."""


def summary_page(
    batch: Sequence[Graded],
    heading: str,
    notes: Sequence[str] = (),
    similar: str = "",
    exercises: Mapping[str, Exercise] = EXERCISES,
) -> str:
    """The page as HTML, with its figures in it.

    Args:
        batch: at least one submission.
        heading: chapter, seed and the like.
        notes: what else is to be said.
        similar: how many answers are alike; empty if there are none.
        exercises: by their ids.
    """
    most = sum(mark.most for mark in batch[0].marks)
    totals = [graded.total for graded in batch if graded.total is not None]
    minutes = sum(graded.seconds for graded in batch) / 60
    overview = f"{len(batch)} submissions, {minutes:.1f} minutes of grading in all."
    if totals:
        overview += f" Points of the {len(totals)} that have some: mean {sum(totals) / len(totals):.1f} of {most:g},"
        overview += f" least {min(totals):g}, most {max(totals):g}."
    figures = [
        _figure(lambda ax: _scores(ax, totals, most), "How many submissions have how many points", 3),
        _figure(lambda ax: _statuses(ax, batch), "What became of each exercise", 1 + 0.4 * len(batch[0].marks)),
        _figure(lambda ax: _times(ax, batch), "How long each submission took", 3),
    ]
    files = [graded for graded in batch if _is_whole(graded)]
    values = {"overview": overview, "files": files, "questions": list(_questions(batch)), "figures": figures}
    values |= {
        "notes": notes,
        "warnings": warnings(batch, exercises),
        "similar": similar,
        "late": [graded for graded in batch if graded.days],
    }
    values["decided"] = [(one, mark) for one in batch for mark in one.marks if mark.exercise in one.decided]
    return page("summary", heading, **values, rows=list(_rows(batch, exercises)), count=len(batch))


def _figure(draw: Callable[[Axes], None], title: str, height: float) -> dict[str, str]:
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": title, "font.size": 10}):
        figure = Figure(figsize=(6, height), layout="constrained")
        draw(figure.add_subplot())
        out = io.StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None})
    svg = out.getvalue()
    named = Markup('<svg role="img" aria-label="{}"').format(title)
    return {"title": title, "svg": Markup(svg[svg.index("<svg") :].replace("<svg", named, 1))}


def _scores(ax: Axes, totals: Sequence[float], most: float) -> None:
    if totals:
        width = math.ceil(most / 12)
        ax.hist(totals, np.arange(0, most + width, width).tolist(), color=COLORS["look at this"], edgecolor="white")
    ax.set(xlabel="points", ylabel="submissions", xlim=(0, None))
    ax.yaxis.set_major_locator(MaxNLocator(integer=True))


def _statuses(ax: Axes, batch: Sequence[Graded]) -> None:
    """One bar per exercise, the one that failed most on top."""
    names = [mark.exercise for mark in batch[0].marks]
    counts = {name: Counter(graded.marks[i].status for graded in batch) for i, name in enumerate(names)}
    names.sort(key=lambda name: -counts[name]["ok"])
    left = [0] * len(names)
    for status in STATUSES:
        widths = [counts[name][status] for name in names]
        if any(widths):
            ax.barh(names, widths, left=left, color=COLORS[status], label=status)
            left = [a + b for a, b in zip(left, widths, strict=True)]
    ax.set(xlabel="submissions")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.figure.legend(loc="outside upper center", ncols=4, frameon=False)


def _times(ax: Axes, batch: Sequence[Graded]) -> None:
    seconds = sorted(graded.seconds for graded in batch)
    ax.plot(range(1, len(seconds) + 1), seconds, "o-", color=COLORS["look at this"], markersize=4)
    ax.set(xlabel="submissions, the quickest first", ylabel="seconds", ylim=(0, None))
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))


def _questions(batch: Sequence[Graded]) -> Iterator[tuple[Graded, str, str]]:
    """What a person has to look at: the submission, the exercise, and why."""
    for graded in batch:
        for mark in graded.marks:
            if mark.points is None and not _is_whole(graded):
                yield graded, mark.exercise, f"{mark.message} {mark.inside[-300:]}"
            if mark.uses and mark.points and mark.exercise not in graded.decided:
                yield graded, mark.exercise, f"it calls {', '.join(mark.uses)}"


def _is_whole(graded: Graded) -> bool:
    """Whether the same holds for all its exercises: it is not a notebook, or it is of another chapter."""
    return len({(mark.message, mark.points) for mark in graded.marks}) == 1 and graded.marks[0].points is None


def warnings(batch: Sequence[Graded], exercises: Mapping[str, Exercise] = EXERCISES) -> list[str]:
    """The exercises that nobody has right, since all fail on one and the same private case, or that nobody tried."""
    found = []
    for place, first in enumerate(batch[0].marks):
        read = [graded.marks[place] for graded in batch if graded.marks[place].status != "invalid file"]
        if len(read) >= FEWEST and all(mark.status == "not attempted" for mark in read):
            found.append(f"{first.exercise}: nobody attempted it. If it was not assigned, leave it out by --only.")
        tried = [graded.marks[place] for graded in batch if _is_tried(graded.marks[place])]
        cases = {_private_case(mark, exercises[mark.exercise].inputs) for mark in tried}
        if len(tried) >= FEWEST and len(cases) == 1 and (case := cases.pop()):
            what = f"nobody passes, and all {len(tried)} answers fail on {case}"
            found.append(f"{first.exercise}: {what}. Is that input right?")
    return found


def _is_tried(mark: Mark) -> bool:
    """Whether there was an answer, and it was run."""
    not_judged = mark.status == "look at this" and (mark.message == FAILED or not (mark.inside or mark.uses))
    return mark.status not in ("not attempted", "invalid file") and not not_judged


def _private_case(mark: Mark, inputs: Sequence[str]) -> str:
    """The inputs of the private case that an answer failed on; empty if there is none."""
    lines = [line for line in mark.inside.splitlines()[1:] if line.partition(": ")[0] in inputs]
    return ", ".join(line.replace(": ", " = ", 1) for line in lines)


def _rows(batch: Sequence[Graded], exercises: Mapping[str, Exercise]) -> Iterator[dict[str, Any]]:
    """How many were right in each exercise, and what most of the others were told."""
    silent = ("not attempted", "invalid file", "look at this")
    for place, first in enumerate(batch[0].marks):
        marks = [graded.marks[place] for graded in batch]
        said = Counter(mark.message for mark in marks if mark.message and mark.status not in silent)
        yield {
            "id": first.exercise,
            "title": exercises[first.exercise].title,
            "passed": sum(mark.points == mark.most for mark in marks),
            "message": said.most_common(1)[0][0] if said else "",
        }
