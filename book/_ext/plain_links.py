"""The ways out of a chapter's page lead to its plain notebook, which every notebook program shows.

The download is written here; Colab and Binder open the branch ``plain`` of the repository, which
``book/tools/plain.py`` makes. In a book without solutions the plain notebooks have none either.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
from docutils import nodes
from sphinx.application import Sphinx

from fhx.course.book import Book
from fhx.course.chapters import Chapter
from fhx.course.versions import reader_version

BRANCH = "plain"
LAUNCHERS = ("Binder", "Colab")


def offer(app: Sphinx, error: Exception | None) -> None:
    """Put the plain notebooks in the places of the sources that the download buttons lead to."""
    folder = Path(app.srcdir, "notebooks")
    if error or app.builder.format != "html" or not folder.is_dir():
        return
    book = Book(folder)
    for number, path in book.paths.items():
        target = Path(app.outdir, "_sources", "notebooks", path.name)
        if target.exists():
            made = reader_version(Chapter(book, number), solved=app.tags.has("solutions"))
            target.write_text(nbformat.writes(made) + "\n", encoding="utf-8")


def lead(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None) -> None:
    """Let the buttons of Colab and Binder open the branch of plain notebooks."""
    branch = app.config.html_theme_options.get("repository_branch", "main")
    for button in _buttons(context.get("header_buttons", ())):
        if button.get("text") in LAUNCHERS:
            url: str = button["url"]
            button["url"] = url.replace(f"/blob/{branch}/", f"/blob/{BRANCH}/").replace(f"/{branch}?", f"/{BRANCH}?")


def _buttons(buttons: Any) -> Iterator[dict[str, Any]]:
    for button in buttons:
        yield button
        yield from _buttons(button.get("buttons", ()))


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("build-finished", offer)
    app.connect("html-page-context", lead, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
