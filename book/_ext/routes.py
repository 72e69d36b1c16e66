"""Routes through the book, from ``book/routes.yml``: a page that lists them, a table, and the step after each chapter.

``{routes}`` is a section for each route with its steps and hours, ``{routes-table}`` a row for each. Pages know the
routes, so that ``book.js`` can name the next step to a reader who follows one (``?route=compute``).
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml
from attrs import frozen
from docutils import nodes
from sphinx.application import Sphinx

from run_times import FOLDER, table
from teaching import WORDS_A_MINUTE, TeachingDirective, paragraph, row

SOURCE = "book/routes.yml"
PAGE = "book/routes"


@frozen
class Route:
    """A route: its name in addresses, its title, and its steps, each a chapter's number or a part of a chapter."""

    name: str
    title: str
    steps: tuple[str, ...]


def read_routes(root: Path) -> list[Route]:
    """The routes of the book whose folder is ``root``."""
    found = yaml.safe_load((root / SOURCE).read_text(encoding="utf-8"))
    return [Route(one["name"], one["title"], tuple(one["steps"])) for one in found]


class RoutesDirective(TeachingDirective):
    """What the two have in common."""

    @property
    def routes(self) -> list[Route]:
        self.env.note_dependency(SOURCE)
        return read_routes(Path(self.env.srcdir))

    def steps(self, route: Route) -> list[tuple[float, nodes.paragraph]]:
        """The hours of each step and its description, whose link carries the route's name."""
        return [(words / WORDS_A_MINUTE / 60, said) for words, said in map(self.reading, route.steps)]


class Routes(RoutesDirective):
    """A section for each route."""

    def content_nodes(self) -> Iterable[nodes.Node]:
        for route in self.routes:
            steps = self.steps(route)
            title = nodes.title("", route.title)
            rows = [row([said], f"{hours:.1f}") for hours, said in steps]
            rows.append(row([paragraph("Together")], f"{sum(hours for hours, _ in steps):.1f}"))
            section = nodes.section("", title, table(("Read", "Hours"), rows), ids=[route.name], classes=["route"])
            self.state.document.note_implicit_target(section)
            yield section


class RoutesTable(RoutesDirective):
    """A row for each route: where it starts, and how long it is."""

    def content_nodes(self) -> Iterable[nodes.Node]:
        rows = []
        for route in self.routes:
            steps = self.steps(route)
            link = nodes.reference("", route.title, refuri=f"routes.html#{route.name}", internal=True)
            names = [self.env.titles[f"{FOLDER}/{self.chapters[step[:2]].name}"].astext() for step in route.steps]
            told = nodes.paragraph("", "", link)
            rows.append(row([told, paragraph(" → ".join(names))], f"{sum(hours for hours, _ in steps):.1f}"))
        yield table(("Route", "Hours"), rows)


def tell_pages(app: Sphinx, page: str, template: str, context: dict[str, Any], tree: nodes.document | None) -> None:
    """Give a chapter, and the page of routes, what the script needs to name the next step."""
    if not (page.startswith(f"{FOLDER}/") or page == PAGE):
        return
    names = {Path(name).name[:2]: name for name in app.env.found_docs if name.startswith(f"{FOLDER}/")}
    titles = {number: f"{int(number)}. {app.env.titles[name].astext()}" for number, name in names.items()}
    told = [
        {
            "name": route.name,
            "title": route.title,
            "steps": [
                {"page": f"{names[step[:2]]}.html", "title": titles[step[:2]], "end": step.partition(" to ")[2]}
                for step in route.steps
            ],
        }
        for route in read_routes(Path(app.srcdir))
    ]
    data = json.dumps(told).replace("<", "\\u003c")
    context["body"] += f'<script type="application/json" id="routes-data">{data}</script>'


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("routes", Routes)
    app.add_directive("routes-table", RoutesTable)
    app.connect("html-page-context", tell_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
