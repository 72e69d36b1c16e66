"""Values as text, short enough to read beside one another."""

import functools
import re
import sys
from collections.abc import Callable, Iterable, Sized
from fractions import Fraction
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["LINE", "is_short", "named", "show", "tensors"]

LONGEST, LINE = 600, 100
"""Letters of a text that stands by itself, and of one that is a line among others."""
DIGITS = 4
EDGE = 3
"""How many numbers at either end are left of what is too long."""
PLAIN = ("torch.float32", "torch.int64", "torch.bool")
"""What a tensor of such numbers usually is: not worth a word."""
FUNCTIONS = (FunctionType, BuiltinFunctionType, MethodType, functools.partial)
NUMBERS = (bool, int, float, Fraction)
WHOLE, ENDS, SHAPES = range(3)
"""How much is left: all, the ends of what holds more than six numbers, or its shape."""


def show(value: Any, longest: int = LONGEST) -> str:
    """The text of any object, numbers in tensors and arrays to 4 digits and in one line.

    If it is too long, tensors, arrays and lists of numbers in it are told by their shapes and at most six numbers, then
    by their shapes only, and if it still is, it is cut. Functions are told by their names, and an object that has no
    text of its own by its type.

    Args:
        value: anything.
        longest: how many letters the text may have.
    """
    text = ""
    for level in (WHOLE, ENDS, SHAPES):
        try:
            text = _text(value, level)
        except Exception:
            text = f"<{type(value).__name__} object that cannot be shown>"
        if len(text) <= longest:
            return text
    end = f" … ({len(text)} characters)"
    return text[: max(longest - len(end), 1)] + end


def tensors() -> tuple[Any, ...]:
    """The types of torch's tensors; none where torch has not been imported, since no value is one then."""
    torch = sys.modules.get("torch")
    return () if torch is None else (torch.Tensor, torch.nn.Parameter)


def is_short(text: str) -> bool:
    """Whether the text of a value says less than there is to it."""
    return SHORTENED.search(text) is not None


SHORTENED = re.compile(r"\.\.\.|… \(|(tensor|array|list|tuple)\[[\d×]+\]|with \d+ states?")


def named(value: Any) -> str:
    """What a value is, in a few words that say more than its type where that helps, and never ask the value itself."""
    kind = type(value)
    if value is None:
        return "None"
    if kind in tensors():
        return f"a tensor of shape {tuple(value.shape)}, {value.dtype}"
    if kind is np.ndarray:
        return f"an array of shape {value.shape}, {value.dtype}"
    if kind in (list, tuple, dict):
        text = show(value)
        many = f"{len(value)} {'entries' if kind is dict else 'items'}"
        return f"the {kind.__name__} {text}" if len(text) <= SHORT else f"a {kind.__name__} of {many}"
    if kind in (*NUMBERS, str, complex, bytes):
        text, what = str(value) if kind is Fraction else show(value), "string" if kind is str else kind.__name__
        return f"the {what} {text}" if len(text) <= SHORT else f"the {what} {show(value, SHORT)}"
    if kind in FUNCTIONS:
        return f"the {name}" if (name := _function(value)) != UNNAMED else f"a {name}"
    return f"the class {value.__name__}" if kind is type else f"an object of type {kind.__name__}"


SHORT, UNNAMED = 30, "function without a name"


def _text(value: Any, level: int) -> str:
    """As ``repr``, for tensors and arrays and what holds them in plain containers as :func:`show` says."""
    kind = type(value)
    if kind in tensors() and str(value.layout) == "torch.strided":
        return _tensor(value.detach().cpu(), level)
    if kind is np.ndarray:
        return _items("array", value, "", level)
    if kind in (list, tuple):
        return _sequence(value, level)
    if kind is dict:
        return _cut("{}", [f"{_text(key, level)}: {_text(item, level)}" for key, item in value.items()], level)
    if kind in (Fraction, float) and level != WHOLE:
        return _number(value)
    if kind in FUNCTIONS:
        return _function(value)
    if kind.__repr__ is object.__repr__:
        return f"an object of type {kind.__name__}"
    text = f"{kind.__name__}: {value}" if isinstance(value, BaseException) else repr(value)
    text = " ".join(text.split()) if "\n" in text else text
    if level == WHOLE or len(text) <= LINE:
        return text
    states = getattr(value, "states", None)  # of a machine
    if not isinstance(states, Sized):
        return text
    is_told = kind.__name__ == "DFA" and level == ENDS
    return _automaton(value) if is_told else f"{kind.__name__} with {len(states)} state{'s' * (len(states) != 1)}"


