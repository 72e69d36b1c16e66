"""Every page, wide and narrow, light and dark, in a browser that reaches no other host."""

import re

import pytest
import sitecheck
from pagecheck import LAYOUTS, VIEWS, check
from sitecheck import ROOT

COLORED_BY_WIDTH = {"index.html"}  # what all pages share


def test_a_page_is_sound(page_name, site, browse, screenshots):
    def picture(view):
        name = page_name.removesuffix(".html").replace("/", "-")
        return screenshots / f"{name}-{view.width}-{view.theme}.jpg"

    views = VIEWS if page_name in COLORED_BY_WIDTH else LAYOUTS[::-1]
    found = browse(check, f"{site}/{page_name}", screenshots and picture, views)
    if found:
        lines = [f"{problem} (at {'; '.join(map(str, views))})" for problem, views in found.items()]
        pytest.fail("\n".join([f"{page_name}:", *lines]), pytrace=False)


def test_no_page_has_colors_of_its_own_at_a_width():
    sheets = {path.name: path.read_text("utf-8") for path in (ROOT / "book" / "_static").glob("*.css")}
    assert {name for name, text in sheets.items() if colored_by_width(text)} == set()
    assert colored_by_width("@media (min-width: 9px) { p { margin: 0 } a { background: red } }")
    assert not colored_by_width("@media (min-width: 9px) { p { margin: 0 } } a { color: red }")


def colored_by_width(sheet):
    """Whether a rule for some widths only sets a colour."""
    blocks = re.findall(r"@media[^{]*width[^{]*\{((?:[^{}]|\{[^{}]*\})*)\}", sheet)
    return any(re.search(r"(?<![\w-])(color|background|border)[\w-]*:", block) for block in blocks)


def test_links_and_resources_resolve(page_name, html):
    problems = list(sitecheck.check(html, page_name))
    if problems:
        pytest.fail("\n".join([f"{page_name}:", *problems]), pytrace=False)
