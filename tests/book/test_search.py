"""The search, in a book that is opened from the disk: what is found first, how it is shown, and how it is reached."""

import json
import re
from collections import Counter
from contextlib import contextmanager

import pytest
from axe_playwright_python.sync_playwright import Axe
from sitecheck import SOURCE

import search_index
from bookbrowser import settle
from pdf import read_toc

pytestmark = pytest.mark.full

ORDER = [file for _, files in read_toc(SOURCE) for file in files]
CHAPTERS = [file for file in ORDER if file.startswith("notebooks/")]
WIDE = "all => all.filter(a => a.clientWidth && a.scrollWidth > a.clientWidth + 1).map(a => a.className)"
DIALOG, PAGE = "#pst-search-dialog", ".search-container"
SHORT = "book/reading.html"  # the dialog is the same on every page, and a chapter takes seconds to open
FIRST = {  # what somebody asks, and the chapter or page that has to come first, behind the definition if it is a term
    "vanishing gradient": "notebooks/07",
    "Turing machine": "notebooks/05",
    "contraction rate": "notebooks/09.*#two-states-one-input",
    "Lyapunov exponent": "notebooks/07.*#the-rate-is-an-exponent",
    "counter": r"notebooks/(03|04|05)",
    "LSTM forget gate": r"notebooks/(07|09|01)",
    "attention": "notebooks/12",
    "truncation length": "notebooks/10",
    "PARITY": "notebooks/03.*parity",
    "Siegelmann": "notebooks/05",
    "automaton": "notebooks/03",
    "notation": r"book/notation.html#notation",
    "Lipschitz constant": r"book/notation.html#term-Lipschitz",
}

TERMS = {  # what somebody asks, and how the definition begins that comes before all else
    "vanishing gradient": "A derivative of a late state by an early one",
    "Vanishing gradients": "A derivative of a late state by an early one",
    "automata": "A machine with finitely many states",
    "carried and reset": "Two ways to train on a long sequence in pieces",
    "lipschitz constant": "Of a function: a number",
}
ALIKE = [("counters machine", "counter machine"), ("matrices norm", "matrix norm"), ("vanished limit", "vanish limit")]


@contextmanager
def visit(browser, html, page=SHORT, width=1280, **options):
    """A page of the book, opened as a file."""
    context = browser.new_context(viewport={"width": width, "height": 844}, reduced_motion="reduce", **options)
    context.set_default_timeout(20_000)
    try:
        shown = context.new_page()
        shown.goto(f"{html.as_uri()}/{page}")
        settle(shown)
        yield shown
    finally:
        context.close()


def ask(page, query, where=DIALOG):
    """Type a query and wait for the answer to it: what is said of it, and the addresses that are found."""
    page.locator(f"{where} input[name=q]").fill(query)
    return answer(page, query, where)


def answer(page, query, where=DIALOG):
    page.wait_for_function(
        "([where, query]) => document.querySelector(`${where} .search-found`).dataset.answers === query.trim()",
        arg=[where, query],
    )
    links = page.locator(f"{where} .search-hits > li:not(.search-all) a").evaluate_all("all => all.map(a => a.href)")
    return page.locator(f"{where} .search-count").text_content(), links


def found(html, address):
    """An address, as seen from the folder of the book."""
    return address.removeprefix(f"{html.as_uri()}/")


@pytest.fixture(scope="module")
def asked(html, browse):
    """For each of many queries what the dialog says and finds."""

    def read_all(browser):
        with visit(browser, html) as page:
            page.keyboard.press("Control+k")
            said = {}
            for query in [
                *FIRST,
                *sum(ALIKE, ()),
                "contraction_rate",
                "LSTMCell",
                "trunc",
                "gradient zyzzyva",
                "zyzzyvaquux",
                "W",
                "the",
            ]:
                text, links = ask(page, query)
                said[query] = text, [found(html, link) for link in links]
            return said

    return browse(read_all)


@pytest.mark.parametrize("query", FIRST)
def test_what_is_found_first(asked, query):
    sections = [link for link in asked[query][1] if "#term-" not in link or "#term-" in FIRST[query]]
    assert re.match(FIRST[query], sections[0]), asked[query]


def test_a_term_that_is_asked_for_comes_first_with_its_definition(html, browse):
    def look(browser):
        seen = {}
        with visit(browser, html) as page:
            page.keyboard.press("Control+k")
            for query in TERMS:
                _, links = ask(page, query)
                said = page.locator(f"{DIALOG} .search-hits > li .search-excerpt").first.text_content()
                seen[query] = found(html, links[0]), said
        return seen

    for query, (link, said) in browse(look).items():
        assert link.startswith("book/notation.html#term-"), query
        assert said.startswith(TERMS[query])


