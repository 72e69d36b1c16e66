"""Texts of other people, such as names of files, made harmless for a table, a terminal and a comparison."""

import csv
import io
import re
import unicodedata
from collections.abc import Iterable, Sequence

__all__ = ["folded", "in_cell", "on_screen", "spelt_out", "table"]

TRIGGERS = "=+@＝＋－＠-"
"""Characters that make a cell a formula, at its beginning."""
HIDDEN = ("Cc", "Cf", "Cn", "Zl", "Zp")
"""Categories of characters that a terminal may obey, that turn the direction of a text, or that are not seen."""
JOINERS = "\u200c\u200d"
"""Those of them that some languages, and pictures of people, are written with."""
INNER = re.compile(rf"([;\t\n])(?=[\s\ufeff\x00-\x20]*[{re.escape(TRIGGERS)}])")
"""A character that a spreadsheet may take for the end of a cell, before what would then be a formula."""


def in_cell(text: str) -> str:
    """A text that no spreadsheet takes for a formula, whatever it takes for the end of a cell."""
    text = text.replace("\r\n", "\n").replace(
        "\r", "\n"
    )  # which csv leaves bare, and readers take for the end of a row
    text = spelt_out(text)
    first = next((char for char in text if not _is_blank(char)), "")
    quoted = INNER.sub(r"\1'", text)
    return f"'{quoted}" if (first and first in TRIGGERS) or text[:1] in ("\t", "\n") else quoted


def _is_blank(char: str) -> bool:
    """Whether programs may pass over a character at the beginning of a cell."""
    return char.isspace() or unicodedata.category(char) in ("Cc", "Cf", "Zs", "Zl", "Zp")


def spelt_out(text: str) -> str:
    """A text in which all that is obeyed or not seen is spelt out, such as ``\\u202e``; tabs and ends of lines stay."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(char.encode("unicode_escape").decode() if _is_hidden(char) else char for char in text)


def _is_hidden(char: str) -> bool:
    return char not in "\t\n" and char not in JOINERS and unicodedata.category(char) in HIDDEN


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
