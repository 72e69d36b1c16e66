"""A clone of the book as data: its chapters, and the numbers, titles and addresses in them.

Numbers are counted as the rendered book counts them: statements, exercises and figures by kind within a chapter,
equations where they have a label.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from nbformat import NotebookNode

from fhx._version import revision
from fhx.course import CourseError
from fhx.course.bibliography import Work, linked, read_works
from fhx.course.notebooks import NotebookError, figure, is_markdown, read, text_of

__all__ = ["Book", "Target"]

LABELED = re.compile(
    r"^(?:`{3,}|:{3,})\{(?:prf:)?(?P<kind>[\w-]+)\}[^\n]*\n:label:[ \t]*(?P<block>\S+)"
    r"|\$\$[ \t]*\((?P<equation>[\w:.-]+)\)"
    r"|^\((?P<section>[\w:.-]+)\)=[ \t]*\n+(?:#+[ \t]+(?P<heading>[^\n]+))?",
    re.M,
)
UNNUMBERED = ("solution-start",)


class Target(NamedTuple):
    """What a label stands for.

    Attributes:
        page: where it is, as ``notebooks/03-automata-in-integer-weights``.
        words: ``Theorem 3.2``, ``(3.1)``, or the title of a section.
        anchor: its name in the rendered page.
    """

    page: str
    words: str
    anchor: str


@dataclass(frozen=True)
class Book:
    """A clone of the book, given by its folder of notebooks.

    Attributes:
        folder: where the notebooks are; its parent holds the rest.
        own: further notebooks, named like chapters; each takes the place of a chapter with its number.
    """

    folder: Path
    own: tuple[Path, ...] = ()

    def __post_init__(self) -> None:
        if not self.folder.is_dir():
            raise CourseError(
                f"there is no folder {self.folder}; --notebooks names the folder notebooks/ of a clone of the book"
            )
        if not self.paths:
            raise CourseError(f"no file in {self.folder} is named like a chapter, 03-title.ipynb")

    @cached_property
    def paths(self) -> dict[int, Path]:
        """The notebooks by chapter."""
        paths = [*sorted(self.folder.glob("[0-9][0-9]-*.ipynb")), *self.own]
        return {int(path.name[:2]): path for path in paths}

    def notebook(self, number: int) -> NotebookNode:
        """A chapter as it is in the folder.

        Raises:
            CourseError: there is none of that number, or it is not a notebook.
        """
        if number not in self.paths:
            known = ", ".join(f"{known:02}" for known in self.paths)
            raise CourseError(f"there is no chapter {number} in {self.folder}; there are {known}")
        path = self.paths[number]
        try:
            return read(path)
        except NotebookError as error:
            raise CourseError(f"in {self.folder}: {error}") from error

    @cached_property
    def targets(self) -> dict[str, Target]:
        """What every label of the book stands for."""
        return dict(self._targets())

    @cached_property
    def titles(self) -> dict[str, str]:
        """The title of each page."""
        return {page: match[1] for page, cells in self._pages() if (match := re.search(r"^# (.+)$", cells[0][0], re.M))}

    @cached_property
    def works(self) -> dict[str, Work]:
        """The bibliography."""
        return read_works(self._root / "book" / "references.bib")

    @cached_property
    def revision(self) -> str:
        """What to install for these notebooks: the tag of a release, else the commit; its branch where no git is."""
        return revision(self._root) or self._settings["repository"].get("branch", "main")

    @property
    def home(self) -> str:
        """The address of the rendered book or, where there is none, of its repository."""
        return self._base or self._settings["repository"]["url"]

    def link(self, words: str, page: str, anchor: str = "") -> str:
        """``words`` with a link to a place in the rendered book, if ``html: baseurl:`` of ``_config.yml`` has one."""
        is_own = any(page == f"notebooks/{path.stem}" for path in self.own)
        where = (
            f"{self._base.rstrip('/')}/{page}.html{'#' if anchor else ''}{anchor}"
            if self._base and not is_own
            else None
        )
        return linked(words, where)

    @property
    def _base(self) -> str | None:
        return (self._settings.get("html") or {}).get("baseurl")

    @property
    def _root(self) -> Path:
        return self.folder.resolve().parent

    @cached_property
    def _settings(self) -> dict[str, Any]:
        path = self._root / "_config.yml"
        try:
            return yaml.safe_load(path.read_text("utf-8"))
        except FileNotFoundError as error:
            raise CourseError(f"there is no {path}; the notebooks must be in a clone of the book") from error

    def _pages(self) -> Iterator[tuple[str, list[tuple[str, Mapping[str, str]]]]]:
        """Each page with the (Markdown, figure) of its cells; one of the two is empty."""
        for number, path in self.paths.items():
            cells = self.notebook(number).cells
            yield f"notebooks/{path.stem}", [_content(cell) for cell in cells]
        for path in sorted((self._root / "book").glob("*.md")):
            yield f"book/{path.stem}", [(path.read_text("utf-8"), {})]

    def _targets(self) -> Iterator[tuple[str, Target]]:
        for page, cells in self._pages():
            chapter, counts = page.removeprefix("notebooks/")[:2].lstrip("0"), Counter[str]()

            def next_number(kind: str, chapter: str = chapter, counts: Counter[str] = counts) -> str:
                counts[kind] += 1
                return f"{chapter}.{counts[kind]}"

            for text, drawn in cells:
                for found in LABELED.finditer(text):
                    if label := found["section"]:
                        yield label, Target(page, found["heading"] or self.titles[page], label)
                    elif label := found["equation"]:
                        yield label, Target(page, f"({next_number('equation')})", f"equation-{label}")
                    elif (kind := found["kind"]) not in UNNUMBERED:
                        label = found["block"]
                        yield label, Target(page, f"{kind.capitalize()} {next_number(kind)}", label)
                if label := drawn.get("name"):
                    yield label, Target(page, f"Fig. {next_number('figure')}", label)


def _content(cell: NotebookNode) -> tuple[str, Mapping[str, str]]:
    return text_of(cell) if is_markdown(cell) else "", figure(cell)
