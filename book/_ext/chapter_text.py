"""What a chapter holds, read from its notebook: sections with their words, and exercises with label and id."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from nbformat import NotebookNode

from fhx.course.notebooks import CHECK, HEADING, is_code, is_markdown, placed, read, text_of

LAST = "Exercises"  # the section that ends what is read
NOT_WORDS = [  # (what, by what it is replaced): formulas, targets, addresses and the marks of directives and roles
    (re.compile(r"\$\$.*?\$\$(?: *\([\w-]+\))?|\$[^$]*\$|\{eq\}`[^`]*`", re.DOTALL), " "),
    (re.compile(r"^(?:`{3,}[^\n]*|:[\w-]+:[^\n]*|\([\w:-]+\)=|\|[-| :]+\|)$", re.M), " "),
    (re.compile(r"\{[a-z:]+\}`(?:([^`<]*)<)?[^`]*`"), r"\1"),
    (re.compile(r"\]\([^)]*\)"), " "),
]


class ReadingError(ValueError):
    """A place in a chapter that is not there, or an exercise that cannot be told."""


@dataclass(frozen=True)
class Section:
    """A heading: its label, "" where it has none, its level from 1, and the words up to the next heading."""

    label: str
    level: int
    words: int


@dataclass(frozen=True)
class Chapter:
    """A notebook: its name without suffix, its sections without the exercises, and (label, id) of each exercise."""

    name: str
    sections: tuple[Section, ...]
    exercises: tuple[tuple[str, str], ...]

    @property
    def number(self) -> str:
        return self.name[:2]

    @property
    def words(self) -> int:
        return sum(section.words for section in self.sections)

    def words_between(self, start: str | None, end: str | None) -> int:
        """The words from the section ``start`` to the end of the section ``end``, each with what is below it.

        Raises:
            ReadingError: there is no such section, or ``end`` comes before ``start``.
        """
        first = 0 if start is None else self._place(start)
        last = len(self.sections) if end is None else self._after(self._place(end))
        if last <= first:
            raise ReadingError(f"{end} comes before {start} in {self.name}")
        return sum(section.words for section in self.sections[first:last])

    def _place(self, label: str) -> int:
        for place, section in enumerate(self.sections):
            if section.label == label:
                return place
        raise ReadingError(f"no section of {self.name} has the label {label}")

    def _after(self, place: int) -> int:
        level = self.sections[place].level
        later = range(place + 1, len(self.sections))
        return next((other for other in later if self.sections[other].level <= level), len(self.sections))


def word_count(markdown: str) -> int:
    """How many words a reader reads in it; a formula is none."""
    for pattern, instead in NOT_WORDS:
        markdown = pattern.sub(instead, markdown)
    return len(re.findall(r"[^\W\d_][\w'-]*", markdown))


def read_chapter(path: Path) -> Chapter:
    """The chapter in the notebook at ``path``.

    Raises:
        ReadingError: an exercise has no check before the next one.
    """
    cells = read(path).cells
    prose = "\n\n".join(text_of(cell) for cell in cells if is_markdown(cell))
    return Chapter(path.stem, _sections(prose), tuple(_exercises(cells, path.stem)))


def _sections(prose: str) -> tuple[Section, ...]:
    found = list(HEADING.finditer(prose))
    stop = next((place for place, one in enumerate(found) if one["title"].strip() == LAST), len(found))
    ends = [*(one.start() for one in found[1:]), len(prose)]
    return tuple(
        Section(one["label"] or "", len(one["marks"]), word_count(prose[one.end() : end]))
        for one, end in zip(found[:stop], ends, strict=False)
    )


def _exercises(cells: list[NotebookNode], name: str) -> list[tuple[str, str]]:
    """The label of each statement, with the id in the first check after it."""
    found: dict[str, str | None] = {}
    for one in placed(cells):
        if one.label is not None and is_code(one.cell) and (check := CHECK.search(text_of(one.cell))):
            found[one.label] = found.get(one.label) or check["id"]
        elif one.label is not None:
            found.setdefault(one.label, None)
    if unchecked := [label for label, id in found.items() if id is None]:
        raise ReadingError(f"{name}: the exercise {unchecked[0]} has no check")
    return [(label, id) for label, id in found.items() if id]
