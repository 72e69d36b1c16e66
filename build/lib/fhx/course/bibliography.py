"""The works that the book cites, by author and year, with the address of each."""

from dataclasses import dataclass
from pathlib import Path

from pybtex.database import Entry, parse_string
from pybtex.richtext import Text

from fhx.course import CourseError

__all__ = ["Work", "read_works"]


@dataclass(frozen=True)
class Work:
    """One entry of the bibliography.

    Attributes:
        names: as the text gives them, ``Miller and Hardt``.
        year: of publication.
        address: DOI, arXiv or web page, if there is one.
    """

    names: str
    year: str
    address: str | None

    def textual(self) -> str:
        """Miller and Hardt (2019), linked."""
        return linked(f"{self.names} ({self.year})", self.address)

    def parenthetical(self) -> str:
        """Miller and Hardt, 2019, linked, without brackets around it."""
        return linked(f"{self.names}, {self.year}", self.address)


def linked(words: str, address: str | None) -> str:
    """A Markdown link, or only its words where there is no address."""
    if address is None:
        return words
    return f"[{words}]({address.replace('(', '%28').replace(')', '%29')})"


def read_works(path: Path) -> dict[str, Work]:
    """The entries of a BibTeX file by their keys.

    Raises:
        CourseError: there is no such file.
    """
    try:
        entries = parse_string(path.read_text("utf-8"), "bibtex").entries
    except FileNotFoundError as error:
        raise CourseError(f"there is no bibliography {path}; the notebooks must be in a clone of the book") from error
    return {
        key: Work(_names(entry), entry.fields.get("year", "n.d."), _address(entry)) for key, entry in entries.items()
    }


def _names(entry: Entry) -> str:
    names = [str(Text.from_latex(" ".join([*p.prelast_names, *p.last_names]))) for p in entry.persons["author"]]
    return f"{names[0]} et al." if len(names) > 2 else " and ".join(names)


def _address(entry: Entry) -> str | None:
    fields = entry.fields
    if "doi" in fields:
        return f"https://doi.org/{fields['doi']}"
    if fields.get("archiveprefix", "").lower() == "arxiv":
        return f"https://arxiv.org/abs/{fields['eprint']}"
    return fields.get("url")
