"""Values as text, short enough to read beside one another."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from fhx.exercises.compare import TENSORS

__all__ = ["show"]

LONGEST = 600
DIGITS = 4
EDGE = 2
"""How many items at either end of a dimension are left of a tensor that is too long."""
PLAIN = (torch.float32, torch.int64, torch.bool)
"""What a tensor of such numbers usually is: not worth a word."""


def show(value: Any) -> str:
    """The text of any object, numbers in tensors and arrays to 4 digits and in one line.

    If it is long, large tensors and arrays in it are told by their shapes and the items at their ends, and if it still
    is, it is cut. An object that has no text is named by its type.
    """
    try:
        text = _text(value, whole=True)
        if len(text) > LONGEST:
            text = _text(value, whole=False)
    except Exception:
        text = f"<{type(value).__name__} object that cannot be shown>"
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} … ({len(text)} characters)"


def _text(value: Any, whole: bool) -> str:
    """As ``repr``, for tensors and arrays and what holds them in plain containers as :func:`show` says."""
    kind = type(value)
    if kind in (list, tuple):
        items = ", ".join(_text(item, whole) for item in value)
        return f"[{items}]" if kind is list else f"({items}{',' * (len(value) == 1)})"
    if kind is dict:
        return f"{{{', '.join(f'{key!r}: {_text(item, whole)}' for key, item in value.items())}}}"
    if kind in TENSORS and value.layout is torch.strided:
        return _tensor(value.detach().cpu(), whole)
    if kind is np.ndarray:
        return _items("array", value, "", whole)
    return f"{kind.__name__}: {value}" if isinstance(value, BaseException) else repr(value)


def _tensor(value: Tensor, whole: bool) -> str:
    numbers = value.double() if value.is_floating_point() else value
    return _items("tensor", numbers.numpy(), "" if value.dtype in PLAIN else f", dtype={value.dtype}", whole)


def _items(name: str, array: np.ndarray, dtype: str, whole: bool) -> str:
    cut = not whole and array.size > (2 * EDGE) ** 2
    items = np.array2string(
        array,
        separator=", ",
        threshold=0 if cut else array.size,
        edgeitems=EDGE,
        formatter={"float_kind": _rounded, "int_kind": str, "bool": str},  # type: ignore[arg-type]  # stubs: floats only
    )
    shape = f"shape {array.shape}: " if cut else ""
    return f"{name}({shape}{' '.join(items.split())}{dtype})"


def _rounded(number: float) -> str:
    text = f"{number:.{DIGITS}g}"
    return f"{text}." if text.lstrip("-").isdigit() else text
