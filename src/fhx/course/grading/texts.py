"""Texts of other people, such as names of files, made harmless for a table, a terminal and a comparison."""

import csv
import io
import re
import unicodedata
from collections.abc import Iterable, Sequence

__all__ = ["folded", "in_cell", "on_screen", "table"]

TRIGGERS = "=+@＝＋－＠-"
"""Characters that make a cell a formula, at its beginning."""
BIDI = ("LRE", "RLE", "PDF", "LRO", "RLO", "LRI", "RLI", "FSI", "PDI")
"""Classes of characters that turn the direction of a text."""
INNER = re.compile(rf"([;\t\n])(?=[\s\ufeff\x00-\x20]*[{re.escape(TRIGGERS)}])")
"""A character that a spreadsheet may take for the end of a cell, before what would then be a formula."""


def in_cell(text: str) -> str:
    """A text that no spreadsheet takes for a formula, whatever it takes for the end of a cell."""
    text = text.replace("\r\n", "\n").replace(
        "\r", "\n"
    )  # which csv leaves bare, and readers take for the end of a row
    text = "".join(
        char if char == "\n" or char == "\t" else on_screen(char) if _is_control(char) else char for char in text
    )
    first = next((char for char in text if not _is_blank(char)), "")
    quoted = INNER.sub(r"\1'", text)
    return f"'{quoted}" if (first and first in TRIGGERS) or text[:1] in ("\t", "\n") else quoted


def _is_blank(char: str) -> bool:
    """Whether programs may pass over a character at the beginning of a cell."""
    return char.isspace() or unicodedata.category(char) in ("Cc", "Cf", "Zs", "Zl", "Zp")


def _is_control(char: str) -> bool:
    """Whether a terminal may obey a character, or turn the direction of what follows."""
    return unicodedata.category(char) == "Cc" or unicodedata.bidirectional(char) in BIDI


def table(rows: Iterable[Sequence[str]]) -> bytes:
    """Rows as CSV, each cell harmless."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([in_cell(cell) for cell in row] for row in rows)
    return out.getvalue().encode("utf-8", "backslashreplace")


def on_screen(text: str) -> str:
    """A text in which all that a terminal would obey, or not show, is spelt out, such as ``\\x1b``."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def folded(name: str) -> str:
    """The same for names that differ in upper and lower case, or in how an accent is stored."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold()).strip()
