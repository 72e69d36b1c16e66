"""Every launch, source, issue and edit link derives from ``repository`` in ``_config.yml``."""

import re
from collections.abc import Callable
from html import unescape
from pathlib import Path
from urllib.parse import unquote

import pytest

import notebook_cells
from fhx.course.notebooks import read
from notebook_cells import PLAIN_BRANCH

ROOT = Path(__file__).parents[2]
SETTINGS = notebook_cells.config()
URL, BRANCH = SETTINGS["repository"]["url"], SETTINGS["repository"]["branch"]
SLUG = URL.removeprefix("https://github.com/")
NAME = SLUG.split("/")[1]
PAGES = sorted((ROOT / "_build" / "html").rglob("*.html"))
CHAPTERS = sorted((ROOT / "notebooks").glob("*.ipynb"))
FILES = ["README.md", "CITATION.cff", "CONTRIBUTING.md", "pyproject.toml", "environment.yml", "Makefile"]
HERE = re.compile(r"https?://(?:github\.com|colab\.research\.google\.com|mybinder\.org)[^\s\"'<>)\]`]*")


def is_ours(address: str) -> bool:
    """Whether an address claims to lead to this book: a launch link always does, one to GitHub by the book's name."""
    return "//github.com/" not in address or f"/{NAME}" in unquote(address)


def derives(address: str) -> bool:
    """Whether an address is what the one setting makes of it."""
    forms = [
        rf"{re.escape(URL)}(\.git|/)?",
        rf"{re.escape(URL)}@(\{{REVISION\}})?",  # of the set-up cell
        rf"{re.escape(URL)}/(issues|actions|pulls|discussions|releases)(/[^@]*)?",
        rf"{re.escape(URL)}/(blob|edit|tree|raw)/{re.escape(BRANCH)}(/[^@]*)?",
        rf"{re.escape(SETTINGS['launch_buttons']['colab_url'])}/github/{SLUG}/blob/{PLAIN_BRANCH}/[^@]+",
        rf"{re.escape(SETTINGS['launch_buttons']['binderhub_url'])}/v2/gh/{SLUG}/{PLAIN_BRANCH}([/?].*)?",
    ]
    return any(re.fullmatch(form, unquote(unescape(address))) for form in forms)


def differing(text: str, ours: Callable[[str], bool] = is_ours) -> list[str]:
    """The addresses in a text that claim to lead here and do not derive from the setting."""
    found = (address.rstrip(".,;:") for address in HERE.findall(unescape(text)))
    return sorted({address for address in found if ours(address) and not derives(address)})


@pytest.mark.parametrize("name", FILES)
def test_file_links_here_and_nowhere_else(name: str) -> None:
    """These files have no reason to name another repository, so an old name is found as well as a wrong one."""
    assert differing((ROOT / name).read_text(encoding="utf-8"), ours=lambda address: True) == []


@pytest.mark.parametrize("name", ["CITATION.cff", "pyproject.toml"])
def test_metadata_names_the_repository(name: str) -> None:
    assert f'"{URL}"' in (ROOT / name).read_text(encoding="utf-8").replace("'", '"')


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_chapter_links_here(path: Path) -> None:
    notebook = read(path)
    own = notebook_cells.links(f"notebooks/{path.name}", SETTINGS)
    assert [address for address in own.values() if address not in notebook.cells[0].source] == []
    assert [address for cell in notebook.cells for address in differing(cell.source)] == []


@pytest.mark.parametrize("path", sorted((ROOT / "book").glob("*.md")), ids=lambda path: path.stem)
def test_prose_page_links_here(path: Path) -> None:
    assert differing(path.read_text(encoding="utf-8")) == []


def page_problems(page: str, html: str) -> list[str]:
    """What is wrong with the links of one rendered page, given its path in the book."""
    found = [f"{page}: {address}" for address in differing(html)]
    source = next((name for name in (f"{page[:-5]}.ipynb", f"{page[:-5]}.md") if (ROOT / name).exists()), None)
    if 'class="bd-article"' not in html or source is None:
        return found
    wanted = [f'href="{URL}"', f"{URL}/issues/new", f"{URL}/edit/{BRANCH}/{source}"]
    if source.endswith(".ipynb"):
        own = notebook_cells.links(source, SETTINGS)
        wanted += [own["colab"], own["binder"]]
    return found + [f"{page}: no link to {address}" for address in wanted if address not in unquote(unescape(html))]


@pytest.mark.full
def test_every_page_links_here() -> None:
    assert PAGES, "the book is not built: run 'make book'"
    found = [
        problem
        for path in PAGES
        for problem in page_problems(
            path.relative_to(ROOT / "_build" / "html").as_posix(), path.read_text(encoding="utf-8")
        )
    ]
    assert not found, "\n".join(found)


PAGE = '<article class="bd-article">' + "".join(
    f'<a href="{address}">x</a>'
    for address in (
        URL,
        f"{URL}/issues/new?title=Issue%20on%20page%20%2Fx.html&amp;body=y",
        f"{URL}/edit/{BRANCH}/notebooks/{CHAPTERS[0].name}",
        *notebook_cells.links(f"notebooks/{CHAPTERS[0].name}", SETTINGS).values(),
        "https://github.com/executablebooks/jupyter-book/blob/main/README.md",
    )
)


@pytest.mark.parametrize(
    "mutate",
    [
        lambda html: html.replace(f"/blob/{BRANCH}/", "/blob/old/", 1),
        lambda html: html.replace(f"/edit/{BRANCH}/", "/edit/old/"),
        lambda html: html.replace(f"{URL}/issues", "https://github.com/someone/else/issues"),
        lambda html: html.replace(f"/v2/gh/{SLUG}/{PLAIN_BRANCH}", f"/v2/gh/{SLUG}/{BRANCH}"),
        lambda html: html.replace(f"/github/{SLUG}/", f"/github/fork/{NAME}/"),
        lambda html: html.replace(f'"{URL}"', f'"https://github.com/fork/{NAME}"'),
        lambda html: html.replace(f"/blob/{PLAIN_BRANCH}/", f"/blob/{BRANCH}/"),
        lambda html: html.replace("/edit/", "/raw/"),
        lambda html: html.replace("colab.research.google.com", "colab.example.com"),
        lambda html: html.replace("01-", "09-"),
        lambda html: html.replace(SLUG, "old/name"),
    ],
)
def test_differing_link_is_found_and_its_page_named(mutate: Callable[[str], str]) -> None:
    page = f"notebooks/{CHAPTERS[0].stem}.html"
    assert page_problems(page, PAGE) == []
    broken = mutate(PAGE)
    assert broken != PAGE
    problems = page_problems(page, broken)
    assert problems
    assert all(problem.startswith(page) for problem in problems)
