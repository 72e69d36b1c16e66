"""Names of languages and machines: one id for each, other ways to write it, and one way to look it up."""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from types import MappingProxyType
from typing import TypeVar
from unicodedata import normalize

__all__ = ["ALIASES", "NameTable", "UnknownNameError"]

V = TypeVar("V")

ALIASES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "(a|b)*abb": ("abb", "ends in abb"),
        "parity": ("odd number of ones",),
        "tomita-4": ("without 000",),
        "S3": ("word problem of S3",),
        "S5": ("word problem of S5",),
        "dyck-1": ("balanced brackets",),
    }
)
"""What else a language is called. Case, spaces and punctuation never matter: "PARITY", "Tomita 4", "aⁿbⁿ"."""


class UnknownNameError(KeyError, ValueError):
    """A table has no entry of this name; the message lists those that are written most like it."""

    def __str__(self) -> str:
        return str(self.args[0])


class NameTable(Mapping[str, V]):
    """An immutable table by id, in which every alias and every way to write an id finds the entry too.

    Args:
        kind: what an entry is, for the error: "language", "machine".
        entries: the entries by id.
        elsewhere: what the error says of other tables.

    Raises:
        ValueError: two entries have a name in common.
        UnknownNameError: on looking up a name that no entry has.
    """

    def __init__(self, kind: str, entries: Mapping[str, V], elsewhere: str = "") -> None:
        self.kind, self._elsewhere = kind, elsewhere
        self._entries = MappingProxyType(dict(entries))
        self._ids: dict[str, str] = {}
        for id_ in entries:
            for name in (id_, *ALIASES.get(id_, ())):
                if (other := self._ids.setdefault(_key(name), id_)) != id_:
                    raise ValueError(f"{name!r} is a name of {other!r} and of {id_!r}")

    def __getitem__(self, name: str) -> V:
        id_ = self._ids.get(_key(name)) if isinstance(name, str) else None
        if id_ is None:
            raise UnknownNameError(f"there is no {self.kind} {name!r}; {self._hint(name)}{self._elsewhere}")
        return self._entries[id_]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __repr__(self) -> str:
        return f"NameTable({self.kind!r}, {list(self)})"

    def _hint(self, name: object) -> str:
        near = get_close_matches(_key(str(name)), self._ids, n=4, cutoff=0.5)
        ids = dict.fromkeys(self._ids[key] for key in near)
        return f"near it are {', '.join(ids)}" if ids else f"there are {', '.join(self)}"


def _key(name: str) -> str:
    """The letters and digits of a name, in one case and without sub- and superscripts."""
    return "".join(character for character in normalize("NFKC", name).casefold() if character.isalnum())
