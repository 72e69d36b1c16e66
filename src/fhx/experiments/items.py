"""What nets score on each item of a test, and what the choice of the items adds to the error of a mean."""

from collections.abc import Sequence

import numpy as np
from attrs import frozen

__all__ = ["Items"]


@frozen
class Items:
    r"""What the nets of a kind scored on every test item, such as a piece of music.

    Attributes:
        sums: over the outputs of an item, mean over the nets.
        counts: outputs of an item.
    """

    sums: Sequence[float]
    counts: Sequence[float]

    @property
    def error(self) -> float:
        r"""The standard error that the choice of the items gives the mean score.

        With :math:`m_i` the sums and :math:`n_i` the counts of :math:`N` items the score is
        :math:`r = \sum_i m_i / \sum_i n_i`, and the error is that of a ratio,
        :math:`\sqrt{N / (N - 1) \sum_i (m_i - r n_i)^2} / \sum_i n_i`: what a bootstrap over the items finds, without
        its noise.

        Raises:
            ValueError: there are fewer than two items.
        """
        if len(self.sums) < 2:
            raise ValueError(f"{len(self.sums)} test items: at least two are needed")
        m, n = np.array(self.sums), np.array(self.counts)
        off = m - m.sum() / n.sum() * n
        return float(np.sqrt((off**2).sum() * len(n) / (len(n) - 1)) / n.sum())

    def minus(self, other: "Items") -> "Items":
        """The differences, item by item; a ValueError if they are not the same items."""
        if list(self.counts) != list(other.counts):
            raise ValueError("the test items of two kinds have different numbers of outputs")
        return Items([a - b for a, b in zip(self.sums, other.sums, strict=True)], self.counts)
