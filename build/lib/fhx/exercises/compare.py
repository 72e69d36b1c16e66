"""Whether two values are the same, and if not, why, without ever asking the values themselves."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import torch
from torch import Tensor

__all__ = ["difference", "is_open", "open_parts"]

NUMPY_SCALARS = frozenset(
    kind for kind in np.sctypeDict.values() if issubclass(kind, np.bool_ | np.integer | np.floating)
)
TENSORS = (Tensor, torch.nn.Parameter)
PRECISIONS = {"float32": 1e-5, "float64": 0.0}
"""What rounding may cost, relative to numbers above 1: which of the two precisions is used is not the point."""
WORDS = {bool: "True or False", int: "a whole number (int)", float: "a number", Fraction: "an exact Fraction or int"}
ACCEPTED = {bool: (bool,), int: (int,), float: (int, float, Fraction), Fraction: (int, Fraction)}


def difference(yours: Any, expected: Any, tolerance: float = 0.0, where: str = "") -> str | None:
    """None if ``yours`` is ``expected``, else one sentence on the first thing that differs.

    Types are compared by identity and values by plain numbers: no object gets by that claims to equal everything.
    Lists and tuples stand for each other, and 0-dimensional tensors and numpy's numbers for plain numbers.
    A float may be off by ``tolerance`` times the larger of 1 and the expected size, and by what float32 rounds away
    where that stands for float64 or the other way; all else must be exact.

    Args:
        yours: anything.
        expected: a bool, int, float, Fraction, str, None, tensor, array, or a list, tuple or dict of these.
        tolerance: of floats, also those in tensors and arrays.
        where: the place inside a larger value, as ``[2]``.

    Raises:
        TypeError: for an ``expected`` of another type.
    """
    place = f"at {where}: " if where else ""
    if yours is None and expected is not None:
        return f"{place}got None; is a return missing?"
    for kind, compare in COMPARISONS.items():
        if isinstance(expected, kind):
            found = compare(yours, expected, tolerance, where)
            return found if found is None or found.startswith("at [") else place + found
    raise TypeError(f"no way to compare with {type(expected).__name__}")


def is_open(value: Any) -> bool:
    """Whether ``value`` is a hole, or a list, tuple or dict with a hole in it."""
    if value is ... or value is NotImplemented:
        return True
    return any(is_open(part) for _, part in _parts(value))


def open_parts(value: Any) -> list[Any]:
    """Numbers (from 1) or keys of the open parts of a list, tuple or dict that has filled ones too; else none."""
    items = _parts(value)
    found = [name for name, part in items if is_open(part)]
    return found if len(found) < len(items) else []


def _parts(value: Any) -> list[tuple[Any, Any]]:
    """The parts of a list, tuple or dict, by number or key; an object of any other type has none."""
    if type(value) in (list, tuple):
        return list(enumerate(value, 1))
    return list(value.items()) if type(value) is dict else []


def _number(yours: Any, expected: Any, tolerance: float, where: str) -> str | None:
    wanted, plain = type(expected), _plain(yours)
    if type(plain) not in ACCEPTED[wanted]:
        return f"expected {WORDS[wanted]}, got {_kind(yours)}"
    if wanted is not float:
        return None if plain == expected else "the values differ"
    single = type(plain) is not type(yours) and str(yours.dtype).endswith("float32")
    allowed = max(tolerance, PRECISIONS["float32"]) if single else tolerance
    return None if _close(plain, expected, allowed) else f"the values differ{_by(plain, expected)}"


def _text(yours: Any, expected: str | None, tolerance: float, where: str) -> str | None:
    if type(yours) is not type(expected):
        return f"expected {_kind(expected)}, got {_kind(yours)}"
    return None if yours == expected else "the values differ"


def _sequence(yours: Any, expected: list[Any] | tuple[Any, ...], tolerance: float, where: str) -> str | None:
    if not isinstance(yours, list | tuple):
        return f"expected a list or tuple of {len(expected)}, got {_kind(yours)}"
    items = list(list.__iter__(yours) if isinstance(yours, list) else tuple.__iter__(yours))
    if len(items) != len(expected):
        return f"expected {len(expected)} items, got {len(items)}"
    found = (difference(a, b, tolerance, f"{where}[{i}]") for i, (a, b) in enumerate(zip(items, expected, strict=True)))
    return next(filter(None, found), None)


def _mapping(yours: Any, expected: dict[Any, Any], tolerance: float, where: str) -> str | None:
    if type(yours) is not dict:
        return f"expected a dict, got {_kind(yours)}"
    keys = {key: key for key in yours if type(key) in (str, int, bool)}
    if keys.keys() != expected.keys() or len(keys) != len(yours):
        missing = [key for key in expected if key not in keys]
        return f"no entry for {missing[0]!r}" if missing else f"{len(yours)} entries, expected {len(expected)}"
    found = (difference(yours[key], value, tolerance, f"{where}[{key!r}]") for key, value in expected.items())
    return next(filter(None, found), None)


def _tensor(yours: Any, expected: Tensor, tolerance: float, where: str) -> str | None:
    if type(yours) not in TENSORS or yours.layout is not torch.strided:
        return f"expected a tensor of shape {tuple(expected.shape)}, got {_kind(yours)}"
    if _rounding(yours.dtype, expected.dtype) is None:
        return f"expected dtype {expected.dtype}, got {yours.dtype}"
    return _array(yours.detach().cpu().numpy(), expected.detach().cpu().numpy(), tolerance, where)


def _array(yours: Any, expected: np.ndarray, tolerance: float, where: str) -> str | None:
    if type(yours) is not np.ndarray:
        return f"expected an array of shape {expected.shape}, got {_kind(yours)}"
    rounding = _rounding(yours.dtype, expected.dtype)
    if rounding is None:
        return f"expected dtype {expected.dtype}, got {yours.dtype}"
    if yours.shape != expected.shape:
        return f"expected shape {expected.shape}, got {yours.shape}"
    for index in np.ndindex(expected.shape):
        a, b = yours[index].item(), expected[index].item()
        if not _close(a, b, max(tolerance, rounding)):
            return (
                f"the values differ at {list(index)}: {a} instead of {b}" if index else f"the values differ{_by(a, b)}"
            )
    return None


COMPARISONS: dict[type | tuple[type, ...], Callable[[Any, Any, float, str], str | None]] = {
    (bool, int, float, Fraction): _number,
    (str, type(None)): _text,
    (list, tuple): _sequence,
    dict: _mapping,
    Tensor: _tensor,
    np.ndarray: _array,
}


def _plain(value: Any) -> Any:
    """A Python number for a number of torch or numpy; anything else as it is."""
    if type(value) in NUMPY_SCALARS or (type(value) in TENSORS and value.ndim == 0):
        return value.item()
    return value


def _rounding(yours: Any, expected: Any) -> float | None:
    """What two dtypes may differ by: nothing if they are one, None if they cannot stand for each other."""
    if yours == expected:
        return 0.0
    names = {str(dtype).removeprefix("torch.") for dtype in (yours, expected)}
    return max(PRECISIONS.values()) if names == PRECISIONS.keys() else None


def _close(yours: float | Fraction, expected: float, tolerance: float) -> bool:
    if math.isnan(expected) or math.isinf(expected):
        return yours == expected or (math.isnan(expected) and math.isnan(yours))
    try:
        return abs(yours - expected) <= tolerance * max(1.0, abs(expected))
    except OverflowError:
        return False


def _by(yours: Any, expected: float) -> str:
    try:
        return f" by {abs(float(yours) - expected):.3g}"
    except OverflowError:
        return ""


def _kind(value: Any) -> str:
    """What a value is, in words that say more than its type where that helps."""
    if type(value) in TENSORS:
        return f"a tensor of shape {tuple(value.shape)}, {value.dtype}"
    if type(value) is np.ndarray:
        return f"an array of shape {value.shape}, {value.dtype}"
    return "None" if value is None else f"an object of type {type(value).__name__}"
