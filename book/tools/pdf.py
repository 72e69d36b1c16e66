"""Print the rendered book: ``python book/tools/pdf.py _build/html _build/html/recurrence.pdf``.

Chromium prints every page in the order of ``_toc.yml``, in the book's print style; the printed pages are merged under
bookmarks (parts, chapters, sections), numbered through, and links from page to page lead inside the one file. It is
tagged: a screen reader finds headings, lists, tables and the words that stand for pictures.
"""

from __future__ import annotations

import argparse
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

import pikepdf
import yaml
from playwright.sync_api import BrowserContext, sync_playwright
from pypdf import PdfReader, PdfWriter
from pypdf.generic import ArrayObject, Destination, Fit, NameObject
from tqdm import tqdm

from bookbrowser import launch, open_everything, serve, settle
from fhx._version import installed
from tags import Structure

ROOT = Path(__file__).parents[2]
Parts = Sequence[tuple[str | None, list[str]]]

PAPER = {"width": 642, "height": 960}  # px: what the margins of print.css leave of A4
PATIENCE = 240_000  # ms for one page to load: a chapter has hundreds of formulas, and a machine may be busy
PREPARE = (Path(__file__).parent / "paper.js").read_text(encoding="utf-8")
NUMBERED = """@page {{ @top-right {{ content: {title}; }} }}
@page :first {{ counter-set: page {first}; @top-right {{ content: none; }} }}"""


@dataclass(frozen=True)
class Printed:
    """One page of the book on paper: its address, headings (level, text, id), what does not fit, and the sheets."""

    address: str
    headings: list[tuple[int, str, str]]
    spilled: list[str]
    sheets: PdfReader

    @cached_property
    def places(self) -> dict[str, Destination]:
        """Where each anchor was printed."""
        return {unquote(name.lstrip("/")): place for name, place in self.sheets.named_destinations.items()}


def read_toc(source: Path) -> Parts:
    """The parts of ``_toc.yml``: caption (None for the landing page) and files, without their suffix.

    A page below another one follows it.
    """
    toc = yaml.safe_load((source / "_toc.yml").read_text(encoding="utf-8"))

    def files(pages: Sequence[dict]) -> list[str]:
        return [file for page in pages for file in (page["file"], *files(page.get("sections", ())))]

    return [(None, [toc["root"]])] + [(part["caption"], files(part["chapters"])) for part in toc["parts"]]


def print_page(context: BrowserContext, address: str, first: int) -> Printed:
    """Print one page whose first sheet has the number ``first``."""
    page = context.new_page()
    page.emulate_media(media="print", color_scheme="light")  # before it opens: a chapter is laid out once
    page.goto(address, wait_until="load", timeout=PATIENCE)
    open_everything(page)
    settle(page)
    found = page.evaluate(PREPARE)
    headings = [tuple(heading) for heading in found["headings"]]
    title = json.dumps(headings[0][1] if headings else "", ensure_ascii=False)
    page.add_style_tag(content=NUMBERED.format(first=first, title=title))
    data = page.pdf(prefer_css_page_size=True, print_background=True, tagged=True)
    page.close()
    return Printed(address, headings, found["spilled"], PdfReader(io.BytesIO(data)))


def print_book(html: Path, files: Sequence[str]) -> Iterator[Printed]:
    """Print the pages one after another, numbered through from 1."""
    with sync_playwright() as playwright, serve(html) as site:
        context = launch(playwright).new_context(viewport=PAPER, reduced_motion="reduce")
        first = 1
        for file in tqdm(files, "printing", unit="page"):
            printed = print_page(context, f"{site}/{file}.html", first)
            first += len(printed.sheets.pages)
            yield printed


