"""The claims ledger and the errata as pages: directives and a role over :mod:`claims`.

``{claims-summary}`` counts the claims by verdict, ``{claims-sources}`` describes the sources, ``{claims-ledger}`` is
a card for each with a filter, ``{errata}`` lists what the sources get wrong, and ``{claim}`A1``` links to a card from
anywhere. The data is checked when a build starts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.docutils import ReferenceRole, SphinxDirective

import claims
from claims import Claim, Correction, Ledger
from folding import Fold, add_fold, fold

STYLED = {"claims-summary", "ledger", "correction"}  # a page with one of these classes gets ledger.css and ledger.js


def count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def slug(words: str) -> str:
    return words.replace(" ", "-")


def badge(verdict: str) -> nodes.inline:
    """A verdict in words; the style sheet adds a coloured mark."""
    return nodes.inline("", verdict, classes=["verdict", slug(verdict)])


def test_id(test: str) -> nodes.inline:
    """A pytest id that may wrap after a slash, a double colon or an underscore, and copies as it is."""
    parts = [part for part in re.split(r"(?<=[/_])|(?<=::)", test) if part]
    between = [node for part in parts for node in (nodes.raw("", "<wbr>", format="html"), nodes.Text(part))]
    return nodes.inline("", "", *between[1:], classes=["test-id"])


def link(target: str, text: str, docname: str) -> addnodes.pending_xref:
    """A reference to a label anywhere in the book; Sphinx warns when there is none."""
    options = {"refdomain": "std", "reftype": "ref", "refexplicit": True, "refwarn": True}
    return addnodes.pending_xref("", nodes.inline(text, text), reftarget=target.lower(), refdoc=docname, **options)


class ClaimRole(ReferenceRole):
    """``{claim}`A1``` or ``{claim}`the first claim <A1>```: a link to that row of the ledger."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        node = link(f"claim-{self.target}", self.title, self.env.docname)
        self.set_source_info(node)
        return [node], []


class LedgerDirective(SphinxDirective):
    """What the directives share: the ledger, and Markdown from it turned into nodes."""

    @property
    def ledger(self) -> Ledger:
        self.env.note_dependency(str(Path(self.env.srcdir) / claims.PATH))
        return self.env.app.claims_ledger

    def test_id(self, test: str) -> nodes.inline:
        self.env.note_dependency(str(Path(self.env.srcdir) / test.partition("::")[0]))
        return test_id(test)

    def markdown(self, text: str) -> list[nodes.Node]:
        holder = nodes.Element()
        self.state.nested_parse(StringList(text.splitlines(), claims.PATH), self.content_offset, holder)
        return holder.children

    def link(self, target: str, text: str) -> addnodes.pending_xref:
        return link(target, text, self.env.docname)

    def cell_link(self, cell: str) -> addnodes.pending_xref:
        self.env.note_dependency(str(Path(self.env.srcdir) / claims.notebook_path(cell)))
        return self.link(cell.partition("#")[2], self.ledger.titles[cell])

    def anchor(self, node: nodes.Element, name: str) -> nodes.Element:
        node["ids"], node["names"] = [name], [name.lower()]
        self.state.document.note_explicit_target(node)
        return node


class Summary(LedgerDirective):
    """What the verdicts mean, and how many claims have each."""

    def run(self) -> list[nodes.Node]:
        settled = sum(claim.settled for claim in self.ledger.claims)
        verb = "is" if settled < 2 else "are"
        sentence = f"Of {count(len(self.ledger.claims), 'claim')}, {settled or 'none'} {verb} settled."
        items = nodes.definition_list("", classes=["claims-summary"])
        for verdict, number in self.ledger.verdicts().items():
            if verdict == "open" and not number:
                continue
            term = nodes.term("", "", badge(verdict), nodes.Text(f": {number}"))
            meaning = nodes.definition("", nodes.paragraph("", claims.VERDICTS[verdict]))
            items += nodes.definition_list_item("", term, meaning)
        return [nodes.paragraph("", sentence), self._bar(), items]

    def _bar(self) -> nodes.raw:
        """A bar with a part for each verdict, as long as it has claims; the list below says the same in words."""
        parts = "".join(
            f'<span class="{slug(verdict)}" style="flex-grow: {number}"></span>'
            for verdict, number in self.ledger.verdicts().items()
            if number
        )
        return nodes.raw("", f'<div class="verdict-bar" aria-hidden="true">{parts}</div>', format="html")


