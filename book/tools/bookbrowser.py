"""The rendered book in a browser: find Chromium, serve a folder, open a page and wait until it is still.

Shared by ``pdf.py`` and the browser tests. Nothing is downloaded: Playwright drives the Chromium of the machine.
"""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Playwright

CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
CHROMIUM_SWITCHES = ("--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking")
NOWHERE = "http://127.0.0.1:9"  # the discard port: what is not on this machine goes there and ends there

SETTLED = """async () => {
    await document.fonts.ready;
    await new Promise(done => requestAnimationFrame(() => setTimeout(done)));
}"""

STILL = "*, *::before, *::after { animation: none !important; transition: none !important; }"

OPENED = """() => {
    for (const closed of document.querySelectorAll('details:not([open])')) closed.open = true;
    for (const button of document.querySelectorAll('button.toggle-button-hidden')) button.click();
}"""


def chromium() -> str:
    """Path of the browser: ``FHX_CHROMIUM`` if it is set, else the first of the usual names that is found."""
    chosen = os.environ.get("FHX_CHROMIUM")
    path = shutil.which(chosen) if chosen else next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)
    if path is None:
        sought = f"FHX_CHROMIUM={chosen}" if chosen else ", ".join(CHROMIUM_NAMES)
        raise FileNotFoundError(
            f"no Chromium here (looked for {sought}): install Debian's 'chromium', or set FHX_CHROMIUM to a path"
        )
    return path


def launch(playwright: Playwright) -> Browser:
    """A headless Chromium that reaches this machine only."""
    return playwright.chromium.launch(
        executable_path=chromium(),
        args=list(CHROMIUM_SWITCHES),
        proxy={"server": NOWHERE, "bypass": "127.0.0.1"},
    )


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing: what fails is reported by the page that asked for it."""


@contextmanager
def serve(folder: Path) -> Iterator[str]:
    """Serve ``folder`` on a free port of 127.0.0.1 while the context lasts; yields the address, no last slash."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


def settle(page: Page) -> None:
    """Wait until fonts are there, and let nothing move from then on."""
    page.add_style_tag(content=STILL)
    page.evaluate(SETTLED)


def open_everything(page: Page) -> None:
    """Open every dropdown, hidden cell and hidden solution of the page."""
    page.evaluate(OPENED)
