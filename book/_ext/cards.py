"""Cards: what a link leads to, shown beside it.

For each page a file ``_static/cards/PAGE.js`` holds the cards of the targets on it: theorems and definitions, figures,
displayed formulas, exercises, works of the bibliography, terms, symbols, claims, and sections with their first
paragraph.
``cards.js`` loads it when a reader first rests on a link to the page, as a script, so that it works from a disk too,
and shows the card on hover, on focus and at a first tap.

The cards are parts of the page as it was written, so that numbers and formulas are those that the reader will find.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

FOLDER = "_static/cards"
TARGET = re.compile(
    r'<(?P<tag>div) class="(?:proof|exercise|math|citation)\b[^>]*>|<(?P<figure>figure)\b[^>]*>'
    r'|<details class="claim\b[^>]*>|<section\b[^>]*>|<dt id="(?:term|symbol)-[^>]*>'
)
NAME = re.compile(r'\bid="([^"]+)"')
OPENING = re.compile(
    r'\s*(?P<names>(?:<span id="[^"]*"></span>\s*)*)<h\d>(?P<title>.*?)</h\d>\s*(?P<first><p>.*?</p>)?', re.DOTALL
)
TERM = re.compile(r"(?P<term>.*?)</dt>\s*<dd>(?P<said>.*?)</dd>", re.DOTALL)
SUMMARY = re.compile(r"\s*<summary>(.*?)</summary>", re.DOTALL)
TRUE = re.compile(r"<dt>True</dt>\s*<dd>\s*<p>(.*?)</p>", re.DOTALL)  # the first paragraph of what is true of a claim
UNNEEDED = re.compile(r'<a class="headerlink".*?</a>|\s(?:id|aria-describedby)="(?!drawing)[^"]*"')
DRAWING = re.compile(r'(?<=["#(])drawing(?=\d+-)')


def cards(html: str) -> dict[str, list[str] | str]:
    """The cards of a page by the ids that links lead to: the HTML in a list, or another id that it is under."""
    found: dict[str, list[str] | str] = {}
    for names, part in targets(html):
        found |= {names[0]: [DRAWING.sub("card", UNNEEDED.sub("", part))]} | dict.fromkeys(names[1:], names[0])
    return found


def targets(html: str) -> Iterator[tuple[list[str], str]]:
    """What a link can lead to, with its ids, and the part of the page that its card shows."""
    for at in TARGET.finditer(html):
        names = NAME.findall(at.group())
        if not names:
            continue
        if tag := at["tag"] or at["figure"]:
            yield names, html[at.start() : end_of(tag, html, at.end())]
        elif names[0].startswith("symbol-") and (entry := TERM.match(html, at.end())):
            yield names, f"<p>{entry['term']}: {entry['said'].removeprefix('<p>')}"
        elif at.group().startswith("<dt") and (entry := TERM.match(html, at.end())):
            yield names, f"<p><strong>{entry['term']}</strong></p>{entry['said']}"
        elif summary := SUMMARY.match(html, at.end()):
            true = TRUE.search(html, summary.end(), html.find("</dl>", summary.end()))
            yield names, f"<p>{summary[1]}</p>" + (f"<p><strong>True:</strong> {true[1]}</p>" if true else "")
        elif (opening := OPENING.match(html, at.end())) and opening["first"]:  # a title alone says what the link does
            title = f"<p><strong>{opening['title']}</strong></p>"
            yield names + NAME.findall(opening["names"]), title + opening["first"]


def end_of(tag: str, html: str, start: int) -> int:
    """Where the element ends whose first tag ends at ``start``."""
    depth = 1
    for at in re.compile(rf"<(/?){tag}\b").finditer(html, start):
        depth += -1 if at[1] else 1
        if not depth:
            return html.index(">", at.end()) + 1
    return len(html)


def write_cards(app: Sphinx, page: str, template: str, context: dict[str, Any], tree: nodes.document | None) -> None:
    """Write the cards of a page beside the book, as a script that hands them over."""
    if tree is None or app.builder.name != "html":
        return
    path = Path(app.outdir, FOLDER, f"{page}.js")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"bookCards({json.dumps(page)}, {json.dumps(cards(context['body']))});\n", encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("html-page-context", write_cards)
    app.add_js_file("cards.js", loading_method="defer")
    app.add_css_file("cards.css")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
