"""Code on demand: a cell's tag says what it is for, and the page folds it accordingly.

======== ============================================================================================================
tag      in the page
======== ============================================================================================================
figure   the figure; its code folds below it
work     what is printed; the code folds above it
check    one line, "checked: " and the last line that is printed, which unfolds to the code and all of the output
hole     one line, which unfolds to the function that a reader fills in
imports  within the bar "Run this chapter", with launch line and set-up cell, at the end of the opening
show     open, as is a cell without any of these tags
======== ============================================================================================================

Proofs fold too, and notes of the class "source-note". A notebook program shows all cells alike, and everything runs and
is checked whatever its tag. A switch that opens the code of all pages is in ``book.js``; on paper all folds are open.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx_proof.nodes import proof_node

HOLE = "Your turn: the function to fill in"
RUN = "Run this chapter"
PROOF = "Proof"
NOTE = "source-note"


class Fold(nodes.Element):
    """What is folded below a line of words; ``words`` are those of the line, ``kind`` a class."""


def fold(kind: str, words: str, *children: nodes.Node) -> Fold:
    """A fold of one kind with what is in it."""
    made = Fold(kind=kind, words=words)
    made.extend(children)
    return made


def visit_fold(translator: Any, node: Fold) -> None:
    kind, words = node["kind"], escape(node["words"], quote=False)
    sign = f'<span class="fold-sign">checked</span> {words}' if kind == "check" else words
    translator.body.append(f'<details class="fold fold-{kind}"><summary>{sign}</summary>\n')


def depart_fold(translator: Any, node: Fold) -> None:
    translator.body.append("</details>\n")


def is_cell(node: nodes.Node) -> bool:
    return isinstance(node, nodes.container) and node.get("nb_element") == "cell_code"


def tagged(cell: nodes.Node, tag: str) -> bool:
    return is_cell(cell) and f"tag_{tag}" in cell["classes"]


def last_line(parts: list[nodes.Node]) -> str:
    """The last line that a cell prints, "what the code asserts" where it prints nothing."""
    lines = [line for part in parts for line in part.astext().splitlines() if line.strip()]
    return lines[-1].strip() if lines else "what the code asserts"


class FoldParts(SphinxPostTransform):
    """Fold cells by their tags, before MyST-NB hides what has other tags, proofs, and notes on the sources."""

    default_priority = 198
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        for cell in [*self.document.findall(is_cell)]:
            join(cell)
        for cell in [*self.document.findall(is_cell)]:
            if "tag_solution" not in cell["classes"]:  # it stands in a box that folds
                cell.children = [*folded(cell)]
        for proof in [*self.document.findall(proof_node)]:
            proof.replace_self(fold("proof", PROOF, without_its_name(proof)))
        for note in [*self.document.findall(nodes.admonition)]:
            if NOTE in note["classes"]:
                note.replace_self(fold(NOTE, note[0].astext(), nodes.compound("", *note[1:], ids=note["ids"])))
        for chapter in [*self.document.findall(nodes.section)][:1]:
            gather(chapter)


def join(cell: nodes.Element) -> None:
    """Move the code of a cell that prints nothing into the fold of the next cell: one line stands for both."""
    after = cell.next_node(descend=False, siblings=True)
    folds = after is not None and any(tagged(after, tag) for tag in ("work", "figure", "check"))
    if folds and tagged(cell, "work") and not output_of(cell) and not cell["ids"]:
        after[:0] = cell.children
        cell.parent.remove(cell)


def output_of(cell: nodes.Element) -> list[nodes.Node]:
    """What a cell shows beside its code."""
    return [part for part in cell.children if part.get("nb_element") != "cell_code_source"]


def without_its_name(proof: proof_node) -> proof_node:
    """A copy of a proof that does not begin with "Proof.", which the line that unfolds it says."""
    made = proof.deepcopy()
    made["ids"] = [name for name in made["ids"] if name != "proof"]  # all proofs without a label would share it
    for words in [*made.findall(nodes.Text)][:1]:
        words.parent.replace(words, nodes.Text(words.astext().removeprefix(f"{PROOF}.").lstrip()))
    return made


def folded(cell: nodes.container) -> Iterator[nodes.Node]:
    """The parts of a cell as its tag wants them."""
    code = [part for part in cell.children if part.get("nb_element") == "cell_code_source"]
    output = output_of(cell)
    if tagged(cell, "check"):
        yield fold("check", last_line(output), *code, *output)
    elif tagged(cell, "hole"):
        yield fold("hole", HOLE, *code, *output)
    elif tagged(cell, "figure"):
        yield from output
        yield fold("code", "code", *code)
    elif tagged(cell, "work"):
        yield fold("code", "code", *code)
        yield from output
    else:
        yield from cell.children


def gather(chapter: nodes.section) -> None:
    """Put the launch line, the set-up and the imports of a chapter into one bar, before its first section."""
    imports = [part for part in chapter.children if tagged(part, "imports")]
    if not imports:
        return
    setup = [part for part in chapter.children[:3] if tagged(part, "hide-input")]
    launch = chapter.children[1 : chapter.children.index(setup[0])] if setup else []
    bar = fold("run", RUN)
    bar["ids"] = []
    later = [part for part in chapter.children if isinstance(part, nodes.section)]
    chapter.insert(chapter.index(later[0]) if later else len(chapter), bar)
    for part in (*launch, *setup, *imports):
        chapter.remove(part)
        bar.append(part)


def add_fold(app: Sphinx) -> None:
    """Make folds known to an application, for each extension that makes some."""
    app.add_node(Fold, override=True, html=(visit_fold, depart_fold))


def setup(app: Sphinx) -> dict[str, bool]:
    add_fold(app)
    app.add_post_transform(FoldParts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
