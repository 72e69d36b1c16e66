"""A real browser for the explorers: one Chromium for a module, one isolated page for every test."""

import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import pytest
from playwright.sync_api import Browser, Page, Route, sync_playwright

from fhx.figures import Choice, Explorer, Slider, gain_explorer, use_style

matplotlib.use("Agg")
sys.path[:0] = [str(Path(__file__).parent)]

HOST = "http://book.test/"
SHELL = """<!doctype html><html lang="en" {mark}><head><meta charset="utf-8"><title>Page</title>
<meta name="viewport" content="width=device-width, initial-scale=1"></head>
<body><main><h1>Page</h1>
<div class="cell_output"><div class="output text_html">{body}</div></div></main></body></html>"""


@pytest.fixture
def styled() -> Iterator[None]:
    """The book's style for a test, and no figure left behind."""
    with plt.rc_context():
        use_style()
        yield
    plt.close("all")


def chromium() -> str:
    """The path of the Chromium to drive."""
    for name in ("chromium", "chromium-browser", "google-chrome", "chrome"):
        if path := shutil.which(name):
            return path
    pytest.fail("no Chromium found: install it, on Debian with `apt-get install chromium`")


@dataclass
class Site:
    """One page at a made-up host; all that it should not do is written down."""

    browser: Browser
    strayed: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    pages: list[Page] = field(default_factory=list)

    def open(self, body: str, *, width: int = 1280, scheme: str = "light", mark: str = "") -> Page:
        page = self.browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        self.pages.append(page)
        page.set_default_timeout(5000)
        page.set_default_navigation_timeout(60_000)  # other work may keep the machine busy
        page.on("console", lambda message: self.complaints.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))

        def answer(route: Route) -> None:
            if route.request.url == HOST:
                route.fulfill(body=SHELL.format(mark=mark, body=body), content_type="text/html")
            else:
                self.strayed.append(route.request.url)
                route.abort()

        page.route("**/*", answer)
        page.goto(HOST)
        return page


@pytest.fixture(scope="module")  # and no longer: an open driver keeps an event loop running in this thread
def browser():
    with sync_playwright() as driver:
        arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        opened = driver.chromium.launch(executable_path=chromium(), args=arguments)
        yield opened
        opened.close()


@pytest.fixture
def site(browser):
    """A :class:`Site`; at the end of the test nothing may have strayed to another host or been logged as an error."""
    opened = Site(browser)
    yield opened
    for page in opened.pages:
        page.close()
    assert opened.strayed == []
    assert opened.complaints == []


def parabola(a=1.0, shift=0):
    x = list(range(5))
    return {"series": [{"label": "y", "x": x, "y": [a * t * t + shift for t in x]}], "readout": f"a = {a}, {shift}"}


@pytest.fixture
def make():
    """Makes an explorer of six frames; keywords replace its arguments."""

    def build(name="parabola", **changes):
        controls = [Slider("a", "Steepness", [0.5, 1.0, 2.0], default=1.0), Choice("shift", "Shift", [0, 10])]
        words = {"title": "Parabola", "alt": "A parabola."}
        return Explorer(**{"name": name, "compute": parabola, "controls": controls, **words, **changes})

    return build


@pytest.fixture(scope="session")
def gain():
    """The gain explorer; its frames are computed once."""
    return gain_explorer()
