"""A book without solutions: with ``SOLUTIONS=0`` in the environment they are gone before a page is read.

So neither the pages nor what is made of them (search index, inventory, images, a PDF) can hold a solution; the copies
of the notebooks that the pages offer are stripped too. References to what was taken away become plain text. The buttons
and the line that lead to the repository's notebooks, which hold the solutions, are left out.

The tag ``solutions`` says which of the two books is made: ``{only} solutions``, ``{only} not solutions``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import nbformat
from docutils import nodes
from nbformat import NotebookNode
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.environment import BuildEnvironment
from sphinx.errors import ExtensionError

from fhx.course.notebooks import NotebookError, figure, is_markdown, placed, tags

VARIABLE = "SOLUTIONS"
POINTS_AT_SOLUTIONS = re.compile(r"\n*^Run it in \[Colab\][^\n]*| *\bThe solutions fold out\.", re.M)
LABEL = re.compile(r"^\((?P<target>[^()\s]+)\)=|^:(?:label|name): *(?P<option>\S+)", re.M)


def are_wanted(value: str | None) -> bool:
    """What the variable says: ``0`` means no; ``1``, nothing or no such variable means yes.

    Raises:
        ExtensionError: for any other value, since a typing error would publish the solutions.
    """
    if value not in {None, "", "0", "1"}:
        raise ExtensionError(f"{VARIABLE} is {value!r}; it must be 0, a book without solutions, or 1, with them")
    return value != "0"


def stripped(text: str, name: str) -> tuple[str, set[str]]:
    """A notebook's text without its solutions, and the labels that went with them.

    Raises:
        ExtensionError: a solution begins and does not end, or the other way round.
    """
    notebook = nbformat.reads(text, as_version=4)
    try:
        cells = list(placed(notebook.cells))
    except NotebookError as error:
        raise ExtensionError(f"{name}: {error}") from error
    away = [one.cell for one in cells if one.is_solution or "solution" in tags(one.cell)]
    notebook.cells = [one.cell for one in cells if not (one.is_solution or "solution" in tags(one.cell))]
    for cell in filter(is_markdown, notebook.cells):
        cell.source = POINTS_AT_SOLUTIONS.sub("", cell.source)
    notebook.metadata.pop("fhx", None)  # the hash of the code with the solutions
    return nbformat.writes(notebook) + "\n", set(_labels(away))


def _labels(cells: list[NotebookNode]) -> Iterator[str]:
    for cell in cells:
        if name := figure(cell).get("name"):
            yield name
        if is_markdown(cell):
            yield from (found["target"] or found["option"] for found in LABEL.finditer(cell.source))


def is_notebook(env: BuildEnvironment, docname: str) -> bool:
    return Path(env.doc2path(docname)).suffix == ".ipynb"


def strip(app: Sphinx, docname: str, source: list[str]) -> None:
    """Before a notebook is parsed, take the solutions out and note which labels go with them."""
    if is_notebook(app.env, docname):
        source[0], labels = stripped(source[0], docname)
        taken_away(app.env)[docname] = {label.lower() for label in labels}


def taken_away(env: BuildEnvironment) -> dict[str, set[str]]:
    """The labels of solutions, by page."""
    if not hasattr(env, "solutions_taken_away"):
        env.solutions_taken_away = {}
    return env.solutions_taken_away


def forget(app: Sphinx, env: BuildEnvironment, docname: str) -> None:
    taken_away(env).pop(docname, None)


def plain(app: Sphinx, env: BuildEnvironment, node: nodes.Element, words: nodes.Element) -> nodes.Element | None:
    """A reference to a solution as its own words, or as "the solution" where it has none."""
    if node.get("reftarget", "").lower() not in set().union(*taken_away(env).values()):
        return None
    return words if node.get("refexplicit") else nodes.inline("", "the solution")


def close_ways_out(app: Sphinx, config: Config) -> None:
    """No button leads to a notebook of the repository."""
    for option, nothing in {"launch_buttons": {}, "use_edit_page_button": False}.items():
        if option in config.html_theme_options:
            config.html_theme_options[option] = nothing


def copy_no_source(app: Sphinx) -> None:
    app.builder.copysource = False


def offer_stripped(app: Sphinx, page: str, template: str, context: dict, doctree: nodes.document | None) -> None:
    """Put the page's source where its download button finds it."""
    if context.get("sourcename") and page in app.env.found_docs:
        text = Path(app.env.doc2path(page)).read_text(encoding="utf-8")
        target = Path(app.outdir, "_sources", context["sourcename"])
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(stripped(text, page)[0] if is_notebook(app.env, page) else text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    if are_wanted(os.environ.get(VARIABLE)):
        app.tags.add("solutions")
    else:
        app.connect("config-inited", close_ways_out)
        app.connect("builder-inited", copy_no_source)
        app.connect("source-read", strip)
        app.connect("env-purge-doc", forget)
        app.connect("missing-reference", plain)
        app.connect("html-page-context", offer_stripped)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
