"""Symbols: an inline formula that is one symbol of the notation has a card with its meaning.

``book/symbols.yml`` says what a symbol means in which chapters, sections and statements. The directive ``symbols``, on
the page Notation, lists them by chapter. A formula of a chapter gets the name of its entry as ``data-symbol``, and
``cards.js`` shows that entry on hover and at a tap. A symbol is no link and no stop for the keyboard: below the opening
of each chapter one link leads to its list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from attrs import field, frozen
from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective

from folding import NOTE, Fold

FILE = Path(__file__).parents[1] / "symbols.yml"
PAGE = "book/notation"
LINK = "Symbols of this chapter"
CHAPTER = re.compile(r"notebooks/(\d\d)-")
TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\S")
BRACED = re.compile(r"\{ (\S+) \}")
TASKS = ("ex-", "sol-")  # how the labels of exercises and solutions begin


@cache
def same(formula: str) -> str:
    """A formula in a form that spaces, and braces around one sign, do not change."""
    return BRACED.sub(r"\1", " ".join(TOKEN.findall(formula)).replace(r"\ast", "*"))


@frozen
class Meaning:
    """What a symbol means, and where: in whole chapters, or within what has one of the labels."""

    symbol: str
    says: str
    name: str
    chapters: dict[int, list[str]] = field(factory=dict)
    elsewhere: frozenset[str] = frozenset()


def read(text: str) -> list[Meaning]:
    """The meanings in a file such as ``symbols.yml``.

    Raises:
        ValueError: two meanings of a symbol hold in the same place.
    """
    found: list[Meaning] = []
    taken: set[tuple[str, str]] = set()
    for entry in yaml.safe_load(text):
        symbol, where = entry["symbol"], {number: (labels or "").split() for number, labels in entry["in"].items()}
        for scope in (scope for number, labels in where.items() for scope in labels or [str(number)]):
            if (same(symbol), scope) in taken:
                raise ValueError(f"{symbol} has two meanings in {scope}; a formula there can have one")
            taken.add((same(symbol), scope))
        words = re.sub(r"[^A-Za-z0-9]+", "-", symbol.replace("*", "star")).strip("-")
        name = f"{words}-{min(where)}"
        name += "b" * (name in {one.name for one in found})
        found.append(Meaning(symbol, entry["says"], name, where, frozenset(entry.get("not", "").split())))
    return found


@cache
def meanings() -> list[Meaning]:
    """Those of the book."""
    return read(FILE.read_text(encoding="utf-8"))


def meaning_of(formula: str, around: list[str], chapter: int, known: list[Meaning]) -> Meaning | None:
    """What a formula means in a chapter, within things with these labels, the innermost first; None if nobody says."""
    here = [one for one in known if same(one.symbol) == same(formula) and chapter in one.chapters]
    task = any(label.startswith(TASKS) for label in around)
    for label in around:
        for one in here:
            if label in one.chapters[chapter]:
                return one
            if label in one.elsewhere:
                return None
    whole = [one for one in here if not one.chapters[chapter]]
    return whole[0] if whole and (not task or "_" in formula) else None


def labels_around(node: nodes.Node) -> Iterator[str]:
    """The labels of what a node stands in, the innermost first; a proof stands in what it proves."""
    while node := node.parent:
        yield from node.get("ids", ())
        if isinstance(node, Fold) and node["kind"] == "proof":
            before = node.parent[: node.parent.index(node)]
            yield from before[-1].get("ids", ()) if before and isinstance(before[-1], nodes.Element) else ()


def mark(document: nodes.document, chapter: int, known: list[Meaning]) -> None:
    """Write into each formula that is one symbol the name of what it means."""
    for formula in document.findall(nodes.math):
        parents: list[nodes.Element] = []
        while (parents[-1] if parents else formula).parent:
            parents.append((parents[-1] if parents else formula).parent)
        if any(isinstance(one, nodes.reference | nodes.title) or one.get("kind") == NOTE for one in parents):
            continue
        if one := meaning_of(formula.astext(), [*labels_around(formula)], chapter, known):
            formula["symbol"] = one.name


class MarkSymbols(SphinxPostTransform):
    """Marks the symbols of a chapter, and leads to its list at the end of the opening."""

    default_priority = 210  # when cells and proofs have been folded
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        if not (found := CHAPTER.match(self.env.docname)):
            return
        number = int(found[1])
        mark(self.document, number, meanings())
        chapter = next(self.document.findall(nodes.section))
        place = next((i for i, part in enumerate(chapter) if isinstance(part, nodes.section)), len(chapter))
        target = f"{self.app.builder.get_relative_uri(self.env.docname, PAGE)}#symbols-of-{number:02}"
        link = nodes.reference("", LINK, refuri=target, internal=True)
        chapter.insert(place, nodes.paragraph("", "", link, classes=["symbols-of-chapter"]))


class Symbols(SphinxDirective):
    """All meanings, by the chapter in which each begins to hold; a chapter first names those from before."""

    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(str(FILE))
        return [part for number in range(1, 14) for part in self.of_chapter(number)]

    def of_chapter(self, number: int) -> Iterator[nodes.Node]:
        page = next(name for name in self.env.found_docs if name.startswith(f"notebooks/{number:02}-"))
        title = self.inline(f"{{doc}}`/{page}`")
        yield nodes.paragraph("", "", *title, classes=["symbols-of"], ids=[f"symbols-of-{number:02}"])
        here = [one for one in meanings() if number in one.chapters]
        for first in sorted({min(one.chapters) for one in here} - {number}):
            link = nodes.reference("", f"chapter {first}", refid=f"symbols-of-{first:02}", internal=True)
            line = nodes.paragraph("", "From ", link, nodes.Text(": "))
            for one in (one for one in here if min(one.chapters) == first):
                line += [nodes.math("", one.symbol, symbol=one.name), nodes.Text(", ")]
            line[-1] = nodes.Text(".")
            yield line
        listed = nodes.definition_list(classes=["simple", "symbols"])
        for one in here:
            if min(one.chapters) == number:
                term = nodes.term("", "", nodes.math("", one.symbol), ids=[f"symbol-{one.name}"])
                said = nodes.definition("", nodes.paragraph("", "", *self.inline(f"{one.says}.")))
                listed += nodes.definition_list_item("", term, said)
        if len(listed):
            yield listed

    def inline(self, text: str) -> list[nodes.Node]:
        """The nodes of a line of Markdown."""
        made = nodes.Element()
        self.state.nested_parse(StringList([text], str(FILE)), self.content_offset, made)
        return made[0].children


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("symbols", Symbols)
    app.add_post_transform(MarkSymbols)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
