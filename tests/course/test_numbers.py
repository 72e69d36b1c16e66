"""Numbers in a version are those of the rendered book."""

import os
import re
from pathlib import Path

import pytest

HTML = Path(os.environ.get("FHX_BOOK_HTML") or Path(__file__).parents[2] / "_build" / "html")
NUMBERED = (
    r'id="([\w-]+)">\s*<p class="admonition-title"><span class="caption-number">([^<]*)</span>',
    r'id="(equation-[\w-]+)">\s*<span class="eqno">(\([\d.]+\))',
    r'<figure[^>]*id="([\w-]+)".*?<span class="caption-number">([^<]*)</span>',
)


def test_every_number_of_the_rendered_book(book):
    pages = sorted((HTML / "notebooks").glob("*.html"))
    if len(pages) != len(book.paths):
        pytest.skip("no rendered book of these chapters")
    shown = {}
    for page in pages:
        text = page.read_text("utf-8")
        for pattern in NUMBERED:
            for anchor, number in re.findall(pattern, text, re.S):
                shown[anchor] = number.strip()
    counted = {target.anchor: target.words for target in book.targets.values()}
    assert len(shown) > 300
    assert {anchor: counted.get(anchor) for anchor in shown} == shown
