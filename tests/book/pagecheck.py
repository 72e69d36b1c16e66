"""One page, opened once at one width in one theme, and everything that is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Locator, Page

from bookbrowser import open_everything, settle

WIDTHS = {1280: 900, 390: 844}  # px: a laptop and a telephone, width and height
THEMES = ("light", "dark")
EXPLORER = "[data-rx]"
LOOK_INSIDE = (Path(__file__).parent / "pagecheck.js").read_text(encoding="utf-8")
STATE = "root => [...root.querySelectorAll('.rx-view, .rx-readout')].map(part => part.innerHTML).join()"
AXE_OPTIONS = {"resultTypes": ["violations"], "preload": False}  # preloading asks for style sheets at wrong addresses

# Coloured words of code look alike: the longest of each colour is examined, the rest becomes plain text as wide.
THIN_OUT = """() => {
    const kept = new Map(), alike = [];
    for (const word of document.querySelectorAll(':is(pre, .sig) :is(span, em):not([id], :has(*))')) {
        const [own, around] = [getComputedStyle(word), getComputedStyle(word.closest('pre, .sig'))];
        const look = [own.color, own.backgroundColor, own.font, around.backgroundColor].join();
        const rival = kept.get(look);
        const wins = !rival || word.textContent.length > rival.textContent.length;
        if (rival) alike.push(wins ? rival : word);
        if (wins) kept.set(look, word);
    }
    for (const word of alike) word.replaceWith(...word.childNodes);
    for (const code of document.querySelectorAll('pre, .sig')) code.normalize();
}"""


@dataclass(frozen=True, order=True)
class Problem:
    """A fault of a page: its kind, and what a reader would need to find it."""

    kind: str
    detail: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.detail}"


@cache
def _axe() -> Axe:
    return Axe()


def check(browser: Browser, address: str, width: int, theme: str, screenshot: Path | None = None) -> list[Problem]:
    """Open ``address`` once and collect all its problems, sorted by kind."""
    context = browser.new_context(
        viewport={"width": width, "height": WIDTHS[width]}, color_scheme=theme, reduced_motion="reduce"
    )
    try:
        page = context.new_page()
        problems = listen(page, address)
        page.goto(address, wait_until="load")
        settle(page)
        if screenshot is not None:
            page.screenshot(path=screenshot, full_page=True, type="jpeg", quality=80)
        seen = page.evaluate("document.documentElement.dataset.theme")
        if seen not in (None, theme):
            problems.append(Problem("theme", f"{seen} where the reader's system asks for {theme}"))
        open_everything(page)
        problems += [Problem(*found) for found in page.evaluate(LOOK_INSIDE)]
        problems += accessibility(page)
        for explorer in page.locator(EXPLORER).all():
            problems += explore(page, explorer)
        return sorted(set(problems))
    finally:
        context.close()


def listen(page: Page, address: str) -> list[Problem]:
    """A list that fills, while the page lives, with requests to other hosts, failed requests and console errors."""
    home = urlsplit(address).netloc
    problems: list[Problem] = []

    def outside(url: str) -> bool:
        parts = urlsplit(url)
        return parts.scheme in {"http", "https", "ws", "wss"} and parts.netloc != home

    def report(kind: str, detail: str) -> None:
        problems.append(Problem(kind, detail))

    page.on("request", lambda r: outside(r.url) and report("outside request", r.url))
    page.on("websocket", lambda s: outside(s.url) and report("outside request", s.url))
    page.on("response", lambda r: r.status >= 400 and report("failed request", f"{r.status} {r.url}"))
    page.on("requestfailed", lambda r: outside(r.url) or report("failed request", f"{r.failure} {r.url}"))
    page.on("console", lambda m: m.type == "error" and report("console error", f"{m.text} ({m.location.get('url')})"))
    page.on("pageerror", lambda e: report("console error", f"uncaught {e.name}: {e.message}"))
    return problems


def accessibility(page: Page) -> Iterator[Problem]:
    """The serious and critical violations that axe-core finds."""
    page.evaluate(THIN_OUT)
    for violation in _axe().run(page, options=AXE_OPTIONS).response["violations"]:
        if violation["impact"] in {"serious", "critical"}:
            for node in violation["nodes"]:
                summary = " ".join(node["failureSummary"].split())
                yield Problem("accessibility", f"{violation['id']} at {node['target']}: {summary}")


def explore(page: Page, explorer: Locator) -> Iterator[Problem]:
    """Work every control of an explorer, by keyboard and by mouse: what it shows has to change each time."""
    where = explorer.get_attribute("data-rx")
    controls = explorer.locator("input, select, button")
    for control in controls.all():
        label = control.evaluate("c => `${c.localName} “${(c.labels?.[0] ?? c).textContent.trim()}”`")
        if control.is_disabled():
            yield Problem("explorer", f"{where}: {label} never came alive")
            continue
        typed = control.get_attribute("type") in {"text", "number"}
        for how in (by_keyboard,) if typed else (by_keyboard, by_mouse):
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
        share = 0.05 if value > (low + high) / 2 else 0.95
        control.click(position={"x": share * box[0], "y": box[1] / 2})
    elif kind.startswith("select"):
        control.select_option(index=control.evaluate("c => (c.selectedIndex + 1) % c.length"))
    else:
        control.click()
