r"""Language models that are counted: bigrams and trigrams, smoothed as Kneser and Ney did, and interpolated.

With :math:`c(\cdot)` how often words follow one another in the text, :math:`N_{1+}(\cdot\, u w)` the number of
different words before :math:`u w`, and :math:`N_{1+}(u\, \cdot)` that of different words after :math:`u`, the
probability of :math:`w` after a context :math:`u`, the last :math:`n - 1` words, is

.. math::

   P_n(w \mid u) = \frac{\max(c_n(u w) - D_n, 0)}{\sum_{w'} c_n(u w')}
       + \frac{D_n\, N_{1+}(u\, \cdot)}{\sum_{w'} c_n(u w')}\, P_{n-1}(w \mid u'),

where :math:`u'` is :math:`u` without its first word, :math:`c_n` is :math:`c` for the longest context and
:math:`N_{1+}(\cdot\, u w)` for the shorter ones, and :math:`P_0` is the same for all words. After a context that never
occurred, :math:`P_n = P_{n-1}`. The discount is :math:`D_n = n_1 / (n_1 + 2 n_2)`, with :math:`n_k` the number of
:math:`u w` with :math:`c_n(u w) = k`.

Source: Kneser and Ney (1995), in the interpolated form of Chen and Goodman (1999).
"""

from collections.abc import Sequence
from typing import final

import numpy as np
from numpy.typing import NDArray

from fhx._checks import positive

__all__ = ["KneserNey"]

Ids = NDArray[np.int64]


@final
class KneserNey:
    """A counted model of the next word.

    Args:
        text: the ids of the words to count, in order.
        words: size of the vocabulary; ids are below it.
        order: how many words belong together: 1 for none but the next one, 2 for bigrams, 3 for trigrams.

    Raises:
        ValueError: an id is outside the vocabulary, the text is shorter than the order, or words in a row have more
            names than 63 bits.
    """

    def __init__(self, text: Sequence[int] | Ids, words: int, order: int) -> None:
        ids = np.asarray(text, np.int64)
        positive("words", words)
        positive("order", order)
        if ids.ndim != 1 or len(ids) < order:
            raise ValueError(f"a text of at least {order} words is needed, got shape {ids.shape}")
        if len(ids) and not 0 <= ids.min() <= ids.max() < words:
            raise ValueError(f"ids run from {ids.min()} to {ids.max()}, and there are {words} words")
        if words**order >= 2**63:
            raise ValueError(f"{order} of {words} words in a row have too many names")
        self.words, self.order = words, order
        keys, counts = np.unique(self._keys(ids, order), return_counts=True)
        self._levels = [_Level(keys, counts, words)]
        for n in range(order - 1, 0, -1):
            keys, counts = np.unique(keys % words**n, return_counts=True)
            self._levels.append(_Level(keys, counts, words))
        self._levels.reverse()

    @property
    def rows(self) -> int:
        """How many different words in a row occur, as many as the order."""
        return len(self._levels[-1].keys)

    def _keys(self, ids: Ids, n: int) -> Ids:
        """A number for each n words in a row."""
        keys = np.zeros(len(ids) - n + 1, np.int64)
        for k in range(n):
            keys = keys * self.words + ids[k : len(ids) - n + 1 + k]
        return keys

    def log_probabilities(self, text: Sequence[int] | Ids) -> NDArray[np.float64]:
        """For each word of a text after the first, the log probability of it after those before it, in nats.

        Near the start a context is as long as there are words. Where a word is impossible, since it never occurred and
        nothing occurred just once, the logarithm is minus infinity.
        """
        ids = np.asarray(text, np.int64)
        found = np.full(len(ids), 1 / self.words)
        for n, level in enumerate(self._levels, 1):
            found[n - 1 :] = level.interpolated(self._keys(ids, n), found[n - 1 :])
        with np.errstate(divide="ignore"):
            return np.log(found[1:])


class _Level:
    """The counts of n words in a row, and of their contexts.

    Args:
        keys: a number for each n words in a row that occur, ascending.
        counts: how often they count.
        words: size of the vocabulary.
    """

    def __init__(self, keys: Ids, counts: Ids, words: int) -> None:
        self.keys, self.counts, self.words = keys, counts, words
        once, twice = ((counts == k).sum() for k in (1, 2))
        self.discount = once / (once + 2 * twice) if once else 0.0
        self.contexts, start, self.followers = np.unique(keys // words, return_index=True, return_counts=True)
        self.totals = np.add.reduceat(counts, start)

    def interpolated(self, keys: Ids, shorter: NDArray[np.float64]) -> NDArray[np.float64]:
        """The probabilities of the last words of some keys, from those with shorter contexts."""
        counted = _looked_up(self.keys, self.counts, keys)
        total = _looked_up(self.contexts, self.totals, keys // self.words)
        followers = _looked_up(self.contexts, self.followers, keys // self.words)
        known = np.maximum(total, 1)
        found = (np.maximum(counted - self.discount, 0) + self.discount * followers * shorter) / known
        return np.where(total > 0, found, shorter)


def _looked_up(keys: Ids, values: Ids, wanted: Ids) -> Ids:
    """The value of each wanted key, 0 where it is missing."""
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[place] == wanted, values[place], 0)
