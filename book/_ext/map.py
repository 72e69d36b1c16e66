"""The landing page's map: the parts and chapters of the book, drawn as SVG in the page.

``{answer-map}`` draws the recurrence itself and, from it, every chapter with the question it asks. A chapter that the
table of contents holds becomes a link under its own title and number; the others, under the titles that the claims
ledger has for them, say that they are to come. Two drawings are made, one for wide pages and one for narrow ones, and
the style sheet shows the one that fits. They are written by f-strings and not by a template, since each element is
arithmetic on its place; words are escaped.

The environment variable ``FHX_PDF`` sets the tag ``pdf``: only a build that ends in a printed book links to it.
"""

import os
import textwrap
from dataclasses import dataclass
from html import escape

from docutils import nodes
from sphinx.util.docutils import SphinxDirective
from sphinx.util.logging import getLogger

PARTS = [  # (caption, {chapter: the question it asks}), in reading order
    ("I. The recurrence", {
        1: "One step, repeated: what is it, and what does it learn?",
        2: "Can a simple step stand in for any other?",
    }),
    ("II. What it can compute", {
        3: "Which machines fit in whole numbers?",
        4: "Does gradient descent find those weights?",
        5: "What do fractions add?",
        6: "What do real numbers add, and what do floats leave?",
    }),
    ("III. What it can learn", {
        7: "Why do gradients vanish, and why explode?",
        8: "Can a deep step be trained?",
    }),
    ("IV. What it can forget", {
        9: "When do two states under one input meet?",
        10: "When are the last k inputs enough?",
        11: "How far back do trained nets look?",
    }),
    ("V. Synthesis", {
        12: "Can all steps be computed at once?",
        13: "What can it do, and when need it be recurrent?",
    }),
]  # fmt: skip

GAP = 14


@dataclass(frozen=True)
class Card:
    """One chapter: where it is (None: not written), its number and title, and its question."""

    href: str | None
    title: str
    question: str

    def draw(self, x: float, y: float, width: float) -> tuple[str, float]:
        """The card's SVG and its height."""
        titles = textwrap.wrap(self.title, int((width - 24) / 9))
        small = textwrap.wrap(self.question, int((width - 24) / 7.3)) + ([] if self.href else ["to come"])
        lines = [("title", 21, line) for line in titles] + [("small", 18, line) for line in small]
        if not self.href:
            lines[-1] = ("status", 19, "to come")
        baseline, text = y + 4, ""
        for kind, step, line in lines:
            baseline += step
            text += f'<text class="{kind}" x="{x + 12}" y="{baseline}">{escape(line)}</text>'
        height = baseline - y + 12
        box = f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="6"/>'
        if self.href:
            return f'<a class="card" href="{escape(self.href)}">{box}{text}</a>', height
        return f'<g class="card coming">{box}{text}</g>', height


def panel(caption: str, cards: list[Card], x: float, y: float, width: float, columns: int = 1) -> tuple[str, float]:
    """A part's caption with its cards below, in columns; the SVG and its height."""
    svg, top = f'<text class="part" x="{x}" y="{y + 16}">{escape(caption)}</text>', y + 28
    each = (width - (columns - 1) * GAP) / columns
    for row in range(0, len(cards), columns):
        drawn = [card.draw(x + i * (each + GAP), top, each) for i, card in enumerate(cards[row : row + columns])]
        svg += "".join(picture for picture, _ in drawn)
        top += max(height for _, height in drawn) + GAP
    return svg, top - GAP - y


def arrow(*points: tuple[float, float]) -> str:
    """A line through the points with a head at its end; the head needs no definition elsewhere in the page."""
    (x0, y0), (x1, y1) = points[-2:]
    length = max(abs(x1 - x0), abs(y1 - y0))
    dx, dy = (x1 - x0) / length, (y1 - y0) / length
    head = f"{x1},{y1} {x1 - 8 * dx - 4 * dy},{y1 - 8 * dy - 4 * dx} {x1 - 8 * dx + 4 * dy},{y1 - 8 * dy + 4 * dx}"
    path = " ".join(f"{x},{y}" for x, y in (*points[:-1], (x1 - 7 * dx, y1 - 7 * dy)))
    return f'<polyline class="line" points="{path}"/><polygon class="head" points="{head}"/>'


def symbol(x: float, y: float, letter: str, index: str, anchor: str = "middle") -> str:
    low = f'<tspan class="index" dy="4">{index}</tspan>' if index else ""
    return f'<text class="symbol" x="{x}" y="{y}" text-anchor="{anchor}">{letter}{low}</text>'


