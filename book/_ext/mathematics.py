"""Formulas are typeset by KaTeX when the book is built: no page needs a script for them.

Each holds MathML for those who hear the page. What stands beside an inline formula without a space, as the comma or the
brackets of ($x$), stays on its line.
"""

from __future__ import annotations

import atexit
import re
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from py_mini_racer import JSEvalException, MiniRacer
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

logger = logging.getLogger(__name__)

KATEX = Path(__file__).parents[1] / "katex"
TYPESET = """(formula, displayMode) => katex.renderToString(formula, {
    displayMode, output: 'htmlAndMathml', throwOnError: true, strict: 'error', trust: false })"""
SOURCE = re.compile(r'<annotation encoding="application/x-tex">.*?</annotation>', re.DOTALL)
LINE = r"\\"
BEFORE, AFTER = re.compile(r"(?<!\S)\S{1,8}\Z"), re.compile(r"\S{1,24}(?!\S)|[^\w\s]+")
TAG, SHORT, LONG = re.compile(r"<[^>]*>"), 12, 24
PIECE, SEEN = '<span class="katex-base">', '<span class="katex-html" aria-hidden="true">'


@cache
def _engine() -> MiniRacer:
    engine = MiniRacer()
    atexit.register(engine.close)  # left to itself it may keep Python from ending
    engine.eval((KATEX / "katex.min.js").read_text("utf-8"))
    engine.eval(f"const typeset = {TYPESET}")
    return engine


@cache
def typeset(formula: str, display: bool = False) -> str:
    """The HTML of a formula: what is seen, and MathML.

    Raises:
        ValueError: KaTeX cannot set it.
    """
    try:
        html = _engine().call("typeset", formula, display)
    except JSEvalException as error:
        reason = next((line for line in str(error).splitlines() if "Error" in line), str(error)).strip()
        raise ValueError(reason) from error
    return SOURCE.sub("", html)


def beside(html: str, before: str, after: str) -> str:
    """An inline formula with what no line break may part from it; a long one still breaks where KaTeX lets it.

    KaTeX gives a row of pieces, which it breaks between. Those of a short formula stay together, and so do a few within
    brackets. The first stays with what comes before, the last with what comes after.
    """
    spoken, _, seen = html.partition(SEEN)
    pieces = [PIECE + piece for piece in seen.removesuffix("</span></span>").split(PIECE)[1:]]
    rows = _rows(pieces)
    texts = [f"{spoken}{SEEN}{rows[0]}</span></span>"]
    texts += [f'<span class="katex">{SEEN}{row}</span></span>' for row in rows[1:]]
    texts[0] = escape(before) + texts[0]
    texts[-1] += escape(after)
    return "".join(f'<span class="unbroken">{text}</span>' for text in texts)


def _rows(pieces: list[str]) -> list[str]:
    """The pieces, with those joined that no line may break between."""
    if len(TAG.sub("", "".join(pieces))) <= SHORT:
        return ["".join(pieces)]
    rows, depth = [""], 0
    for piece in pieces:
        if rows[-1] and (depth == 0 or len(TAG.sub("", rows[-1] + piece)) > LONG):
            rows.append("")
        rows[-1] += piece
        depth = max(0, depth + piece.count('class="mopen') - piece.count('class="mclose'))
    return rows


def in_lines(text: str) -> str:
    """A displayed formula as Sphinx has it: empty lines part equations, and two backslashes the lines of one."""
    parts = [part for part in text.split("\n\n") if part.strip()]
    parts = [rf"\begin{{split}}{part}\end{{split}}" if LINE in part else part for part in parts]
    return parts[0] if len(parts) == 1 else rf"\begin{{gathered}}{LINE.join(parts)}\end{{gathered}}"


class beside_formula(nodes.inline):
    """A formula with the words beside it."""


class Beside(SphinxPostTransform):
    """Puts every inline formula and the words that touch it into one node."""

    default_priority = 900
    formats = ("html",)

    def run(self, **_: Any) -> None:
        for node in list(self.document.findall(nodes.math)):
            parent, place = node.parent, node.parent.index(node)
            before, after = self._cut(parent, place - 1, BEFORE), self._cut(parent, place + 1, AFTER)
            parent[place] = beside_formula("", "", nodes.Text(before), node, nodes.Text(after))

    @staticmethod
    def _cut(parent: nodes.Element, place: int, pattern: re.Pattern[str]) -> str:
        """Take what is found out of the text at that place, if there is one."""
        if not (0 <= place < len(parent) and isinstance(parent[place], nodes.Text)):
            return ""
        words = str(parent[place])
        if not (found := pattern.search(words) if pattern is BEFORE else pattern.match(words)):
            return ""
        parent[place] = nodes.Text(words[: found.start()] + words[found.end() :])
        return found[0]


def _set(formula: str, node: nodes.Node, display: bool) -> str:
    try:
        return typeset(formula, display)
    except ValueError as error:
        logger.warning("%s in the formula %s", error, formula, location=node)
        return f'<span class="katex-error">{escape(formula)}</span>'


def visit_inline(writer: Any, node: nodes.math, before: str = "", after: str = "") -> None:
    html = _set(node.astext(), node, display=False)
    symbol = {"data-symbol": node["symbol"]} if "symbol" in node else {}  # symbols.py
    writer.body.append(writer.starttag(node, "span", "", CLASS="math notranslate nohighlight", **symbol))
    writer.body.append((beside(html, before, after) if SEEN in html else before + html + after) + "</span>")
    raise nodes.SkipNode


def visit_beside(writer: Any, node: beside_formula) -> None:
    before, formula, after = node.children
    visit_inline(writer, formula, str(before), str(after))


def visit_block(writer: Any, node: nodes.math_block) -> None:
    writer.body.append(writer.starttag(node, "div", CLASS="math notranslate nohighlight"))
    if node["number"]:
        writer.body.append(f'<span class="eqno">({get_node_equation_number(writer, node)})')
        writer.add_permalink_ref(node, "Link to this equation")
        writer.body.append("</span>")
    text = node.astext()
    writer.body.append(_set(text if node["nowrap"] else in_lines(text), node, display=True) + "</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_html_math_renderer("katex", (visit_inline, None), (visit_block, None))
    app.add_node(beside_formula, html=(visit_beside, None))
    app.add_post_transform(Beside)
    app.add_css_file("katex/katex.min.css")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
