"""Words of unequal lengths as one tensor, and what is read at their ends."""

from collections.abc import Sequence

import torch
from jaxtyping import Int64, Shaped
from torch import Tensor

from fhx.exact.word_reader import Word, WordReader

PADDING = -1


def padded(net: WordReader, words: Sequence[Word]) -> tuple[Int64[Tensor, "batch time"], Int64[Tensor, " batch"]]:
    """The words' columns of U, padded with ``PADDING`` at their ends, and their lengths.

    Raises:
        ValueError: a symbol is outside the alphabet.
    """
    columns = [list(net.columns(word)) for word in words]
    lengths = [len(word) for word in columns]
    longest = max(lengths, default=0)
    rows = [word + [PADDING] * (longest - len(word)) for word in columns]
    return torch.tensor(rows, dtype=torch.int64).reshape(len(rows), longest), torch.tensor(lengths, dtype=torch.int64)


def last(
    start: Shaped[Tensor, ""], outputs: Shaped[Tensor, "batch time"], lengths: Int64[Tensor, " batch"]
) -> Shaped[Tensor, " batch"]:
    """The output at the end of each word: ``start`` for the empty one."""
    after = torch.cat([start.expand(len(outputs), 1), outputs], dim=1)
    return after.gather(1, lengths[:, None])[:, 0]
