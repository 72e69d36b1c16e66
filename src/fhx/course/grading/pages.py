"""Pages of HTML that need no other file, from the templates beside this module; every value in them is escaped."""

from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from fhx.course.grading.marks import STATUSES

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
    environment = Environment(
        loader=PackageLoader("fhx.course.grading"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"dashed": lambda status: status.replace(" ", "-"), "number": number}
    return environment.get_template(f"{template}.html").render(title=title, colors=COLORS, **values)


def number(points: float | None) -> str:
    """Points as one writes them; nothing where a person has to decide."""
    return "" if points is None else f"{points:g}"
