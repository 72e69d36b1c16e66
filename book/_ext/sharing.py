"""What a search engine or a chat shows of a page: its title, its first paragraph in plain words, and a picture.

The description is the first paragraph of the page that says something, cut at a word. A formula of letters and signs
stays; one that needs LaTeX is left out. A page without a paragraph, as the index, has that of the first page. So has
the folder itself, the address that people pass on, which is a redirect.
"""

from __future__ import annotations

import re
from html import escape, unescape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

LONGEST, LAUNCH, PICTURE = 160, "Run it in ", "_static/social.png"
REDIRECT = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={first}"><title>{name}</title>
{head}<a href="{first}">{name}</a></html>
"""
TAG, LATEX = re.compile(r"<[^>]+>"), re.compile(r"[\\_^{}]")


def plain(paragraph: nodes.Node) -> str:
    """The words of a paragraph on one line, without the formulas that need LaTeX."""
    copy = paragraph.deepcopy()
    for formula in [*copy.findall(nodes.math)]:
        text = formula.astext()
        formula.parent.replace(formula, nodes.Text("" if LATEX.search(text) else text))
    return re.sub(r"\s+([,.;:?!])", r"\1", " ".join(copy.astext().split()))


def shortened(text: str, longest: int = LONGEST) -> str:
    """The text, or its first whole words and an ellipsis."""
    if len(text) <= longest:
        return text
    return text[:longest].rpartition(" ")[0].rstrip(" ,;:.-–") + "…"


def description(tree: nodes.document | None) -> str:
    """What a page says first, of at most 160 characters; empty if there is no paragraph."""
    paragraphs = tree.findall(nodes.paragraph) if tree else ()
    texts = (plain(node) for node in paragraphs if isinstance(node.parent, (nodes.section, nodes.document)))
    return shortened(next((text for text in texts if text and not text.startswith(LAUNCH)), ""))


def tags(title: str, said: str, site: str, address: str, base: str) -> str:
    """The elements for the head of a page."""
    named = {"description": said, "twitter:card": "summary_large_image"}
    graph = {"title": title, "description": said, "type": "website", "site_name": site}
    graph |= {"url": address, "image": f"{base}{PICTURE}", "image:width": "1280", "image:height": "640"}
    lines = [f'<meta name="{name}" content="{escape(text)}">\n' for name, text in named.items()]
    return "".join(lines + [f'<meta property="og:{name}" content="{escape(text)}">\n' for name, text in graph.items()])


def share(app: Sphinx, page: str, template: str, context: dict[str, Any], tree: nodes.document | None) -> None:
    """Put the tags of a page beside those that it has."""
    base, name = app.config.html_baseurl, app.config.html_title
    said = description(tree) or description(app.env.get_doctree(app.config.root_doc))
    title = unescape(TAG.sub("", context.get("title") or name))
    address = base + app.builder.get_target_uri(page)
    context["metatags"] = context.get("metatags", "") + tags(title, said, name, address, base)


def share_folder(app: Sphinx, exception: Exception | None) -> None:
    """Write the redirect from the folder to the first page, where that is another file, with the tags of that page."""
    root, base, name = app.config.root_doc, app.config.html_baseurl, app.config.html_title
    if exception or app.builder.name != "html" or root == "index":
        return
    head = tags(app.env.titles[root].astext(), description(app.env.get_doctree(root)), name, base, base)
    redirect = REDIRECT.format(first=app.builder.get_target_uri(root), name=escape(name), head=head)
    Path(app.outdir, "index.html").write_text(redirect, "utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("html-page-context", share)
    app.connect("build-finished", share_folder, priority=400)  # before sphinx_external_toc, which writes a bare one
    return {"parallel_read_safe": True, "parallel_write_safe": True}
