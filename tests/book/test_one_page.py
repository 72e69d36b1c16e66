"""``make page N=05`` writes one page into a book that is there, and says what is missing."""

from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_markdown_cell, new_notebook
from small_site import Build, configuration

import page

INDEX = "# Book\n\n```{toctree}\n:numbered:\nnotebooks/04-before\nnotebooks/05-this\n```\n"


def write(root: Path, name: str, text: str, title: str = "A chapter") -> None:
    notebook = new_notebook(cells=[new_markdown_cell(f"({name})=\n# {title}\n\n{text}")])
    nbformat.write(notebook, root / "notebooks" / f"{name}.ipynb")


def text_of(root: Path, name: str) -> str:
    return (root / "_build" / "html" / "notebooks" / f"{name}.html").read_text("utf-8")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone with two chapters, whose book was not built."""
    settings = {"extensions": ["myst_nb"], "nb_execution_mode": "off", "html_theme": "basic"}
    monkeypatch.setattr(page, "ROOT", tmp_path)
    monkeypatch.setattr(page, "get_final_config", lambda **_: (settings, None))
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "index.md").write_text(INDEX)
    (tmp_path / "conf.py").write_text(configuration(exclude_patterns=["_build"]))
    for name in ("04-before", "05-this"):
        write(tmp_path, name, "An old text.")
    return tmp_path


def test_one_page_is_written_with_the_numbers_of_the_book(root: Path, sphinx: Build, capsys):
    html = root / "_build" / "html"
    assert sphinx(root, html).returncode == 0
    (html / ".doctrees").rename(root / "_build" / ".doctrees")
    (html / ".built0").touch()
    write(root, "04-before", "A text that is not asked for.", title="A title that is not asked for")
    write(root, "05-this", "A new text, after {ref}`04-before`.")
    assert page.main("05") == 0
    assert capsys.readouterr().out.strip() == str(html / "notebooks" / "05-this.html")
    assert "A new text, after <a" in text_of(root, "05-this")
    assert "A chapter</span></a>" in text_of(root, "05-this")  # which Sphinx knows from the other page as it was
    assert '<span class="section-number">2. </span>' in text_of(root, "05-this")
    assert "An old text." in text_of(root, "04-before")
    assert not (html / ".built0").exists()  # so that the next build is one of the whole book


@pytest.mark.parametrize("number", ["", "5", "14", "005", "five", "0*", "0[5]", "05-this", "../notebooks/05"])
def test_a_number_without_a_chapter_is_refused(root: Path, number: str):
    with pytest.raises(SystemExit, match="name a chapter by its two digits, as in 'make page N=05'"):
        page.main(number)


def test_without_a_book_it_says_what_to_do(root: Path):
    with pytest.raises(SystemExit, match="run 'make book' once"):
        page.main("05")
    assert not (root / "_build").exists()
