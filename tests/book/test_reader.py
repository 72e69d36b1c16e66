"""What a reader does with the book: searches it, turns the light off, copies code, opens a solution, follows a map."""

import re
from collections import Counter

import pytest
import sitecheck
from pagecheck import PATIENCE
from sitecheck import SOURCE

from bookbrowser import settle
from pdf import read_toc

ORDER = [file for _, files in read_toc(SOURCE) for file in files]
CHAPTERS = [file for file in ORDER if file.startswith("notebooks/")]
WAIT = 10_000  # ms


def visit(browser, address, width=1280, **options):
    page = browser.new_context(viewport={"width": width, "height": 844}, reduced_motion="reduce", **options).new_page()
    page.set_default_timeout(WAIT)
    page.set_default_navigation_timeout(PATIENCE)
    page.goto(address)
    settle(page)
    return page


def words(text: str) -> set[str]:
    """The plain words of the paragraphs of a page."""
    paragraphs = re.findall(r"<p>(.*?)</p>", text.partition("<article")[2].partition("</article>")[0], re.DOTALL)
    plain = " ".join(re.sub(r"<[^>]*>|\\\(.*?\\\)", " ", paragraph) for paragraph in paragraphs)
    return set(re.findall(r"(?<![\w&])[a-z]{6,}(?!\w)", plain))


@pytest.fixture(scope="module")
def telling(html) -> dict[str, str]:
    """For every chapter a word that as few other pages as possible use."""
    used = {file: words((html / f"{file}.html").read_text(encoding="utf-8")) for file in ORDER}
    pages = Counter(word for found in used.values() for word in found)
    return {file: min(used[file], key=lambda word: (pages[word], -len(word), word)) for file in CHAPTERS}


@pytest.mark.parametrize("file", CHAPTERS)
def test_search_for_a_word_of_a_chapter_finds_the_chapter(file, telling, site, browse):
    def search(browser):
        page = visit(browser, f"{site}/{ORDER[0]}.html")
        page.locator("button.search-button__button:visible").first.click()
        page.keyboard.type(telling[file])
        page.keyboard.press("Enter")
        page.wait_for_url("**/search.html?*")
        page.locator(f"#search-results a[href*='{file}.html']").first.wait_for()
        page.locator("main input[name=q]").fill("zyzzyvaquux")
        page.keyboard.press("Enter")
        page.get_by_text("did not match any documents").wait_for()
        return page.locator("#search-results li").count()

    assert browse(search) == 0


def test_the_theme_button_turns_the_light_off_and_the_book_remembers(site, browse):
    def switch(browser):
        page = visit(browser, f"{site}/{ORDER[0]}.html", color_scheme="light")
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


@pytest.mark.parametrize("file", CHAPTERS)
def test_code_can_be_copied(file, site, browse):
    def copy(browser):
        page = visit(browser, f"{site}/{file}.html", permissions=["clipboard-read", "clipboard-write"])
        cells = page.locator(".cell_input .highlight:visible")
        cell = cells.nth(min(1, cells.count() - 1))
        cell.hover()
        cell.locator("button.copybtn").click()
        page.wait_for_timeout(100)
        return cell.locator("pre").text_content(), page.evaluate("navigator.clipboard.readText()")

    shown, copied = browse(copy)
    assert copied.strip() == shown.strip() != ""


@pytest.mark.parametrize("file", CHAPTERS)
def test_solutions_stay_closed_until_the_reader_opens_them(file, site, browse):
    def solutions(browser):
        page = visit(browser, f"{site}/{file}.html")
        found = []
        for solution in page.locator(".solution.dropdown").all():
            content, button = solution.locator("section").first, solution.locator("button.toggle-button").first
            closed = not content.is_visible()
            button.click()
            found.append((closed, content.is_visible()))
        return found

    found = browse(solutions)
    assert found
    assert set(found) == {(True, True)}


def test_the_menu_of_a_narrow_page_opens(site, browse):
    def menu(browser):
        page = visit(browser, f"{site}/{ORDER[0]}.html", width=390)
        page.locator("button.primary-toggle:visible").first.click()
        link = page.locator(f"a[href*='{CHAPTERS[0].rpartition('/')[2]}.html']:visible").first
        link.click()
        return page.url

    assert browse(menu) == f"{site}/{CHAPTERS[0]}.html"


@pytest.mark.parametrize("width", [1280, 390])
def test_links_in_drawings_are_followed_by_mouse_and_by_keyboard(width, html, site, browse):
    def follow(browser, address):
        page = visit(browser, address, width)
        count, strayed = page.locator("main svg a:visible").count(), []
        for index in range(count):
            for key in (None, "Enter"):
                link = page.locator("main svg a:visible").nth(index)
                target = link.evaluate("a => new URL(a.href.baseVal ?? a.href, document.baseURI).href")
                if key is None:
                    link.click()
                else:
                    link.focus()
                    page.keyboard.press(key)
                try:
                    page.wait_for_url(target)
                except Exception as error:
                    strayed.append(f"{address}, {key or 'click'}: {target} is not reached: {error}")
                page.goto(address)
        return count, strayed

    drawn = [page for page in sitecheck.pages(html) if re.search(r"<svg.*<a ", (html / page).read_text(), re.DOTALL)]
    results = [browse(follow, f"{site}/{page}") for page in drawn]
    assert [fault for _, strayed in results for fault in strayed] == []
    assert sum(count for count, _ in results) > 0, "the landing page's map has links"


def test_chapter_one_has_an_explorer(html):
    assert "data-rx=" in (html / f"{CHAPTERS[0]}.html").read_text(encoding="utf-8")
