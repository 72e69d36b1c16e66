"""The landing page shows what chapters have stored, and stops the build where they have not."""

import base64
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from sitecheck import HTML
from small_site import Build, configuration

from bookbrowser import settle
from notebook_cells import KERNELSPEC

pytestmark = pytest.mark.full

DOT = base64.b64decode("R0lGODlhAQABAIAAAAAAAP///ywAAAAAAQABAAACAUwAOw==")
ENTRY = """- chapter: "03"
  figure: fig-a
  prints: '^(\\d+) of (\\d+) agree'
  number: "{0} & more"
  text: of {1}, <all> told."""
EXPLORER = '<div class="rx" data-rx="a-machine">moves</div>'


@pytest.fixture
def book(tmp_path: Path, sphinx: Build):
    """``book(page)`` renders a landing page beside one chapter: how it ended, and the page."""
    figure = {"mystnb": {"figure": {"name": "fig-a", "caption": "A dot."}, "image": {"alt": "A dot in the middle."}}}
    drawn = new_output("display_data", {"image/png": base64.b64encode(DOT).decode()})
    shown = new_output("display_data", {"text/html": EXPLORER})
    cells = [
        new_markdown_cell("# A chapter"),
        new_code_cell("1", outputs=[new_output("stream", text="3 of 4 agree\nso\nso\n")], execution_count=1),
        new_code_cell("2", outputs=[drawn], metadata=figure, execution_count=2),
        new_code_cell("3", outputs=[shown], execution_count=3),
    ]
    kernel = {"kernelspec": KERNELSPEC, "language_info": {"name": "python", "pygments_lexer": "ipython3"}}
    (tmp_path / "notebooks").mkdir()
    nbformat.write(new_notebook(cells=cells, metadata=kernel), tmp_path / "notebooks" / "03-a.ipynb")
    (tmp_path / "conf.py").write_text(configuration("landing"))

    def rendered(text: str) -> tuple[int, str, str]:
        toc = "```{toctree}\nnotebooks/03-a\n```\n"
        (tmp_path / "index.md").write_text(f"# A book\n\n{text}\n\n{toc}")
        built = sphinx(tmp_path, tmp_path / "out")
        return built.returncode, built.stderr, (tmp_path / "out" / "index.html").read_text("utf-8")

    return rendered


def test_a_result_has_the_number_that_the_chapter_prints_and_its_picture(book, tmp_path):
    status, said, page = book(f"```{{results}}\n{ENTRY}\n```")
    assert (status, said) == (0, "")
    assert '<a href="notebooks/03-a.html#fig-a">' in page
    assert "<strong>3 &amp; more</strong> <span>of 4, &lt;all&gt; told.</span>" in page
    assert (tmp_path / "out" / "_images" / "result-fig-a.png").read_bytes() == DOT


@pytest.mark.parametrize(
    ("old", "new", "culprit"),
    [
        ('"03"', '"04"', "there is no chapter '04'"),
        ("fig-a", "fig-b", "no figure 'fig-b'"),
        ("agree", "differ", "0 lines that chapter 03 prints match"),
        ("'^(\\d+) of (\\d+) agree'", "'^(so|3)'", "2 lines that chapter 03 prints match"),
        ("of {1}", "of {2}", "index"),
        ("  figure: fig-a\n", "", "figure"),
    ],
)
def test_what_no_chapter_prints_stops_the_build(book, old, new, culprit):
    assert old in ENTRY
    status, said, _ = book(f"```{{results}}\n{ENTRY.replace(old, new)}\n```")
    assert status == 1
    assert "a result cannot be shown" in said
    assert culprit in said


def test_an_explorer_is_the_stored_one(book):
    status, said, page = book("```{stored-explorer} 03 a-machine\n```")
    assert (status, said) == (0, "")
    assert EXPLORER in page
    status, said, _ = book("```{stored-explorer} 03 another\n```")
    assert status == 1
    assert "no explorer 'another'" in said


@pytest.mark.parametrize(("motion", "moves"), [("no-preference", True), ("reduce", False)])
def test_the_first_page_plays_by_itself_unless_less_motion_is_wanted(html, site, browse, motion, moves):
    def watch(browser):
        context = browser.new_context(viewport={"width": 1280, "height": 844}, reduced_motion=motion)
        page = context.new_page()
        page.goto(f"{site}/book/index.html")
        settle(page)
        step = page.locator(".plays-itself input[type=range]")
        before = step.input_value()
        page.wait_for_timeout(2500)
        after, button = step.input_value(), page.locator('.plays-itself button[id$="-play"]').inner_text()
        context.close()
        return before != after or button == "Pause"

    assert html == HTML
    assert browse(watch) is moves
