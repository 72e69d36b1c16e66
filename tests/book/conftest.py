"""The rendered book as a fixture: its folder, its address, and a browser to open it with.

The tests read what ``make book`` left in ``_build/html``, or the folder that ``FHX_BOOK_HTML`` names, and build
nothing themselves.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), *(str(HERE.parents[1] / "book" / folder) for folder in ("tools", "_ext"))]

import sitecheck  # noqa: E402
from sitecheck import HTML, ROOT  # noqa: E402

from bookbrowser import launch, serve  # noqa: E402

SOURCES = ("_config.yml", "_toc.yml", "book/**/*", "notebooks/*.ipynb", "src/**/*.py")


def stale() -> str | None:
    """Why the folder cannot be tested: it is not there, or a source is newer than it."""
    stamp = HTML / "searchindex.js"
    if not stamp.is_file():
        return f"no rendered book in {HTML}: run 'make book' first"
    if os.environ.get("FHX_BOOK_HTML"):
        return None
    files = (path for pattern in SOURCES for path in ROOT.glob(pattern) if path.is_file() and "tools" not in path.parts)
    newest = max((path for path in files if "__pycache__" not in path.parts), key=lambda path: path.stat().st_mtime)
    if newest.stat().st_mtime > stamp.stat().st_mtime:
        return f"the rendered book is older than {newest.relative_to(ROOT)}: run 'make book' again"
    return None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test for every page, redirects left out where it is opened; with no book one that fails and says so."""
    if "page_name" in metafunc.fixturenames:
        opened = "browse" in metafunc.fixturenames
        names = [name for name in sitecheck.pages(HTML) if not (opened and sitecheck.redirected(HTML / name))]
        metafunc.parametrize("page_name", names or ["no book"])


@pytest.fixture(scope="session")
def html() -> Path:
    """The folder of the rendered book."""
    if reason := stale():
        pytest.fail(reason, pytrace=False)
    return HTML


@pytest.fixture(scope="session")
def site(html: Path) -> Iterator[str]:
    """The address under which the book is served."""
    with serve(html) as address:
        yield address


@pytest.fixture(scope="session")
def screenshots(html: Path) -> Path | None:
    """The folder that keeps a picture of every page, beside the book, if ``FHX_SCREENSHOTS`` asks for them."""
    if not os.environ.get("FHX_SCREENSHOTS"):
        return None
    folder = html.parent / "screenshots"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def browse() -> Iterator[Callable[..., Any]]:
    """``browse(function, ...)`` calls ``function(browser, ...)`` in the browser's own thread.

    Playwright keeps an event loop running in its thread, which would be in the way of other tests that start one.
    """
    from playwright.sync_api import sync_playwright

    with ThreadPoolExecutor(1) as thread:
        playwright = thread.submit(lambda: sync_playwright().start()).result()
        try:
            browser = thread.submit(launch, playwright).result()
            yield lambda function, *arguments: thread.submit(function, browser, *arguments).result()
            thread.submit(browser.close).result()
        finally:
            thread.submit(playwright.stop).result()
