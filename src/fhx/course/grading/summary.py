"""A page on a whole batch: scores, what failed most, how long it took, and what a person has to look at."""

import io
import math
from collections import Counter
from collections.abc import Callable, Sequence
from html import escape
from urllib.parse import quote

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from fhx.course.grading.batch import Graded
from fhx.course.grading.marks import STATUSES
from fhx.course.grading.reports import COLOURS, page
from fhx.exercises import EXERCISES

__all__ = ["summary_page"]


def summary_page(batch: Sequence[Graded], heading: str) -> str:
    """The page as HTML, with its figures in it.

    Args:
        batch: at least one submission.
        heading: chapter, seed and the like.
    """
    most = sum(mark.most for mark in batch[0].marks)
    totals = [graded.total for graded in batch if graded.total is not None]
    said = f"{len(batch)} submissions, {sum(graded.seconds for graded in batch) / 60:.1f} minutes of grading in all."
    if totals:
        said += f" Points of the {len(totals)} that have some: mean {sum(totals) / len(totals):.1f} of {most:g},"
        said += f" least {min(totals):g}, most {max(totals):g}."
    parts = [
        f"<h1>{escape(heading)}</h1>",
        f"<p>{said}</p>",
        _looks(batch),
        _figure(lambda ax: _scores(ax, totals, most), "How many submissions have how many points", 3),
        _figure(lambda ax: _statuses(ax, batch), "What became of each exercise", 1 + 0.4 * len(batch[0].marks)),
        _figure(lambda ax: _times(ax, batch), "How long each submission took", 3),
        _table(batch),
    ]
    return page(heading, "\n".join(parts))


def _figure(draw: Callable[[Axes], None], title: str, height: float) -> str:
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": title, "font.size": 10}):
        figure = Figure(figsize=(6, height), layout="constrained")
        draw(figure.add_subplot())
        out = io.StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None})
    svg = out.getvalue()
    svg = svg[svg.index("<svg") :].replace("<svg", f'<svg role="img" aria-label="{escape(title)}"', 1)
    return f"<figure><figcaption>{escape(title)}</figcaption>{svg}</figure>"


def _scores(ax: Axes, totals: Sequence[float], most: float) -> None:
    if totals:
        width = math.ceil(most / 12)
        ax.hist(totals, np.arange(0, most + width, width).tolist(), color=COLOURS["look at this"], edgecolor="white")
    ax.set(xlabel="points", ylabel="submissions", xlim=(0, None))
    ax.yaxis.set_major_locator(MaxNLocator(integer=True))


def _statuses(ax: Axes, batch: Sequence[Graded]) -> None:
    """A bar an exercise, the one that failed most on top."""
    names = [mark.exercise for mark in batch[0].marks]
    counts = {name: Counter(graded.marks[i].status for graded in batch) for i, name in enumerate(names)}
    names.sort(key=lambda name: -counts[name]["ok"])
    left = [0] * len(names)
    for status in STATUSES:
        widths = [counts[name][status] for name in names]
        if any(widths):
            ax.barh(names, widths, left=left, color=COLOURS[status], label=status)
            left = [a + b for a, b in zip(left, widths, strict=True)]
    ax.set(xlabel="submissions")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.figure.legend(loc="outside upper center", ncols=4, frameon=False)


def _times(ax: Axes, batch: Sequence[Graded]) -> None:
    seconds = sorted(graded.seconds for graded in batch)
    ax.plot(range(1, len(seconds) + 1), seconds, "o-", color=COLOURS["look at this"], markersize=4)
    ax.set(xlabel="submissions, the quickest first", ylabel="seconds", ylim=(0, None))
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))


def _looks(batch: Sequence[Graded]) -> str:
    """What a person has to look at."""
    rows = [
        f"<li>{_link(graded)}, {mark.exercise}: {escape(why)}</li>"
        for graded in batch
        for mark in graded.marks
        for why in (
            [f"{mark.message} {mark.inside[-300:]}"] * (mark.points is None and not _is_whole(graded))
            + ["it calls " + ", ".join(mark.uses)] * bool(mark.uses and mark.points)
        )
    ]
    files = [f"<li>{_link(graded)}: {escape(graded.marks[0].message)}</li>" for graded in batch if _is_whole(graded)]
    return f"<h2>Look at this</h2><ul>{''.join(files + rows)}</ul>" if files + rows else ""


def _is_whole(graded: Graded) -> bool:
    """Whether there is one thing to say of all its exercises: it is no notebook, or of another chapter."""
    return len({(mark.message, mark.points) for mark in graded.marks}) == 1 and graded.marks[0].points is None


def _link(graded: Graded) -> str:
    return f'<a href="students/{escape(quote(graded.folder))}/feedback.html">{escape(graded.student)}</a>'


def _table(batch: Sequence[Graded]) -> str:
    rows = []
    for i, mark in enumerate(batch[0].marks):
        passed = sum(graded.marks[i].points == mark.most for graded in batch)
        others = ("not attempted", "invalid file", "look at this")
        said = Counter(g.marks[i].message for g in batch if g.marks[i].message and g.marks[i].status not in others)
        common = said.most_common(1)[0][0] if said else ""
        title = escape(EXERCISES[mark.exercise].title)
        right = f'<td class="whole">{passed} of {len(batch)}</td>'
        rows.append(f"<tr><td>{title}<br><code>{mark.exercise}</code></td>{right}<td>{escape(common)}</td></tr>")
    head = "<tr><th>exercise</th><th>right</th><th>what was said most</th></tr>"
    return f"<h2>Exercises</h2><table>{head}{''.join(rows)}</table>"
