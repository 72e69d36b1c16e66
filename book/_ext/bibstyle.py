"""A bibliography list labelled by author and year, so that list and citations use the same words."""

from pybtex.plugin import register_plugin
from pybtex.style.formatting.unsrt import Style as UnsrtStyle
from pybtex.style.labels import BaseLabelStyle


class AuthorYearLabels(BaseLabelStyle):
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


class Style(UnsrtStyle):
    default_sorting_style = "author_year_title"
    default_label_style = AuthorYearLabels


def setup(app):
    register_plugin("pybtex.style.formatting", "author_year", Style)
    return {"parallel_read_safe": True}
