"""What a chapter and its exercises ask of a reader, where the reader meets them.

The paragraph "Before this chapter" gets the hours of text and of exercises, as the page for those who teach counts
them; below the title of each exercise stand its points, its minutes and how hard it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx_exercise.nodes import exercise_enumerable_node, exercise_node

from chapter_text import read_chapter
from fhx.exercises import EXERCISES
from run_times import FOLDER
from teaching import effort

BEFORE = "Before this chapter"


def hours(number: float) -> str:
    """Words for a number of hours, in tenths as in the tables, as "1 hour" and "2.3 hours"."""
    return f"{round(number, 1):g} hour{'s' * (round(number, 1) != 1)}"


def time_line(words: int, ids: list[str]) -> str:
    """The line that says how long a chapter takes."""
    asked = effort(words, [EXERCISES[name] for name in ids])
    return f"about {hours(asked.reading)} for the text, and {hours(asked.exercises)} for the {len(ids)} exercises"


def effort_line(name: str) -> str:
    """The line below the title of an exercise."""
    notes = EXERCISES[name].notes
    reasons = ", with reasons" if notes.looks_for else ""
    return f"{notes.points} point{'s' * (notes.points > 1)} · {notes.minutes} minutes · {notes.difficulty}{reasons}"


class SayEffort(SphinxPostTransform):
    """Write both lines into a chapter."""

    default_priority = 190
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        if not self.env.docname.startswith(f"{FOLDER}/"):
            return
        chapter = read_chapter(Path(self.env.doc2path(self.env.docname)))
        ids = dict(chapter.exercises)
        for paragraph in before(self.document):
            line = nodes.paragraph(
                "", "", nodes.strong("", "Time"), nodes.Text(f": {time_line(chapter.words, [*ids.values()])}.")
            )
            paragraph.parent.insert(paragraph.parent.index(paragraph) + 1, line)
        for exercise in self.document.findall(lambda node: isinstance(node, exercise_node | exercise_enumerable_node)):
            if name := ids.get(exercise.get("label", "")):
                at = exercise.first_child_matching_class(nodes.title) or 0
                exercise.insert(at + 1, nodes.paragraph("", effort_line(name), classes=["effort"]))


def before(document: nodes.document) -> Iterator[nodes.paragraph]:
    """The paragraph that says what a chapter needs."""
    for paragraph in [*document.findall(nodes.paragraph)]:
        if any(word.astext() == BEFORE for word in paragraph.findall(nodes.strong)):
            yield paragraph


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_post_transform(SayEffort)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