class Binder:
    """Printed pages one behind another in one file, where every anchor of every page has its sheet."""

    def __init__(self, book: Sequence[Printed]) -> None:
        self.writer = PdfWriter()
        structure = Structure(self.writer)
        self.pages = {printed.address: printed for printed in book}
        self.start: dict[str, int] = {}
        for printed in book:
            self.start[printed.address] = len(self.writer.pages)
            structure.add(printed.sheets, [self.writer.add_page(sheet) for sheet in printed.sheets.pages])
        for printed in book:
            for sheet in range(len(printed.sheets.pages)):
                self._lead_inside(self.start[printed.address] + sheet, printed.address)

    def place(self, address: str, anchor: str = "") -> tuple[int, Fit]:
        """The sheet of an anchor, counted from 0, and the spot on it; the top of the page where it has none."""
        found = self.pages[address].places.get(unquote(anchor))
        if found is None:
            return self.start[address], Fit.xyz()
        sheet = self.pages[address].sheets.get_destination_page_number(found)
        return self.start[address] + sheet, Fit.xyz(left=found.left, top=found.top)

    def bookmark(self, caption: str | None, addresses: Sequence[str]) -> None:
        """Bookmarks for one part: the part (none where it has no caption), its chapters, their sections."""
        part = caption and self.writer.add_outline_item(title=caption, page_number=self.start[addresses[0]])
        for address in addresses:
            open_levels = {0: part}
            for level, text, anchor in self.pages[address].headings:
                open_levels = {above: item for above, item in open_levels.items() if above < level}
                sheet, spot = self.place(address, anchor)
                parent = open_levels[max(open_levels)]
                open_levels[level] = self.writer.add_outline_item(
                    title=text, page_number=sheet, parent=parent, fit=spot
                )

    def _lead_inside(self, sheet: int, address: str) -> None:
        """Links of one sheet: those to a printed page lead to its sheet, those to what is not printed are taken off."""
        page, kept = self.writer.pages[sheet], ArrayObject()
        for reference in page.get("/Annots", ()):
            link = reference.get_object()
            target = link["/A"].get("/URI", "") if "/A" in link else f"{address}#{link.get('/Dest', '/')[1:]}"
            home, anchor = urldefrag(target)
            if home in self.pages:
                goal, spot = self.place(home, anchor)
                link.pop("/A", None)
                destination = [self.writer.pages[goal].indirect_reference, spot.fit_type, *spot.fit_args]
                link[NameObject("/Dest")] = ArrayObject(destination)
            elif urlsplit(home).netloc == urlsplit(address).netloc:
                link.pop("/A", None)
            if home in self.pages or urlsplit(home).netloc != urlsplit(address).netloc:
                kept.append(reference)
        page[NameObject("/Annots")] = kept


def make(html: Path, output: Path, source: Path = ROOT) -> PdfWriter:
    """Print the book rendered from ``source`` in ``html`` into the file ``output``.

    Raises:
        FileNotFoundError: a page of the contents has not been rendered.
        ValueError: something on a page is wider than the paper.
    """
    parts = read_toc(source)
    files = [file for _, chapters in parts for file in chapters]
    if missing := [file for file in files if not (html / f"{file}.html").is_file()]:
        raise FileNotFoundError(f"{html} lacks {', '.join(missing)} of _toc.yml: run 'make book' first")
    printed = dict(zip(files, print_book(html, files), strict=True))
    if spilled := [f"{file}: {part}" for file, page in printed.items() for part in page.spilled]:
        raise ValueError("wider than the paper:\n" + "\n".join(spilled))
    config = yaml.safe_load((source / "_config.yml").read_text(encoding="utf-8"))
    binder = Binder(list(printed.values()))
    for caption, chapters in parts:
        binder.bookmark(caption, [printed[file].address for file in chapters])
    version = installed()
    binder.writer.add_metadata(
        {"/Title": config["title"], "/Author": config["author"], "/Subject": f"Version {version}", "/Version": version}
    )
    binder.writer.page_mode = "/UseOutlines"
    binder.writer.compress_identical_objects(remove_unreferenced=True)
    output.parent.mkdir(parents=True, exist_ok=True)
    whole = io.BytesIO()
    binder.writer.write(whole)
    with pikepdf.open(whole) as book:  # its objects are small and many: packed, they take half the room
        book.save(output, object_stream_mode=pikepdf.ObjectStreamMode.generate)
    return binder.writer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0] + " into one PDF file.")
    parser.add_argument("html", type=Path, help="the folder of the rendered book")
    parser.add_argument("output", type=Path, help="the file to write")
    parser.add_argument("--source", type=Path, default=ROOT, help="the folder of _config.yml and _toc.yml")
    given = parser.parse_args()
    try:
        sheets = len(make(given.html, given.output, given.source).pages)
    except (FileNotFoundError, ValueError) as error:
        parser.exit(1, f"{error}\n")
    print(f"{given.output}: {sheets} pages, {given.output.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
