"""The part of the wire that needs torch: tensors and cells. It is imported where there is one of them."""

from typing import Any

import torch
from torch import Tensor

from fhx._modules import undrawn
from fhx.cells import DeepCell, GRUCell, LinearCell, LSTMCell, SimpleCell
from fhx.cells.activations import ACTIVATIONS
from fhx.course.grading.wire_plain import Inner, Reader, WireError, Writer, read_number
from fhx.course.grading.wire_types import KINDS, items, shape_of

__all__ = ["READERS", "WRITERS"]

WIDEST = 256
"""Of a cell."""
DTYPES = {name: getattr(torch, name) for name in (*KINDS, "bfloat16")}
OPTIONS = {"input_size", "state_size", "activation", "depth", "width", "normalized"}
CELLS = {kind.__name__: kind for kind in (DeepCell, GRUCell, LSTMCell, LinearCell, SimpleCell)}


def _write_tensor(value: Tensor, inner: Inner) -> dict[str, Any]:
    name = str(value.dtype).removeprefix("torch.")
    if name not in DTYPES or value.layout is not torch.strided:
        raise WireError(f"it holds a tensor of type {name}, {value.layout}")
    plain = value.detach().cpu()
    numbers = plain.double().numpy() if plain.is_floating_point() else plain.numpy()
    return {"t": "tensor", "dtype": name, "shape": list(value.shape), "v": items(numbers)}


def _read_tensor(data: dict[str, Any], inner: Inner) -> Tensor:
    numbers = [read_number(number) for number in data["v"]]
    return torch.tensor(numbers, dtype=DTYPES[data["dtype"]]).reshape(shape_of(data))


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


WRITERS: dict[type, Writer] = {Tensor: _write_tensor, **dict.fromkeys(CELLS.values(), _write_cell)}
READERS: dict[str, Reader] = {"tensor": _read_tensor, "cell": _read_cell}
