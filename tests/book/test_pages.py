"""Every page, wide and narrow, light and dark, in a browser that reaches no other host."""

import pytest
import sitecheck
from pagecheck import THEMES, WIDTHS, check


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_a_page_is_sound(page_name, width, theme, site, browse, screenshots):
    picture = screenshots / f"{page_name.removesuffix('.html').replace('/', '-')}-{width}-{theme}.jpg"
    problems = browse(check, f"{site}/{page_name}", width, theme, picture)
    if problems:
        pytest.fail("\n".join([f"{page_name} at {width} px, {theme}:", *map(str, problems)]), pytrace=False)


def test_links_and_resources_resolve(page_name, html):
    problems = list(sitecheck.check(html, page_name))
    if problems:
        pytest.fail("\n".join([f"{page_name}:", *problems]), pytrace=False)
