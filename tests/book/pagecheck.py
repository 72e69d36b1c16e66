"""One page, opened once and shown wide and narrow, light and dark, and everything that is wrong with it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Locator, Page
from playwright.sync_api import TimeoutError as Late

from bookbrowser import SETTLED, open_everything, settle


class View(NamedTuple):
    """How a page is shown: the width of the window in px, and the theme that the reader's system asks for."""

    width: int
    theme: str

    def __str__(self) -> str:
        return f"{self.width} px, {self.theme}"


HEIGHTS = {1280: 900, 390: 844}  # px: a laptop and a telephone
# Layout has no colours: what is not a colour is looked at in two views, which are also the pictures. The page opens in
# the first of them, as on a telephone at night.
LAYOUTS = (View(390, "dark"), View(1280, "light"))
VIEWS = (View(1280, "light"), View(1280, "dark"), View(390, "dark"), View(390, "light"))
PATIENCE = 120_000  # ms, for a page that opens while other work keeps the machine busy
THEME_FOLLOWS = (
    3_000  # ms at most until the theme has made code that scrolls reachable by keyboard; 300 where it is quick
)
TALLEST = 65_535  # px, of a picture in JPEG
EXPLORER = "[data-rx]"
LOOK_INSIDE, MARK_SAMPLES = (
    (Path(__file__).parent / name).read_text(encoding="utf-8") for name in ("pagecheck.js", "looks.js")
)
STATE = "root => [...root.querySelectorAll('.rx-view, .rx-readout')].map(part => part.innerHTML).join()"
AXE_OPTIONS = {
    "resultTypes": ["violations"],
    "preload": False,  # it asks for style sheets at wrong addresses
    "rules": {"region": {"enabled": False}},  # no more than moderate, and it takes a quarter of the time
}
ONLY_COLORS = {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}
REACHABLE = """() => {
    const boxes = document.querySelectorAll('pre, .cell_output > .output, .pst-scrollable-table-container');
    const scrolls = box => box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight;
    return [...boxes].every(box => box.tabIndex === 0 || !scrolls(box));
}"""
ONLY_SAMPLES = "axe.configure({rules: [{id: 'color-contrast', selector: '[data-sample]'}]})"

# Half of a page's elements are the letters of its formulas: each formula becomes a box of its size.
# Coloured words of code look alike: those that are not samples become plain text as wide.
# A drawing is one picture to whoever cannot see it: axe is left its words, its title and its links.
THIN_OUT = """() => {
    const formulas = [...document.querySelectorAll('.katex')].map(each => each.closest('span.math') ?? each);
    const sizes = formulas.map(formula => formula.getBoundingClientRect());
    formulas.forEach((formula, i) => {
        formula.textContent = '';
        formula.style.cssText += `; display: inline-block; width: ${sizes[i].width}px; height: ${sizes[i].height}px`;
    });
    const words = ':is(pre, .sig) :is(span, em):not([id], [data-sample], :has(*))';
    for (const word of document.querySelectorAll(words)) word.replaceWith(...word.childNodes);
    for (const code of document.querySelectorAll('pre, .sig')) code.normalize();
    const shapes = '.drawing svg :not(text, text *, title, a, :has(text, a))';
    for (const shape of document.querySelectorAll(shapes)) shape.remove();
}"""


@dataclass(frozen=True, order=True)
class Problem:
    """A fault of a page: its kind, and what a reader would need to find it."""

    kind: str
    detail: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.detail}"


def check(
    browser: Browser, address: str, picture: Callable[[View], Path] | None = None, views: Sequence[View] = VIEWS
) -> dict[Problem, list[View]]:
    """Open ``address`` once and collect all its problems, sorted by kind, with the views that have them.

    ``picture`` says where the picture of a view is kept; ``views`` has both layouts.
    """
    found: dict[Problem, list[View]] = defaultdict(list)
    view = LAYOUTS[0]

    def note(problems: Iterator[Problem]) -> None:
        for problem in problems:
            if view not in found[problem]:
                found[problem].append(view)

    with visiting(browser, view) as page, listening(page, address, lambda *seen: note([Problem(*seen)])):
        page.goto(address, wait_until="load", timeout=PATIENCE)
        settle(page)
        open_everything(page)
        for view in LAYOUTS:
            note(show(page, view))
            note(Problem(*seen) for seen in page.evaluate(LOOK_INSIDE))
            page.evaluate(MARK_SAMPLES)
            if picture is not None:
                height = min(TALLEST, page.evaluate("document.documentElement.scrollHeight"))
                frame = {"x": 0, "y": 0, "width": view.width, "height": height}
                page.screenshot(
                    path=picture(view), full_page=True, clip=frame, type="jpeg", quality=80, timeout=PATIENCE
                )
        for preparation in (THIN_OUT, Axe().axe_script, ONLY_SAMPLES):
            page.evaluate(preparation)
        for view in views:
            note(show(page, view))
            note(accessibility(page, {} if view in LAYOUTS else ONLY_COLORS))
            for explorer in page.locator(EXPLORER).all() if view in LAYOUTS else ():
                note(explore(page, explorer, by_mouse if view == LAYOUTS[0] else by_keyboard))
        return {problem: found[problem] for problem in sorted(found)}


_TABS: WeakKeyDictionary[Browser, Page] = WeakKeyDictionary()


