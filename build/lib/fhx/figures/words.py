"""Words in figures: how states, units and numbers are written, and how wide a line is."""

from __future__ import annotations

import re
from collections.abc import Hashable

from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

__all__ = ["short_number", "state_name", "text_width", "unit_name"]


def state_name(state: Hashable) -> str:
    """A state as text: a tuple as its parts side by side, with commas only where a part has several characters."""
    if not isinstance(state, tuple):
        return str(state)
    parts = [state_name(part) for part in state]
    return ("" if all(len(part) == 1 for part in parts) else ",").join(parts)


def unit_name(name: str) -> str:
    """A unit's name without the brackets, spaces and quotes of tuples: ``(0, 1)&a`` is ``01&a``."""
    return re.sub(r"[()',] ?", "", name) if "(" in name else name


def short_number(value: float) -> str:
    """``value`` with two digits, as a power of ten where it is small; from 100 on rounded to a whole number."""
    if value < 1e-15:
        return "less than 10⁻¹⁵"
    if value >= 1e-2:
        return f"{value:.2g}" if value < 100 else f"{value:.0f}"
    mantissa, exponent = f"{value:.1e}".split("e")
    return f"{mantissa} · 10{str(int(exponent)).translate(str.maketrans('-0123456789', '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'))}"


def text_width(text: str, size: float) -> float:
    """The width of a line of text in points, in the font of the style."""
    width, _, _ = text_to_path.get_text_width_height_descent(text, FontProperties(size=size), ismath=False)
    return float(width) if text.strip() else 0.0
