"""A formula that is one symbol of the notation says what it means there, and nothing where nobody says."""

import json
import re
from pathlib import Path

import nbformat
import pytest
from docutils import nodes
from docutils.utils import new_document
from sitecheck import ROOT

from bookbrowser import settle
from folding import fold
from symbols import mark, meanings, read, same

CHAPTER = "notebooks/09-stability.html"
FORMULA = re.compile(r"\$([^$]+)\$")
KNOWN = read(r"""
- {symbol: K, says: a set, in: {9: }, not: chain}
- {symbol: K, says: a number, in: {9: terms}}
- {symbol: h_0, says: the start, in: {9: }}
- {symbol: K, says: terms, in: {1: tbptt ex-k}}
""")


def notebook(number: int) -> str:
    """The Markdown of a chapter."""
    (path,) = (ROOT / "notebooks").glob(f"{number:02}-*.ipynb")
    return "\n".join(cell.source for cell in nbformat.read(path, 4).cells if cell.cell_type == "markdown")


def within(label: str, *, chapter: int = 9, formula: str = "K", **options: object) -> str | None:
    """The name that a formula in a section with that label gets, if any."""
    document = new_document("page")
    document += nodes.section("", nodes.paragraph("", "", nodes.math("", formula)), ids=[label], **options)
    mark(document, chapter, KNOWN)
    return next(document.findall(nodes.math)).get("symbol")


def test_spaces_and_braces_around_one_sign_make_no_other_symbol():
    assert same(r"\mathcal X^*") == same(r"\mathcal{X}^\ast")
    assert same("h_{t}") == same("h _ t") != same("h_{t-1}")
    assert same(r"\sigma w") != same(r"\sigmaw")


def test_the_innermost_place_that_says_something_decides():
    assert within("here") == "K-9"
    assert within("terms") is not None
    assert {one.name: one.says for one in KNOWN}[within("tbptt", chapter=1)] == "terms"
    assert within("chain") is None
    assert within("here", chapter=1) is None
    assert within("here", formula="K = 0") is None


def test_no_card_in_notes_on_sources_links_and_most_of_an_exercise():
    assert within("here", kind="source-note") is None
    assert within("ex-sum") is None
    assert within("sol-sum", formula="h_0") == "h-0-9"
    assert within("ex-k", chapter=1) == "K-1"
    document = new_document("page")
    document += nodes.paragraph("", "", nodes.reference("", "", nodes.math("", "K"), refuri="x"))
    mark(document, 9, KNOWN)
    assert next(document.findall(nodes.math)).get("symbol") is None


def test_a_proof_is_a_part_of_what_it_proves():
    document = new_document("page")
    document += nodes.section("", nodes.admonition(ids=["chain"]), ids=["here"])
    document[0] += fold("proof", "Proof", nodes.paragraph("", "", nodes.math("", "K")))
    mark(document, 9, KNOWN)
    assert next(document.findall(nodes.math)).get("symbol") is None


def test_two_meanings_in_one_place_are_refused():
    with pytest.raises(ValueError, match="K has two meanings in 9"):
        read("[{symbol: K, says: a, in: {9: }}, {symbol: ' K', says: b, in: {9: }}]")


def test_names_are_unique_and_each_meaning_says_where_it_is_defined():
    names = [one.name for one in meanings()]
    assert len(set(names)) == len(names)
    assert [one.symbol for one in meanings() if not re.search(r"\{(eq|ref|prf:ref)\}`", one.says)] == []


def test_each_symbol_is_in_the_table_of_the_notation():
    table = re.findall(r"^\|.*", (ROOT / "book" / "notation.md").read_text("utf-8"), re.MULTILINE)
    known = [f" {same(formula)} " for row in table for formula in FORMULA.findall(row)]
    lost = [one.symbol for one in meanings() if not any(f" {same(one.symbol)} " in formula for formula in known)]
    assert lost == []


@pytest.mark.parametrize("chapter", range(1, 14))
def test_each_place_is_in_its_chapter(chapter):
    text = notebook(chapter)
    slugs = {re.sub(r"\W+", "-", heading.lower()) for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE)}
    labels = {label for one in meanings() for label in one.chapters.get(chapter, [])}
    known = slugs | {*re.findall(r"^(?:\(|:label: )([\w-]+)", text, re.MULTILINE)}
    assert labels - known == set()


@pytest.mark.full
def test_every_symbol_of_a_chapter_has_its_card_and_none_is_a_stop_of_the_keyboard(html):
    text = (Path(html) / "_static/cards/book/notation.js").read_text("utf-8")
    cards = json.loads(f"[{text.strip().removeprefix('bookCards(')[:-2]}]")[1]
    found = 0
    for path in sorted((Path(html) / "notebooks").glob("*.html")):
        page = path.read_text("utf-8")
        marked = re.findall(r'<span[^>]* data-symbol="([^"]+)"[^>]*>', page)
        assert [name for name in marked if f"symbol-{name}" not in cards] == []
        assert not re.search(r"<span[^>]* data-symbol=[^>]*tabindex", page)
        assert page.count(f"notation.html#symbols-of-{path.name[:2]}") == 1
        found += len(marked)
    assert found > 400


@pytest.mark.full
def test_a_symbol_says_what_it_means_under_the_pointer_and_at_a_tap(html, site, browse):
    def read_both(browser):
        seen = []
        for touch in (False, True):
            context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=touch, is_mobile=touch)
            page = context.new_page()
            page.goto(f"{site}/{CHAPTER}" if touch else f"{html.as_uri()}/{CHAPTER}")
            settle(page)
            symbol = page.locator(".bd-article [data-symbol='lambda-9']:visible").first
            symbol.scroll_into_view_if_needed()
            box = symbol.bounding_box()
            go = page.touchscreen.tap if touch else page.mouse.move
            go(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
            page.locator("#link-card").wait_for(timeout=5_000)
            seen.append((page.locator("#link-card").inner_text(), page.url.rpartition("/")[2]))
            page.locator("#link-card a").last.click()
            page.wait_for_url("**#sta-def-contraction")
            context.close()
        return seen

    for text, address in browse(read_both):
        assert "a contraction rate" in text
        assert "Definition 9.1" in text
        assert address == "09-stability.html"


@pytest.mark.full
def test_one_link_leads_to_the_symbols_of_a_chapter(html, browse):
    def follow(browser):
        page = browser.new_page(viewport={"width": 1280, "height": 844})
        page.goto(f"{html.as_uri()}/{CHAPTER}")
        settle(page)
        page.get_by_role("link", name="Symbols of this chapter").press("Enter")
        page.wait_for_url("**/notation.html#symbols-of-09")
        said = page.locator("[id='symbols-of-09']").inner_text()
        page.close()
        return said

    assert browse(follow) == "Stability"


@pytest.mark.full
def test_the_tables_of_the_notation_fit_on_a_telephone(html, browse):
    wide = """() => [...document.querySelectorAll(".bd-article .pst-scrollable-table-container")]
        .filter(box => box.scrollWidth > box.clientWidth + 1).map(box => box.textContent.trim().slice(0, 40))"""

    def measure(browser):
        page = browser.new_page(viewport={"width": 390, "height": 844})
        page.goto(f"{html.as_uri()}/book/notation.html")
        settle(page)
        found = page.evaluate(wide), page.locator(".bd-article td:visible").count()
        page.close()
        return found

    too_wide, cells = browse(measure)
    assert too_wide == []
    assert cells > 200
