"""Whether two values are the same, and if not, why, without ever asking the values themselves."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fhx.exercises.show import named, show, tensors

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["MalformedError", "Mismatch", "difference", "is_open", "mismatch", "open_parts", "wanted"]

NUMPY_SCALARS = frozenset(
    kind for kind in np.sctypeDict.values() if issubclass(kind, np.bool_ | np.integer | np.floating)
)
PRECISIONS = {"float32": 1e-5, "float64": 0.0}
"""What rounding may cost, relative to numbers above 1: which of the two precisions is used is not the point."""
WORDS = {bool: "True or False", int: "a whole number (int)", float: "a number", Fraction: "an exact Fraction or int"}
NOTHING = object()


class MalformedError(ValueError):
    """An answer is of another type or shape than what is asked for.

    Args:
        expected: the type and the shape that are asked for, in words.
        got: the answer, or the part of it that is of another kind.
        why: what is wrong with it, where its type does not say that.
    """

    def __init__(self, expected: str, got: Any = NOTHING, why: str = "") -> None:
        missing = "; is a return missing?" if got is None else ""
        found = why if got is NOTHING else f"got {named(got)}{missing}{f': {why}' if why else ''}"
        super().__init__(f"expected {expected}, {found}")


class Mismatch(NamedTuple):
    """Why two values are not the same.

    Attributes:
        words: one sentence on the first thing that differs.
        is_malformed: whether that is a type or a shape, or a number that is NaN, and not a value.
    """

    words: str
    is_malformed: bool = False


ACCEPTED = {bool: (bool,), int: (int, Fraction), float: (int, float, Fraction), Fraction: (int, Fraction)}


def difference(yours: Any, expected: Any, tolerance: float = 0.0, where: str = "") -> str | None:
    """None if ``yours`` is ``expected``, else one sentence on the first thing that differs.

    Types are compared by identity and values by plain numbers: no object gets by that claims to equal everything.
    Lists and tuples stand for each other, and so do tensors and arrays; both may stand for a list, row by row, and
    0-dimensional tensors and numpy's numbers for plain numbers. A float may be off by ``tolerance`` times the larger of
    1 and the expected size, and by what float32 rounds away where that stands for float64 or the other way; a plain
    float counts as float32 if it has the digits of one. All else must be exact.

    Args:
        yours: anything.
        expected: a bool, int, float, Fraction, str, None, tensor, array, or a list, tuple or dict of these.
        tolerance: of floats, also those in tensors and arrays.
        where: the place inside a larger value, as ``[2]``.

    Raises:
        TypeError: for an ``expected`` of another type.
    """
    found = mismatch(yours, expected, tolerance, where)
    return found and found.words


def mismatch(yours: Any, expected: Any, tolerance: float = 0.0, where: str = "") -> Mismatch | None:
    """What :func:`difference` says, and of which sort it is."""
    place = f"at {where}: " if where else ""
    if yours is None and expected is not None:
        return Mismatch(f"{place}expected {wanted(expected)}, got None; is a return missing?", True)
    known = (compare for kind, compare in COMPARISONS.items() if isinstance(expected, kind))
    compare = _tensor if isinstance(expected, tensors()) else next(known, None)
    if compare is None:
        raise TypeError(f"no way to compare with {type(expected).__name__}")
    found = compare(yours, expected, tolerance, where)
    inside = found is None or found.words.startswith("at [")
    return found if found is None or inside else found._replace(words=place + found.words)


def wanted(expected: Any) -> str:
    """The type of what is expected, and its shape, in words."""
    kind = type(expected)
    if kind in WORDS:
        return WORDS[kind]
    if isinstance(expected, tensors()):
        return f"a tensor of shape {tuple(expected.shape)}, {expected.dtype}"
    if isinstance(expected, np.ndarray):
        return f"an array of shape {expected.shape}, {expected.dtype}"
    if isinstance(expected, list | tuple):
        kinds = {type(item) for item in expected}
        each = f", each {WORDS[next(iter(kinds))]}" if len(kinds) == 1 and kinds <= WORDS.keys() else ""
        return f"a list or tuple of {len(expected)}{each}"
    if isinstance(expected, dict):
        return f"a dict with the keys {show([*expected], 60)}"
    return named(expected) if expected is None else "a string"


def _malformed(yours: Any, expected: Any) -> Mismatch:
    return Mismatch(f"expected {wanted(expected)}, got {named(yours)}", expected is not None)


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


def _number(yours: Any, expected: Any, tolerance: float, where: str) -> Mismatch | None:
    kind, plain = type(expected), _plain(yours)
    if type(plain) not in ACCEPTED[kind]:
        return _malformed(yours, expected)
    if kind is not float:
        return None if plain == expected else _differ(plain, expected, where)
    if _is_nan(plain) and not _is_nan(expected):
        return _malformed(plain, expected)
    single = _is_single(plain) or (type(plain) is not type(yours) and str(yours.dtype).endswith("float32"))
    allowed = max(tolerance, PRECISIONS["float32"]) if single else tolerance
    return None if _close(plain, expected, allowed) else _differ(plain, expected, where)


def _differ(yours: Any, expected: Any, where: str) -> Mismatch:
    """Inside a larger value the two parts are told, since it may be shown without them."""
    by = _by(yours, expected) if type(expected) is float else ""
    return Mismatch(f"the values differ{by}{f': {_instead(yours, expected)}' if where else ''}")


def _text(yours: Any, expected: str | None, tolerance: float, where: str) -> Mismatch | None:
    if type(yours) is not type(expected):
        return _malformed(yours, expected)
    return None if yours == expected else _differ(yours, expected, where)


def _sequence(yours: Any, expected: list[Any] | tuple[Any, ...], tolerance: float, where: str) -> Mismatch | None:
    if (type(yours) is np.ndarray or _is_dense(yours)) and yours.ndim and len(yours) == len(expected):
        yours = list(yours.detach().cpu() if _is_dense(yours) else yours)
    if not isinstance(yours, list | tuple):
        return _malformed(yours, expected)
    items = list(list.__iter__(yours) if isinstance(yours, list) else tuple.__iter__(yours))
    if len(items) != len(expected):
        return Mismatch(f"expected {len(expected)} items, got {len(items)}", True)
    found = (mismatch(a, b, tolerance, f"{where}[{i}]") for i, (a, b) in enumerate(zip(items, expected, strict=True)))
    return next(filter(None, found), None)


def _mapping(yours: Any, expected: dict[Any, Any], tolerance: float, where: str) -> Mismatch | None:
    if type(yours) is not dict:
        return _malformed(yours, expected)
    keys = {key: key for key in yours if type(key) in (str, int, bool)}
    if keys.keys() != expected.keys() or len(keys) != len(yours):
        missing = [f"no entry for {key!r}" for key in expected if key not in keys]
        more = [f"an entry for {show(key, 30)} too" for key in keys if key not in expected]
        why = [*missing, *more, f"{len(yours)} entries"][0]
        return Mismatch(f"expected {wanted(expected)}, got {why}", True)
    found = (mismatch(yours[key], value, tolerance, f"{where}[{key!r}]") for key, value in expected.items())
    return next(filter(None, found), None)


def _tensor(yours: Any, expected: "Tensor", tolerance: float, where: str) -> Mismatch | None:
    if type(yours) is not np.ndarray and not _is_dense(yours):
        return _malformed(yours, expected)
    if _rounding(yours.dtype, expected.dtype) is None:
        return Mismatch(f"expected dtype {expected.dtype}, got {yours.dtype}", True)
    return _array(yours, expected.detach().cpu().numpy(), tolerance, where)


def _array(yours: Any, expected: np.ndarray, tolerance: float, where: str) -> Mismatch | None:
    if _is_dense(yours):
        yours = yours.detach().cpu().numpy()
    if type(yours) is not np.ndarray:
        return _malformed(yours, expected)
    rounding = _rounding(yours.dtype, expected.dtype)
    if rounding is None:
        return Mismatch(f"expected dtype {expected.dtype}, got {yours.dtype}", True)
    if yours.shape != expected.shape:
        return Mismatch(f"expected shape {expected.shape}, got {yours.shape}", True)
    for index in np.ndindex(expected.shape):
        a, b = yours[index].item(), expected[index].item()
        if _is_nan(a) and not _is_nan(b):
            return Mismatch(f"expected a number{f' at {list(index)}' if index else ''}, got nan", True)
        if not _close(a, b, max(tolerance, rounding)):
            at = f" at {list(index)}: {_instead(a, b)}" if index else _by(a, b)
            return Mismatch(f"the values differ{at}")
    return None


COMPARISONS: dict[type | tuple[type, ...], Callable[[Any, Any, float, str], Mismatch | None]] = {
    (bool, int, float, Fraction): _number,
    (str, type(None)): _text,
    (list, tuple): _sequence,
    dict: _mapping,
    np.ndarray: _array,
}


def _plain(value: Any) -> Any:
    """A Python number for a number of torch or numpy; anything else as it is."""
    if type(value) in NUMPY_SCALARS or (type(value) in tensors() and value.ndim == 0):
        return value.item()
    return value


def _is_dense(value: Any) -> bool:
    """A tensor whose numbers can be read."""
    return type(value) in tensors() and str(value.layout) == "torch.strided"


def _is_single(value: Any) -> bool:
    """Whether a float has the 24 bits of float32, and more than the half of them that a round number has."""
    if type(value) is not float or not math.isfinite(value):
        return False
    scaled = math.frexp(value)[0] * 2**12
    return not scaled.is_integer() and (scaled * 2**12).is_integer()


def _rounding(yours: Any, expected: Any) -> float | None:
    """What two dtypes may differ by: nothing if they are one, None if they cannot stand for each other."""
    names = {str(dtype).removeprefix("torch.") for dtype in (yours, expected)}
    if len(names) == 1:
        return 0.0
    return max(PRECISIONS.values()) if names == PRECISIONS.keys() else None


def _close(yours: float | Fraction, expected: float, tolerance: float) -> bool:
    if math.isnan(expected) or math.isinf(expected):
        return yours == expected or (math.isnan(expected) and math.isnan(yours))
    try:
        return abs(yours - expected) <= tolerance * max(1.0, abs(expected))
    except OverflowError:
        return False


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _by(yours: Any, expected: float) -> str:
    try:
        return f" by {abs(float(yours) - expected):.3g}"
    except OverflowError:
        return ""


def _instead(yours: Any, expected: Any) -> str:
    """Floats to as many digits as tell them apart."""
    texts = [_short(yours), _short(expected)]
    if texts[0] == texts[1]:
        texts = [show(yours, 30), show(expected, 30)]
    return " instead of ".join(texts)


def _short(value: Any) -> str:
    text = str(value) if type(value) is Fraction else show(value, 30)
    return f"{value:.6g}" if type(value) is float and len(text) > 8 else text
