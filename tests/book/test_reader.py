"""What a reader does with the book: turns the light off, copies code, opens a solution, follows a map."""

import re
from contextlib import contextmanager
from functools import partial

import pytest
import sitecheck
from pagecheck import PATIENCE
from sitecheck import SOURCE

from bookbrowser import settle
from pdf import read_toc

ORDER = [file for _, files in read_toc(SOURCE) for file in files]
CHAPTERS = [file for file in ORDER if file.startswith("notebooks/")]
WAIT = 10_000  # ms
LINK_IN_A_DRAWING = re.compile(r"<svg\b(?:(?!</svg>).)*<a ", re.DOTALL)
PAGES = re.compile(r"\.html(#|$)")


@contextmanager
def visit(browser, address, width=1280, **options):
    """A page as one opens it."""
    context = browser.new_context(viewport={"width": width, "height": 844}, reduced_motion="reduce", **options)
    context.set_default_timeout(WAIT)
    context.set_default_navigation_timeout(PATIENCE)
    try:
        page = context.new_page()
        page.goto(address)
        settle(page)
        yield page
    finally:
        context.close()


def test_the_theme_button_turns_the_light_off_and_the_book_remembers(site, browse):
    def switch(browser):
        with visit(browser, f"{site}/{ORDER[0]}.html", color_scheme="light") as page:
            look = "() => [document.documentElement.dataset.theme, getComputedStyle(document.body).backgroundColor]"
            seen = [page.evaluate(look)]
            while seen[-1][0] != "dark" and len(seen) < 4:
                page.locator("button.theme-switch-button:visible").first.click()
                seen.append(page.evaluate(look))
            page.goto(f"{site}/{ORDER[1]}.html")
            return seen[0], seen[-1], page.evaluate(look)

    before, after, next_page = browse(switch)
    assert (before[0], after[0]) == ("light", "dark")
    assert before[1] != after[1]
    assert next_page == after


def test_every_solution_is_one_that_opens(html):
    found = {
        file: re.findall(r'<div class="([^"]*\bsolution\b[^"]*)"', (html / f"{file}.html").read_text("utf-8"))
        for file in CHAPTERS
    }
    assert {file for file, solutions in found.items() if not solutions} == set()
    assert [file for file, solutions in found.items() if not all("dropdown" in one.split() for one in solutions)] == []


@pytest.mark.parametrize("file", [CHAPTERS[0], CHAPTERS[-1]])
def test_code_can_be_copied_and_solutions_stay_closed_until_the_reader_opens_them(file, site, browse):
    def copy(page):
        cells = page.locator(".cell_input .highlight:visible")
        cell = cells.nth(min(1, cells.count() - 1))
        cell.hover()
        cell.locator("button.copybtn").click()
        cell.locator("button.copybtn.success").wait_for()
        return cell.locator("pre").text_content(), page.evaluate("navigator.clipboard.readText()")

    def solutions(page):
        for solution in page.locator(".solution.dropdown").all():
            content, button = solution.locator("section").first, solution.locator("button.toggle-button").first
            closed = not content.is_visible()
            button.click()
            yield closed, content.is_visible()

    def read(browser):
        with visit(browser, f"{site}/{file}.html", permissions=["clipboard-read", "clipboard-write"]) as page:
            return copy(page), set(solutions(page))

    (shown, copied), opened = browse(read)
    assert copied.strip() == shown.strip() != ""
    assert opened == {(True, True)}


def test_the_menu_of_a_narrow_page_opens(site, browse):
    def menu(browser):
        with visit(browser, f"{site}/{ORDER[0]}.html", width=390) as page:
            page.locator("button.primary-toggle:visible").first.click()
            link = page.locator(f"a[href*='{CHAPTERS[0].rpartition('/')[2]}.html']:visible").first
            with page.expect_navigation():
                link.click()
            return page.url

    assert browse(menu) == f"{site}/{CHAPTERS[0]}.html"


def test_a_table_that_goes_on_beyond_the_edge_fades_there_until_its_end_is_reached(site, browse):
    def scrolled(browser):
        with visit(browser, f"{site}/notebooks/11-on-real-data.html", 390) as page:
            boxes = page.locator(".pst-scrollable-table-container:visible").all()
            goes_on, mask = (
                "box => box.scrollWidth > box.clientWidth + 1",
                "box => getComputedStyle(box).maskImage !== 'none'",
            )
            seen = [(box.evaluate(goes_on), box.evaluate(mask)) for box in boxes]
            wide = next(box for box in boxes if box.evaluate(goes_on))
            wide.evaluate("box => { box.scrollLeft = box.scrollWidth; }")
            page.wait_for_timeout(100)
            return seen, wide.evaluate(mask)

    seen, at_end = browse(scrolled)
    assert all(goes_on == fades for goes_on, fades in seen)
    assert {fades for _, fades in seen} == {True, False}
    assert not at_end


@pytest.mark.parametrize("width", [1280, 390])
def test_links_in_drawings_are_followed_by_mouse_and_by_keyboard(width, html, site, browse):
    def follow(browser, address):
        strayed = []
        with visit(browser, address, width) as page:
            page.route(PAGES, lambda route: route.fulfill(status=204))  # no content: the page stays where it is
            links = page.locator("main svg a:visible").all()
            for link in links:
                target = link.evaluate("a => new URL(a.href.baseVal ?? a.href, document.baseURI).href")
                link.focus()
                for how in (partial(page.keyboard.press, "Enter"), link.click):  # link.press would wait for a new page
                    with page.expect_request(lambda request: request.is_navigation_request()) as asked:
                        how()
                    if asked.value.url != target.partition("#")[0]:
                        strayed.append(f"{address}: {asked.value.url} instead of {target}")
        return len(links), strayed

    drawn = [page for page in sitecheck.pages(html) if LINK_IN_A_DRAWING.search((html / page).read_text("utf-8"))]
    results = [browse(follow, f"{site}/{page}") for page in drawn]
    assert [fault for _, strayed in results for fault in strayed] == []
    assert sum(count for count, _ in results) > 0, "the landing page's map has links"


def test_chapter_one_has_an_explorer(html):
    assert "data-rx=" in (html / f"{CHAPTERS[0]}.html").read_text(encoding="utf-8")
