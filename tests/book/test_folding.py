"""What a cell's tag does to it in the page, and how folds open."""

import re

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from sitecheck import ROOT
from small_site import Build, configuration

from bookbrowser import settle
from notebook_cells import KERNELSPEC

pytestmark = pytest.mark.full

CHAPTER = "notebooks/03-automata-in-integer-weights.html"
SUMMARY = re.compile(r'<details class="fold fold-(\w+)"><summary>(.*?)</summary>(.*?)</details>', re.DOTALL)


def printing(text: str, tag: str) -> nbformat.NotebookNode:
    """A cell that prints lines, tagged."""
    outputs = [new_output("stream", text=text)] if text else []
    return new_code_cell(f"run_{tag.replace('-', '_')}()", metadata={"tags": [tag]}, outputs=outputs, execution_count=1)


@pytest.fixture(scope="module")
def page(tmp_path_factory, sphinx: Build) -> str:
    """A chapter with a cell for each tag, rendered."""
    source = tmp_path_factory.mktemp("folding")
    (source / "conf.py").write_text(configuration("sphinx_proof", "folding", root_doc="chapter"))
    cells = [
        new_markdown_cell("# A chapter\n\nThe launch line."),
        printing("Python 3\n", "hide-input"),
        new_markdown_cell("The question."),
        printing("", "imports"),
        new_markdown_cell("In short."),
        new_markdown_cell("## A section"),
        new_code_cell("prepare()", metadata={"tags": ["work"]}, execution_count=1),
        printing("a table\n", "work"),
        printing("1 < 2 & so\n3 of 3 agree\n\n", "check"),
        printing("seen\n", "show"),
        printing("open\n", "hole"),
        printing("a drawing\n", "figure"),
        new_markdown_cell("```{prf:proof}\nIt is so, by *counting*.\n```"),
        new_markdown_cell("```{admonition} Where the source differs\n:class: dropdown source-note\nIt *says* so.\n```"),
    ]
    kernel = {"kernelspec": KERNELSPEC, "language_info": {"name": "python", "pygments_lexer": "ipython3"}}
    nbformat.write(new_notebook(cells=cells, metadata=kernel), source / "chapter.ipynb")
    built = sphinx(source, source / "out")
    assert (built.returncode, built.stderr) == (0, "")
    return (source / "out" / "chapter.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def folds(page) -> list[tuple[str, str, str]]:
    """Kind, line and content of each fold, in order, without tags."""
    return [tuple(" ".join(re.sub("<[^>]*>", "", part).split()) for part in found) for found in SUMMARY.findall(page)]


def test_each_tag_folds_what_it_should(folds):
    code, output = "run_{}()", {"check": "1 &lt; 2 &amp; so 3 of 3 agree", "hole": "open"}
    inside = [(kind, line, content) for kind, line, content in folds if kind in {"code", "check", "hole"}]
    assert inside == [
        ("code", "code", f"prepare() {code.format('work')}"),
        ("check", "checked 3 of 3 agree", f"{code.format('check')} {output['check']}"),
        ("hole", "Your turn: the function to fill in", f"{code.format('hole')} {output['hole']}"),
        ("code", "code", code.format("figure")),
    ]


def test_a_figure_stands_above_its_code_and_a_result_below(page):
    places = [page.index(text) for text in ("run_work", "a table", "a drawing", "run_figure")]
    assert places == sorted(places)


def test_launch_line_set_up_and_imports_are_one_bar_at_the_end_of_the_opening(page):
    bar = page.index("fold-run")
    places = [page.index(text) for text in ("The launch line", "run_hide", "Python 3", "run_imports")]
    assert page.index("The question") < page.index("In short") < bar < places[0]
    assert places == sorted(places)
    assert places[-1] < page.index("A section", bar)


def test_a_proof_folds_and_its_name_is_said_once(folds):
    assert [fold for fold in folds if fold[0] == "proof"] == [("proof", "Proof", "It is so, by counting.")]
    assert "seen" not in " ".join(content for *_, content in folds)


def test_a_note_on_a_source_folds_as_a_proof_does(page):
    (note,) = re.findall(r'<details class="fold fold-source-note"><summary>(.*?)</summary>(.*?)</details>', page, re.S)
    assert note[0] == "Where the source differs"
    assert "<em>says</em>" in note[1]
    assert "admonition" not in note[1]


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_folds_look_alike_and_only_their_words_differ(html, browse, width, theme):
    look = """kind => {
      const line = [...document.querySelectorAll(`.bd-article section details.fold-${kind} > summary`)]
        .find(one => one.checkVisibility() && !one.closest(".admonition"));
      const parts = [getComputedStyle(line), getComputedStyle(line, "::before")];
      const names = ["color", "fontSize", "fontStyle", "fontWeight", "lineHeight", "textIndent", "padding", "content"];
      return [line.getBoundingClientRect().left, ...parts.flatMap(style => names.map(name => style[name]))];
    }"""

    def read(browser):
        page = browser.new_page(viewport={"width": width, "height": 844}, color_scheme=theme)
        page.goto(f"{html.as_uri()}/{CHAPTER}")
        settle(page)
        looks = {kind: page.evaluate(look, kind) for kind in ("code", "check", "proof", "source-note")}
        page.close()
        return looks

    looks = browse(read)
    assert {kind: seen for kind, seen in looks.items() if seen != looks["code"]} == {}


def test_the_switch_opens_all_code_and_is_remembered(site, browse):
    closed = (
        "() => document.querySelectorAll('.bd-article details.fold:not(.fold-proof, .fold-source-note, [open])').length"
    )

    def read(browser):
        context = browser.new_context(viewport={"width": 1280, "height": 844})
        page = context.new_page()
        page.goto(f"{site}/{CHAPTER}")
        settle(page)
        seen = [page.evaluate(closed)]
        page.get_by_label("Show all code").check()
        seen.append(page.evaluate(closed))
        page.goto(f"{site}/{CHAPTER.replace('03-automata-in-integer-weights', '01-the-recurrence')}")
        seen.append(page.evaluate(closed))
        page.get_by_label("Show all code").uncheck()
        page.goto(f"{site}/{CHAPTER}")
        seen.append(page.evaluate(closed))
        context.close()
        return seen

    before, switched, elsewhere, again = browse(read)
    assert before > 10
    assert (switched, elsewhere, again) == (0, 0, before)


@pytest.mark.parametrize("width", [1280, 390])
def test_the_switch_is_within_reach_far_down_the_page_and_keeps_the_place(html, browse, width):
    place = (
        "() => document.getElementById('aut-back').closest('section').querySelector('h2').getBoundingClientRect().top"
    )

    def read(browser):
        page = browser.new_page(viewport={"width": width, "height": 844}, reduced_motion="reduce")
        page.goto(f"{html.as_uri()}/{CHAPTER}#aut-back")
        settle(page)
        seen = [page.evaluate(place)]
        box = page.get_by_label("Show all code").bounding_box()
        middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        page.mouse.click(*middle)  # check() would first scroll, as the bar lies within the scroll padding
        seen.append(page.evaluate(place))
        seen.append(page.evaluate("scrollY"))
        page.mouse.click(*middle)
        seen.append(page.evaluate(place))
        cut_off = page.locator(".bd-header-article button:visible").evaluate_all(
            "(all, width) => all.filter(one => one.getBoundingClientRect().right > width).map(one => one.outerHTML)",
            width,
        )
        page.close()
        return box, seen, cut_off

    box, (before, opened, scrolled, closed), out = browse(read)
    assert 0 <= box["y"] < 100
    assert box["x"] + box["width"] <= width
    assert min(box["width"], box["height"]) >= 24
    assert out == []
    assert scrolled > 5_000
    assert opened == pytest.approx(before, abs=3)
    assert closed == pytest.approx(before, abs=3)


def test_a_link_into_a_proof_opens_it(site, browse):
    def read(browser):
        context = browser.new_context(viewport={"width": 1280, "height": 844})
        page = context.new_page()
        page.goto(f"{site}/{CHAPTER}")
        anchor = page.locator(".fold-proof [id^='equation-']").first.get_attribute("id")
        seen = [page.locator(f"[id='{anchor}']").is_visible()]
        page.goto(f"{site}/{CHAPTER}#{anchor}")
        page.wait_for_timeout(300)
        seen.append(page.locator(f"[id='{anchor}']").is_visible())
        context.close()
        return seen

    assert browse(read) == [False, True]


def test_the_extension_is_in_the_book():
    assert "    - folding\n" in (ROOT / "_config.yml").read_text(encoding="utf-8")
