"""Values as JSON text, for both sides of the wall between a student's kernel and the grader.

Numbers, texts, lists and the other plain things of Python, arrays, tensors, automata, Turing machines and cells are
written out as data: ``{"t": tag, "v": ...}`` where JSON has nothing of its own. What is read becomes an object of one
of these types and never of any other; nothing is executed, imported or unpickled. All else, a function say, crosses
only as a number in a table that its side keeps.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType
from typing import Any

__all__ = ["LONGEST", "NO_DATA", "WireError", "decode", "dumps", "encode", "loads"]

LONGEST = 8_000_000
"""Characters of a text."""
DEEPEST = 60
MOST = 1_000_000
"""Items of an iterator or a range."""
LARGEST = 2**18
"""Bits of a whole number."""
BITS = 10_000
"""Longer whole numbers are written to base 16, which takes time in proportion to their length."""

KEPT = ("call", "function", "thing")
"""Tags of what is not data: a function of the grader, one of the student, another object of the grader."""

NO_DATA = "it holds an object of type {}, which is not a number, text, list or the like"

Keep = Callable[[Any], dict[str, Any]]
Find = Callable[[str, int], Any]


class WireError(Exception):
    """A value that cannot cross, or a text that stands for none; the message says which, for a student to read."""


def dumps(value: Any, keep: Keep | None = None) -> str:
    """A value as text.

    Args:
        value: anything.
        keep: puts what is not data, such as a function, into a table, and returns what stands for it.

    Raises:
        WireError: there is something in it that has no form as data, or it is too long or too deep.
    """
    text = json.dumps(encode(value, keep), allow_nan=False)
    if len(text) > LONGEST:
        raise WireError(f"it is too long: {len(text)} characters, and {LONGEST} are the limit")
    return text


def loads(text: str, find: Find | None = None) -> Any:
    """The value of a text.

    Args:
        text: anything.
        find: looks up what is not data, by tag and number.

    Raises:
        WireError: it is not what :func:`dumps` writes.
    """
    if len(text) > LONGEST:
        raise WireError(f"it is too long: {len(text)} characters, and {LONGEST} are the limit")
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise WireError(f"it is not JSON text ({type(error).__name__})") from error
    return decode(data, find)


def encode(value: Any, keep: Keep | None = None, depth: int = 0) -> Any:
    """A value as what ``json`` writes; see :func:`dumps`."""
    if depth > DEEPEST:
        raise WireError("it is nested too deep")

    def inner(part: Any) -> Any:
        return encode(part, keep, depth + 1)

    if value is None or value is True or value is False:
        return value
    if value is ... or value is NotImplemented:
        return {"t": "open"}
    for kind, write in WRITERS.items():
        if isinstance(value, kind):
            return write(value, inner)
    from fhx.course.grading import wire_types  # torch is loaded when the first such value comes

    found = wire_types.encode(value, inner)
    if found is not None:
        return found
    if isinstance(value, Iterator):
        return {"t": "iterator", "v": [inner(part) for part in _some(value)]}
    if keep is not None:
        return keep(value)
    raise WireError(NO_DATA.format(type(value).__name__))


def decode(data: Any, find: Find | None = None, depth: int = 0) -> Any:
    """The value of what ``json`` has read; see :func:`loads`."""
    if depth > DEEPEST:
        raise WireError("it is nested too deep")

    def inner(part: Any) -> Any:
        return decode(part, find, depth + 1)

    if data is None or type(data) in (bool, int, float, str):
        return data
    if type(data) is list:
        return [inner(part) for part in data]
    tag = data.get("t")
    if not isinstance(tag, str):
        raise WireError("it is an object without a tag")
    if tag == "open":
        return ...
    try:
        if tag in READERS:
            return READERS[tag](data["v"], inner)
        if tag in KEPT:
            if find is None or type(data["n"]) is not int:
                raise WireError("it holds a function or an object that is not data")
            return find(tag, data["n"])
        from fhx.course.grading import wire_types

        return wire_types.decode(tag, data, inner)
    except WireError:
        raise
    except Exception as error:  # whatever a constructor says to what it is given
        raise WireError(f"it holds no proper {tag[:20]} ({str(error)[:200]})") from error


def _some(value: Iterator[Any]) -> Iterator[Any]:
    for number, part in enumerate(value):
        if number >= MOST:
            raise WireError(f"an iterator in it yields more than {MOST} items")
        yield part


def _write_int(value: int, inner: Callable) -> Any:
    return int(value) if value.bit_length() <= BITS else {"t": "int", "v": hex(_fitting(value))}


def _write_float(value: float, inner: Callable) -> Any:
    if type(value) is not float and hasattr(value, "dtype"):  # numpy.float64 is a float
        return {"t": "number", "dtype": str(value.dtype), "v": write_number(float(value))}
    number = write_number(float(value))
    return {"t": "float", "v": number} if isinstance(number, str) else number


def write_number(value: float) -> float | str:
    """A float as JSON has it; those that it has not by name."""
    return value if value - value == 0 else repr(value)


def read_number(value: float | int | str | bool) -> float | int | bool:
    """The other way."""
    if isinstance(value, str):
        if value not in ("nan", "inf", "-inf"):
            raise WireError(f"{value[:20]!r} is not a number")
        return float(value)
    if type(value) not in (float, int, bool):
        raise WireError("a list or an object stands where a number belongs")
    return value


def _read_int(value: str, inner: Callable) -> int:
    if len(value) > LARGEST // 4 + 3:
        raise WireError(f"a number in it has more than {LARGEST} bits")
    return int(value, 0)


def _fitting(value: int) -> int:
    if value.bit_length() > LARGEST:
        raise WireError(f"a number in it has {value.bit_length()} bits, and {LARGEST} are the limit")
    return value


def _write_fraction(value: Fraction, inner: Callable) -> dict[str, Any]:
    parts = map(_fitting, (value.numerator, value.denominator))
    return {"t": "fraction", "v": "/".join(str(n) if n.bit_length() <= BITS else hex(n) for n in parts)}


def _read_fraction(value: str, inner: Callable) -> Fraction:
    numerator, _, denominator = value.partition("/")
    return Fraction(_read_int(numerator, inner), _read_int(denominator or "1", inner))


def _read_decimal(value: str, inner: Callable) -> Decimal:
    if len(value) > BITS:
        raise WireError(f"a decimal in it has more than {BITS} digits")
    return Decimal(value)


def _listed(tag: str, order: Callable[[Any], Any] = tuple) -> Callable[[Any, Callable], Any]:
    return lambda value, inner: {"t": tag, "v": [inner(part) for part in order(value)]}


def _write_range(value: range, inner: Callable) -> dict[str, Any]:
    return {"t": "range", "v": [value.start, value.stop, value.step]}


def _read_range(value: list[int], inner: Callable) -> range:
    found = range(*map(inner, value))
    if abs(found.stop - found.start) > MOST * abs(found.step):
        raise WireError(f"a range in it has more than {MOST} numbers")
    return found


def _write_dict(value: Mapping, inner: Callable) -> dict[str, Any]:
    return {"t": "dict", "v": [[inner(key), inner(part)] for key, part in value.items()]}


WRITERS: dict[Any, Callable[[Any, Callable], Any]] = {
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
READERS: dict[str, Callable[[Any, Callable], Any]] = {
    "int": _read_int,
    "float": lambda value, inner: float(read_number(value)),
    "fraction": _read_fraction,
    "decimal": _read_decimal,
    "tuple": lambda value, inner: tuple(inner(part) for part in value),
    "set": lambda value, inner: {inner(part) for part in value},
    "frozenset": lambda value, inner: frozenset(inner(part) for part in value),
    "iterator": lambda value, inner: iter([inner(part) for part in value]),
    "range": _read_range,
    "dict": lambda value, inner: {inner(key): inner(part) for key, part in value},
}
