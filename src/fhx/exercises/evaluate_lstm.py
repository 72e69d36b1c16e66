r"""The LSTM that counts, with room for more, and what a reader made of it, compared with :math:`a^n b^n`."""

from collections.abc import Iterator
from itertools import groupby, product
from typing import Any

import torch
from torch import Tensor

from fhx._modules import undrawn
from fhx.cells import LSTMCell
from fhx.dynamics import Realization
from fhx.exercises.compare import MalformedError
from fhx.exercises.evaluate import parts_of
from fhx.tasks import LANGUAGES, Acceptor

__all__ = ["counting_cell", "decide_order"]

UNITS = 4
OPEN = 40.0
"""A bias so large that the logistic function rounds to 1."""
START = torch.tensor([0.0] * UNITS + [0.5, -0.5, 0.0, 0.0], dtype=torch.float64)
r""":math:`h_0`, then :math:`c_0`."""
LANGUAGE = LANGUAGES["a^n b^n"]


def counting_cell() -> LSTMCell:
    r"""Four units with open gates: 0 and 1 add :math:`x_a - x_b` to their memories, 2 and 3 are yours to set."""
    cell = undrawn(LSTMCell, 2, UNITS, dtype=torch.float64)
    with torch.no_grad():
        for parameter in cell.parameters():
            parameter.zero_()
        for bias in (cell.b_i, cell.b_f, cell.b_o):
            bias[:] = OPEN
        cell.U_z[:2] = torch.tensor([OPEN, -OPEN])
    return cell


def decide_order(value: Any) -> bool:
    r"""True if the net (cell, w, c) recognises :math:`a^n b^n` on all words of up to 12 letters and on long ones.

    The cell is a :func:`counting_cell` with further weights; its memories start at :math:`\frac12, -\frac12, 0, 0`, and
    the output is :math:`w \cdot h_t + c`. A zero vector stands before each word. The long words are members, words that
    go on after one, and words with as many a as b in a wrong order, with n up to 500.

    Raises:
        ValueError: not such a net, or a wrong one, with a shortest word on which it is wrong.
    """
    net = Acceptor(_net(value), LANGUAGE.alphabet)
    for words in (list(map("".join, product("ab", repeat=12))), list(_long_words())):
        verdicts = net.prefixes(words).T.tolist()
        wrong = (
            (t, word[:t])
            for word, row in zip(words, verdicts, strict=True)
            for t, (said, right) in enumerate(zip(row, LANGUAGE.prefixes(word), strict=False))
            if said != right
        )
        if mistake := min(wrong, default=None):
            word = mistake[1]
            says, should = ("rejects", "accept") if LANGUAGE.contains(word) else ("accepts", "reject")
            raise ValueError(f"the net {says} {_written(word)} and should {should} it; no shorter word was found wrong")
    return True


def _net(value: Any) -> Realization:
    (cell, w, c), expected = parts_of(value, "cell", "w", "c"), "(cell, w, c)"
    if not isinstance(cell, LSTMCell) or (cell.input_size, cell.state_size) != (2, UNITS):
        raise MalformedError(f"{expected} with the cell that the function was given, an LSTMCell(2, {UNITS})", cell)
    given, w, c = (w, c), _tensor(w), _tensor(c)
    if w is None or c is None or w.shape != (UNITS,) or c.numel() != 1:
        raise MalformedError(f"{expected} with {UNITS} numbers w and one number c", given)
    w, c = (part.to(cell.W.dtype) for part in (w, c.reshape(1)))
    return Realization(cell, lambda h: h @ w[:, None] + c, START.to(cell.W.dtype))


def _tensor(value: Any) -> Tensor | None:
    try:
        tensor = torch.as_tensor(value).detach()
    except (TypeError, ValueError, RuntimeError):
        return None
    return None if tensor.is_complex() or tensor.isnan().any() else tensor


def _long_words() -> Iterator[str]:
    for n in (20, 50, 100, 200, 500):
        a, b = "a" * n, "b" * n
        yield from (a + b + "ab", a + b + b + a, "a" + a + b + a, b + a + b, a[1:] + "ba" + b[1:], "ab" * n)


def _written(word: str) -> str:
    """A short word as it is, a long one by its blocks: ``'a^20 b^21'``."""
    if len(word) <= 12:
        return repr(word)
    blocks = ((letter, len(list(block))) for letter, block in groupby(word))
    return repr(" ".join(letter if n == 1 else f"{letter}^{n}" for letter, n in blocks))
