"""Running what a reader designed, a table or the weights of a net, so that its outputs can be compared.

Each function takes the reader's value first and raises a ValueError that says what was expected of it.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from torch import Tensor

__all__ = ["PARTS", "net_weights", "parts_of", "run_linear", "run_relu_net", "run_table", "settled_period"]

PARTS = ("W", "U", "b", "h0", "w", "c")
"""Of a net: weights of the state and the input, bias, start, and the readout w . h + c."""


def run_table(value: Any, word: Sequence[int]) -> bool:
    """What a table (table, h0, readout) gives for a word: ``readout[h_T]`` with ``h_t = table[h_{t-1}][x_t]``."""
    table = value[0] if isinstance(value, list | tuple) and value else None
    if isinstance(table, dict) and any(isinstance(key, tuple) for key in table):
        raise ValueError("table[h][x] means a list of rows, not a dictionary by pairs")
    try:
        table, h, readout = value
        for x in word:
            h = table[h][x]
        return bool(readout[h])
    except (TypeError, ValueError, LookupError) as error:
        raise ValueError(f"the answer is (table, h0, readout) with table[h][x] and readout[h]; {error}") from error


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
    if value is None:
        raise ValueError("got None; is a return missing?")
    if not isinstance(value, list | tuple) or len(value) != len(names):
        raise ValueError(f"the answer is ({', '.join(names)}), {len(names)} {what}")
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
    given, expected = parts_of(value, *names.split()), f"the answer is ({', '.join(names.split())})"
    try:
        parts = [np.asarray(_detached(part), dtype=float) for part in given]
    except (TypeError, ValueError) as error:
        raise ValueError(f"{expected} in numbers, lists or tensors; {error}") from error
    d = parts[0].shape[-1] if parts[0].ndim else 1
    fitting = []
    for name, part, shape in zip(names.split(), parts, shapes.split(), strict=True):
        wanted = () if shape == "-" else tuple(d if size == "d" else int(size) for size in shape)
        accepted = {"-": [(), (1,)], "d": [(d,), (d, 1), (1, d)]}.get(shape, [wanted])
        if part.shape not in accepted:
            raise ValueError(f"{expected}; with {d} units {name} has shape {wanted}, yours {part.shape}")
        fitting.append(part.reshape(wanted))
    return fitting


def _detached(part: Any) -> Any:
    """A tensor without its gradient, so that trained parameters count as numbers."""
    return part.detach() if isinstance(part, Tensor) else part
