"""What a rendered page says, section by section: its prose and captions as a reader sees them, formulas on one line.

Read are the files that the book consists of, and not what Sphinx knows of their sources: numbers and references are
those of the page, and a solution that a page does not hold is not found either. Left out are code, what it prints,
solutions, what a reader works with, and of the package all but names and the first line on each.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from lxml.html import HtmlElement, HTMLParser, fragment_fromstring

from formula_line import formula_line

INLINE = {"a", "abbr", "b", "cite", "code", "em", "i", "kbd", "small", "span", "strong", "sub", "sup", "wbr"}
HEADINGS = {"h1", "h2", "h3", "h4", "h5", "h6"}
SILENT = {"button", "form", "pre", "script", "select", "style", "summary", "svg", "template"}
SILENT_CLASSES = {"fold-hole", "fold-run", "headerlink", "katex-html", "rx", "solution", "test-id", "toctree-wrapper"}
NAMED = re.compile(r" [\d.]+ \((.+)\)$")


class Section(NamedTuple):
    """What stands below one heading, or beside one name; ``names`` are those of its statements and exercises."""

    anchor: str
    heading: str
    text: str
    names: str = ""


class Page(NamedTuple):
    """The sections of a page; the first has the page's title. ``numbered`` says whether the title has a number."""

    title: str
    numbered: bool
    sections: list[Section]


def read_page(html: str) -> Page:
    """The sections of a page.

    Raises:
        ValueError: it has no article, or an article without a heading.
    """
    start, end = html.find("<article"), html.rfind("</article>")
    if min(start, end) < 0:
        raise ValueError("the page has no article")
    article = fragment_fromstring(html[start:end] + "</article>", parser=HTMLParser(remove_comments=True))
    sections = [*_sections(article)]
    if not sections:
        raise ValueError("the page has no heading")
    title = next(element for element in article.iter() if element.tag in HEADINGS)
    numbered = any("section-number" in _classes(part) for part in title.iter())
    return Page(sections[0].heading, numbered, sections)


def _classes(element: HtmlElement) -> set[str]:
    return set(element.get("class", "").split())


def _heading(element: HtmlElement) -> HtmlElement | None:
    """What names this element in a list of hits; None where it is only part of another's text."""
    classes = _classes(element)
    if element.tag == "section" and element.get("id"):
        return next((child for child in element if child.tag in HEADINGS), None)
    if element.tag == "div" and "citation" in classes:
        return next((child for child in element if "label" in _classes(child)), None)
    if element.tag == "tr" and element.get("id"):
        return next(iter(element), None)
    return None


def _sections(element: HtmlElement) -> Iterator[Section]:
    """The sections at and below an element, each before those within it."""
    if (heading := _heading(element)) is not None:
        words = _text(heading).strip("[]")
        yield Section(element.get("id", ""), words, _text(element, without=heading), "; ".join(_names(element)))
    if _lists_names(element):
        yield from _listed(element)
    for child in element:
        if not _is_silent(child):
            yield from _sections(child)


def _names(element: HtmlElement) -> Iterator[str]:
    """What the statements and exercises of a section are called, as in "Theorem 7.2 (its name)"."""
    for child in element:
        if "admonition-title" in _classes(child):
            yield from NAMED.findall(_text(child))
        elif not _is_apart(child):
            yield from _names(child)


def _lists_names(element: HtmlElement) -> bool:
    """A list of terms, or the description of a name of the package."""
    return element.tag == "dl" and not {"glossary", "py"}.isdisjoint(_classes(element))


def _listed(listed: HtmlElement) -> Iterator[Section]:
    """Each name with what is said of it; of the package the first paragraph."""
    of_package = "py" in _classes(listed)
    for place, name in enumerate(listed):
        if name.tag == "dt" and name.get("id"):
            body = next((after for after in listed[place:] if after.tag == "dd"), HtmlElement())
            if of_package:
                said = next((_text(part) for part in body if part.tag == "p"), "")
                yield Section(name.get("id", ""), name.get("id", ""), said)
            else:
                yield Section(name.get("id", ""), _text(name), _text(body))


def _is_silent(element: HtmlElement) -> bool:
    return element.tag in SILENT or not SILENT_CLASSES.isdisjoint(_classes(element))


def _is_apart(element: HtmlElement) -> bool:
    """Nothing of it is in the text that it stands in."""
    return _is_silent(element) or _lists_names(element) or _heading(element) is not None


def _text(element: HtmlElement, without: HtmlElement | None = None) -> str:
    return " ".join("".join(_pieces(element, without)).split())


def _pieces(element: HtmlElement, without: HtmlElement | None = None) -> Iterator[str]:
    """What an element says by itself, and not in what is a section of its own."""
    yield element.text or ""
    for child in element:
        if child is without or _is_apart(child):
            yield "" if child.tag in INLINE else " "
        elif child.tag == "math":
            yield formula_line(child)
        elif "cell" in _classes(child):
            yield from (f" {_text(caption)} " for caption in child.iter("figcaption"))
        elif child.tag in INLINE and "eqno" not in _classes(child):
            yield from _pieces(child)
        else:
            yield from (" ", *_pieces(child), " ")
        yield child.tail or ""
