"""What a chapter holds, read from its notebook: sections with their words, and exercises with label and id."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

HEADING = re.compile(r"^(?:\((?P<label>[\w:-]+)\)=\n+)?(?P<marks>#{1,3}) (?P<title>[^\n]+)", re.M)
EXERCISE = re.compile(r"^`{3,}\{exercise\}[^\n]*\n:label: *(?P<label>\S+)", re.M)
CHECK = re.compile(r"^\s*check\(\s*[\"'](?P<id>[\w-]+)[\"']", re.M)
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
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    texts = [("".join(cell["source"]), cell["cell_type"]) for cell in cells]
    prose = "\n\n".join(text for text, kind in texts if kind == "markdown")
    return Chapter(path.stem, _sections(prose), tuple(_exercises(texts, path.stem)))


def _sections(prose: str) -> tuple[Section, ...]:
    found = list(HEADING.finditer(prose))
    stop = next((place for place, one in enumerate(found) if one["title"].strip() == LAST), len(found))
    ends = [*(one.start() for one in found[1:]), len(prose)]
    return tuple(
        Section(one["label"] or "", len(one["marks"]), word_count(prose[one.end() : end]))
        for one, end in zip(found[:stop], ends, strict=False)
    )


def _exercises(texts: list[tuple[str, str]], name: str) -> list[tuple[str, str]]:
    found, label = [], None
    for text, kind in texts:
        pattern = EXERCISE if kind == "markdown" else CHECK
        if not (match := pattern.search(text)):
            continue
        if kind == "markdown" and label:
            raise ReadingError(f"{name}: the exercise {label} has no check")
        if kind == "markdown":
            label = match["label"]
        elif label:
            found.append((label, match["id"]))
            label = None
    if label:
        raise ReadingError(f"{name}: the exercise {label} has no check")
    return found
