"""What a reader designed, run: states against a claimed rate, a flip-flop with watched gradients, a W that forgets."""

from collections.abc import Sequence
from math import tanh
from typing import Any

import numpy as np
import torch
from torch import Tensor

from fhx._modules import undrawn
from fhx.cells import SimpleCell
from fhx.dynamics import jacobians, unroll
from fhx.exercises.compare import MalformedError
from fhx.exercises.evaluate import numbers_of, parts_of
from fhx.exercises.show import LINE, show

__all__ = ["flip_flop", "forgets", "is_enough", "refutes"]

UNITS, STARTS, QUIET, MARGIN, LARGEST = 4, 100, 20, 0.5, 4.0


def refutes(value: Any, W: list[list[float]], claim: float) -> bool:
    r"""True if the gain of a step :math:`\tanh(W h)` at a pair of states, in the max norm, is above the claim.

    Args:
        value: the pair, of states with numbers between -1 and 1 and at least a millionth apart.
        W: rows of a square matrix.
        claim: a rate.

    Raises:
        ValueError: not such a pair, or its gain is not above the claim.
    """
    pair = value if isinstance(value, np.ndarray | Tensor) and len(value.shape) == 2 and len(value) == 2 else None
    states = parts_of(value, "h", "other", what=f"lists of {len(W)} numbers") if pair is None else pair
    h, other = (numbers_of(name, state) for name, state in zip(("h", "other"), states, strict=True))
    if h.shape != (len(W),) or other.shape != (len(W),):
        raise MalformedError(f"two states of {len(W)} numbers", why=f"got the shapes {h.shape} and {other.shape}")
    if not (np.abs([h, other]) <= 1).all():
        raise ValueError("a state has a number outside [-1, 1]")
    apart = np.abs(h - other).max()
    if apart < 1e-6:
        raise ValueError("the states are less than a millionth apart, where rounding counts")
    after, other_after = ([tanh(float(np.dot(row, state))) for row in W] for state in (h, other))
    gain = np.abs(np.subtract(after, other_after)).max() / apart
    if not gain > claim:
        raise ValueError(f"the gain of your pair is {gain:.4g}, and the claim is {claim:.4g}")
    return True


def flip_flop(value: Any, word: Sequence[int]) -> int:
    r"""1 or -1, the sign of the output after the word.

    Args:
        value: W, U, b, w and c of a simple ReLU cell with at most 4 units, which starts from 0, and of the output
            :math:`w \cdot h + c`.
        word: symbols -1, 0 and 1, each an input.

    Raises:
        ValueError: not such a net, an output between -1/2 and 1/2, or a product of at most 20 Jacobians from some state
            between 0 and 3, under the inputs 0, whose Frobenius norm is above 4.
    """
    cell, w, c = _net(value)
    with torch.no_grad():
        x = torch.tensor([*word], dtype=torch.float64).view(-1, 1, 1)
        y = (unroll(cell, x)[-1, 0] @ w + c).item()
        generator = torch.Generator().manual_seed(0)
        h0 = 3 * torch.rand(STARTS, len(w), generator=generator, dtype=torch.float64)
        largest, product = 0.0, torch.eye(len(w), dtype=torch.float64)
        for J in jacobians(cell, torch.zeros(QUIET, STARTS, 1, dtype=torch.float64), h0):
            product = J @ product
            largest = max(largest, torch.linalg.matrix_norm(product).max().item())
    if not abs(y) >= MARGIN:
        raise ValueError(f"after the word {show([*word], LINE // 2)} the output is {y:.3g}, nearer to 0 than 1/2")
    if not largest <= LARGEST:
        raise ValueError(f"a product of Jacobians has the norm {largest:.3g}, and none may be above {LARGEST:g}")
    return 1 if y > 0 else -1


def _net(value: Any) -> tuple[SimpleCell, Tensor, Tensor]:
    parts = parts_of(value, "W", "U", "b", "w", "c")
    W, U, b, w, c = (
        torch.from_numpy(numbers_of(name, part)) for name, part in zip(("W", "U", "b", "w", "c"), parts, strict=True)
    )
    d = len(w) if w.ndim else 0
    if d > UNITS:
        raise ValueError(f"the net has {d} units, and at most {UNITS} are asked for")
    shapes = [tuple(part.shape) for part in (W, U, b, w, c)]
    if not d or shapes != [(d, d), (d,), (d,), (d,), ()]:
        found = f"got {', '.join(map(str, shapes))}"
        raise MalformedError("W, U, b, w, c of the shapes (d, d), (d,), (d,), (d,), ()", why=found)
    if not all(part.isfinite().all() for part in (W, U, b, w, c)):
        raise MalformedError("finite numbers", why="got a weight that is not finite")
    cell = undrawn(SimpleCell, 1, d, activation="relu", dtype=torch.float64)
    with torch.no_grad():
        for parameter, part in zip((cell.W, cell.U, cell.b), (W, U[:, None], b), strict=True):
            parameter.copy_(part)
    return cell, w, c


def forgets(value: Any, k: int, inputs: list[int]) -> str:
    """Whether k inputs leave the last state what it was, for a W of norm 10 or more.

    Args:
        value: W, three rows of three whole numbers, and U, a list of three.
        k: length of the window.
        inputs: whole numbers.

    Raises:
        ValueError: not such a pair, an entry of W is 0, or its 2-norm is below 10.
    """
    expected = "(W, U), three rows of three whole numbers and a list of three"
    try:
        W, U = (np.array(part, dtype=object) for part in value)
        whole = all(isinstance(entry, int | np.integer) for entry in (*W.flat, *U.flat))
    except (TypeError, ValueError):
        whole = False
    if not whole or W.shape != (3, 3) or U.shape != (3,):
        raise MalformedError(expected, value)
    W, U = (np.array([int(entry) for entry in part.flat], dtype=object).reshape(part.shape) for part in (W, U))
    if not W.all():
        raise ValueError("an entry of W is 0")
    size = float(np.linalg.norm(W.astype(float), 2))
    if size < 10 - 1e-9:
        raise ValueError(f"the norm of W is {size:.3g}, less than 10")
    ends = []
    for window in (inputs, inputs[-k:]):
        h = np.zeros(3, dtype=object)
        for x in window:
            h = W @ h + U * x
        ends.append(h.tolist())
    return is_enough(k, ends[0] == ends[1])


def is_enough(k: int, enough: bool) -> str:
    """What a window of k inputs is said to be."""
    return f"{'the last input is' if k == 1 else f'the last {k} inputs are'} {'enough' if enough else 'not enough'}"
