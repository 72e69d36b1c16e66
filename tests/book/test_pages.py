"""Every page, wide and narrow, light and dark, in a browser that reaches no other host."""

import pytest
import sitecheck
from pagecheck import check


def test_a_page_is_sound(page_name, site, browse, screenshots):
    def picture(view):
        name = page_name.removesuffix(".html").replace("/", "-")
        return screenshots / f"{name}-{view.width}-{view.theme}.jpg"

    found = browse(check, f"{site}/{page_name}", screenshots and picture)
    if found:
        lines = [f"{problem} (at {'; '.join(map(str, views))})" for problem, views in found.items()]
        pytest.fail("\n".join([f"{page_name}:", *lines]), pytrace=False)


def test_links_and_resources_resolve(page_name, html):
    problems = list(sitecheck.check(html, page_name))
    if problems:
        pytest.fail("\n".join([f"{page_name}:", *problems]), pytrace=False)
