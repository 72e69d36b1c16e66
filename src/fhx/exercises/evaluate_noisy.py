"""Nets for PARITY whose weights are disturbed."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fhx.exercises.compare import MalformedError
from fhx.exercises.evaluate import PARTS, net_weights, parts_of

__all__ = ["survives_noise", "survivors"]

Activation = Callable[[np.ndarray], np.ndarray]
ACTIVATIONS: dict[str, Activation] = {"tanh": np.tanh, "relu": lambda u: np.maximum(u, 0)}
COPIES, ENOUGH, NOISE, MOST_UNITS = 20, 18, 0.02, 20
BITS = np.random.default_rng(0).integers(0, 2, size=(200, 100))
"""A hundred words of two hundred bits, one per column."""
ODD = BITS.cumsum(axis=0) % 2 == 1


def survivors(value: Any, noise: float) -> int:
    r"""How many of 20 disturbed copies of a net for PARITY are right, after every bit of 100 random words of 200 bits.

    The net (W, U, b, h0, w, c, activation) reads one-hot bits and says "odd" where :math:`w \cdot h_t + c > 0`. Each of
    W, U, b, w, c gets Gaussian noise whose standard deviation is ``noise`` times the largest size of a number in it; h0
    stays as it is.

    Raises:
        ValueError: not such a net.
    """
    parts, activation = _net(value)
    copies = [_disturbed(parts, noise, seed) for seed in range(COPIES)]
    return int(_right(copies, activation).all(axis=(0, 2)).sum())


def survives_noise(value: Any) -> bool:
    """True if at least 18 of the 20 copies are right with noise 0.02.

    Raises:
        ValueError: not such a net, one that is wrong as it is, or one of which too few copies are right.
    """
    parts, activation = _net(value)
    mistakes = np.argwhere(~_right([parts], activation)[:, 0])
    if len(mistakes):
        t, word = mistakes[0]
        raise ValueError(f"without any noise the net is wrong after {''.join(map(str, BITS[: t + 1, word]))!r}")
    right = survivors(value, NOISE)
    if right < ENOUGH:
        raise ValueError(f"{right} of the {COPIES} disturbed nets are right on all words, and {ENOUGH} are asked for")
    return True


def _net(value: Any) -> tuple[list[np.ndarray], Activation]:
    *numbers, activation = parts_of(value, *PARTS, "activation")
    if not isinstance(activation, str) or activation not in ACTIVATIONS:
        known = " or ".join(map(repr, ACTIVATIONS))
        raise MalformedError(f"({', '.join(PARTS)}, activation) with activation {known}", activation)
    parts = net_weights(numbers, " ".join(PARTS), "dd d2 d d d -")
    if len(parts[0]) > MOST_UNITS:
        raise ValueError(f"the net has {len(parts[0])} units, and at most {MOST_UNITS} are asked for")
    return parts, ACTIVATIONS[activation]


def _disturbed(parts: Sequence[np.ndarray], noise: float, seed: int) -> list[np.ndarray]:
    generator = np.random.default_rng(seed)
    return [
        part if name == "h0" else part + noise * np.abs(part).max() * generator.normal(size=part.shape)
        for name, part in zip(PARTS, parts, strict=True)
    ]


def _right(nets: Sequence[Sequence[np.ndarray]], activation: Activation) -> np.ndarray:
    """Which verdicts are right: (time, nets, words)."""
    W, U, b, h, w, c = (np.stack(part) for part in zip(*nets, strict=True))
    h, drive = h[:, None], U.swapaxes(1, 2) + b[:, None]
    outputs = []
    with np.errstate(all="ignore"):  # a net that runs away is wrong, and that is all
        for bits in BITS:
            h = activation(h @ W.swapaxes(1, 2) + drive[:, bits])
            outputs.append((h @ w[..., None])[..., 0] + c[:, None])
        return (np.stack(outputs) > 0) == ODD[:, None]
