"""Every page tells a search engine and a chat what it says, and shows them a picture that is there."""

import re
from html import unescape
from pathlib import Path

import pytest
import sitecheck
from docutils import nodes
from small_site import Build, configuration

import sharing
from notebook_cells import config

BASE = config()["html"]["baseurl"]
META = re.compile(r'<meta (?:name|property)="([^"]+)" content="([^"]*)"')
WANTED = {"description", "twitter:card", "og:title", "og:description", "og:image", "og:type", "og:url"}


def shared(html: str) -> dict[str, str]:
    """The tags of a page by their names; one that is there twice stops the test."""
    found = [(name, unescape(text)) for name, text in META.findall(html) if name in WANTED]
    assert len(found) == len(dict(found))
    return dict(found)


def paragraph(*parts: str | nodes.Node) -> nodes.document:
    """A page with one paragraph."""
    children = [nodes.Text(part) if isinstance(part, str) else part for part in parts]
    tree = nodes.document(None, None)
    tree += nodes.section("", nodes.title("", "A page"), nodes.paragraph("", "", *children))
    return tree


def test_formulas_that_need_latex_are_left_out():
    tree = paragraph("The last ", nodes.math("", "k"), " inputs, as", " ", nodes.math("", "h_t^k"), ", are\nread.")
    assert sharing.description(tree) == "The last k inputs, as, are read."
    assert tree.astext().count("h_t^k") == 1  # the page itself keeps its formulas


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Short.", "Short."),
        ("a" * 160, "a" * 160),
        ("word " * 40, "word " * 31 + "word…"),
        ("first, " * 40, "first, " * 21 + "first…"),
    ],
)
def test_a_long_paragraph_is_cut_at_a_word(text, said):
    assert sharing.description(paragraph(text)) == said
    assert len(said) <= sharing.LONGEST


def test_what_launches_a_notebook_is_not_what_it_says():
    tree = paragraph("Run it in Colab.")
    tree[0] += nodes.note("", nodes.paragraph("", "Beside the text."))
    tree[0] += nodes.paragraph("", "What it says.")
    assert sharing.description(tree) == "What it says."
    assert sharing.description(None) == ""


@pytest.mark.full
def test_a_small_book_is_shared(tmp_path: Path, sphinx: Build):
    settings = {"html_baseurl": "https://example.org/b/", "root_doc": "book/start", "html_title": "A & B"}
    (tmp_path / "conf.py").write_text(configuration("sharing", **settings))
    (tmp_path / "book").mkdir()
    (tmp_path / "book" / "start.md").write_text("# *Begin* here\n\nSay \\<yes> & go.\n\n```{toctree}\nempty\n```\n")
    (tmp_path / "book" / "empty.md").write_text("# Nothing\n")
    built = sphinx(tmp_path, tmp_path / "out")
    assert (built.returncode, built.stderr) == (0, "")
    pages = {
        path.relative_to(tmp_path / "out").as_posix(): path.read_text("utf-8")
        for path in (tmp_path / "out").rglob("*.html")
    }
    found = {name: shared(html) for name, html in pages.items()}
    assert {tags["og:description"] for tags in found.values()} == {"Say <yes> & go."}
    assert {tags["og:image"] for tags in found.values()} == {f"https://example.org/b/{sharing.PICTURE}"}
    assert found["book/start.html"]["og:title"] == found["index.html"]["og:title"] == "Begin here"
    assert found["book/empty.html"]["og:title"] == "Nothing"
    assert found["book/empty.html"]["og:url"] == "https://example.org/b/book/empty.html"
    assert found["index.html"]["og:url"] == "https://example.org/b/"
    assert found["search.html"]["og:title"] == "A & B"  # Sphinx gives it no title
    assert 'content="0; url=book/start.html"' in pages["index.html"]


@pytest.mark.full
def test_every_page_of_the_book_is_shared(html, page_name):
    tags = shared((html / page_name).read_text("utf-8"))
    assert set(tags) == WANTED
    assert all(tags.values())
    assert tags["og:description"] == tags["description"]
    assert len(tags["description"]) <= sharing.LONGEST
    assert not tags["description"].startswith(sharing.LAUNCH)
    assert "\\" not in tags["description"]
    assert tags["og:url"] == BASE + ("" if page_name == "index.html" else page_name)
    assert tags["og:image"].startswith(BASE)
    assert (html / tags["og:image"].removeprefix(BASE)).is_file()


@pytest.mark.full
def test_chapters_say_what_they_are_about(html):
    said = [shared((html / name).read_text("utf-8")) for name in sitecheck.pages(html) if name.startswith("notebooks/")]
    assert len({tags["description"] for tags in said}) == len(said) == 13
    assert all("not set" not in tags["og:title"] for tags in said)


def test_the_picture_is_small_and_of_the_size_that_is_stated():
    data = (sitecheck.SOURCE / "book" / sharing.PICTURE).read_bytes()
    assert data.startswith(b"\x89PNG")
    assert [int.from_bytes(data[at : at + 4]) for at in (16, 20)] == [1280, 640]
    assert len(data) <= 200_000
