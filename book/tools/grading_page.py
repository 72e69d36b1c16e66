"""The page on grading: its transcripts, and the pictures of what they make.

In ``book/grading.md`` each ``console`` block is a list of commands, each after ``$ ``, with what it prints below it.
``python book/tools/grading_page.py`` runs them all in an empty folder in which ``recurrence`` is this clone, and writes
what they print into the page. Where a picture stands in the page it is taken, light and dark, of what is in the folder
by then. A picture keeps a hash of the words that it shows, so that a test can tell an old one.
"""

from __future__ import annotations

import hashlib
import html
import io
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

from PIL import Image, ImageOps
from PIL.PngImagePlugin import PngInfo

from bookbrowser import launch
from fhx._files import write_atomically

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "book" / "grading.md"
SAMPLES = ROOT / "book" / "samples"
STEP = re.compile(
    r"^(?P<indent> *)```console\n(?P<block>.*?)^ *```$|^```\{image\} samples/(?P<picture>\w+)-light\.png$", re.M | re.S
)
COMMAND = re.compile(r"^\$ ((?:.*\\\n)*.*)$", re.M)
PICTURED = {
    "feedback": ("grades/students/ben/feedback.html", 416, "section"),
    "summary": ("grades/summary.html", 496, "figure:nth-of-type(2)"),
}
"""Of each picture the file that it shows, its width, and the element with which it ends."""
VARIES = (
    r"<style>.*?</style>|<metadata>.*?</metadata>|<figure><figcaption>How long.*?</figure>|[\d.]+ minutes of grading"
)
THEMES = ("light", "dark")
SHARPNESS, COLORS, MARGIN, FRAME = 2, 64, 16, "#888888"


def played(text: str, folder: Path) -> tuple[str, dict[str, str]]:
    """The text of the page with what its commands print now, and the HTML of each picture as it is at its place.

    Raises:
        RuntimeError: a command fails.
    """
    (folder / "recurrence").symlink_to(ROOT)
    pictured = {}

    def step(found: re.Match[str]) -> str:
        if name := found["picture"]:
            pictured[name] = (folder / PICTURED[name][0]).read_text("utf-8")
            return found[0]
        lines = ["```console", *_transcript(found["block"], folder), "```"]
        return "\n".join(f"{found['indent']}{line}".rstrip() for line in lines)

    return STEP.sub(step, text), pictured


def _transcript(block: str, folder: Path) -> Iterator[str]:
    for command in COMMAND.findall(dedent(block)):
        yield from f"$ {command}\n{_output(command, folder)}".splitlines()


def _output(command: str, folder: Path) -> str:
    """What a command prints, with the programs of this environment and no progress bar."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = os.environ | {"PATH": path, "TQDM_DISABLE": "1", "COLUMNS": "80", "LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode:
        raise RuntimeError(f"$ {command}\n{done.stdout}\nexit status {done.returncode}")
    return done.stdout


def hash_of_words(source: str) -> str:
    """A hash of what a page says, apart from seconds and from the place where a file breaks off."""
    words = re.sub(r"<[^>]*>", " ", re.sub(VARIES, "", source, flags=re.S))
    return hashlib.sha256(" ".join(html.unescape(words).split()).encode()).hexdigest()


def stored_hashes(name: str) -> set[str]:
    """The hashes that the pictures of a name keep."""
    return {Image.open(SAMPLES / f"{name}-{theme}.png").text["words"] for theme in THEMES}


def photograph(pictured: dict[str, str]) -> None:
    """Take the pictures of pages and store them."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = launch(playwright)
        for name, source in pictured.items():
            _, width, last = PICTURED[name]
            kept = PngInfo()
            kept.add_text("words", hash_of_words(source))
            for theme in THEMES:
                size = {"width": width, "height": 800}
                page = browser.new_page(viewport=size, device_scale_factor=SHARPNESS, color_scheme=theme)
                page.set_content(source)
                box = page.locator(last).first.bounding_box()
                part = {"x": 0, "y": 0, "width": width, "height": box["y"] + box["height"] + MARGIN}
                shot = Image.open(io.BytesIO(page.screenshot(full_page=True, clip=part))).convert("RGB")
                framed = ImageOps.expand(ImageOps.crop(shot, SHARPNESS), SHARPNESS, FRAME)
                small = framed.quantize(COLORS, dither=Image.Dither.NONE)
                small.save(SAMPLES / f"{name}-{theme}.png", optimize=True, pnginfo=kept)


def main() -> None:
    """Write the page and its pictures anew."""
    with tempfile.TemporaryDirectory() as folder:
        text, pictured = played(PAGE.read_text("utf-8"), Path(folder))
    write_atomically(PAGE, text.encode())
    photograph(pictured)


if __name__ == "__main__":
    main()
