"""SVG in fewer bytes: matplotlib's own, without the space between elements and with hundredths of a point.

A notebook keeps each figure as text, so this is what it weighs. As a backend, ``module://fhx.figures.svg``, it serves
``print_figure`` and ``savefig``.
"""

from __future__ import annotations

import re
from io import StringIO
from typing import Any

from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.cbook import file_requires_unicode, open_file_cm

__all__ = ["FigureCanvas", "smaller"]

_PLACES = re.compile(r'\b(?:d|x|y|points)="[^"]*"|translate\([^)]*\)')
_LONG = re.compile(r"(-?\d+\.\d\d)\d+")


def smaller(svg: str) -> str:
    """The same drawing with places to a hundredth and no space that means nothing.

    Args:
        svg: as matplotlib writes it.
    """
    rounded = _PLACES.sub(lambda place: _LONG.sub(r"\1", " ".join(place[0].split())), svg)
    return re.sub(r">\s+<", "><", rounded).strip() + "\n"


class FigureCanvas(FigureCanvasSVG):
    """A canvas that prints SVG in fewer bytes."""

    def print_svg(
        self,
        filename: Any,
        *,
        bbox_inches_restore: Any = None,
        metadata: dict[str, Any] | None = None,
        **others: Any,
    ) -> None:
        """Write the figure.

        Args:
            filename: a path or an open file.
            bbox_inches_restore: how matplotlib undoes its tight box.
            metadata: as of ``savefig``.
            others: what matplotlib passes to every backend, and SVG has no use for.
        """
        whole = StringIO()
        super().print_svg(whole, bbox_inches_restore=bbox_inches_restore, metadata=metadata)
        text = smaller(whole.getvalue())
        with open_file_cm(filename, "w", encoding="utf-8") as file:
            file.write(text if file_requires_unicode(file) else text.encode())
