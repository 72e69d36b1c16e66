"""The page of run times and versions: what the record of :mod:`run_record` says, with ``{run-times}``.

A chapter that the record does not tell of as it is now says so in its row.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

sys.path.append(str(Path(__file__).parents[1] / "tools"))

import run_record

COLUMNS = ("Chapter", "Cells", "Seconds", "CPU seconds")
FOLDER = "notebooks"


def duration(seconds: float) -> str:
    """Seconds in words that stay on one line: 48 s, 5 min 3 s."""
    minutes, rest = divmod(round(seconds), 60)
    return (f"{minutes} min {rest} s" if minutes else f"{rest} s").replace(" ", "\N{NO-BREAK SPACE}")


def summary(record: dict) -> str:
    """When, where and how long the notebooks ran."""
    rows = record["notebooks"].values()
    cells, passed = sum(row["cells"] for row in rows), sum(row["passed"] for row in rows)
    wall, cpu = (duration(sum(row[name] for row in rows)) for name in ("seconds", "cpu_seconds"))
    date = datetime.fromisoformat(record["date"])
    return (
        f"The run of {date:%-d %B %Y}: {passed} of {len(rows)} notebooks passed, with {cells} code cells. It took "
        f"{duration(record['seconds'])} on {record['cores']} cores ({record['processor']}), {record['processes']} "
        f"notebooks at a time. Their times in the table add up to {wall}, of which their kernels computed for {cpu}."
    )


class RunTimes(SphinxDirective):
    """Two sentences on the run as a whole, a row for each chapter, and the versions."""

    def run(self) -> list[nodes.Node]:
        root = Path(self.env.srcdir)
        chapters = sorted(name for name in self.env.found_docs if name.startswith(f"{FOLDER}/"))
        for path in (root / run_record.KEPT, *(self.env.doc2path(name) for name in chapters)):
            self.env.note_dependency(str(path))
        record = run_record.load(root / run_record.KEPT)
        if record is None:
            return [nodes.paragraph("", "No run has been kept yet.")]
        reasons = run_record.outdated(record, root / FOLDER)
        newer = sum(f"{FOLDER}/{name}" in chapters for name in reasons)
        old = [self._old(newer)] if newer else []
        rows = [self._row(name, record["notebooks"], reasons) for name in chapters]
        return [nodes.paragraph("", summary(record)), *old, table(COLUMNS, rows), versions(record["versions"])]

    def _old(self, number: int) -> nodes.note:
        chapters = "chapters that are" if number > 1 else "chapter that is"
        return nodes.note("", nodes.paragraph("", f"The table has {number} {chapters} newer than this run."))

    def _row(self, docname: str, measured: dict, reasons: dict) -> list[list[nodes.Node]]:
        name = docname.removeprefix(f"{FOLDER}/")
        found, reason = measured.get(name), reasons.get(name)
        options = {"refdomain": "std", "reftype": "doc", "refexplicit": False, "refwarn": True}
        link = addnodes.pending_xref("", nodes.inline(), reftarget=f"/{docname}", refdoc=self.env.docname, **options)
        said = [nodes.paragraph("", f"({reason})")] if reason else []
        numbers = [f"{found[key]:.0f}" if found else "–" for key in ("cells", "seconds", "cpu_seconds")]
        return [[nodes.paragraph("", "", link), *said], *([nodes.paragraph("", number)] for number in numbers)]


def table(names: Iterable[str], rows: Iterable[Iterable[list[nodes.Node]]]) -> nodes.table:
    """A table with a head of words and rows of cells, the first of each row naming it."""
    head = [[nodes.paragraph("", name)] for name in names]
    group = nodes.tgroup("", *(nodes.colspec(colwidth=1) for _ in head), cols=len(head))
    group[0]["stub"] = 1
    made = [nodes.row("", *(nodes.entry("", *content) for content in row)) for row in (head, *rows)]
    group += [nodes.thead("", made[0]), nodes.tbody("", *made[1:])]
    return nodes.table("", group, classes=["run-times", "colwidths-auto"])


def versions(found: dict[str, str]) -> nodes.paragraph:
    names = ", ".join(f"{'Python' if name == 'python' else name} {version}" for name, version in found.items())
    return nodes.paragraph("", f"Versions: {names}.")


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("run-times", RunTimes)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
