"""The book as a whole, read from its files: every chapter in the order of the contents, launched from one address."""

import re
from html import unescape
from posixpath import normpath
from urllib.parse import quote

import nbformat
import pytest
import sitecheck
import yaml
from sitecheck import SOURCE

import plain_links
from pdf import read_toc

CONFIG = yaml.safe_load((SOURCE / "_config.yml").read_text(encoding="utf-8"))
REPOSITORY = CONFIG["repository"]["url"].rstrip("/")
NAME = REPOSITORY.removeprefix("https://github.com/")
BRANCH = CONFIG["repository"]["branch"]
MYST = r"^\s*(:{3,}|`{3,}\{)|\{[a-z:-]+\}`|^\([\w-]+\)=$"
"""What only the rendered book understands: fences, roles and targets."""
ORDER = [file for _, files in read_toc(SOURCE) for file in files]


def source(file: str) -> str:
    """The path of the source of a page of the contents, suffix included."""
    return next(
        path.relative_to(SOURCE).as_posix() for path in SOURCE.glob(f"{file}.*") if path.suffix in {".md", ".ipynb"}
    )


def neighbour(html, file: str, side: str) -> str | None:
    """The file that the previous (``left-prev``) or next (``right-next``) link of a page leads to."""
    found = re.search(rf'class="{side}"\s+href="([^"#]+)\.html"', (html / f"{file}.html").read_text(encoding="utf-8"))
    return found and normpath(f"{file}/../{found[1]}")


def test_the_front_door_leads_to_the_landing_page(html):
    assert sitecheck.read(html / "index.html").goes_to == f"{ORDER[0]}.html"


def test_a_reader_who_goes_on_and_on_reads_every_page_in_order(html):
    assert [neighbour(html, file, "right-next") for file in ORDER] == [*ORDER[1:], None]
    assert [neighbour(html, file, "left-prev") for file in ORDER] == [None, *ORDER[:-1]]


@pytest.mark.parametrize("file", ORDER)
def test_a_page_has_one_title_and_a_language(file, html):
    text = (html / f"{file}.html").read_text(encoding="utf-8")
    assert '<html lang="en"' in text
    assert len(re.findall(r"<h1", text.partition("<article")[2])) == 1


@pytest.mark.parametrize("file", ORDER)
def test_launch_edit_and_issue_links_derive_from_one_setting(file, html):
    path = source(file)
    expected = {
        "edit": f"{REPOSITORY}/edit/{BRANCH}/{path}",
        "issue": f"{REPOSITORY}/issues/new?title=Issue%20on%20page%20%2F{file}.html"
        "&body=Your%20issue%20content%20here.",
    }
    if path.endswith(".ipynb"):
        binder, colab = CONFIG["launch_buttons"]["binderhub_url"], CONFIG["launch_buttons"]["colab_url"]
        expected["binder"] = f"{binder}/v2/gh/{NAME}/{plain_links.BRANCH}?urlpath=lab/tree/{quote(path)}"
        expected["colab"] = f"{colab}/github/{NAME}/blob/{plain_links.BRANCH}/{path}"
    header = (html / f"{file}.html").read_text(encoding="utf-8").partition("<article")[0]
    links = {unescape(link) for link in re.findall(r'href="(https?://[^"]*)"', header)}
    buttons = {link for link in links if re.search(r"mybinder|colab|/edit/|/issues/new", link)}
    assert buttons == set(expected.values())


@pytest.mark.parametrize("file", [file for file in ORDER if source(file).endswith(".ipynb")])
def test_the_download_of_a_chapter_is_plain(file, html):
    header = (html / f"{file}.html").read_text(encoding="utf-8").partition("<article")[0]
    (address,) = set(re.findall(r'href="([^":]*\.ipynb)"', header))
    notebook = nbformat.read(html / normpath(f"{file}/../{address}"), 4)
    texts = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    assert [found[0] for text in texts for found in re.finditer(MYST, text, re.M)] == []
    assert len([cell for cell in notebook.cells if cell.get("outputs")]) > 3
    assert any(f"/{file}.html" in text for text in texts)
