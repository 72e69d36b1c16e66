"""Author and year, in the text (round brackets) and in the bibliography, so that both use the same words."""

from dataclasses import dataclass, field

from pybtex.plugin import register_plugin as register_bibliography_style
from pybtex.style.formatting.unsrt import Style as UnsrtStyle
from pybtex.style.labels import BaseLabelStyle
from sphinxcontrib.bibtex.plugin import register_plugin as register_reference_style
from sphinxcontrib.bibtex.style.referencing import BracketStyle
from sphinxcontrib.bibtex.style.referencing.author_year import AuthorYearReferenceStyle


class AuthorYearLabels(BaseLabelStyle):
    """Elman 1990; Miller and Hardt 2019; Bai et al. 2018. Two works with one label get letters."""

    def format_labels(self, sorted_entries):
        taken: dict[str, int] = {}
        for entry in sorted_entries:
            label = f"{self._names(entry)} {entry.fields.get('year', 'n.d.')}"
            taken[label] = taken.get(label, 0) + 1
            yield label if taken[label] == 1 else label + "abcdefghij"[taken[label] - 1]

    @staticmethod
    def _names(entry) -> str:
        names = [" ".join([*p.prelast_names, *p.last_names]) for p in entry.persons["author"]]
        if len(names) > 2:
            return f"{names[0]} et al."
        return " and ".join(names)


class BibliographyStyle(UnsrtStyle):
    default_sorting_style = "author_year_title"
    default_label_style = AuthorYearLabels


def _round() -> BracketStyle:
    return BracketStyle(left="(", right=")")


@dataclass
class ReferenceStyle(AuthorYearReferenceStyle):
    bracket_parenthetical: BracketStyle = field(default_factory=_round)
    bracket_textual: BracketStyle = field(default_factory=_round)
    bracket_author: BracketStyle = field(default_factory=_round)
    bracket_label: BracketStyle = field(default_factory=_round)
    bracket_year: BracketStyle = field(default_factory=_round)


def setup(app):
    register_bibliography_style("pybtex.style.formatting", "author_year", BibliographyStyle)
    register_reference_style("sphinxcontrib.bibtex.style.referencing", "author_year_round", ReferenceStyle)
    return {"parallel_read_safe": True}
