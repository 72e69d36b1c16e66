"""The part of the wire that needs Python alone: numbers, texts, containers."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType
from typing import Any

__all__ = ["MOST", "READERS", "WRITERS", "Inner", "Reader", "WireError", "Writer", "read_number", "write_number"]

MOST = 1_000_000
"""Items of an iterator or a range."""
LARGEST = 2**18
"""Bits of a whole number."""
BITS = 10_000
"""Longer whole numbers are written to base 16, which takes time in proportion to their length."""

Inner = Callable[[Any], Any]
"""Writes, or reads, a part of a value."""
Writer = Callable[[Any, Inner], Any]
Reader = Callable[[dict[str, Any], Inner], Any]


class WireError(ValueError):
    """A value that cannot cross, or a text that is not one of the wire; the message says why, for a student to read."""


def write_number(value: float) -> float | str:
    """A float as JSON writes it, or its name where JSON has no form for it."""
    return value if value - value == 0 else repr(value)


def read_number(value: float | int | str | bool) -> float | int | bool:
    """What :func:`write_number` wrote, as a number again."""
    if isinstance(value, str):
        if value not in ("nan", "inf", "-inf"):
            raise WireError(f"{value[:20]!r} is not a number")
        return float(value)
    if type(value) not in (float, int, bool):
        raise WireError("a list or an object stands where a number belongs")
    return value


def _write_int(value: int, inner: Inner) -> Any:
    return int(value) if value.bit_length() <= BITS else {"t": "int", "v": hex(_fitting(value))}


def _write_float(value: float, inner: Inner) -> Any:
    number = write_number(float(value))
    return {"t": "float", "v": number} if isinstance(number, str) else number


def _fitting(value: int) -> int:
    if value.bit_length() > LARGEST:
        raise WireError(f"a number in it has {value.bit_length()} bits, and {LARGEST} are the limit")
    return value


def _whole(text: str) -> int:
    if len(text) > LARGEST // 4 + 3:
        raise WireError(f"a number in it has more than {LARGEST} bits")
    return int(text, 0)


def _write_fraction(value: Fraction, inner: Inner) -> dict[str, Any]:
    parts = map(_fitting, (value.numerator, value.denominator))
    return {"t": "fraction", "v": "/".join(str(n) if n.bit_length() <= BITS else hex(n) for n in parts)}


def _read_fraction(data: dict[str, Any], inner: Inner) -> Fraction:
    numerator, _, denominator = data["v"].partition("/")
    return Fraction(_whole(numerator), _whole(denominator or "1"))


def _read_decimal(data: dict[str, Any], inner: Inner) -> Decimal:
    text = data["v"]
    if not isinstance(text, str):
        raise WireError("a decimal in it is not a text")
    if len(text) > BITS:
        raise WireError(f"a decimal in it has more than {BITS} digits")
    found = Decimal(text)
    if found.is_finite() and abs(found.adjusted()) > BITS:  # as an integer or a fraction it would fill the memory
        raise WireError(f"a decimal in it has an exponent beyond {BITS}")
    return found


def _listed(tag: str, order: Callable[[Any], Any] = tuple) -> Writer:
    return lambda value, inner: {"t": tag, "v": [inner(part) for part in order(value)]}


def _write_range(value: range, inner: Inner) -> dict[str, Any]:
    return {"t": "range", "v": [value.start, value.stop, value.step]}


def _read_range(data: dict[str, Any], inner: Inner) -> range:
    found = range(*map(inner, data["v"]))
    if abs(found.stop - found.start) > MOST * abs(found.step):
        raise WireError(f"a range in it has more than {MOST} numbers")
    return found


def _write_dict(value: Mapping[Any, Any], inner: Inner) -> dict[str, Any]:
    return {"t": "dict", "v": [[inner(key), inner(part)] for key, part in value.items()]}


WRITERS: dict[type, Writer] = {
    int: _write_int,
    float: _write_float,
    str: lambda value, inner: str(value[:]),
    Fraction: _write_fraction,
    Decimal: lambda value, inner: {"t": "decimal", "v": str(value)},
    list: lambda value, inner: [inner(part) for part in list.__iter__(value)],
    tuple: _listed("tuple", tuple.__iter__),
    dict: _write_dict,
    MappingProxyType: _write_dict,
    frozenset: _listed("frozenset"),
    set: _listed("set"),
    range: _write_range,
    type({}.keys()): _listed("tuple"),
    type({}.values()): _listed("tuple"),
    type({}.items()): _listed("tuple"),
}
READERS: dict[str, Reader] = {
    "int": lambda data, inner: _whole(data["v"]),
    "float": lambda data, inner: float(read_number(data["v"])),
    "fraction": _read_fraction,
    "decimal": _read_decimal,
    "tuple": lambda data, inner: tuple(map(inner, data["v"])),
    "set": lambda data, inner: set(map(inner, data["v"])),
    "frozenset": lambda data, inner: frozenset(map(inner, data["v"])),
    "iterator": lambda data, inner: iter([inner(part) for part in data["v"]]),
    "range": _read_range,
    "dict": lambda data, inner: {inner(key): inner(part) for key, part in data["v"]},
}
