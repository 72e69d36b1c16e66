"""The index of definitions and theorems: ``{statements}`` lists every numbered statement, by chapter, with its title.

What :mod:`sphinx_proof` makes of a block knows its title; it is noted when the chapter is read, so chapters are read
first and the page that lists them last and always. Definitions also enter the alphabetical index.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms import SphinxTransform
from sphinx.util.docutils import SphinxDirective

CHAPTERS = "notebooks/"


class Statement(NamedTuple):
    """One block: its label, its kind, as "theorem", and its title."""

    label: str
    kind: str
    title: str


def noted(env: BuildEnvironment) -> dict[str, list[Statement]]:
    """The statements of each page, in their order."""
    if not hasattr(env, "statements"):
        env.statements = {}
    return env.statements


class Note(SphinxTransform):
    """Note the statements of a page that was read, and make index entries of its definitions."""

    default_priority = 840  # Sphinx collects entries at 850

    def apply(self, **options: object) -> None:
        found = noted(self.env)[self.env.docname] = []
        for node in [node for node in self.document.findall(nodes.Element) if is_statement(node)]:
            label, kind = node["label"], node["realtype"]
            title = node[0].astext().strip().removeprefix("(").removesuffix(")")
            found.append(Statement(label, kind, title))
            if kind == "definition":
                entry = addnodes.index(entries=[("single", title, label, "", None)])
                node.parent.insert(node.parent.index(node), entry)


def is_statement(node: nodes.Element) -> bool:
    """Whether sphinx-proof made the node of a numbered block."""
    return "countertype" in node and "label" in node


class Statements(SphinxDirective):
    """A section for each chapter that states something, and in it a list."""

    def run(self) -> list[nodes.Node]:
        self.env.note_reread()
        return list(self._sections())

    def _sections(self) -> Iterator[nodes.section]:
        for docname, statements in sorted(noted(self.env).items()):
            if not (docname.startswith(CHAPTERS) and statements):
                continue
            name = f"statements-{docname.removeprefix(CHAPTERS)}"
            section = nodes.section("", nodes.title("", self.env.titles[docname].astext()), ids=[name], names=[name])
            section += nodes.bullet_list("", *map(self._item, statements), classes=["statements"])
            self.state.document.note_explicit_target(section)
            yield section

    def _item(self, statement: Statement) -> nodes.list_item:
        label = statement.label
        number = addnodes.pending_xref("", nodes.inline(label, label), refdomain="prf", reftype="ref", reftarget=label)
        number["refdoc"] = self.env.docname
        title = nodes.Text(f". {statement.title}" if statement.title else "")
        return nodes.list_item("", nodes.paragraph("", "", number, title))


def chapters_first(app: Sphinx, env: BuildEnvironment, docnames: list[str]) -> None:
    docnames.sort(key=lambda name: (not name.startswith(CHAPTERS), name))


def forget(app: Sphinx, env: BuildEnvironment, docname: str) -> None:
    noted(env).pop(docname, None)


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("statements", Statements)
    app.add_transform(Note)
    app.connect("env-before-read-docs", chapters_first)
    app.connect("env-purge-doc", forget)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
