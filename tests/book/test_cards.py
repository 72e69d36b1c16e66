"""What a link leads to is shown beside it: for each kind of target, by mouse, keyboard and touch, from a disk too."""

import json
import re
from pathlib import Path

import pytest

from bookbrowser import settle
from cards import cards, end_of

CHAPTER = "notebooks/03-automata-in-integer-weights.html"
INTERNAL = re.compile(r'<a class="reference internal" href="([\w./-]*)#([^"]+)"')
HEADING = '<h2>Title<a class="headerlink" href="#s">#</a></h2>'
SECTION = f'<section id="s">\n<span id="alias"></span>{HEADING}\n<p>First.</p><p>No.</p>'
PROOF = '<div class="proof theorem admonition" id="t"><div><p id="x">It is so.</p></div></div>'
FIGURE = '<figure class="a" id="f"><svg><use href="#drawing3-g"/><path id="drawing3-g"/></svg></figure>'
FACTS = "<dl><dt>True</dt><dd><p>So.</p></dd></dl>"
CLAIM = f'<details class="claim proved" id="claim-a1">\n<summary>A1 proved</summary>{FACTS}</details>'
TERM = '<dt id="term-PARITY">PARITY<a class="headerlink" href="#x">#</a></dt><dd><p>Odd.</p>\n</dd>'
SYMBOL = '<dt id="symbol-K-9"><span>K</span></dt><dd><p>a set.</p>\n</dd>'


def test_each_kind_of_target_has_its_card():
    found = cards(f"{SECTION}{PROOF}{FIGURE}{CLAIM}{TERM}{SYMBOL}</section>")
    assert found["s"] == ["<p><strong>Title</strong></p><p>First.</p>"]
    assert found["alias"] == "s"
    assert found["t"] == [PROOF.replace(' id="t"', "").replace(' id="x"', "")]
    assert found["f"] == [FIGURE.replace(' id="f"', "").replace("drawing", "card")]
    assert found["term-PARITY"] == ["<p><strong>PARITY</strong></p><p>Odd.</p>\n"]
    assert found["symbol-K-9"] == ["<p><span>K</span>: a set.</p>\n"]
    assert found["claim-a1"] == ["<p>A1 proved</p><p><strong>True:</strong> So.</p>"]


def test_an_element_ends_where_it_ends():
    html = "<div><div></div><p></p></div><div></div>"
    assert html[: end_of("div", html, 5)] == "<div><div></div><p></p></div>"


@pytest.mark.full
def test_nearly_all_links_to_places_in_the_book_have_a_card(html):
    known: set[tuple[str, str]] = set()
    for path in (Path(html) / "_static" / "cards").rglob("*.js"):
        page, found = json.loads(f"[{path.read_text(encoding='utf-8').strip().removeprefix('bookCards(')[:-2]}]")
        known |= {(page, name) for name in found}
    wanted, have = 0, 0
    for path in sorted((Path(html) / "notebooks").glob("*.html")):
        for page, name in re.findall(
            r'<a class="reference internal" href="([\w./-]*)#([^"]+)"', path.read_text("utf-8")
        ):
            target = (path.parent / page).resolve() if page else path.resolve()
            wanted += 1
            have += (target.relative_to(Path(html).resolve()).with_suffix("").as_posix(), name) in known
    assert wanted > 1000
    assert have / wanted > 0.9


def read_card(page, link) -> str:
    page.locator("#link-card").wait_for(timeout=5_000)
    assert link.get_attribute("aria-describedby") == "link-card"
    return page.locator("#link-card").inner_text()


@pytest.mark.full
@pytest.mark.parametrize("way", ["mouse", "keyboard"])
def test_a_theorem_is_read_without_leaving_the_page(way, html, browse):
    def read(browser):
        page = browser.new_page(viewport={"width": 1280, "height": 844})
        page.goto((Path(html) / CHAPTER).as_uri())
        settle(page)
        link = page.locator(".in-short a").first
        if way == "mouse":
            link.hover()
        else:
            page.locator(".in-short").evaluate("box => { box.tabIndex = 0; box.focus(); }")
            page.keyboard.press("Tab")
        text = read_card(page, link)
        page.keyboard.press("Escape")
        gone = page.locator("#link-card").count()
        page.close()
        return text, gone

    text, gone = browse(read)
    assert re.match(r"(Proposition|Theorem|Lemma|Fig\.) \d+\.\d+", text)
    assert gone == 0


@pytest.mark.full
def test_a_first_tap_shows_and_a_second_follows(site, browse):
    def read(browser):
        context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
        page = context.new_page()
        page.goto(f"{site}/{CHAPTER}")
        settle(page)
        page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true")
        link = page.locator(".bd-article :not(.dropdown) > p > a.reference[href*='claims.html#claim-']").first
        link.tap()
        text, before = read_card(page, link), page.url
        box = page.locator("#link-card").bounding_box()
        link.tap()
        page.wait_for_url("**/claims.html#*")
        context.close()
        return text, before, box

    text, before, box = browse(read)
    assert re.match(r"[A-E]\d+\s*(proved|corrected|false as stated|measured)", text)
    assert before.endswith(CHAPTER)
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390


@pytest.mark.full
def test_links_in_a_card_lead_where_they_do_on_their_page(html, browse):
    def read(browser):
        page = browser.new_page(viewport={"width": 1280, "height": 844})
        page.goto((Path(html) / CHAPTER).as_uri())
        settle(page)
        found = page.evaluate(
            """async () => {
              const link = document.createElement("a");
              link.className = "reference";
              link.href = "05-turing-machines-in-rational-weights.html#tur-machine";
              link.textContent = "there";
              document.querySelector(".bd-article p").append(link);
              link.dispatchEvent(new PointerEvent("pointerover", {bubbles: true, pointerType: "mouse"}));
              await new Promise(done => setTimeout(done, 1500));
              return [...document.querySelectorAll("#link-card")].map(card => card.innerText);
            }"""
        )
        page.close()
        return found

    assert any("Two stacks are a tape" in text for text in browse(read))
