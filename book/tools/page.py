"""``make page N=05``: one chapter again, in the book that is already in ``_build/html``.

Sphinx keeps what it has read of the other pages, so that numbers and references of the page are those of the book.
Other pages are neither read nor written again, even where they are out of date: this is for looking at what one
writes. What is checked and published is built as a whole.
"""

from __future__ import annotations

import sys
from pathlib import Path

from jupyter_book.config import get_final_config
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import docutils_namespace, patch_docutils

ROOT = Path(__file__).parents[2]
STAMPS = ".built*"


def named(number: str) -> Path:
    """The notebook of the chapter with these two digits."""
    chapters = {path.name[:2]: path for path in (ROOT / "notebooks").glob("[0-9][0-9]-*.ipynb")}
    if number not in chapters:
        raise SystemExit(f"N={number}: name a chapter by its two digits, as in 'make page N=05'")
    return chapters[number]


def build(page: Path, built: Path) -> int:
    """Read ``page`` and write it into ``built/html``; Sphinx's exit status."""
    name = page.relative_to(ROOT).with_suffix("").as_posix()

    def only_this(_app: Sphinx, _environment: BuildEnvironment, names: list[str]) -> None:
        names[:] = [name]

    given = {"latex_individualpages": False}
    settings, _ = get_final_config(user_yaml=ROOT / "_config.yml", cli_config=given, sourcedir=ROOT)
    with patch_docutils(None), docutils_namespace():
        app = Sphinx(ROOT, None, built / "html", built / ".doctrees", "html", settings, status=None)
        app.connect("env-before-read-docs", only_this)
        app.build(filenames=[str(page)])
        return app.statuscode


def main(number: str) -> int:
    """Build the chapter into the book; the exit status."""
    page, built = named(number), ROOT / "_build"
    if not (built / ".doctrees" / "environment.pickle").is_file():
        raise SystemExit("There is no book to put the page into: run 'make book' once.")
    for stamp in (built / "html").glob(STAMPS):
        stamp.unlink()  # the next 'make book' builds all pages
    status = build(page, built)
    print(built / "html" / "notebooks" / f"{page.stem}.html")
    return status


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