@contextmanager
def visiting(browser: Browser, view: View) -> Iterator[Page]:
    """The tab of a browser, empty and without memory of earlier pages, but for what is the same on all of them.

    What all pages share, such as scripts and fonts, is loaded and compiled once for a tab: for a short page that is
    half of the work. After an error there is a new one.
    """
    page = _TABS.pop(browser, None) or browser.new_context(reduced_motion="reduce").new_page()
    try:
        page.set_viewport_size(looks(view)["viewport"])
        page.emulate_media(color_scheme=view.theme)
        yield page
        page.evaluate("localStorage.clear(), sessionStorage.clear()")
        page.context.clear_cookies()
        page.goto("about:blank")  # what was still on its way is nobody's from here on
    except BaseException:
        page.context.close()
        raise
    _TABS[browser] = page


def looks(view: View) -> dict:
    """The options of a browser context that shows pages so."""
    return {"viewport": {"width": view.width, "height": HEIGHTS[view.width]}, "color_scheme": view.theme}


def show(page: Page, view: View) -> Iterator[Problem]:
    """Turn the window and the light to ``view``, wait until the page has followed; it has to take the theme."""
    size = looks(view)["viewport"]
    if page.viewport_size != size:
        page.set_viewport_size(size)
        with suppress(Late):  # axe says what cannot be reached
            page.wait_for_function(REACHABLE, timeout=THEME_FOLLOWS)
    page.emulate_media(color_scheme=view.theme)
    page.evaluate(SETTLED)
    seen = page.evaluate("document.documentElement.dataset.theme")
    if seen not in (None, view.theme):
        yield Problem("theme", f"{seen} where the reader's system asks for {view.theme}")


@contextmanager
def listening(page: Page, address: str, report: Callable[[str, str], None]) -> Iterator[None]:
    """Report meanwhile requests to other hosts, failed requests and console errors."""
    home = urlsplit(address).netloc

    def outside(url: str) -> bool:
        parts = urlsplit(url)
        return parts.scheme in {"http", "https", "ws", "wss"} and parts.netloc != home

    heard = {
        "request": lambda r: outside(r.url) and report("outside request", r.url),
        "websocket": lambda s: outside(s.url) and report("outside request", s.url),
        "response": lambda r: r.status >= 400 and report("failed request", f"{r.status} {r.url}"),
        "requestfailed": lambda r: outside(r.url) or report("failed request", f"{r.failure} {r.url}"),
        "console": lambda m: m.type == "error" and report("console error", f"{m.text} ({m.location.get('url')})"),
        "pageerror": lambda e: report("console error", f"uncaught {e.name}: {e.message}"),
    }
    for event, hear in heard.items():
        page.on(event, hear)
    try:
        yield
    finally:
        for event, hear in heard.items():
            page.remove_listener(event, hear)


def accessibility(page: Page, options: dict) -> Iterator[Problem]:
    """The serious and critical violations that axe-core finds; its script is in the page already."""
    page.evaluate(MARK_SAMPLES)
    for violation in page.evaluate("options => axe.run(options).then(done => done.violations)", AXE_OPTIONS | options):
        if violation["impact"] in {"serious", "critical"}:
            for node in violation["nodes"]:
                summary = " ".join(node["failureSummary"].split())
                yield Problem("accessibility", f"{violation['id']} at {node['target']}: {summary}")


def explore(page: Page, explorer: Locator, how: Callable[[Page, Locator], None]) -> Iterator[Problem]:
    """Work every control of an explorer, by keyboard or by mouse: what it shows has to change each time."""
    where = explorer.get_attribute("data-rx")
    controls = explorer.locator("input, select, button")
    for control in controls.all():
        label = control.evaluate("c => `${c.localName} “${(c.labels?.[0] ?? c).textContent.trim()}”`")
        if control.is_disabled():
            yield Problem("explorer", f"{where}: {label} never came alive")
            continue
        if how is by_mouse and control.get_attribute("type") in {"text", "number"}:
            continue
        before = explorer.evaluate(STATE)
        how(page, control)
        page.wait_for_timeout(30)
        if explorer.evaluate(STATE) == before:
            yield Problem("explorer", f"{where}: {label} does nothing {how.__name__.replace('_', ' ')}")
    shown = explorer.locator(".rx-view, .rx-readout").all_text_contents()
    if controls.count() == 0 or not "".join(shown).strip():
        yield Problem("explorer", f"{where} has no control or shows nothing")
    if any(empty in text for text in shown for empty in ("NaN", "undefined", "null", "This picture failed")):
        yield Problem("explorer", f"{where} shows an empty value: {shown}")


def by_keyboard(page: Page, control: Locator) -> None:
    """Focus a control and press a key that changes it."""
    kind, at_end = control.evaluate("c => [c.type, +c.value >= +c.max || c.selectedIndex === c.length - 1]")
    control.focus()
    if kind == "range":
        page.keyboard.press("ArrowLeft" if at_end else "ArrowRight")
    elif kind.startswith("select") or kind == "number":
        page.keyboard.press("ArrowUp" if at_end == (kind != "number") else "ArrowDown")
    elif kind == "text":
        page.keyboard.press("End")
        page.keyboard.press("Backspace")
    else:
        page.keyboard.press("Space")


def by_mouse(page: Page, control: Locator) -> None:
    """Click a control where the click changes it; the list of a select is the system's, so its option is chosen."""
    kind = control.evaluate("c => c.type")
    if kind == "range":
        low, value, high = control.evaluate("c => [+c.min, +c.value, +c.max]")
        box = control.evaluate("c => [c.clientWidth, c.clientHeight]")
        share = 0.35 if value > (low + high) / 2 else 0.65  # two steps from the ends: step buttons end there
        control.click(position={"x": share * box[0], "y": box[1] / 2})
    elif kind.startswith("select"):
        control.select_option(index=control.evaluate("c => (c.selectedIndex + 1) % c.length"))
    else:
        control.click()
