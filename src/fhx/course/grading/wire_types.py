"""The part of the wire that needs the package: arrays, machines, and objects that can only be told apart."""

import numbers
import operator
from fractions import Fraction
from typing import Any

import numpy as np

from fhx.course.grading.wire_plain import Inner, Reader, WireError, Writer, read_number, write_number
from fhx.exact import Matrix
from fhx.machines import DFA, NFA, CounterMachine, TuringMachine

__all__ = ["KINDS", "READERS", "WRITERS", "Atom", "items", "shape_of", "write_atom"]

LARGEST = 2_000_000
LONGEST = 1_000
"""Characters of the text of an object that is not data."""
KINDS = ("bool", "uint8", *(f"int{n}" for n in (8, 16, 32, 64)), *(f"float{n}" for n in (16, 32, 64)))
MATRIX_PARTS = ("shape", "entries")
MACHINES: dict[str, tuple[type, tuple[str, ...]]] = {
    "dfa": (DFA, ("states", "alphabet", "transitions", "start", "accept")),
    "nfa": (NFA, ("states", "alphabet", "transitions", "start", "accept")),
    "counter": (
        CounterMachine,
        ("states", "alphabet", "counters", "transitions", "start", "accept", "at_zero"),
    ),
    "turing": (TuringMachine, ("transitions", "start", "accept", "reject", "blank", "input_alphabet")),
}
"""Machines by their tags, each with what it is made of."""


def items(value: np.ndarray) -> list[Any]:
    """The numbers of an array, in the order of memory."""
    if value.size > LARGEST:
        raise WireError(f"an array in it has {value.size} numbers, and {LARGEST} are the limit")
    flat = value.ravel().tolist()
    return [write_number(number) for number in flat] if value.dtype.kind == "f" else flat


def _write_array(value: np.ndarray, inner: Inner) -> dict[str, Any]:
    dtype, shape = str(value.dtype), list(value.shape)
    if dtype == "object":
        return {"t": "array", "dtype": dtype, "shape": shape, "v": [inner(part) for part in value.ravel().tolist()]}
    if dtype not in KINDS:
        raise WireError(f"it holds an array of type {dtype}")
    return {"t": "array", "dtype": dtype, "shape": shape, "v": items(value)}


def _read_array(data: dict[str, Any], inner: Inner) -> np.ndarray:
    shape = shape_of(data)
    if data["dtype"] == "object":
        array = np.empty(len(data["v"]), dtype=object)
        array[:] = [inner(part) for part in data["v"]]
        return array.reshape(shape)
    if data["dtype"] not in KINDS:
        raise WireError("an array in it has an unknown type")
    return np.array([read_number(number) for number in data["v"]], dtype=data["dtype"]).reshape(shape)


def shape_of(data: dict[str, Any]) -> list[int]:
    """The shape of what is read, of a sensible size."""
    shape = data["shape"]
    if len(shape) > 8 or not all(type(n) is int and 0 <= n <= LARGEST for n in shape):
        raise WireError("the shape of an array in it is malformed")
    return shape


def _write_scalar(value: np.generic, inner: Inner) -> dict[str, Any]:
    if str(value.dtype) not in KINDS:
        raise WireError(f"it holds a number of type {value.dtype}")
    number = value.item()
    plain = write_number(number) if isinstance(number, float) else number
    return {"t": "number", "dtype": str(value.dtype), "v": plain}


def _read_scalar(data: dict[str, Any], inner: Inner) -> np.generic:
    if data["dtype"] not in KINDS:
        raise WireError("a number in it has an unknown type")
    return np.dtype(data["dtype"]).type(read_number(data["v"]))


def _writer(tag: str, names: tuple[str, ...]) -> Writer:
    return lambda value, inner: {"t": tag, "v": {name: inner(getattr(value, name)) for name in names}}


def _reader(kind: type, names: tuple[str, ...]) -> Reader:
    return lambda data, inner: kind(*(inner(data["v"][name]) for name in names))


class Atom:
    """A value that is not data and can only be told from others: a member of an enumeration, say, as a state.

    What is read has a class of its own with the name of the original's, and the original's text.
    """

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Atom) and (type(self).__name__, self.text) == (type(other).__name__, other.text)

    def __hash__(self) -> int:
        return hash((type(self).__name__, self.text))


def write_atom(value: Any) -> dict[str, Any]:
    """An object by its class and its text, which are the same for equal ones."""
    return {"t": "atom", "class": type(value).__qualname__[:LONGEST], "v": repr(value)[:LONGEST]}


def _read_atom(data: dict[str, Any], inner: Inner) -> Atom:
    kind, text = data["class"], data["v"]
    if type(kind) is not str or type(text) is not str or len(kind) > LONGEST or len(text) > LONGEST:
        raise WireError("an object in it has no text")
    return type(kind, (Atom,), {})(text)


WRITERS: dict[type, Writer] = {
    np.ndarray: _write_array,
    np.float64: _write_scalar,  # which is a float too
    np.generic: _write_scalar,
    **{kind: _writer(tag, names) for tag, (kind, names) in MACHINES.items()},
    Matrix: _writer("matrix", MATRIX_PARTS),
    numbers.Integral: lambda value, inner: inner(operator.index(value)),
    numbers.Rational: lambda value, inner: inner(Fraction(int(value.numerator), int(value.denominator))),
    numbers.Real: lambda value, inner: inner(float(value)),
}
READERS: dict[str, Reader] = {
    "array": _read_array,
    "number": _read_scalar,
    **{tag: _reader(kind, names) for tag, (kind, names) in MACHINES.items()},
    "matrix": _reader(Matrix, MATRIX_PARTS),
    "atom": _read_atom,
}
