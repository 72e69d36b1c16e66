"""Pages of HTML that need no other file, from the templates beside this module; every value in them is escaped."""

from typing import Any

from fhx._templates import environment
from fhx.course.grading.marks import STATUSES
from fhx.course.grading.texts import on_screen

__all__ = ["COLORS", "number", "page"]

COLORS = dict(zip(STATUSES, ("#009E73", "#D55E00", "#BBBBBB", "#E69F00", "#CC79A7", "#56B4E9", "#0072B2"), strict=True))
"""Of the statuses; colour-blind readers can tell them apart."""


def page(template: str, title: str, **values: Any) -> str:
    """A template with its values.

    Args:
        template: its name, without suffix.
        title: of the page, and its heading.
        values: what else the template names.
    """
    return _TEMPLATES.get_template(f"{template}.html").render(title=title, colors=COLORS, **values)


def number(points: float | None) -> str:
    """Points as text; nothing where a person has to decide."""
    return "" if points is None else f"{points:g}"


_TEMPLATES = environment("fhx.course.grading")
_TEMPLATES.filters |= {"dashed": lambda status: status.replace(" ", "-"), "number": number}
_TEMPLATES.filters["plain"] = on_screen
