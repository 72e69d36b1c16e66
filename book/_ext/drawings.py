"""Figures as part of the page: SVG within it, words as words in the page's typeface.

A notebook stores a figure with each letter drawn, so that it looks the same wherever it is opened. In the page the
typeface is there, so words can be selected, searched for and read at any size; what is set as mathematics stays drawn.
The white ground goes, and dark mode turns lightness round (``book.css``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from itertools import pairwise
from math import ceil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as XML

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
HREF = f"{{{XLINK}}}href"
TYPEFACE = "IBMPlexSans"
PLACED = re.compile(r"(?P<place>translate\([^)]*\)(?: rotate\([^)]*\))?) scale\((?P<scale>[\d.]+) -[\d.]+\)")
SIZE = re.compile(r"font-size: ([\d.]+)px")
LEAST = 9.5  # pixels
UNITS_TO_A_LETTER = 100  # matplotlib draws letters at this size and scales them
XML.register_namespace("", SVG)
XML.register_namespace("xlink", XLINK)


def tag(name: str) -> str:
    return f"{{{SVG}}}{name}"


def inlined(drawing: str, name: str, alt: str) -> str:
    """A drawing by matplotlib as an element of a page.

    Args:
        drawing: the text of an SVG file.
        name: goes before every id, so that two drawings can stand in one page.
        alt: what it shows, in words.
    """
    parser = XML.XMLParser(target=XML.TreeBuilder(insert_comments=True))
    root = XML.fromstring(drawing, parser)
    for unneeded in root.findall(tag("metadata")):
        root.remove(unneeded)
    without_ground(root)
    letters = {path.get("id"): path for path in root.iter(tag("path")) if path.get("id")}
    for group in [*root.iter(tag("g"))]:
        as_words(group)
    keep_letters(root, letters)
    with_names(root, name)
    keep_legible(root)
    root.set("role", "img")
    root.set("aria-label", alt)
    root.set("class", "drawn")
    return f'<div class="drawing">{XML.tostring(root, encoding="unicode")}</div>'


def keep_legible(root: XML.Element) -> None:
    """Let a drawing shrink only until its smallest words have ``LEAST`` pixels; a narrow page scrolls it then."""
    sizes = [float(size) for words in root.iter(tag("text")) for size in SIZE.findall(words.get("style", ""))]
    if sizes:
        width = float(root.get("viewBox", "0 0 0 0").split()[2])
        root.set("style", f"min-width: {ceil(width * LEAST / min(sizes))}px")


def without_ground(root: XML.Element) -> None:
    """Take away the white rectangle behind all."""
    for parent in root.iter(tag("g")):
        if parent.get("id") == "figure_1":
            for patch in parent.findall(tag("g")):
                path = patch.find(tag("path"))
                if patch.get("id") == "patch_1" and path is not None and "fill: #ffffff" in path.get("style", ""):
                    parent.remove(patch)


def as_words(group: XML.Element) -> None:
    """Put words in the place of drawn letters: a comment says what they are, and the group after it draws them."""
    children = list(group)
    for said, drawn in pairwise(children):
        if said.tag is not XML.Comment or drawn.tag != tag("g") or "$" in (said.text or ""):
            continue
        letters = [use.get(HREF, "") for use in drawn.iter(tag("use"))]
        placed = PLACED.fullmatch(drawn.get("transform", ""))
        if not placed or not letters or not all(letter.startswith(f"#{TYPEFACE}") for letter in letters):
            continue
        words = XML.Element(tag("text"), {"transform": placed["place"]})
        size = float(placed["scale"]) * UNITS_TO_A_LETTER
        words.set("style", f"font-size: {size:g}px; {drawn.get('style', '')}".rstrip("; "))
        if letters[0].startswith(f"#{TYPEFACE}-Bold"):
            words.set("class", "strong")
        words.text = unescape(said.text or "").strip().replace("- -", "--")
        words.tail = drawn.tail
        group[list(group).index(drawn)] = words
    for said in [child for child in group if child.tag is XML.Comment]:
        group.remove(said)


def keep_letters(root: XML.Element, letters: dict[str | None, XML.Element]) -> None:
    """Put each letter that is still drawn where all can use it: its first use may have gone."""
    there = {path.get("id") for path in root.iter(tag("path"))}
    wanted = {use.get(HREF, "").removeprefix("#") for use in root.iter(tag("use"))}
    missing = sorted((wanted & letters.keys()) - there)
    if missing:
        shared = XML.Element(tag("defs"))
        shared.extend(letters[name] for name in missing)
        root.insert(0, shared)


def with_names(root: XML.Element, name: str) -> None:
    """Put ``name`` before each id and each use of one."""
    for element in root.iter():
        for key, value in element.items():
            if key == "id":
                element.set(key, f"{name}-{value}")
            elif key == HREF:
                element.set(key, value.replace("#", f"#{name}-", 1))
            elif "url(#" in value:
                element.set(key, value.replace("url(#", f"url(#{name}-"))


def is_drawing(image: nodes.Node) -> bool:
    """Is it what a cell puts out?"""
    return (
        isinstance(image, nodes.image)
        and image["uri"].endswith(".svg")
        and any(str(node.get("nb_element", "")).startswith("cell_code") for node in above(image))
    )


def above(node: nodes.Node) -> Iterator[nodes.Element]:
    """What a node is in, from the inside."""
    while (parent := node.parent) is not None:
        yield parent
        node = parent


class InlineDrawings(SphinxPostTransform):
    """Put each figure that a cell has drawn into the page."""

    default_priority = 199
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        for number, image in enumerate([*self.document.findall(is_drawing)]):
            path = Path(self.env.srcdir, image["uri"].lstrip("/"))
            made = inlined(path.read_text(encoding="utf-8"), f"drawing{number}", image.get("alt", ""))
            image.replace_self(nodes.raw("", made, format="html"))


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_post_transform(InlineDrawings)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
