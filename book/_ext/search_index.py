"""The search: the text of all pages in one file, which the reader's browser makes into an index when it is wanted.

A page that was opened from a disk may not ask for files, but may load scripts, so the text is one: the file
``searchindex.js``, in the place of Sphinx's own index. ``book/_static/search.js`` says what is found in it and in which
order; dialog and page of the search are in ``book/_templates``. Solutions are left out, in a book that has them too:
nobody who looks for a word wants to be told an answer.

The file sets ``bookSections``:

- ``pages``: for each page its address, its title, and its rank: 0 for a chapter, whose title is numbered, 2 for a page
  that lists names, 1 for all others.
- ``sections``: for each section the number of its page, its anchor, its heading, its text, and the names of its
  statements and exercises.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from page_text import read_page

FILE = "searchindex.js"
LISTS = re.compile(r"book/(api(/.+)?|bibliography)\.html")  # of names: of the package, and of works
UNUSED = ("searchtools.js", "language_data.js")
CHAPTER, OTHER, LIST = range(3)


def index(pages: dict[str, str]) -> dict[str, list[list[Any]]]:
    """What can be found in pages, given as HTML by their addresses.

    Raises:
        ValueError: a page cannot be read; it is named.
    """
    found: dict[str, list[list[Any]]] = {"pages": [], "sections": []}
    for number, (address, html) in enumerate(pages.items()):
        try:
            page = read_page(html)
        except ValueError as error:
            raise ValueError(f"{address}: {error}") from error
        found["pages"].append([address, page.title, rank(address, page.numbered)])
        found["sections"] += [[number, *section] for section in page.sections]
    return found


def rank(address: str, numbered: bool) -> int:
    """Where the sections of a page stand among those that were found."""
    if LISTS.fullmatch(address):
        return LIST
    return CHAPTER if numbered else OTHER


def search_page(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    yield "search", {}, "search.html"


def without_sphinx(app: Sphinx) -> None:
    """Keep Sphinx from making its own index, which each page would load."""
    app.builder.search = False


def write(app: Sphinx, exception: Exception | None) -> None:
    """Write the file once all pages are there, and leave out the scripts of the theme's search."""
    if exception is None and app.builder.name == "html":
        folder = Path(app.outdir)
        addresses = [app.builder.get_target_uri(name) for name in sorted(app.env.found_docs)]
        pages = {address: (folder / address).read_text("utf-8") for address in addresses}
        text = json.dumps(index(pages), ensure_ascii=False, separators=(",", ":"))
        (folder / FILE).write_text(f"bookSections = {text};\n", encoding="utf-8")
        for name in UNUSED:
            (folder / "_static" / name).unlink(missing_ok=True)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", without_sphinx)
    app.connect("html-collect-pages", search_page)
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
