"""Sparse matrices of exact numbers, as immutable values."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, overload

from attrs import field, frozen
from frozendict import frozendict

from fhx.exact.numbers import Exact, Number, number, vector

Rows = Iterable[Iterable[Exact]]
Place = tuple[int, int]
NONE: Mapping[int, Number] = frozendict()


def _exact(entries: Mapping[Place, Exact]) -> frozendict[Place, Number]:
    """The nonzero entries."""
    found = {
        (i, j): value if type(value) is int else number(value, f"entry [{i}, {j}]") for (i, j), value in entries.items()
    }
    return frozendict({place: value for place, value in found.items() if value})


def _shape(shape: Iterable[int]) -> Place:
    sizes = tuple(shape)
    if len(sizes) != 2 or not all(type(size) is int and size >= 0 for size in sizes):
        raise ValueError(f"a matrix has a shape (rows, columns), got {shape}")
    return sizes


def dict_repr(entries: Mapping[Any, object]) -> str:
    """The ``repr`` of a plain dict."""
    return repr(dict(entries))


@frozen
class Matrix:
    """A matrix that stores its nonzero entries; equal and hashed by value.

    Args:
        shape: (rows, columns).
        entries: ``{(i, j): number}``; what is not there is zero.

    Raises:
        TypeError: an entry is not an exact number.
        ValueError: the shape is not a pair of sizes, or an entry lies outside it.
    """

    shape: Place = field(converter=_shape)
    entries: Mapping[Place, Number] = field(converter=_exact, repr=dict_repr)

    def __attrs_post_init__(self) -> None:
        for i, j in self.entries:
            if not (0 <= i < self.rows and 0 <= j < self.columns):
                raise ValueError(f"entry [{i}, {j}] lies outside a matrix of shape {self.shape}")

    @classmethod
    def of(cls, dense: Matrix | Rows, name: str = "matrix") -> Matrix:
        """A matrix from its rows; a ``Matrix`` is returned as it is.

        Raises:
            TypeError: an entry is not an exact number; it is called ``name[i, j]``.
            ValueError: the rows differ in length.
        """
        if isinstance(dense, Matrix):
            return dense
        rows = [tuple(row) for row in dense]
        width = len(rows[0]) if rows else 0
        for i, row in enumerate(rows):
            if len(row) != width:
                raise ValueError(f"{name} is not a matrix: row 0 has {width} entries and row {i} has {len(row)}")
        entries = {
            (i, j): number(value, f"{name}[{i}, {j}]") for i, row in enumerate(rows) for j, value in enumerate(row)
        }
        return cls((len(rows), width), entries)

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return self.shape[0]

    @property
    def columns(self) -> int:
        """How many columns there are."""
        return self.shape[1]

    def column(self, j: int) -> Mapping[int, Number]:
        """The nonzero entries of column ``j``, as ``{i: number}``."""
        return self._by_column.get(j, NONE)

    def row(self, i: int) -> Mapping[int, Number]:
        """The nonzero entries of row ``i``, as ``{j: number}``."""
        return self._by_row.get(i, NONE)

    def dense(self) -> tuple[tuple[Number, ...], ...]:
        """All entries, row by row."""
        return tuple(tuple(self.row(i).get(j, 0) for j in range(self.columns)) for i in range(self.rows))

    def __add__(self, other: Matrix) -> Matrix:
        if not isinstance(other, Matrix):
            return NotImplemented
        if self.shape != other.shape:
            raise ValueError(f"matrices of shapes {self.shape} and {other.shape} cannot be added")
        sums = dict(self.entries)
        for place, value in other.entries.items():
            sums[place] = sums.get(place, 0) + value
        return Matrix(self.shape, sums)

    @overload
    def __matmul__(self, other: Matrix) -> Matrix: ...

    @overload
    def __matmul__(self, other: Sequence[Exact]) -> tuple[Number, ...]: ...

    def __matmul__(self, other: Matrix | Sequence[Exact]) -> Matrix | tuple[Number, ...]:
        """The product with a matrix, or with a vector (a sequence of exact numbers, which gives a tuple)."""
        if not isinstance(other, Matrix):
            x = vector(other, "the vector", self.columns)
            return tuple(number(sum(a * x[j] for j, a in self.row(i).items()), "") for i in range(self.rows))
        if self.columns != other.rows:
            raise ValueError(f"matrices of shapes {self.shape} and {other.shape} cannot be multiplied")
        sums: dict[Place, Number] = defaultdict(int)
        for (i, k), a in self.entries.items():
            for j, b in other.row(k).items():
                sums[i, j] += a * b
        return Matrix((self.rows, other.columns), sums)

    @cached_property
    def _by_column(self) -> dict[int, Mapping[int, Number]]:
        return _grouped((j, i, value) for (i, j), value in self.entries.items())

    @cached_property
    def _by_row(self) -> dict[int, Mapping[int, Number]]:
        return _grouped((i, j, value) for (i, j), value in self.entries.items())


def _grouped(triples: Iterable[tuple[int, int, Number]]) -> dict[int, Mapping[int, Number]]:
    """``{first: {second: value}}``, the inner mappings read-only."""
    groups: dict[int, dict[int, Number]] = defaultdict(dict)
    for first, second, value in triples:
        groups[first][second] = value
    return {first: frozendict(group) for first, group in groups.items()}
