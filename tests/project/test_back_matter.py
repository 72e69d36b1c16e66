"""Two pages of the back matter that are built from the chapters: run times, and definitions and theorems."""

import re
from html import unescape
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from small_site import Build, configuration

import run_record
from notebook_cells import code_sha256

STATED = """# The {name} chapter

```{{prf:definition}} Deep {name} cell
:label: {name}-def
It is deep.
```

```{{prf:theorem}}
:label: {name}-thm
So it is.
```

See {{prf:ref}}`{name}-thm`.
"""
# Alphabetically the page of statements comes before the chapters.
PAGES = {
    "index": "# Book\n\n```{toctree}\n:numbered:\n:glob:\nnotebooks/*\n```\n\n"
    "```{toctree}\nbook/run_times\nbook/statements\n```\n",
    "book/run_times": "# Run times\n\n```{run-times}\n```\n",
    "book/statements": "# Statements\n\n```{statements}\n```\n",
}
CHAPTERS = {"01-first": "first", "02-second": "second", "03-lost": "lost"}
READ = ("book/run_times", "book/statements", "notebooks/02-second", "genindex")


def chapter(name: str, code: str = "1 + 1") -> nbformat.NotebookNode:
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    cells = [new_markdown_cell(STATED.format(name=name)), new_code_cell(code)]
    return new_notebook(cells=cells, metadata={"kernelspec": kernel})


def row(seconds: float) -> dict:
    sha = code_sha256(chapter("any"))
    return {"cells": 1, "passed": True, "seconds": seconds, "cpu_seconds": seconds / 2, "code_sha256": sha}


def record() -> dict:
    found = {"date": "2026-01-02T03:04:05+00:00", "device": "cpu", "processor": "A chip", "cores": 2, "processes": 2}
    found |= {"versions": {"python": "3.11.7", "torch": "2.6"}, "seconds": 83.2}
    return found | {"notebooks": dict(zip(CHAPTERS, map(row, (70.4, 40.0, 6.0)), strict=True))}


def build(sphinx: Build, root: Path) -> dict[str, str]:
    """The rendered pages, of which Sphinx makes again what it believes to have changed."""
    done = sphinx(root, root.parent / "out")
    assert done.returncode == 0, done.stderr
    return {name: (root.parent / "out" / f"{name}.html").read_text("utf-8") for name in READ}


@pytest.fixture(scope="module")
def built(sphinx: Build, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, str]]:
    """Three builds of one book: whole; with a chapter changed, one new and one lost; and without its record."""
    root = tmp_path_factory.mktemp("back") / "source"
    for name, text in PAGES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / f"{name}.md").write_text(text)
    settings = {"numfig": True, "suppress_warnings": ["config.cache"]}
    (root / "conf.py").write_text(configuration("sphinx_proof", "run_times", "statements", **settings))
    folder = root / "notebooks"
    folder.mkdir()
    for name, title in CHAPTERS.items():
        nbformat.write(chapter(title), folder / f"{name}.ipynb")
    run_record.save(record(), root / run_record.KEPT)
    pages = [build(sphinx, root)]
    nbformat.write(chapter("changed", "2 + 2"), folder / "02-second.ipynb")
    nbformat.write(chapter("new"), folder / "04-new.ipynb")
    (folder / "03-lost.ipynb").unlink()
    pages.append(build(sphinx, root))
    (root / run_record.KEPT).unlink()
    return [*pages, build(sphinx, root)]


def words(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", html)).split())


def rows(pages: dict[str, str]) -> list[str]:
    return [words(found) for found in re.findall(r"<tr[^>]*>(.*?)</tr>", pages["book/run_times"], flags=re.DOTALL)]


def test_run_times_are_those_of_the_record(built: list[dict[str, str]]) -> None:
    assert rows(built[0])[1:] == ["The first chapter 1 70 35", "The second chapter 1 40 20", "The lost chapter 1 6 3"]
    assert 'href="../notebooks/01-first.html"' in built[0]["book/run_times"]
    told = words(built[0]["book/run_times"])
    assert (
        "The run of 2 January 2026: 3 of 3 notebooks passed, with 3 code cells. It took 1 min 23 s on 2 cores" in told
    )
    assert "(A chip), 2 notebooks at a time. Their times in the table add up to 1 min 56 s" in told
    assert "computed for 58 s" in told
    assert "Versions: Python 3.11.7, torch 2.6." in told
    assert "newer" not in told


def test_chapters_that_are_newer_than_the_run_say_so(built: list[dict[str, str]]) -> None:
    assert rows(built[1])[1:] == [
        "The first chapter 1 70 35",
        "The changed chapter (its code has changed since) 1 40 20",
        "The new chapter (not run yet) – – –",
    ]
    assert "The table has 2 chapters that are newer than this run." in words(built[1]["book/run_times"])


def test_a_change_of_the_record_alone_rebuilds_the_page_which_says_that_there_is_none(
    built: list[dict[str, str]],
) -> None:
    assert "No run has been kept yet." in words(built[2]["book/run_times"])


def test_every_statement_is_listed_under_its_chapter_with_number_title_and_link(built: list[dict[str, str]]) -> None:
    page = built[0]["book/statements"]
    first, second, _ = (words(part) for part in page.partition("<h1>")[2].split("<h2>")[1:])
    assert first.startswith("The first chapter")
    assert "Definition 1.1 . Deep first cell Theorem 1.1" in first
    assert "Definition 2.1 . Deep second cell Theorem 2.1" in second
    assert 'href="../notebooks/02-second.html#second-def"' in page
    assert 'id="second-def"' in built[0]["notebooks/02-second"]


def test_the_list_follows_its_chapters(built: list[dict[str, str]]) -> None:
    titles = [re.findall(r"Deep (\w+) cell", words(pages["book/statements"])) for pages in built[:2]]
    assert titles == [["first", "second", "lost"], ["first", "changed", "new"]]


def test_definitions_are_in_the_alphabetical_index(built: list[dict[str, str]]) -> None:
    alphabetical = sorted(CHAPTERS.items(), key=lambda item: item[1])
    entries = re.findall(r'<a href="notebooks/([^"]+)">(Deep \w+ cell)</a>', built[0]["genindex"])
    assert entries == [(f"{name}.html#{title}-def", f"Deep {title} cell") for name, title in alphabetical]
    assert "-thm" not in built[0]["genindex"]
