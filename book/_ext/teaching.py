"""The page for those who teach: tables of chapters, exercises and weeks, with numbers from notebooks and records.

``{course-overview}`` has a row for each chapter, and their sum. ``{course-chapters}`` has a section for each: its body,
in YAML, says what a chapter needs and teaches, and a table lists its exercises. ``{course-weeks}`` is a track: its body
has for each week what is read and what is assigned, and the hours are added up. A chapter is named by its number, and a
part of it as in ``07 to gra-exponent`` or ``13 from ans-need to ans-decide``.

A book without solutions leaves out what an exercise teaches, for that often says how it is solved.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import yaml
from docutils import nodes
from docutils.statemachine import StringList
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from chapter_text import Chapter, ReadingError, read_chapter
from fhx.exercises import EXERCISES, Exercise
from run_times import FOLDER, table

WORDS_A_MINUTE = 60
READ = re.compile(r"(?P<number>\d\d)(?: from (?P<start>[\w-]+))?(?: to (?P<end>[\w-]+))?")
HOURS = ("Hours of text", "Hours of exercises")


class Effort(NamedTuple):
    """What is asked of a student: points, and hours of reading and of exercises in tenths, so that columns add up."""

    points: int
    reading: float
    exercises: float

    @property
    def shown(self) -> list[str]:
        return [str(self.points), f"{self.reading:.1f}", f"{self.exercises:.1f}"]


def effort(words: int, exercises: Iterable[Exercise]) -> Effort:
    """That of a text and of exercises."""
    notes = [exercise.notes for exercise in exercises]
    points, minutes = sum(note.points for note in notes), sum(note.minutes for note in notes)
    return Effort(points, round(words / WORDS_A_MINUTE / 60, 1), round(minutes / 60, 1))


def total(efforts: Iterable[Effort]) -> Effort:
    return Effort(*map(sum, zip(*efforts, strict=True)))


class TeachingDirective(SphinxDirective):
    """What the directives share: the chapters, and what cells hold."""

    has_content = False

    def run(self) -> list[nodes.Node]:
        self.env.note_reread()
        try:
            return list(self.content_nodes())
        except (ReadingError, yaml.YAMLError) as error:
            raise self.error(f"{self.name}: {error}") from error

    def content_nodes(self) -> Iterable[nodes.Node]:
        raise NotImplementedError

    @cached_property
    def chapters(self) -> dict[str, Chapter]:
        """The chapters of the book by their number."""
        names = sorted(name for name in self.env.found_docs if name.startswith(f"{FOLDER}/"))
        found = [read_chapter(Path(self.env.doc2path(name))) for name in names]
        for _, exercise in (pair for chapter in found for pair in chapter.exercises):
            if exercise not in EXERCISES:
                raise ReadingError(f"there is no exercise {exercise}")
        return {chapter.number: chapter for chapter in found}

    @cached_property
    def labels(self) -> dict[str, str]:
        """The label of each exercise by its id."""
        return {name: label for chapter in self.chapters.values() for label, name in chapter.exercises}

    def records(self, chapter: Chapter) -> list[Exercise]:
        return [EXERCISES[name] for _, name in chapter.exercises]

    def body(self, *fields: str) -> list[dict]:
        """The YAML list between the marks of the directive, each entry with these fields."""
        entries = yaml.load("\n".join(self.content), Loader=yaml.BaseLoader)  # so 07 stays what it is
        if not isinstance(entries, list) or any(
            not isinstance(one, dict) or set(one) != set(fields) for one in entries
        ):
            raise ReadingError(f"expected a list of entries with the fields {', '.join(fields)}")
        return entries

    def markdown(self, text: str) -> list[nodes.Node]:
        holder = nodes.Element()
        self.state.nested_parse(StringList(text.splitlines(), self.env.docname), self.content_offset, holder)
        return holder.children

    def reference(self, domain: str, kind: str, target: str, words: str = "") -> addnodes.pending_xref:
        shown = nodes.inline(words, words, classes=["xref", "std", f"std-{kind}"])
        options = {"refdomain": domain, "reftype": kind, "refexplicit": bool(words), "refwarn": True}
        return addnodes.pending_xref("", shown, reftarget=target, refdoc=self.env.docname, **options)

    def link(self, chapter: Chapter) -> addnodes.pending_xref:
        return self.reference("std", "doc", f"/{FOLDER}/{chapter.name}")

    def reading(self, part: str) -> tuple[int, nodes.paragraph]:
        """The words of a part of a chapter, and its description with links."""
        found = READ.fullmatch(part)
        if not found or found["number"] not in self.chapters:
            raise ReadingError(f"{part!r} is not a part of a chapter, such as '07 from gra-norm to gra-exponent'")
        chapter = self.chapters[found["number"]]
        ways = [(word, found[name]) for word, name in ((", from ", "start"), (", to ", "end")) if found[name]]
        said = [node for word, label in ways for node in (word, self.reference("std", "ref", label))]
        return chapter.words_between(found["start"], found["end"]), paragraph(self.link(chapter), *said)


def row(words: Iterable[nodes.Node], *numbers: str) -> list[list[nodes.Node]]:
    """A row of a table whose first cell holds paragraphs and the others a number each."""
    return [list(words), *([nodes.paragraph("", number)] for number in numbers)]


def paragraph(*content: nodes.Node | str) -> nodes.paragraph:
    return nodes.paragraph("", "", *(nodes.Text(one) if isinstance(one, str) else one for one in content))


class Overview(TeachingDirective):
    """A row for each chapter, with its exercises, points and hours; and all of them together."""

    def content_nodes(self) -> Iterable[nodes.Node]:
        asked = [effort(chapter.words, self.records(chapter)) for chapter in self.chapters.values()]
        rows = [
            row([paragraph(self.link(chapter))], str(len(chapter.exercises)), *one.shown)
            for chapter, one in zip(self.chapters.values(), asked, strict=True)
        ]
        count = sum(len(chapter.exercises) for chapter in self.chapters.values())
        rows.append(row([paragraph("Together")], str(count), *total(asked).shown))
        yield table(("Chapter", "Exercises", "Points", *HOURS), rows)


class Chapters(TeachingDirective):
    """A section for each chapter: what it needs, what it teaches, and its exercises."""

    has_content = True

    def content_nodes(self) -> Iterable[nodes.Node]:
        entries = self.body("chapter", "needs", "teaches")
        if [entry["chapter"] for entry in entries] != list(self.chapters):
            raise ReadingError(f"expected the chapters {', '.join(self.chapters)}, once and in this order")
        return [self._section(self.chapters[entry["chapter"]], entry) for entry in entries]

    def _section(self, chapter: Chapter, entry: dict) -> nodes.section:
        name = f"teach-{chapter.number}"
        title = nodes.title("", self.env.titles[f"{FOLDER}/{chapter.name}"].astext())
        needs, teaches = self.markdown(entry["needs"]), self.markdown(entry["teaches"])
        items = {"Chapter": [nodes.paragraph("", "", self.link(chapter))], "Needs": needs, "Teaches": teaches}
        fields = [
            nodes.field("", nodes.field_name("", word), nodes.field_body("", *what)) for word, what in items.items()
        ]
        section = nodes.section("", title, nodes.field_list("", *fields), self._exercises(chapter))
        section["ids"], section["names"] = [name], [name]
        self.state.document.note_explicit_target(section)
        return section

    def _exercises(self, chapter: Chapter) -> nodes.table:
        rows = (self._row(EXERCISES[name], label) for label, name in chapter.exercises)
        return table(("Exercise", "Points", "Minutes"), rows)

    def _row(self, exercise: Exercise, label: str) -> list[list[nodes.Node]]:
        notes = exercise.notes
        number = self.reference("std", "numref", label, "{number}")
        answer = f", {notes.difficulty} and reasons" if notes.looks_for else f", {notes.difficulty}"
        said = [paragraph(number, f" {exercise.title}"), paragraph(nodes.literal("", exercise.id), answer)]
        if self.env.app.tags.has("solutions"):
            said.append(paragraph(notes.teaches))
        return row(said, str(notes.points), str(notes.minutes))


class Weeks(TeachingDirective):
    """A track: a row for each week, with what is read, what is assigned and the hours of both; and all of them."""

    has_content = True

    def content_nodes(self) -> Iterable[nodes.Node]:
        rows, asked, assigned = [], [], set()
        for week, entry in enumerate(self.body("read", "assign"), start=1):
            ids = entry["assign"].split()
            if unknown := [name for name in ids if name not in self.labels]:
                raise ReadingError(f"week {week}: {', '.join(unknown)}: no exercise of the book")
            if len(assigned | set(ids)) < len(assigned) + len(ids):
                raise ReadingError(f"week {week}: an exercise is assigned twice")
            assigned |= set(ids)
            words, places = zip(*(self.reading(part.strip()) for part in entry["read"].split(",")), strict=True)
            asked.append(effort(sum(words), map(EXERCISES.get, ids)))
            rows.append(row([paragraph(f"Week {week}"), *places, self._assigned(ids)], *asked[-1].shown))
        rows.append(row([paragraph(f"All, with {len(assigned)} exercises")], *total(asked).shown))
        yield table(("Read and assign", "Points", *HOURS), rows)

    def _assigned(self, ids: list[str]) -> nodes.paragraph:
        links = [nodes.literal("", "", self.reference("std", "ref", self.labels[name], name)) for name in ids]
        return paragraph(*(part for link in links for part in (" ", link)))


def setup(app: Sphinx) -> dict[str, bool]:
    for name, directive in {"overview": Overview, "chapters": Chapters, "weeks": Weeks}.items():
        app.add_directive(f"course-{name}", directive)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
