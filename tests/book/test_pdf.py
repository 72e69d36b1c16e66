"""The book on paper: printed from the rendered pages, and a small page full of what is hard to print."""

import os
import re
import subprocess
import sys
import unicodedata
from collections import Counter
from html import unescape
from pathlib import Path

import pytest
import yaml
from pikepdf import Array, Dictionary, Object, Pdf
from pypdf import PdfReader
from pypdfium2 import PdfDocument
from sitecheck import SOURCE

from mathematics import KATEX, typeset
from pdf import ROOT, read_toc

pytestmark = pytest.mark.full

TOC = {
    "format": "jb-book",
    "root": "index",
    "parts": [{"caption": "A part", "chapters": [{"file": "one", "sections": [{"file": "two"}]}]}],
}
# Explorers, sound and code, proofs and exercises, the package, what is long and what is short.
SOME = {
    "format": "jb-book",
    "root": "book/index",
    "parts": [
        {"caption": "Front matter", "chapters": [{"file": "book/notation"}]},
        {
            "caption": "Chapters",
            "chapters": [{"file": "notebooks/03-automata-in-integer-weights"}, {"file": "notebooks/11-on-real-data"}],
        },
        {"caption": "The package", "chapters": [{"file": "book/api", "sections": [{"file": "book/api/cells"}]}]},
        {"caption": "Back matter", "chapters": [{"file": "book/claims"}, {"file": "book/bibliography"}]},
    ],
}
LONG_LINE = "values = [" + ", ".join(f"{number}" for number in range(1000, 1060)) + "]"
LONG_FORMULA = " + ".join(f"W_{{{number}}} h_{{t-{number}}}" for number in range(1, 40))
PICTURE = "R0lGODlhAQABAIAAAAAAAP///ywAAAAAAQABAAACAUwAOw=="
PAGES = {
    "index": "<h1 id='top-of-all'>A book</h1><p>Read <a href='two.html#a-section'>the section</a>.</p>",
    "one": f"""<h1 id='one'>1. First</h1><p>See <a href='#here'>here</a> and <a href='loose.html'>there</a>.</p>
<div class='highlight'><pre style='overflow: auto'>{LONG_LINE}</pre></div>
<details><summary>Show</summary><p>Folded away on the screen.</p></details>
<figure><img alt='a dot' width='3000' height='900' src='data:image/gif;base64,{PICTURE}'></figure>
<div class='math'>{typeset(LONG_FORMULA, True)}</div><p id='here' style='break-before: page'>The first ends so.</p>""",
    "two": "<h1 id='two'>2. Second</h1><section id='a-section'><h2>A section</h2><p>All ends so.</p></section>",
    "loose": "<p>Not in the contents.</p>",
}
HEAD = """<!doctype html><html lang="en"><meta charset="utf-8"><title>x</title>
<link rel="stylesheet" media="print" href="print.css"><link rel="stylesheet" href="katex/katex.min.css">
<body><nav>Menu</nav><main><article class="bd-article">"""


def run(html: Path, output: Path, source: Path) -> subprocess.CompletedProcess:
    command = [sys.executable, "-W", "error", ROOT / "book" / "tools" / "pdf.py", html, output, "--source", source]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, "TQDM_DISABLE": "1"})


def printed(html: Path, output: Path, source: Path) -> PdfReader:
    done = run(html, output, source)
    assert (done.returncode, done.stderr) == (0, "")
    return PdfReader(output)


def texts(output: Path) -> list[str]:
    """The words of every sheet."""
    with PdfDocument(output) as sheets:
        read = (sheet.get_textpage().get_text_bounded() for sheet in sheets)
        return [words.replace("\r", "").replace("\x02", "-") for words in read]  # a hyphen at the end of a line


def squeezed(text: str) -> str:
    """Text without white space, so that line breaks do not count."""
    return re.sub(r"\s+", "", unicodedata.normalize("NFKC", text))


def outline(reader: PdfReader) -> list[tuple[int, str, int]]:
    """The bookmarks as (depth, title, sheet counted from 0)."""

    def flat(items, depth=0):
        for item in items:
            if isinstance(item, list):
                yield from flat(item, depth + 1)
            else:
                yield depth, item.title, reader.get_destination_page_number(item)

    return list(flat(reader.outline))


def links(reader: PdfReader) -> tuple[list[tuple[int, int]], list[str]]:
    """Links as (from sheet, to sheet), and the addresses of the links that leave the book."""
    inside, outside = [], []
    for number, sheet in enumerate(reader.pages):
        for link in (reference.get_object() for reference in sheet.get("/Annots", ())):
            if "/Dest" in link:
                inside.append((number, reader.get_page_number(link["/Dest"][0].get_object())))
            else:
                outside.append(link["/A"]["/URI"])
    return inside, outside


