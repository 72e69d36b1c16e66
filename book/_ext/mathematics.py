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
TAG, SHORT = re.compile(r"<[^>]*>"), 12
LINE = r"\\"
BEFORE, AFTER = re.compile(r"\S{1,3}$"), re.compile(r"\S{1,16}")
UNBROKEN, BASE = '<span class="unbroken">', '<span class="katex-base">'
HIDDEN = '<span class="katex-html" aria-hidden="true">'


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

    A formula is a row of unbroken pieces, its bases, and the last of them stays with what comes after.
    """
    before, after = escape(before), escape(after)
    letters = TAG.sub("", html.partition(HIDDEN)[2])
    if html.count(BASE) == 1 or len(letters) <= SHORT:
        return f"{UNBROKEN}{before}{html}{after}</span>"
    if not after:
        return before + html
    head, base, last = html.rpartition(BASE)
    return f'{before}{head}</span></span>{UNBROKEN}<span class="katex">{HIDDEN}{base}{last}{after}</span>'


def in_lines(text: str) -> str:
    """A displayed formula as Sphinx has it: empty lines part equations, and two backslashes the lines of one."""
    parts = [part for part in text.split("\n\n") if part.strip()]
    parts = [rf"\begin{{split}}{part}\end{{split}}" if LINE in part else part for part in parts]
    return parts[0] if len(parts) == 1 else rf"\begin{{gathered}}{LINE.join(parts)}\end{{gathered}}"


class Beside(SphinxPostTransform):
    """Gives every inline formula the words beside it that a line break must not part from it."""

    default_priority = 900
    formats = ("html",)

    def run(self, **_: Any) -> None:
        for node in self.document.findall(nodes.math):
            siblings, place = node.parent.children, node.parent.index(node)
            for key, step, pattern in (("after", 1, AFTER), ("before", -1, BEFORE)):
                text = siblings[place + step] if 0 <= place + step < len(siblings) else None
                words = str(text) if isinstance(text, nodes.Text) else ""
                found = pattern.match(words) if step == 1 else pattern.search(words)
                if found:
                    node[key] = found[0]
                    node.parent.replace(text, nodes.Text(words[: found.start()] + words[found.end() :]))


def _set(formula: str, node: nodes.Node, display: bool) -> str:
    try:
        return typeset(formula, display)
    except ValueError as error:
        logger.warning("%s in the formula %s", error, formula, location=node)
        return f'<span class="katex-error">{escape(formula)}</span>'


def visit_inline(writer: Any, node: nodes.math) -> None:
    html = _set(node.astext(), node, display=False)
    writer.body.append(writer.starttag(node, "span", "", CLASS="math notranslate nohighlight"))
    writer.body.append(beside(html, node.get("before", ""), node.get("after", "")) + "</span>")
    raise nodes.SkipNode


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
    app.add_post_transform(Beside)
    app.add_css_file("katex/katex.min.css")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
