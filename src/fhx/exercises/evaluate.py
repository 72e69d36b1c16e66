"""Running what a reader designed, a table or the weights of a net, so that its outputs can be compared.

Each function takes the reader's value first and raises a ValueError that says what was expected of it.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from fhx.exercises.compare import MalformedError
from fhx.exercises.show import tensors

__all__ = [
    "PARTS",
    "decide_linear",
    "decide_table",
    "net_weights",
    "numbers_of",
    "parts_of",
    "run_linear",
    "run_relu_net",
    "run_table",
    "settled_period",
]

PARTS = ("W", "U", "b", "h0", "w", "c")
"""Of a net: weights of the state and the input, bias, start, and the readout w . h + c."""


def run_table(value: Any, word: Sequence[int]) -> bool:
    """What a table (table, h0, readout) gives for a word: ``readout[h_T]`` with ``h_t = table[h_{t-1}][x_t]``."""
    table, h, readout = parts_of(value, "table", "h0", "readout", what="parts")
    if isinstance(table, dict) and any(isinstance(key, tuple) for key in table):
        raise MalformedError("table[h][x], a list of rows", why="got a dictionary by pairs")
    try:
        for x in word:
            h = table[h][x]
        return bool(readout[h])
    except (TypeError, ValueError, LookupError) as error:
        raise MalformedError("(table, h0, readout) with table[h][x] and readout[h]", value, str(error)) from error


def decide_table(value: Any, word: Sequence[int], right: Any) -> bool:
    """What a table gives for a word, as :func:`run_table`; after a long word that it gets right, all words are decided.

    The pairs of a state of the table and one of a right table are searched breadth first.

    Raises:
        ValueError: there is a word on which the table is wrong; a shortest one is named.
    """
    said = run_table(value, word)
    if len(word) <= SHORT or said != run_table(right, word):
        return said
    (table, h0, readout), (right_table, q0, right_readout) = value, right
    start = _place(h0), q0
    way: dict[tuple[Any, Any], tuple[Any, str]] = {start: (None, "")}
    queue = [start]
    for h, q in queue:  # grows while it is read
        says = bool(readout[h])
        if says != bool(right_readout[q]):
            before, bits = way[h, q]
            while before is not None:
                before, bit = way[before]
                bits = bit + bits
            name = repr(bits) if len(bits) <= 60 else f"a word of {len(bits)} bits"
            raise ValueError(f"after {name} the table says {says} and should say {not says}")
        for x in range(len(right_table[q])):
            pair = _place(table[h][x]), right_table[q][x]
            if pair not in way and len(queue) < MOST_PAIRS:
                way[pair] = (h, q), str(x)
                queue.append(pair)
    return said


MOST_PAIRS = 20_000
"""Enough for any table that is typed, and far fewer than would take a second."""
SHORT = 6
"""Up to here a word or list is only run."""


def _place(h: Any) -> Any:
    """A state as a plain number, if it is one of torch's or numpy's."""
    kinds: Any = (np.generic, *tensors())
    return h.item() if isinstance(h, kinds) and h.ndim == 0 else h


def run_relu_net(value: Any, word: Sequence[int]) -> list[float]:
    """The outputs of a net of one to three ReLU units, (W, U, b, h0, V, c), after each symbol."""
    W, U, b, h, V, c = net_weights(value, "W U b h0 V c", "dd d d d d -")
    if len(h) > 3:
        raise ValueError(f"the net has {len(h)} units, and at most 3 are asked for")
    outputs = []
    for x in word:
        h = np.maximum(W @ h + U * x + b, 0)
        outputs.append(float(V @ h + c))
    return outputs


def run_linear(value: Any, xs: Sequence[float]) -> list[float]:
    """The outputs of a linear recurrence (W, U, h0, V) without bias, after each input."""
    W, U, h, V = net_weights(value, "W U h0 V", "dd d d d")
    outputs = []
    for x in xs:
        h = W @ h + U * x
        outputs.append(float(V @ h))
    return outputs


def decide_linear(value: Any, xs: Sequence[float], kernel: Sequence[float]) -> list[float]:
    """The outputs of a linear recurrence, as :func:`run_linear`; on a long list that it gets right, all are decided.

    The kernel has n numbers and is 0 from there on. With d units the outputs on 0, 0, ... obey a linear recurrence of
    order d, and those on 1, 0, 0, ... differ from the kernel by what obeys one of order d + n; so that many decide.

    Raises:
        ValueError: the kernel or the start is another one, with the first output that is wrong.
    """
    outputs = run_linear(value, xs)
    if len(xs) <= SHORT or not np.allclose(outputs, np.convolve(xs, kernel)[: len(xs)], rtol=0, atol=1e-9):
        return outputs
    d, n = len(net_weights(value, "W U h0 V", "dd d d d")[2]), len(kernel)
    for first in (0.0, 1.0):
        for t, y in enumerate(run_linear(value, [first, *[0.0] * (d + n)]), start=1):
            should = first * kernel[t - 1] if t <= n else 0.0
            if not abs(y - should) <= 1e-6:
                raise ValueError(f"on {first:g}, 0, 0, ... the output at time {t} is {y:.4g} and should be {should:g}")
    return outputs


def settled_period(value: Any, period: int) -> int:
    """The period asked for, if that is the smallest one of the orbit of (W, b, h0) under tanh after 2000 steps."""
    W, b, h = net_weights(value, "W b h0", "dd d d")
    orbit = [h]
    for _ in range(2060):
        orbit.append(np.tanh(W @ orbit[-1] + b))
    last = np.stack(orbit[-61:])
    found = next((p for p in range(1, 61) if np.abs(last[p:] - last[:-p]).max() < 1e-6), None)
    if found is None:
        raise ValueError("after 2000 steps the state does not repeat within 60 more")
    if found != period:
        every = "every step" if found == 1 else f"every {found} steps"
        raise ValueError(f"the state repeats {every}, and a period of {period} is asked for")
    return found


def parts_of(value: Any, *names: str, what: str = "values") -> tuple[Any, ...]:
    """The parts of an answer that is a list or tuple with one per name; a ValueError if it is not."""
    if not isinstance(value, list | tuple) or len(value) != len(names):
        raise MalformedError(f"({', '.join(names)}), {len(names)} {what}", value)
    return tuple(value)


def net_weights(value: Any, names: str, shapes: str) -> list[np.ndarray]:
    """The parts of a net as arrays of floats, one per name.

    Args:
        value: a list or tuple of them.
        names: of the parts, in their order.
        shapes: of the parts: ``dd`` a matrix, ``d`` a vector, ``d2`` a matrix of two columns, ``-`` a number. A row or
            a column stands for a vector, and a single number in brackets for a number.

    Raises:
        ValueError: a part is missing, holds no numbers or has another shape.
    """
    given, expected = parts_of(value, *names.split()), f"({', '.join(names.split())})"
    parts = [numbers_of(name, part) for name, part in zip(names.split(), given, strict=True)]
    d = parts[0].shape[-1] if parts[0].ndim else 1
    fitting = []
    for name, part, shape in zip(names.split(), parts, shapes.split(), strict=True):
        wanted = () if shape == "-" else tuple(d if size == "d" else int(size) for size in shape)
        accepted = {"-": [(), (1,)], "d": [(d,), (d, 1), (1, d)]}.get(shape, [wanted])
        if part.shape not in accepted:
            raise MalformedError(f"{expected}, for {d} units with {name} of shape {wanted}", why=f"got {part.shape}")
        fitting.append(part.reshape(wanted))
    return fitting


def numbers_of(name: str, part: Any) -> np.ndarray:
    """A part of an answer as an array of floats.

    Raises:
        ValueError: it is no number, list of numbers, rows of one length, or tensor; or NaN is among them.
    """
    try:
        numbers = np.asarray(_detached(part), dtype=float)
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        raise MalformedError(f"{name} in numbers, lists of one length or tensors", part) from error
    if np.isnan(numbers).any():  # NumPy makes one of None
        raise MalformedError(f"{name} in numbers", part, "" if numbers.ndim == 0 else "nan is among them")
    return numbers


def _detached(part: Any) -> Any:
    """A tensor without its gradient, so that trained parameters count as numbers."""
    return part.detach() if isinstance(part, tensors()) else part