def pictures(reader: PdfReader, sheet: int | None = None) -> int:
    """How many bitmaps the book shows, or one of its sheets."""
    sheets = reader.pages if sheet is None else [reader.pages[sheet]]
    objects = (page["/Resources"].get("/XObject", {}) for page in sheets)
    return sum(entry.get_object()["/Subtype"] == "/Image" for found in objects for entry in found.values())


def structure(node: Object) -> list[tuple[str, str]]:
    """The kinds of all elements below one of them or the root, in reading order, each with what stands for its picture.

    Of another library than the rest: it reads a whole book's in seconds.
    """
    children = node.get("/K", [])
    found = []
    for child in children if isinstance(children, Array) else [children]:
        if isinstance(child, Dictionary) and "/S" in child:
            assert child.P.objgen == node.objgen
            found += [(str(child.S), str(child.get("/Alt", ""))), *structure(child)]
    return found


def marked(reader: PdfReader) -> set[tuple[int, int]]:
    """The marks (key of a sheet, number on it) that the structure's elements refer to, by way of their sheets."""

    def of(node, sheet):
        sheet = node.get("/Pg", sheet)
        children = node.get("/K", [])
        for child in (each.get_object() for each in (children if isinstance(children, list) else [children])):
            if isinstance(child, int):
                yield sheet["/StructParents"], child
            elif child.get("/Type") == "/MCR":
                yield child.get("/Pg", sheet)["/StructParents"], child["/MCID"]
            elif "/S" in child:
                yield from of(child, sheet)

    return set(of(reader.root_object["/StructTreeRoot"], None))


def title(page: str) -> str:
    heading = re.search(r"<h1>(.*?)(<a class=\"headerlink|</h1>)", page.partition("<article")[2], re.DOTALL)[1]
    return " ".join(unescape(re.sub(r"<[^>]*>", "", heading)).split())


def last_words(page: str) -> str:
    """The end of the last paragraph of a page that holds no formula."""
    paragraphs = re.findall(r"<p>(.*?)</p>", page.partition("<article")[2].partition("</article>")[0], re.DOTALL)
    plain = [
        unescape(re.sub(r'<a class="headerlink".*?</a>|<[^>]*>', "", text))
        for text in paragraphs
        if "katex" not in text and "<script" not in text
    ]
    return plain[-1][-80:] if plain else ""


@pytest.fixture(params=["some pages of each kind", pytest.param("all pages", marks=pytest.mark.slow)])
def source(request, tmp_path) -> Path:
    """The folder that says which pages of the book are printed: a chapter takes ten seconds."""
    if request.param == "all pages":
        return SOURCE
    (tmp_path / "_config.yml").write_bytes((SOURCE / "_config.yml").read_bytes())
    (tmp_path / "_toc.yml").write_text(yaml.safe_dump(SOME))
    return tmp_path


def test_the_book_is_printed(html, source, tmp_path):
    reader = printed(html, tmp_path / "recurrence.pdf", source)
    text = texts(tmp_path / "recurrence.pdf")
    pages = {
        file: (html / f"{file}.html").read_text(encoding="utf-8") for _, files in read_toc(source) for file in files
    }
    expected = []
    for caption, files in read_toc(source):
        expected += [(0, caption)] if caption else []
        expected += [(int(caption is not None), title(pages[file])) for file in files]
    found = outline(reader)
    chapters = [(depth, name) for depth, name, _ in found if (depth, name) in set(expected)]
    assert chapters == expected
    assert [sheet for *_, sheet in found] == sorted(sheet for *_, sheet in found)
    whole = squeezed("".join(text))
    assert [file for file, page in pages.items() if squeezed(last_words(page)) not in whole] == []
    figures = [number for page in pages.values() for number in re.findall(r'caption-number">(Fig\. [\d.]+) ', page)]
    assert figures
    assert [number for number in figures if squeezed(number) not in whole] == []
    captions = {caption for caption, _ in read_toc(source)}
    lost = [name for _, name, sheet in found if squeezed(name) not in squeezed(text[sheet]) and name not in captions]
    assert lost == []
    assert [number for number, words in enumerate(text, 1) if str(number) not in words.split("\n")[:2]] == []
    starts = {sheet: squeezed(name) for depth, name, sheet in found if (depth, name) in set(expected[1:])}
    for number, words in enumerate(text):
        running = starts[max(start for start in starts if start <= number)] if number >= min(starts) else ""
        left = squeezed(words).removeprefix(running).removeprefix(str(number + 1)).removeprefix(running)
        assert left or number in starts or pictures(reader, number), f"sheet {number + 1} is blank"
    images = [
        source for page in pages.values() for source in re.findall(r'<img[^>]*src="([^"]*_images/[^"]*\.png)"', page)
    ]
    assert pictures(reader) >= len(images)
    inside, outside = links(reader)
    assert any(abs(there - here) > 1 for here, there in inside)
    assert [address for address in outside if "127.0.0.1" in address] == []
    config = yaml.safe_load((SOURCE / "_config.yml").read_text(encoding="utf-8"))
    assert (reader.metadata.title, reader.metadata.author) == (config["title"], config["author"])
    assert re.fullmatch(r"Version \d+\.\d+\S*", reader.metadata.subject)
    with Pdf.open(tmp_path / "recurrence.pdf") as book:
        kinds = Counter(kind for kind, _ in structure(book.Root.StructTreeRoot))
    assert kinds["/H1"] == len(pages)
    assert kinds["/Document"] == len(pages)
    assert min(kinds[kind] for kind in ("/H2", "/H3", "/L", "/Table", "/Link", "/Figure")) > len(pages)


