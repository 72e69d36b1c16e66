"""Names for the parts of a net, all different."""

from collections import Counter
from collections.abc import Hashable, Iterable

__all__ = ["unique"]


def unique(things: Iterable[Hashable], taken: Iterable[str] = ()) -> tuple[str, ...]:
    """``str`` of each thing; one that is taken, or was given before, gets ``#2``, ``#3``, ... appended."""
    used, names = set(taken), list[str]()
    counts = Counter[str]()
    for name in map(str, things):
        candidate = name
        while candidate in used:
            counts[name] += 1
            candidate = f"{name}#{counts[name] + 1}"
        used.add(candidate)
        names.append(candidate)
    return tuple(names)