def test_a_term_does_not_come_first_while_only_its_beginning_is_typed(asked):
    assert not any("#term-" in asked[query][1][0] for query in ("trunc", "counter", "contraction rate"))


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_forms_of_a_word_find_the_same_number_of_sections(asked, one, other):
    assert asked[one][0] == asked[other][0]
    assert re.match(r"\d+ sections", asked[one][0])


@pytest.mark.parametrize(("room", "name"), [("stability", "contraction_rate"), ("cells", "LSTMCell")])
def test_a_name_of_the_package_is_found_and_stands_before_what_mentions_it(asked, room, name):
    names = [link for link in asked[name][1] if link.startswith("book/api")]
    assert names[0] == f"book/api/{room}.html#fhx.{room}.{name}"
    assert asked[name][1][-len(names) :] == names


def test_a_name_with_underscores_is_not_found_by_its_parts(asked):
    assert len(asked["contraction_rate"][1]) < 12 <= len(asked["contraction rate"][1])


def test_a_word_is_found_by_its_beginning_while_one_types(asked):
    assert asked["trunc"][1][0].startswith("notebooks/10")


def test_a_letter_is_a_word_and_no_beginning(asked):
    assert int(asked["W"][0].split()[0]) < 400
    assert asked["the"][1] != []


def test_what_is_not_there_is_said_in_one_line(asked):
    assert asked["zyzzyvaquux"] == ("Nothing in the book has “zyzzyvaquux”.", [])
    text, links = asked["gradient zyzzyva"]
    assert text.startswith("No section has all of these words; ")
    assert links[0].startswith("notebooks/07")


def test_no_page_of_names_comes_before_another(html, browse):
    def search(browser):
        with visit(browser, html, "search.html?q=contraction+rate") as page:
            assert page.locator(f"{PAGE} input").input_value() == "contraction rate"
            return [found(html, link) for link in answer(page, "contraction rate", PAGE)[1]]

    links = browse(search)
    lists = [bool(search_index.LISTS.match(link)) for link in links]
    assert lists == sorted(lists)
    assert {True, False} <= set(lists)


def test_a_word_that_few_other_pages_use_finds_its_chapter(html, browse):
    index = json.loads((html / search_index.FILE).read_text("utf-8").removeprefix("bookSections = ").strip("\n;"))
    said = {address: Counter() for address, *_ in index["pages"]}
    for number, _, _, text, _ in index["sections"]:
        said[index["pages"][number][0]].update(re.findall(r"\b[a-z]{6,}\b", text))
    spread = Counter(word for counted in said.values() for word in counted)
    telling = {file: min(said[f"{file}.html"], key=lambda word: (spread[word], -len(word), word)) for file in CHAPTERS}

    def search(browser):
        with visit(browser, html, "search.html") as page:
            return {file: ask(page, word, PAGE)[1] for file, word in telling.items()}

    missed = {file: telling[file] for file, links in browse(search).items() if not any(file in link for link in links)}
    assert missed == {}


def test_a_hit_has_page_heading_and_the_text_around_the_words_with_a_formula_once(html, browse):
    def look(browser):
        with visit(browser, html) as page:
            page.keyboard.press("Control+k")
            ask(page, "LSTM forget gates")
            hit = page.locator(f"{DIALOG} .search-hits > li", has_text="7.5. Gates").first
            return (
                hit.locator(".search-page").text_content(),
                hit.locator("a").text_content(),
                hit.locator(".search-excerpt").text_content(),
                hit.locator(".search-excerpt mark").all_text_contents(),
            )

    page, heading, excerpt, marks = browse(look)
    assert (page, heading) == ("7. Gradients through time", "7.5. Gates")
    assert "The forget gate fₜ of (1.6) came with" in excerpt
    assert {"LSTM", "forget", "gate"} <= set(marks)
    assert len(excerpt) < 300


@pytest.mark.parametrize("width", [1280, 390])
def test_a_hit_leads_to_its_section_on_another_page_and_on_this_one(html, browse, width):
    def follow(browser):
        seen = []
        with visit(browser, html, "book/index.html", width) as page:
            for query in ("Lyapunov exponent", "bidirectional"):  # the second is on the page that the first led to
                page.locator("button.search-button__button:visible").first.click()
                hit = page.locator(f"{DIALOG} .search-hits a[href*='notebooks/07']").first
                ask(page, query)
                target = hit.evaluate("a => a.href")
                hit.click()
                page.wait_for_url(target)
                page.wait_for_timeout(500)
                anchor = target.partition("#")[2]
                place = page.locator(f"[id='{anchor}'] > :is(h1, h2, h3)").bounding_box()
                seen.append((page.locator(DIALOG).is_visible(), 0 <= place["y"] < 400))
        return seen

    assert browse(follow) == [(False, True)] * 2


