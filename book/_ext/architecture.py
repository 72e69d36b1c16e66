"""How the rooms of the package lie above one another: ``{architecture}`` draws it from their imports.

A room stands one floor above the highest room that it imports. An arrow leads to a room that is imported, unless
another way leads there too. Below the drawing a table says the same in words.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from importlib import import_module
from inspect import getdoc
from itertools import permutations, product
from math import factorial, prod
from pathlib import Path

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import fhx

WIDTH, BOX, HEIGHT, FLOOR = 384.0, 90.0, 26.0, 64.0
"""Of the drawing, of a room's box, and from one floor to the next, in units of the drawing."""
MOST_ORDERS = 100_000
"""If there are more, the rooms of a floor stand in the order of their names."""

Graph = Mapping[str, set[str]]


def imported_rooms(package: Path) -> dict[str, set[str]]:
    """The other rooms that each room imports, wherever in it the import stands."""
    rooms = sorted(folder.name for folder in package.iterdir() if (folder / "__init__.py").is_file())
    return {room: _imports(package / room) & set(rooms) - {room} for room in rooms}


def _imports(folder: Path) -> set[str]:
    names = set[str]()
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                names |= {f"fhx.{alias.name}" for alias in node.names} if node.module == "fhx" else {node.module}
    return {name.split(".")[1] for name in names if name.startswith("fhx.")}


def below(graph: Graph, room: str) -> set[str]:
    """All rooms that a room needs, directly or not."""
    return {deeper for one in graph[room] for deeper in {one} | below(graph, one)}


def direct(graph: Graph) -> dict[str, set[str]]:
    """The imports to which no longer way leads."""
    return {
        room: {one for one in found if not any(one in below(graph, other) for other in found)}
        for room, found in graph.items()
    }


def floors(graph: Graph) -> list[list[str]]:
    """The rooms by floors, the lowest first, in the order in which arrows are short and pass the fewest boxes."""
    level = {room: _level(graph, room) for room in graph}
    made = [sorted(room for room in graph if level[room] == n) for n in range(max(level.values()) + 1)]
    arrows = [(room, one) for room, found in direct(graph).items() for one in found]
    if prod(factorial(len(floor)) for floor in made) > MOST_ORDERS:
        return made
    orders = product(*map(permutations, made))
    return [list(floor) for floor in min(orders, key=lambda order: _tangle(order, level, arrows))]


def _tangle(order: Sequence[Sequence[str]], level: Mapping[str, int], arrows: Sequence[tuple[str, str]]) -> float:
    """How far the arrows go sideways, and half a box's width more for each box that one passes behind."""
    at, total = _middles(order), 0.0
    for room, one in arrows:
        total += abs(at[room] - at[one])
        for between in range(level[one] + 1, level[room]):
            share = (between - level[one]) / (level[room] - level[one])
            x = at[one] + share * (at[room] - at[one])
            total += sum(BOX / 2 for other in order[between] if abs(at[other] - x) < BOX / 2)
    return total


def _level(graph: Graph, room: str) -> int:
    return max((1 + _level(graph, one) for one in graph[room]), default=0)


def _middles(made: Sequence[Sequence[str]]) -> dict[str, float]:
    """Where the middle of each room is, from left to right."""
    return {room: WIDTH * (place + 0.5) / len(floor) for floor in made for place, room in enumerate(floor)}


def drawing(graph: Graph, pages: Mapping[str, str]) -> str:
    """The drawing as SVG: boxes that are links, and arrows downwards. It is arithmetic on places, so no template."""
    made, arrows = floors(graph), direct(graph)
    middles, top = _middles(made), {room: (len(made) - 1 - n) * FLOOR for n, floor in enumerate(made) for room in floor}
    svg = []
    for room, found in arrows.items():
        ends = sorted(found, key=middles.__getitem__)
        for place, one in enumerate(ends, 1):
            x, y = middles[room] + 0.7 * BOX * (place / (len(ends) + 1) - 0.5), top[room] + HEIGHT
            x_end, y_end = middles[one], top[one] - 5
            half = (y_end - y) / 2
            way = f"M{x:.0f} {y:.0f}C{x:.0f} {y + half:.0f} {x_end:.0f} {y_end - half:.0f} {x_end:.0f} {y_end:.0f}"
            head = f"M{x_end - 4:.0f} {y_end - 1:.0f}l4 5 4-5z"
            svg.append(f'<path class="line" d="{way}"/><path class="head" d="{head}"/>')
    for room in (room for floor in reversed(made) for room in floor):
        corner = f'x="{middles[room] - BOX / 2:.0f}" y="{top[room]:.0f}"'
        box = f'<rect {corner} width="{BOX:.0f}" height="{HEIGHT:.0f}" rx="4"/>'
        text = f'<text x="{middles[room]:.0f}" y="{top[room] + 17:.0f}" text-anchor="middle">{escape(room)}</text>'
        svg.append(f'<a href="{escape(pages[room])}">{box}{text}</a>')
    height = (len(made) - 1) * FLOOR + HEIGHT
    return (
        f'<div class="rooms-map"><svg viewBox="-1 -1 {WIDTH + 2:.0f} {height + 2:.0f}" role="group" '
        f'aria-labelledby="rooms-title"><title id="rooms-title">The rooms of the package on {len(made)} floors; '
        f"the table below says which imports which</title>{''.join(svg)}</svg></div>"
    )


def table(graph: Graph) -> Iterator[str]:
    """The same in words, as MyST: a row for each room, the highest floor first."""
    made, arrows = floors(graph), direct(graph)
    yield from ("| room | what for | stands on |", "|---|---|---|")
    for floor in reversed(made):
        for room in floor:
            purpose = " ".join((getdoc(import_module(f"fhx.{room}")) or "").partition("\n\n")[0].split())
            purpose = re.sub(r":\w+:`([^`]*)`", r"${\1}$", purpose.replace("``", "`"))
            needs = ", ".join(f"`{one}`" for one in sorted(arrows[room])) or "nothing"
            yield f"| {{doc}}`{room} <api/{room}>` | {purpose} | {needs} |"


class architecture(nodes.General, nodes.Element):
    """Where the drawing goes, until the pages of the rooms are known."""


class Architecture(SphinxDirective):
    def run(self) -> list[nodes.Node]:
        package = Path(fhx.__path__[0])
        for path in package.glob("*/*.py"):
            self.env.note_dependency(str(path))
        top = nodes.Element()
        self.state.nested_parse(StringList([*table(imported_rooms(package))]), self.content_offset, top)
        return [architecture(), *top.children]


def draw(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Put the drawing in its place."""
    for node in list(doctree.findall(architecture)):
        graph = imported_rooms(Path(fhx.__path__[0]))
        pages = {room: app.builder.get_relative_uri(docname, f"book/api/{room}") for room in graph}
        node.replace_self(nodes.raw("", drawing(graph, pages), format="html"))


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_node(architecture)
    app.add_directive("architecture", Architecture)
    app.connect("doctree-resolved", draw)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
