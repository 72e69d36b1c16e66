"""The map on the landing page: every chapter is on it, those written are links, and the words stay in their frames."""

import pytest
from sitecheck import SOURCE

from pdf import read_toc

CHAPTERS = 13
WRITTEN = [f"../{file}.html" for _, files in read_toc(SOURCE) for file in files if file.startswith("notebooks/")]

MAP = """() => {
    const drawing = [...document.querySelectorAll('.answer-map svg')].filter(svg => svg.checkVisibility());
    const cards = [...drawing[0].querySelectorAll('.card')];
    const outside = cards.flatMap(card => {
        const frame = card.querySelector('rect').getBBox();
        return [...card.querySelectorAll('text')].filter(text => {
            const words = text.getBBox();
            return words.x + words.width > frame.x + frame.width || words.y + words.height > frame.y + frame.height;
        }).map(text => text.textContent);
    });
    return {
        drawings: drawing.length,
        width: drawing[0].getBoundingClientRect().width,
        letters: drawing[0].querySelector('.small').getBoundingClientRect().height,
        cards: cards.length,
        links: cards.filter(card => card.matches('a')).map(card => card.getAttribute('href')),
        coming: cards.filter(card => card.textContent.endsWith('to come')).length,
        outside,
    };
}"""


def read_map(browser, address: str, width: int) -> dict:
    page = browser.new_page(viewport={"width": width, "height": 900})
    try:
        page.goto(f"{address}book/index.html")
        return page.evaluate(MAP)
    finally:
        page.close()


@pytest.mark.parametrize("width", [1280, 768, 390])
def test_the_map_links_to_what_is_written_and_says_what_is_to_come(browse, site, width):
    seen = browse(read_map, site.rstrip("/") + "/", width)
    assert seen["drawings"] == 1
    assert seen["width"] <= width
    assert seen["cards"] == CHAPTERS
    assert seen["links"] == WRITTEN
    assert seen["coming"] == CHAPTERS - len(WRITTEN)
    assert seen["outside"] == []
    assert seen["letters"] >= 12  # pixels: they can be read