class Cards(LedgerDirective):
    """The filter, and a card for each claim: the verdict and what was said, then what is true, seen and checked."""

    def run(self) -> list[nodes.Node]:
        cards = nodes.container("", *map(self._card, self.ledger.claims), classes=["ledger"])
        return [nodes.raw("", self._filter(), format="html"), cards]

    def _filter(self) -> str:
        sources = [(source.letter, f"{source.letter}. {source.name}") for source in self.ledger.sources]
        verdicts = [(slug(verdict), f"{verdict} ({n})") for verdict, n in self.ledger.verdicts().items()]
        return (
            '<form class="ledger-filter" hidden>'
            f"{_select('source', 'Source', 'all sources', sources)}"
            f"{_select('verdict', 'Verdict', 'all verdicts', verdicts)}"
            '<button type="reset">Show all</button><p role="status"></p></form>'
        )

    def _card(self, claim: Claim) -> ClaimCard:
        head = [nodes.inline("", claim.id, classes=["claim-id"]), badge(claim.verdict)]
        said = [word for part in self.markdown(claim.statement) for word in (*part.children, nodes.Text(" "))]
        place = claim.place + (f". {{cite:t}}`{','.join(claim.references)}`" if claim.references else "")
        facts = {
            "Said in": [*self.markdown(place)],
            "Found": [self._bullets(claim.found)] if claim.found else [],
            "True": [part for correction in claim.corrections for part in self.markdown(correction.truth)],
            "Seen in": [nodes.paragraph("", "", self.cell_link(cell)) for cell in claim.cells],
        }
        if claim.corrections:
            facts["True"].append(nodes.paragraph("", "", self.link(f"erratum-{claim.id}", f"Erratum {claim.id}")))
        if not claim.settled:
            titles = [nodes.emphasis("", self.ledger.chapters[number]) for number in claim.chapters]
            between = [node for title in titles for node in (nodes.Text(" and "), title)]
            facts["Due in"] = [nodes.paragraph("", "", *between[1:])]
        items = [
            nodes.definition_list_item("", nodes.term("", name), nodes.definition("", *parts))
            for name, parts in facts.items()
            if parts
        ]
        card = ClaimCard(
            "",
            ClaimLine("", *head, nodes.inline("", "", *said, classes=["claim-said"])),
            nodes.definition_list("", *items, classes=["claim-facts"]),
            *self._checked(claim),
            classes=["claim", f"source-{claim.source.lower()}", f"verdict-{slug(claim.verdict)}"],
        )
        return self.anchor(card, f"claim-{claim.id}")

    def _bullets(self, texts: Iterable[str]) -> nodes.bullet_list:
        return nodes.bullet_list("", *(nodes.list_item("", *self.markdown(text)) for text in texts))

    def _checked(self, claim: Claim) -> Iterator[Fold]:
        if claim.tests:
            tests = [nodes.paragraph("", "", self.test_id(test)) for test in claim.tests]
            yield fold("tests", f"Checked by {count(len(tests), 'test')}", *tests)


class ClaimCard(nodes.Element):
    """A card of the ledger: a line that is always seen, and what unfolds below it."""


class ClaimLine(nodes.Element):
    """The line of a card."""


def visit_card(translator: Any, node: ClaimCard) -> None:
    translator.body.append(translator.starttag(node, "details"))


def depart_card(translator: Any, node: ClaimCard) -> None:
    translator.body.append("</details>\n")


def visit_line(translator: Any, node: ClaimLine) -> None:
    translator.body.append("<summary>")


def depart_line(translator: Any, node: ClaimLine) -> None:
    translator.body.append("</summary>\n")