def test_the_keyboard_is_enough(html, browse):
    where = "() => document.activeElement.closest('li')?.querySelector('a').href ?? document.activeElement.localName"

    def work(browser):
        with visit(browser, html) as page:
            page.keyboard.press("Control+k")
            _, links = ask(page, "stack")
            stops = [page.evaluate(where)]
            for key in ("ArrowDown", "ArrowDown", "ArrowUp", "ArrowUp", "ArrowUp", "ArrowDown", "ArrowDown"):
                page.keyboard.press(key)
                stops.append(page.evaluate(where))
            page.keyboard.press("Escape")
            closed = page.locator(DIALOG).is_visible()
            page.keyboard.press("Control+k")
            page.keyboard.press("Escape")
            again = page.locator(DIALOG).is_visible()
            page.keyboard.press("Control+k")
            page.keyboard.press("ArrowDown")
            page.keyboard.press("Enter")
            page.wait_for_url(links[0])
            page.keyboard.press("Control+k")
            _, listed = ask(page, "two stacks")
            page.keyboard.press("Enter")
            page.wait_for_url(listed[0])
            page.keyboard.press("Control+k")
            page.keyboard.type("PARITY")  # and at once, before there is an answer
            page.keyboard.press("Enter")
            page.wait_for_url("**/notation.html#term-PARITY")
            page.keyboard.press("Control+k")
            ask(page, "zyzzyvaquux")
            page.keyboard.press("Enter")
            page.wait_for_timeout(300)
            stays = page.locator(DIALOG).is_visible() and page.url.endswith("#term-PARITY")
            return links, stops, closed or again, stays

    links, stops, still_open, stays = browse(work)
    first, second = links[:2]
    assert stops == ["input", first, second, first, "input", "input", first, second]
    assert not still_open
    assert stays


def test_how_much_is_found_is_said_aloud_and_all_of_it_is_one_link_away(html, browse):
    def listen(browser):
        with visit(browser, html) as page:
            page.keyboard.press("Control+k")
            said, links = ask(page, "gradient")
            role = page.locator(f"{DIALOG} .search-count").get_attribute("role")
            page.locator(f"{DIALOG} .search-all a").click()
            page.wait_for_url("**/search.html?q=gradient")
            return said, len(links), role, len(answer(page, "gradient", PAGE)[1])

    said, shown, role, listed = browse(listen)
    assert role == "status"
    assert re.fullmatch(rf"\d+ sections, the first {shown}:", said)
    assert listed > shown


@pytest.mark.parametrize(("width", "theme"), [(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")])
def test_the_dialog_is_accessible_and_fits(html, browse, width, theme):
    def look(browser):
        with visit(browser, html, width=width, color_scheme=theme) as page:
            page.locator("button.search-button__button:visible").first.click()
            ask(page, "gradient")
            page.locator(f"{DIALOG} .search-hits a").nth(1).focus()
            wide = page.locator(f"{DIALOG} *").evaluate_all(WIDE)
            box = page.locator(DIALOG).bounding_box()
            page.evaluate(Axe().axe_script)
            done = page.evaluate(f"axe.run('{DIALOG}', {{resultTypes: ['violations'], preload: false}})")
            return wide, box, [(one["id"], [node["target"] for node in one["nodes"]]) for one in done["violations"]]

    wide, box, violations = browse(look)
    assert (wide, violations) == ([], [])
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
    assert box["y"] + box["height"] <= 844


def test_nothing_of_the_search_is_loaded_before_it_is_wanted_and_nothing_from_elsewhere(html, browse):
    def watch(browser):
        context = browser.new_context(viewport={"width": 1280, "height": 844})
        page, asked_for, wrong = context.new_page(), [], []
        page.on("request", lambda request: asked_for.append(request.url))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda message: message.type == "error" and wrong.append(message.text))
        page.goto(f"{html.as_uri()}/{CHAPTERS[0]}.html")
        settle(page)
        before = [*asked_for]
        page.keyboard.press("Control+k")
        for query in ("gradient", "(((", "<b>x</b> \\ \"'", "𝕎 ∥ ′", "—", "a"):
            ask(page, query)
        context.close()
        return before, asked_for[len(before) :], wrong

    before, after, wrong = browse(watch)
    late = ["minisearch.js", "stemmer.js", search_index.FILE]
    assert [url for url in before if url.rpartition("/")[2].split("?")[0] in {*late, "searchtools.js"}] == []
    assert sorted(url.rpartition("/")[2] for url in after) == sorted(late)
    assert {url.partition(":")[0] for url in before + after} <= {"file", "data"}
    assert wrong == []
