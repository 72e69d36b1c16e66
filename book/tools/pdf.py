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

import yaml
from pikepdf import Array, Dictionary, Name, Object, ObjectStreamMode, OutlineItem, Page, Pdf
from playwright.sync_api import BrowserContext, sync_playwright
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
    sheets: Pdf

    @cached_property
    def places(self) -> dict[str, tuple[int, Sequence[Object]]]:
        """Where each anchor was printed: its sheet, counted from 0, and the spot on it."""
        numbers = {sheet.objgen: number for number, sheet in enumerate(self.sheets.pages)}
        found = self.sheets.Root.get("/Dests", Dictionary())
        return {unquote(name[1:]): (numbers[sheet.objgen], spot) for name, (sheet, *spot) in found.items()}


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
    return Printed(address, headings, found["spilled"], Pdf.open(io.BytesIO(data)))


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
        self.whole = Pdf.new()
        structure = Structure(self.whole)
        self.pages = {printed.address: printed for printed in book}
        self.start: dict[str, int] = {}
        for printed in book:
            self.start[printed.address] = start = len(self.whole.pages)
            for sheet in printed.sheets.pages:
                self.whole.pages.append(sheet)
            structure.add(printed.sheets, self.whole.pages[start:])
        for printed in book:
            start = self.start[printed.address]
            for sheet in self.whole.pages[start : start + len(printed.sheets.pages)]:
                self._lead_inside(sheet, printed.address)

    def place(self, address: str, anchor: str = "") -> Array:
        """The place of an anchor, its sheet and the spot on it; the top of the page where it has none."""
        sheet, spot = self.pages[address].places.get(unquote(anchor), (0, [Name.XYZ, None, None, None]))
        return Array([self.whole.pages[self.start[address] + sheet].obj, *spot])

    def bookmark(self, caption: str | None, addresses: Sequence[str]) -> list[OutlineItem]:
        """Bookmarks for one part: the part (none where it has no caption), its chapters, their sections."""
        part = OutlineItem(caption or "", self.place(addresses[0]))
        for address in addresses:
            open_levels = {0: part}
            for level, text, anchor in self.pages[address].headings:
                open_levels = {above: item for above, item in open_levels.items() if above < level}
                item = OutlineItem(text, self.place(address, anchor))
                open_levels[max(open_levels)].children.append(item)
                open_levels[level] = item
        return [part] if caption else part.children

    def _lead_inside(self, sheet: Page, address: str) -> None:
        """Links of one sheet: those to a printed page lead to its sheet, those to what is not printed are taken off."""
        kept = Array()
        for link in sheet.get("/Annots", ()):
            target = str(link.A.get("/URI", "")) if "/A" in link else f"{address}#{str(link.Dest)[1:]}"
            home, anchor = urldefrag(target)
            if home in self.pages:
                link.Dest = self.place(home, anchor)
                if "/A" in link:
                    del link.A
                kept.append(link)
            elif urlsplit(home).netloc != urlsplit(address).netloc:
                kept.append(link)
        sheet.Annots = kept


def make(html: Path, output: Path, source: Path = ROOT) -> int:
    """Print the book rendered from ``source`` in ``html`` into the file ``output``; returns how many sheets it has.

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
    with binder.whole.open_outline() as outline:
        for caption, chapters in parts:
            outline.root.extend(binder.bookmark(caption, [printed[file].address for file in chapters]))
    version = installed()
    said = Dictionary(Title=config["title"], Author=config["author"], Subject=f"Version {version}", Version=version)
    binder.whole.docinfo = binder.whole.make_indirect(said)
    binder.whole.Root.PageMode = Name.UseOutlines
    output.parent.mkdir(parents=True, exist_ok=True)
    # Its objects are small and many: packed, they take half the room.
    binder.whole.save(output, object_stream_mode=ObjectStreamMode.generate)
    return len(binder.whole.pages)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0] + " into one PDF file.")
    parser.add_argument("html", type=Path, help="the folder of the rendered book")
    parser.add_argument("output", type=Path, help="the file to write")
    parser.add_argument("--source", type=Path, default=ROOT, help="the folder of _config.yml and _toc.yml")
    given = parser.parse_args()
    try:
        sheets = make(given.html, given.output, given.source)
    except (FileNotFoundError, ValueError) as error:
        parser.exit(1, f"{error}\n")
    print(f"{given.output}: {sheets} pages, {given.output.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