def _select(name: str, label: str, every: str, options: Iterable[tuple[str, str]]) -> str:
    choices = "".join(f'<option value="{escape(value)}">{escape(text)}</option>' for value, text in options)
    return (
        f'<div><label for="ledger-{name}">{label}</label>'
        f'<select id="ledger-{name}" name="{name}"><option value="">{every}</option>{choices}</select></div>'
    )


class Sources(LedgerDirective):
    """Each source with its letter, its description and how many claims it makes."""

    def run(self) -> list[nodes.Node]:
        items = nodes.definition_list("", classes=["claims-sources"])
        for source in self.ledger.sources:
            number = count(len(self.ledger.of(source.letter)), "claim")
            term = nodes.term("", f"{source.letter}. {source.name} ({number})")
            items += nodes.definition_list_item("", term, nodes.definition("", *self.markdown(source.description)))
        return [items]


class Errata(LedgerDirective):
    """Every correction of the ledger, grouped by source; how far the reading has come where there is none."""

    def run(self) -> list[nodes.Node]:
        return [self._progress(), *filter(None, map(self._source, self.ledger.sources))]

    def _progress(self) -> nodes.paragraph:
        total, found = len(self.ledger.claims), sum(len(claim.corrections) for claim in self.ledger.claims)
        examined = sum(claim.settled or bool(claim.corrections) for claim in self.ledger.claims)
        if not examined:
            return nodes.paragraph("", f"None of the {total} claims has been examined yet, so no mistake is recorded.")
        mistakes = f"{count(found, 'mistake')} found" if found else "no mistake found"
        return nodes.paragraph("", f"Examined so far: {examined} of {total} claims, {mistakes}.")

    def _source(self, source: claims.Source) -> nodes.section | None:
        wrong = [claim for claim in self.ledger.of(source.letter) if claim.corrections]
        if not wrong:
            return None
        section = nodes.section("", nodes.title("", source.name), classes=["errata"])
        section += self.markdown(source.description)
        section += map(self._claim, wrong)
        return self.anchor(section, f"errata-{source.letter}")

    def _claim(self, claim: Claim) -> nodes.section:
        section = nodes.section("", nodes.title("", f"{claim.id}: {claim.place}"))
        row = self.link(f"claim-{claim.id}", f"Claim {claim.id}")
        section += nodes.paragraph("", "", row, nodes.Text(f", {claim.verdict}."))
        section += map(self._correction, claim.corrections)
        return self.anchor(section, f"erratum-{claim.id}")

    def _correction(self, correction: Correction) -> nodes.definition_list:
        example = self.markdown(correction.example)
        example.append(nodes.paragraph("", "", self.cell_link(correction.cell)))
        parts = {
            "The source says": self.markdown(correction.says),
            "What is true": self.markdown(correction.truth),
            "Smallest example": example,
        }
        items = (nodes.definition_list_item("", nodes.term("", t), nodes.definition("", *c)) for t, c in parts.items())
        return nodes.definition_list("", *items, classes=["correction"])


def read_ledger(app: Sphinx) -> None:
    try:
        app.claims_ledger = claims.load(Path(app.srcdir))
    except (OSError, claims.LedgerError) as error:
        raise ExtensionError(str(error)) from error


def add_assets(app: Sphinx, pagename: str, template: str, context: dict, doctree: nodes.document | None) -> None:
    if doctree and any(STYLED & set(node.get("classes", ())) for node in doctree.findall(nodes.Element)):
        app.add_css_file("ledger.css")
        app.add_js_file("ledger.js", loading_method="defer")


def setup(app: Sphinx) -> dict[str, bool]:
    directives = {"claims-summary": Summary, "claims-sources": Sources, "claims-ledger": Cards, "errata": Errata}
    for name, directive in directives.items():
        app.add_directive(name, directive)
    app.add_role("claim", ClaimRole())
    app.add_node(ClaimCard, html=(visit_card, depart_card))
    app.add_node(ClaimLine, html=(visit_line, depart_line))
    add_fold(app)
    app.connect("builder-inited", read_ledger)
    app.connect("html-page-context", add_assets)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
