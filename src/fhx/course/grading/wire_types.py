"""The part of the wire that needs the package and torch: arrays, tensors, machines, cells."""

import numbers
import operator
from fractions import Fraction
from typing import Any

import numpy as np
import torch
from torch import Tensor

from fhx._modules import undrawn
from fhx.cells import DeepCell, GRUCell, LinearCell, LSTMCell, SimpleCell
from fhx.cells.activations import ACTIVATIONS
from fhx.course.grading.wire_plain import Inner, Reader, WireError, Writer, read_number, write_number
from fhx.exact import Matrix
from fhx.machines import DFA, NFA, CounterMachine, TuringMachine

__all__ = ["READERS", "WRITERS", "Atom", "write_atom"]

LARGEST = 2_000_000
LONGEST = 1_000
"""Characters of the text of an object that is not data."""
WIDEST = 256
"""Of a cell."""
KINDS = ("bool", "uint8", *(f"int{n}" for n in (8, 16, 32, 64)), *(f"float{n}" for n in (16, 32, 64)))
DTYPES = {name: getattr(torch, name) for name in (*KINDS, "bfloat16")}
OPTIONS = {"input_size", "state_size", "activation", "depth", "width", "normalized"}
CELLS = {kind.__name__: kind for kind in (DeepCell, GRUCell, LSTMCell, LinearCell, SimpleCell)}
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


def _items(value: np.ndarray) -> list[Any]:
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
    return {"t": "array", "dtype": dtype, "shape": shape, "v": _items(value)}


def _read_array(data: dict[str, Any], inner: Inner) -> np.ndarray:
    shape = _shape(data)
    if data["dtype"] == "object":
        array = np.empty(len(data["v"]), dtype=object)
        array[:] = [inner(part) for part in data["v"]]
        return array.reshape(shape)
    if data["dtype"] not in KINDS:
        raise WireError("an array in it has an unknown type")
    return np.array([read_number(number) for number in data["v"]], dtype=data["dtype"]).reshape(shape)


def _shape(data: dict[str, Any]) -> list[int]:
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


def _write_tensor(value: Tensor, inner: Inner) -> dict[str, Any]:
    name = str(value.dtype).removeprefix("torch.")
    if name not in DTYPES or value.layout is not torch.strided:
        raise WireError(f"it holds a tensor of type {name}, {value.layout}")
    plain = value.detach().cpu()
    numbers = plain.double().numpy() if plain.is_floating_point() else plain.numpy()
    return {"t": "tensor", "dtype": name, "shape": list(value.shape), "v": _items(numbers)}


def _read_tensor(data: dict[str, Any], inner: Inner) -> Tensor:
    numbers = [read_number(number) for number in data["v"]]
    return torch.tensor(numbers, dtype=DTYPES[data["dtype"]]).reshape(_shape(data))


def _writer(tag: str, names: tuple[str, ...]) -> Writer:
    return lambda value, inner: {"t": tag, "v": {name: inner(getattr(value, name)) for name in names}}


def _reader(kind: type, names: tuple[str, ...]) -> Reader:
    return lambda data, inner: kind(*(inner(data["v"][name]) for name in names))


def _write_cell(value: Any, inner: Inner) -> dict[str, Any]:
    """A cell by its sizes and parameters."""
    options: dict[str, Any] = {"input_size": value.input_size, "state_size": value.state_size}
    if isinstance(value, SimpleCell | DeepCell):
        options["activation"] = next((name for name, known in ACTIVATIONS.items() if known is value.activation), None)
    if isinstance(value, DeepCell):
        options |= {"depth": value.depth, "width": value.W.shape[0], "normalized": value.norms is not None}
    parameters = {name: inner(parameter) for name, parameter in value.state_dict().items()}
    return {"t": "cell", "class": type(value).__name__, "options": options, "v": parameters}


def _read_cell(data: dict[str, Any], inner: Inner) -> Any:
    options, parameters = data["options"], {name: inner(part) for name, part in data["v"].items()}
    if not options.keys() <= OPTIONS:
        raise WireError("a cell in it has an unknown option")
    sizes = [size for size in options.values() if type(size) is int]
    if any(size > WIDEST for size in sizes) or not all(isinstance(part, Tensor) for part in parameters.values()):
        raise WireError(f"a cell in it is wider than {WIDEST}, or a parameter is not a tensor")
    dtype = parameters["W"].dtype
    cell = undrawn(CELLS[data["class"]], **options, dtype=dtype)
    cell.load_state_dict(parameters)
    return cell


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
    Tensor: _write_tensor,
    **{kind: _writer(tag, names) for tag, (kind, names) in MACHINES.items()},
    Matrix: _writer("matrix", MATRIX_PARTS),
    **dict.fromkeys(CELLS.values(), _write_cell),
    numbers.Integral: lambda value, inner: inner(operator.index(value)),
    numbers.Rational: lambda value, inner: inner(Fraction(int(value.numerator), int(value.denominator))),
    numbers.Real: lambda value, inner: inner(float(value)),
}
READERS: dict[str, Reader] = {
    "array": _read_array,
    "number": _read_scalar,
    "tensor": _read_tensor,
    **{tag: _reader(kind, names) for tag, (kind, names) in MACHINES.items()},
    "cell": _read_cell,
    "matrix": _reader(Matrix, MATRIX_PARTS),
    "atom": _read_atom,
}
