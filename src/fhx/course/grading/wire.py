"""Values as JSON text, for both sides of the wall between a student's kernel and the grader.

Numbers, texts, lists and the other plain things of Python, arrays, tensors, automata, Turing machines and cells are
written out as data: ``{"t": tag, "v": ...}`` where JSON has nothing of its own. What is read becomes an object of one
of these types and never of any other; nothing is executed, imported or unpickled. All else, a function say, crosses
only as a number in a table that its side keeps.
"""

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from fhx.course.grading import wire_plain, wire_types
from fhx.course.grading.wire_plain import MOST, Reader, WireError, Writer

__all__ = ["LONGEST", "NO_DATA", "WireError", "decode", "dumps", "encode", "loads"]

LONGEST = 8_000_000
"""Characters of a text."""
DEEPEST = 60
WRITERS = wire_plain.WRITERS | wire_types.WRITERS
READERS = wire_plain.READERS | wire_types.READERS
OF_TORCH = ("tensor", "cell")
"""Tags of what is read and written by a module of its own, which takes a second to import."""
KEPT = ("call", "function", "thing")
"""Tags of what is not data: a function of the grader, one of the student, another object of the grader."""
NO_DATA = "it holds an object of type {}, which is not a number, text, list or the like"

Keep = Callable[[Any], dict[str, Any]]
Find = Callable[[str, int], Any]


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
    if write := _writers("torch" in sys.modules).get(type(value)) or _writer_for_base(value):
        return write(value, inner)
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
        if read := _readers(tag in OF_TORCH).get(tag):
            return read(data, inner)
        if tag not in KEPT:
            raise WireError(f"{tag[:20]!r} is not a type of value")
        if find is None or type(data["n"]) is not int:
            raise WireError("it holds a function or an object that is not data")
        return find(tag, data["n"])
    except WireError:
        raise
    except Exception as error:  # whatever a constructor says to what it is given
        raise WireError(f"it holds a malformed {tag[:20]} ({str(error)[:200]})") from error


@cache
def _writers(has_tensors: bool) -> Mapping[type, Writer]:
    """By type; where torch is not imported, no value is a tensor."""
    if not has_tensors:
        return WRITERS
    from fhx.course.grading import wire_tensors  # it takes torch, a second

    return WRITERS | wire_tensors.WRITERS


@cache
def _readers(of_tensors: bool) -> Mapping[str, Reader]:
    """By tag."""
    if not of_tensors:
        return READERS
    from fhx.course.grading import wire_tensors  # it takes torch, a second

    return wire_tensors.READERS


def _writer_for_base(value: Any) -> Writer | None:
    """An instance of a subclass crosses as the first type that it is derived from, a plain one if there is any."""
    return next((write for kind, write in _writers("torch" in sys.modules).items() if isinstance(value, kind)), None)


def _some(value: Iterator[Any]) -> Iterator[Any]:
    for number, part in enumerate(value):
        if number >= MOST:
            raise WireError(f"an iterator in it yields more than {MOST} items")
        yield part
