"""The rendered folder as files: every link, anchor and resource of every page leads somewhere inside it.

Sphinx checks its own references; what is raw HTML or drawn as SVG it does not see.
"""

from __future__ import annotations

import os
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

from lxml.html import HTMLParser, document_fromstring

ROOT = Path(__file__).parents[2]
SOURCE = Path(os.environ.get("FHX_BOOK_SOURCE") or ROOT).resolve()  # where _config.yml and _toc.yml are
HTML = Path(os.environ.get("FHX_BOOK_HTML") or ROOT / "_build" / "html").resolve()
MADE_LATER = {"recurrence.pdf"}  # by `make pdf`, into the same folder
LOADED_RELATIONS = {"stylesheet", "preload", "modulepreload", "preconnect", "dns-prefetch", "icon", "manifest"}
GENERATED = {"_static", "_sources", "_images", "_downloads"}


class Page:
    """What a page refers to and what may be referred to in it."""

    def __init__(self, text: str) -> None:
        self.anchors: set[str] = {"", "top"}
        self.links: list[str] = []  # followed by the reader
        self.resources: list[str] = []  # loaded by the page
        self.pictures: list[str] = []  # shown as an image, so that links in them are dead
        self.goes_to: str | None = None  # the target of an immediate redirect
        for element in document_fromstring(text, parser=HTMLParser(huge_tree=True)).iter("*"):
            self._note(element.tag, element.attrib)

    def _note(self, tag: str, given: Mapping[str, str]) -> None:
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "link":
            if LOADED_RELATIONS & set(given.get("rel", "").lower().split()):
                self.resources.append(given.get("href", ""))
        elif tag == "meta" and given.get("http-equiv", "").lower() == "refresh":
            self.goes_to = given["content"].partition("url=")[2]
            self.links.append(self.goes_to)
        elif tag in {"a", "area"}:
            self.links += [given[name] for name in ("href", "xlink:href") if name in given]
        else:
            names = {"object": ["data"], "image": ["href", "xlink:href"], "use": ["href", "xlink:href"]}
            self.resources += [given[name] for name in names.get(tag, ["src", "poster"]) if given.get(name)]
            self.resources += [part.split()[0] for part in given.get("srcset", "").split(",") if part.strip()]
        if tag == "img" and given.get("src"):
            self.pictures.append(given["src"])


@cache
def read(path: Path) -> Page:
    return Page(path.read_text(encoding="utf-8"))


def pages(folder: Path) -> list[str]:
    """All HTML pages of the folder, the generated ones (index, search, list of proofs) included."""
    found = (path.relative_to(folder) for path in folder.rglob("*.html"))
    return sorted(page.as_posix() for page in found if page.parts[0] not in GENERATED)


def redirected(path: Path) -> bool:
    """Whether a page leads to another one at once; only such a page is parsed for that."""
    return b"http-equiv" in path.read_bytes() and read(path).goes_to is not None


def is_outside(address: str) -> bool:
    parts = urlsplit(address)
    return bool(parts.netloc) and parts.scheme in {"", "http", "https", "ws", "wss"}


def dead(folder: Path, page: str, address: str) -> str | None:
    """Why ``address``, written in ``page``, leads nowhere; None where it does not or is another host's."""
    parts = urlsplit(address)
    if parts.scheme or parts.netloc:
        return None
    if parts.path.startswith("/"):
        return "an absolute path breaks where the book lies in a subfolder"
    target = folder / page
    if parts.path:
        target = Path(os.path.normpath(target.parent / unquote(parts.path)))
    if not target.is_relative_to(folder):
        return "outside the book"
    if target.name in MADE_LATER:
        return None
    if target.is_dir():
        target /= "index.html"
    if not target.is_file():
        return "no such file"
    if target.suffix == ".html" and not {parts.fragment, unquote(parts.fragment)} & read(target).anchors:
        return f"no anchor #{parts.fragment} there"
    return None


def links_of_picture(path: Path) -> list[str]:
    """The links inside an SVG file."""
    return [
        address
        for element in ET.parse(path).iter()
        if element.tag.endswith("}a")
        for name, address in element.items()
        if name.endswith("href")
    ]


def check(folder: Path, page: str) -> Iterator[str]:
    """Every dead link, missing or foreign resource and link locked in a picture of one page."""
    content = read(folder / page)
    for address in content.links:
        if reason := dead(folder, page, address):
            yield f"dead link {address}: {reason}"
    for address in content.resources:
        if is_outside(address):
            yield f"outside resource {address}"
        elif reason := dead(folder, page, address):
            yield f"dead resource {address}: {reason}"
    for address in content.resources:
        drawing = urlsplit(urljoin(page, address)).path
        if not drawing.endswith(".svg") or is_outside(address) or not (folder / drawing).is_file():
            continue
        for inner in links_of_picture(folder / drawing):
            if address in content.pictures:
                yield f"link {inner} in {address} cannot be followed: the drawing is shown as an image"
            elif reason := dead(folder, drawing, inner):
                yield f"dead link {inner} in {address}: {reason}"