def _automaton(dfa: Any) -> str:
    """Where each letter leads from the states, in their order."""
    leads = (f"{a} to {_spaced(dfa.transitions[q, a] for q in dfa.states)}" for a in dfa.alphabet)
    return f"DFA(states {_spaced(dfa.states)}; {'; '.join(leads)}; start {dfa.start}; accept {_spaced(dfa.accept)})"


def _spaced(names: Iterable[Any]) -> str:
    return " ".join(map(str, names)) or "none"


def _sequence(value: Any, level: int) -> str:
    shape = _shape(value) if level != WHOLE else ()
    if np.prod(shape, dtype=int) <= 2 * EDGE:
        texts = [_text(item, level) for item in value]
        if type(value) is tuple and len(value) == 1:
            return f"({texts[0]},)"
        return _cut("[]" if type(value) is list else "()", texts, level)
    numbers = value
    for _ in shape[1:]:
        numbers = [item for row in (*numbers[:EDGE], *numbers[-EDGE:]) for item in row]
    return _of_shape(type(value).__name__, shape, "" if level == SHAPES else _ends(numbers, _number))


def _cut(brackets: str, texts: list[str], level: int) -> str:
    """Items in brackets, of many the first and the last ones and their number."""
    left, right = brackets[0], brackets[1]
    few = 1 if level == SHAPES else EDGE
    if level == WHOLE or len(texts) <= 2 * EDGE + 2:
        return f"{left}{', '.join(texts)}{right}"
    return f"{left}{', '.join(texts[:few])}, ..., {', '.join(texts[-few:])}{right} of {len(texts)} items"


def _shape(value: Any) -> tuple[int, ...]:
    """Of a list, or list of lists of one length, of numbers; else empty."""
    if type(value) not in (list, tuple) or not value:
        return ()
    if all(type(item) in NUMBERS for item in value):
        return (len(value),)
    first, *others = map(_shape, value)
    return (len(value), *first) if first and all(other == first for other in others) else ()


def _number(number: Any) -> str:
    return _rounded(number) if type(number) is float else str(number)


def _ends(numbers: Any, written: Callable[[Any], str]) -> str:
    first, last = ([written(number) for number in part] for part in (numbers[:EDGE], numbers[-EDGE:]))
    return f"{', '.join(first)}, ..., {', '.join(last)}"


def _of_shape(name: str, shape: tuple[int, ...], ends: str) -> str:
    return f"{name}(shape {shape}: {ends})" if ends else f"{name}[{'×'.join(map(str, shape))}]"


def _function(value: Any) -> str:
    name = getattr(value, "__name__", "")
    return f"function {name}" if name and name != "<lambda>" else UNNAMED


def _tensor(value: "Tensor", level: int) -> str:
    numbers = value.double() if value.is_floating_point() else value
    dtype = str(value.dtype)
    usual = dtype in PLAIN or (level != WHOLE and dtype == "torch.float64")
    return _items("tensor", numbers.numpy(), "" if usual else f", dtype={dtype}", level)


def _items(name: str, array: np.ndarray, dtype: str, level: int) -> str:
    if level == WHOLE or array.size <= 2 * EDGE:
        formats: Any = {"float_kind": _rounded, "int_kind": str, "bool": str}
        items = np.array2string(array, separator=", ", threshold=array.size, formatter=formats)
        return f"{name}({' '.join(items.split())}{dtype})"
    return _of_shape(name, array.shape, "" if level == SHAPES else f"{_ends(array.ravel().tolist(), _number)}{dtype}")


def _rounded(number: float) -> str:
    text = f"{number:.{DIGITS}g}"
    return f"{text}." if text.lstrip("-").isdigit() else text
