r"""What the landing page takes from the chapters when the book is built: an explorer, and six results.

``{stored-explorer} 05 turing-machines`` shows the explorer of that name as chapter 5 has stored it; it plays by itself
unless a reader wants less motion (``book.js``).

``{results}`` holds a list in YAML. An entry names a ``chapter`` by its two digits, a ``figure`` of it, which becomes
the picture, and ``prints``, a regular expression that one printed line of the chapter matches. Its groups are the
numbers ``{0}``, ``{1}`` of ``number`` and ``text``. So a number on the landing page is one that a chapter prints, and a
chapter that prints it no longer stops the build.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

import nbformat
import yaml
from docutils import nodes
from nbformat import NotebookNode
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from fhx.course.notebooks import figure, is_code

IMAGES = "_images"


class result_cards(nodes.General, nodes.Element):
    """The results, each a dictionary of what its card shows."""


class Chapters:
    """The chapters of a book, by their two digits."""

    def __init__(self, root: Path) -> None:
        self.paths = {path.name[:2]: path for path in sorted((root / "notebooks").glob("[0-9][0-9]-*.ipynb"))}

    def outputs(self, chapter: str) -> Iterator[tuple[NotebookNode, NotebookNode]]:
        """Each output of a chapter with its cell.

        Raises:
            ValueError: there is no such chapter.
        """
        if chapter not in self.paths:
            raise ValueError(f"there is no chapter {chapter!r}")
        notebook = nbformat.read(self.paths[chapter], as_version=4)
        yield from ((cell, output) for cell in notebook.cells if is_code(cell) for output in cell.outputs)

    def numbers(self, chapter: str, pattern: str) -> tuple[str, ...]:
        """The groups of the one printed line that a pattern matches.

        Raises:
            ValueError: no line matches, or several do.
        """
        lines = "\n".join(output.get("text", "") for _, output in self.outputs(chapter)).splitlines()
        found = {match.groups() for line in lines if (match := re.search(pattern, line))}
        if len(found) != 1:
            raise ValueError(f"{len(found)} lines that chapter {chapter} prints match {pattern!r}, and not 1")
        return found.pop()

    def picture(self, chapter: str, name: str) -> tuple[bytes, str]:
        """A figure, and the ending of a file that holds it.

        Raises:
            ValueError: the chapter has no such figure.
        """
        for cell, output in self.outputs(chapter):
            kinds = output.get("data", {})
            if figure(cell).get("name") == name and "image/svg+xml" in kinds:
                return kinds["image/svg+xml"].encode(), ".svg"
            if figure(cell).get("name") == name and "image/png" in kinds:
                return base64.b64decode(kinds["image/png"]), ".png"
        raise ValueError(f"chapter {chapter} has no figure {name!r}")

    def explorer(self, chapter: str, name: str) -> str:
        """The stored HTML of an explorer.

        Raises:
            ValueError: the chapter has no such explorer.
        """
        for _, output in self.outputs(chapter):
            html = output.get("data", {}).get("text/html", "")
            if f'data-rx="{name}"' in html:
                return html
        raise ValueError(f"chapter {chapter} has no explorer {name!r}")


class StoredExplorer(SphinxDirective):
    """An explorer as a chapter has stored it."""

    required_arguments = 2

    def run(self) -> list[nodes.Node]:
        chapters = Chapters(Path(self.env.srcdir))
        try:
            html = chapters.explorer(*self.arguments)
        except ValueError as error:
            raise self.error(str(error)) from error
        self.env.note_dependency(str(chapters.paths[self.arguments[0]]))
        return [nodes.raw("", f'<div class="plays-itself">{html}</div>', format="html")]


class Results(SphinxDirective):
    """Cards of results: picture, number, sentence, and the way to the figure."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        chapters, cards = Chapters(Path(self.env.srcdir)), []
        try:
            for entry in yaml.safe_load("\n".join(self.content)):
                numbers = chapters.numbers(entry["chapter"], entry["prints"])
                data, ending = chapters.picture(entry["chapter"], entry["figure"])
                said = {key: entry[key].format(*numbers) for key in ("number", "text")}
                path = chapters.paths[entry["chapter"]]
                cards.append(
                    {
                        **said,
                        "data": data,
                        "ending": ending,
                        "figure": entry["figure"],
                        "page": f"notebooks/{path.stem}",
                    }
                )
                self.env.note_dependency(str(path))
        except (ValueError, KeyError, IndexError, TypeError, yaml.YAMLError) as error:
            raise self.error(f"a result cannot be shown: {error}") from error
        return [result_cards(cards=cards)]


def show(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Write the pictures and put the cards in their place."""
    for node in [*doctree.findall(result_cards)]:
        cards = "".join(_card(app, docname, card) for card in node["cards"])
        node.replace_self(nodes.raw("", f'<ul class="results">{cards}</ul>', format="html"))


def _card(app: Sphinx, docname: str, card: dict[str, Any]) -> str:
    name = f"result-{card['figure']}{card['ending']}"
    target = Path(app.outdir, IMAGES, name)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(card["data"])
    up = "../" * docname.count("/")
    href = f"{app.builder.get_relative_uri(docname, card['page'])}#{card['figure']}"
    return (
        f'<li><a href="{escape(href)}"><img class="drawn" src="{up}{IMAGES}/{name}" alt="" loading="lazy">'
        f"<strong>{escape(card['number'])}</strong> <span>{escape(card['text'])}</span></a></li>"
    )


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_node(result_cards)
    app.add_directive("stored-explorer", StoredExplorer)
    app.add_directive("results", Results)
    app.connect("doctree-resolved", show)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
