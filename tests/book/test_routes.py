"""Routes lead through chapters in order, pages say the next step to those who follow one, and how long things take."""

import re
from itertools import pairwise
from pathlib import Path

import pytest
from sitecheck import ROOT

from bookbrowser import settle
from chapter_text import read_chapter
from effort import effort_line, hours, time_line
from fhx.exercises import EXERCISES
from routes import read_routes

ROUTES = read_routes(ROOT)
CHAPTERS = {path.name[:2]: path for path in sorted((ROOT / "notebooks").glob("[0-9][0-9]-*.ipynb"))}


def test_every_route_goes_forward_from_the_first_chapter_to_the_answer():
    for route in ROUTES:
        numbers = [step[:2] for step in route.steps]
        assert numbers[0] == "01"
        assert numbers[-1] == max(CHAPTERS)
        assert all(before < after for before, after in pairwise(numbers))


def test_together_the_routes_lead_through_all_chapters():
    assert {step[:2] for route in ROUTES for step in route.steps} == set(CHAPTERS)


@pytest.mark.parametrize(
    ("number", "words"), [(0.24, "0.2 hours"), (1.04, "1 hour"), (1.3, "1.3 hours"), (2.0, "2 hours")]
)
def test_hours_are_said_in_tenths(number, words):
    assert hours(number) == words


def test_a_chapter_says_what_it_asks():
    chapter = read_chapter(CHAPTERS["03"])
    ids = [name for _, name in chapter.exercises]
    minutes = sum(EXERCISES[name].notes.minutes for name in ids)
    assert time_line(chapter.words, ids).endswith(f"and {hours(minutes / 60)} for the {len(ids)} exercises")
    assert effort_line("03-second-last") == "2 points · 20 minutes · a few lines, with reasons"


@pytest.mark.full
@pytest.mark.parametrize("number", CHAPTERS)
def test_the_page_of_a_chapter_says_it(number, html):
    text = (Path(html) / "notebooks" / f"{CHAPTERS[number].stem}.html").read_text(encoding="utf-8")
    assert len(re.findall(r'<p class="effort">\d+ points? · \d+ minutes', text)) == len(
        read_chapter(CHAPTERS[number]).exercises
    )
    assert len(re.findall(r"<strong>Time</strong>: about", text)) == 1


@pytest.mark.full
@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_a_reader_who_follows_the_links_reads_every_step_of_a_route(route, site, browse):
    def follow(browser):
        context = browser.new_context(viewport={"width": 1280, "height": 844})
        page = context.new_page()
        page.goto(f"{site}/book/routes.html")
        with page.expect_navigation():  # else what is loaded may be the page that is left
            page.locator(f"#{route.name} a[href*='notebooks/']").first.click()
        read = []
        while True:
            settle(page)
            read.append(Path(page.url.partition("?")[0]).name[:2])
            line = page.locator(".on-route").first
            link = line.locator("a[href*='notebooks/']")
            if not link.count():
                break
            with page.expect_navigation():
                link.click()
        line.get_by_role("button", name="Leave").click()
        page.reload()
        left = page.locator(".on-route").count()
        context.close()
        return read, left

    assert browse(follow) == ([step[:2] for step in route.steps], 0)


@pytest.mark.full
def test_without_a_route_a_chapter_says_nothing_of_one(site, browse):
    def read(browser):
        page = browser.new_page()
        page.goto(f"{site}/notebooks/{CHAPTERS['05'].stem}.html")
        found = page.locator(".on-route").count()
        page.close()
        return found

    assert browse(read) == 0


@pytest.mark.full
def test_the_pages_before_and_after_are_in_reach_and_the_line_grows(site, browse):
    def read(browser):
        page = browser.new_page(viewport={"width": 390, "height": 844})
        page.goto(f"{site}/notebooks/{CHAPTERS['05'].stem}.html")
        start = page.locator(".progress-line").bounding_box()["width"]
        page.evaluate("scrollTo(0, document.documentElement.scrollHeight / 2)")
        page.wait_for_timeout(300)
        half = page.locator(".progress-line").bounding_box()["width"]
        with page.expect_navigation():
            page.locator(".previous-next a[rel=next]").click()
        after = Path(page.url).name[:2]
        page.close()
        return start, half, after

    start, half, after = browse(read)
    assert start < 5
    assert 130 < half < 260
    assert after == "06"