@pytest.fixture
def small(tmp_path) -> Path:
    """A folder that is both source and rendered book."""
    (tmp_path / "katex").symlink_to(KATEX / "static" / "katex")
    (tmp_path / "print.css").write_text((ROOT / "book" / "_static" / "print.css").read_text())
    (tmp_path / "_toc.yml").write_text(yaml.safe_dump(TOC))
    (tmp_path / "_config.yml").write_text("{title: A book, author: Somebody}")
    for name, body in PAGES.items():
        (tmp_path / f"{name}.html").write_text(f"{HEAD}{body}</article></main></body></html>")
    return tmp_path


def test_bookmarks_links_code_and_figures_of_a_small_book(small):
    reader = printed(small, small / "out" / "book.pdf", small)
    text = texts(small / "out" / "book.pdf")
    whole = squeezed("".join(text))
    assert outline(reader) == [
        (0, "A book", 0),
        (0, "A part", 1),
        (1, "1. First", 1),
        (1, "2. Second", 3),
        (2, "A section", 3),
    ]
    assert links(reader) == ([(0, 3), (1, 2)], [])  # the link to a page that is not printed is taken off
    assert squeezed(LONG_LINE) in whole
    assert "Foldedawayonthescreen." in whole
    assert "Menu" not in whole
    assert pictures(reader) == 1
    assert [number for number, words in enumerate(text, 1) if str(number) not in words.split("\n")[:2]] == []
    assert [words.startswith("1. First\n") for words in text] == [False, False, True, False]  # the running head


def test_the_book_is_tagged_and_knows_its_language(small):
    table = "<table><thead><tr><th>k</th></tr></thead><tbody><tr><td>1</td></tr></tbody></table>"
    for name in ("one", "two"):
        page = small / f"{name}.html"
        page.write_text(page.read_text().replace("</article>", f"{table}</article>"))
    reader = printed(small, small / "book.pdf", small)
    assert reader.root_object["/MarkInfo"]["/Marked"]
    assert reader.root_object["/Lang"] == "en"
    with Pdf.open(small / "book.pdf") as book:
        found = structure(book.Root.StructTreeRoot)
    assert [kind for kind, _ in found if kind in {"/H1", "/H2", "/Table"}] == [
        *("/H1", "/H1", "/Table", "/H1", "/H2", "/Table")
    ]
    assert ("/Figure", "a dot") in found
    keys = [sheet["/StructParents"] for sheet in reader.pages]
    assert len(set(keys)) == len(keys)
    assert {key for key, _ in marked(reader)} == set(keys)
    parents = reader.root_object["/StructTreeRoot"]["/ParentTree"]["/Nums"]
    owners = dict(zip(parents[::2], parents[1::2], strict=True))
    assert sorted(owners) == list(parents[::2])
    for key, number in marked(reader):
        assert owners[key][number].get_object()["/Type"] == "/StructElem"
    names = reader.root_object["/StructTreeRoot"]["/IDTree"]["/Names"]
    assert list(names[::2]) == sorted(set(names[::2]))
    assert [element.get_object()["/ID"] for element in names[1::2]] == list(names[::2])
    assert len({name.partition(".")[0] for name in names[::2]}) == 2  # one file's names are not another's


def test_what_is_wider_than_the_paper_is_reported_and_not_printed(small):
    page = small / "one.html"
    page.write_text(page.read_text().replace("<figure>", "<figure style='width: 3000px'>"))
    done = run(small, small / "book.pdf", small)
    assert done.returncode == 1
    assert "wider than the paper" in done.stderr
    assert "one: <figure>" in done.stderr
    assert not (small / "book.pdf").exists()


def test_clipped_code_is_reported(small):
    (small / "print.css").write_text("@page { size: A4; margin: 20mm } pre { overflow: visible !important }")
    done = run(small, small / "book.pdf", small)
    assert done.returncode == 1
    assert "one: <pre>" in done.stderr


def test_a_page_that_is_not_rendered_is_named(small):
    (small / "two.html").unlink()
    done = run(small, small / "book.pdf", small)
    assert done.returncode == 1
    assert "lacks two" in done.stderr