def recurrence(x: float, y: float) -> tuple[str, float]:
    """The loop itself, 312 wide: input and last state enter f, the state goes on to g and back to f."""
    axis = y + 84
    box = '<rect class="box" x="{}" y="{}" width="48" height="48" rx="6"/>'
    return (
        box.format(x + 84, axis - 24) + symbol(x + 108, axis + 6, "f", "")
        + box.format(x + 212, axis - 24) + symbol(x + 236, axis + 6, "g", "")
        + symbol(x + 12, axis + 6, "x", "t") + arrow((x + 28, axis), (x + 84, axis))
        + arrow((x + 132, axis), (x + 212, axis)) + symbol(x + 186, axis + 24, "h", "t")
        + arrow((x + 260, axis), (x + 288, axis)) + symbol(x + 302, axis + 6, "y", "t")
        + arrow((x + 160, axis), (x + 160, axis - 54), (x + 108, axis - 54), (x + 108, axis - 24))
        + symbol(x + 134, axis - 63, "h", "t−1")
        + f'<text class="small" x="{x + 158}" y="{axis + 50}" text-anchor="middle">the same step at every time</text>'
    ), 138  # fmt: skip


def wide(parts: list[tuple[str, list[Card]]]) -> tuple[str, float, float]:
    """Part I beside the loop, parts II to IV side by side, part V below: (SVG, width, height)."""
    width, third = 760, (760 - 2 * 20) / 3
    loop, low = recurrence(36, 0)
    first, high = panel(*parts[0], width / 2 + 10, 0, width / 2 - 10)
    svg, top = loop + first, max(low, high) + 38
    middles = [i * (third + 20) + third / 2 for i in range(3)]
    svg += "".join(arrow((x, top - 30), (x, top - 6)) for x in middles)
    drawn = [panel(*part, i * (third + 20), top, third) for i, part in enumerate(parts[1:4])]
    bottom = top + max(height for _, height in drawn) + 38
    svg += "".join(picture for picture, _ in drawn)
    svg += "".join(arrow((x, top + h + 8), (x, bottom - 6)) for x, (_, h) in zip(middles, drawn, strict=True))
    last, height = panel(*parts[4], 0, bottom, width, columns=2)
    return svg + last, width, bottom + height


def narrow(parts: list[tuple[str, list[Card]]]) -> tuple[str, float, float]:
    """Everything in one column: (SVG, width, height)."""
    width = 340
    svg, top = recurrence(14, 0)
    for caption, cards in parts:
        svg += arrow((width / 2, top + 6), (width / 2, top + 30))
        picture, height = panel(caption, cards, 0, top + 34, width)
        svg, top = svg + picture, top + 34 + height
    return svg, width, top


class answer_map(nodes.General, nodes.Element):
    """Where the map goes, until all chapters and their numbers are known."""


class AnswerMap(SphinxDirective):
    def run(self):
        return [answer_map()]


def draw(app, doctree, docname):
    """Put the two drawings in the map's place, with real links."""
    found = {int(name[10:12]): name for name in app.env.found_docs if name.startswith("notebooks/")}
    numbers = [number for _, questions in PARTS for number in questions]
    for node in list(doctree.findall(answer_map)):
        for number in sorted(set(found) - set(numbers)):
            getLogger(__name__).warning("the map of the answer does not know %r", found[number], location=docname)
        parts = [
            (caption, [_card(app, docname, found.get(number), number, asks) for number, asks in questions.items()])
            for caption, questions in PARTS
        ]
        written = [card.title for _, cards in parts for card in cards if card.href]
        html = "".join(_svg(kind.__name__, *kind(parts), "; ".join(written)) for kind in (wide, narrow))
        if len(written) < len(numbers):
            html += f"<p>Written so far: {len(written)} of {len(numbers)} chapters. The dashed ones are to come.</p>"
        node.replace_self(nodes.raw("", f'<div class="answer-map">{html}</div>', format="html"))


def _card(app, docname: str, target: str | None, number: int, question: str) -> Card:
    if target is None:
        return Card(None, app.claims_ledger.chapters[number], question)
    shown = ".".join(map(str, app.env.toc_secnumbers.get(target, {}).get("", ())))
    title = f"{shown} {app.env.titles[target].astext()}".strip()
    return Card(app.builder.get_relative_uri(docname, target), title, question)


def _svg(name: str, body: str, width: float, height: float, written: str) -> str:
    title, desc = f"map-{name}-title", f"map-{name}-desc"
    return (
        f'<svg class="{name}" viewBox="-2 -2 {width + 4:.0f} {height + 4:.0f}" role="group" '
        f'aria-labelledby="{title}" aria-describedby="{desc}"><title id="{title}">The map of the answer</title>'
        f'<desc id="{desc}">The recurrence leads to three parts, on what it can compute, learn and forget, and these '
        f"lead to the synthesis. The links: {escape(written)}.</desc>{body}</svg>"
    )


def setup(app):
    if os.environ.get("FHX_PDF"):
        app.tags.add("pdf")
    app.add_node(answer_map)
    app.add_directive("answer-map", AnswerMap)
    app.connect("doctree-resolved", draw)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
