r"""What a few seeds say about all seeds: a mean with a Student interval, a success rate with an exact one.

For :math:`n` independent values with mean :math:`\bar v` and standard deviation :math:`s` (divisor :math:`n - 1`), the
interval at level :math:`1 - \alpha` is

.. math:: \bar v \pm t_{n-1,\,1-\alpha/2}\; s / \sqrt{n}.

It is exact when the values are normal, and a fair approximation for the metrics of a handful of seeds.

For :math:`k` successes among :math:`n` independent trials it would be wrong, and of no width where all succeed. The
interval of Clopper and Pearson (1934) holds every :math:`p` under which neither as many nor as few successes as were
seen have a probability below :math:`\alpha/2`:

.. math::

   \Bigl[ \min \bigl\{ p : P_p(K \ge k) \ge \tfrac{\alpha}{2} \bigr\},\;
   \max \bigl\{ p : P_p(K \le k) \ge \tfrac{\alpha}{2} \bigr\} \Bigr], \qquad K \sim \mathrm{Binomial}(n, p).

It covers the true :math:`p` with a probability of at least :math:`1 - \alpha`, whatever :math:`p` and :math:`n`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import floor, isfinite, log10
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv, stdtrit

__all__ = ["Band", "Interval", "Proportion", "band", "interval", "proportion"]


@dataclass(frozen=True)
class Interval:
    """A mean with its confidence interval, from ``n`` values; prints as ``0.912 ± 0.013 (n = 5)``.

    A format specification fixes the decimals, as in ``f"{accuracy:.2f}"``; without one the half-width gets two
    significant digits.

    Args:
        mean: the mean of the values.
        low, high: the ends of the interval.
        n: how many values there are.
    """

    mean: float
    low: float
    high: float
    n: int

    @property
    def half_width(self) -> float:
        """Half the length of the interval, what stands behind the ±."""
        return (self.high - self.low) / 2

    @property
    def verdict(self) -> Literal["worse", "better", "open"]:
        """Whether one thing is worse than another, by an interval of differences in cost; ``"open"`` if 0 is in it."""
        return "worse" if self.low > 0 else "better" if self.high < 0 else "open"

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def __format__(self, spec: str) -> str:
        spec = spec or f".{_decimals(self.half_width)}f"
        return f"{self.mean:{spec}} ± {self.half_width:{spec}} (n = {self.n})"

    def __str__(self) -> str:
        return format(self, "")


@dataclass(frozen=True)
class Band:
    """An :class:`Interval` at every point of a curve: arrays ``mean``, ``low``, ``high``, ``n`` of one shape."""

    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray
    n: np.ndarray


@dataclass(frozen=True)
class Proportion:
    """How many of some trials succeeded, with its confidence interval; prints as ``9 of 10 (0.55 to 1.00)``.

    Args:
        successes, trials: how many of how many.
        low, high: the ends of the interval.
    """

    successes: int
    trials: int
    low: float
    high: float

    @property
    def rate(self) -> float:
        """The share of successes."""
        return self.successes / self.trials

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def __str__(self) -> str:
        return f"{self.successes} of {self.trials} ({self.low:.2f} to {self.high:.2f})"


def interval(values: Iterable[float] | ArrayLike, level: float = 0.95) -> Interval:
    """The mean of ``values`` and its Student interval.

    Args:
        values: at least two finite numbers, one per seed.
        level: the confidence level, between 0 and 1.

    Raises:
        ValueError: for fewer than two values, a value that is not finite, or a level outside (0, 1).
    """
    array = np.asarray(list(values) if isinstance(values, Iterator) else values, dtype=float)
    if array.ndim != 1:
        raise ValueError(f"an interval takes a plain list of numbers, one per seed; these have shape {array.shape}")
    if len(array) < 2:
        raise ValueError(
            f"an interval needs at least 2 values, since one says nothing about the spread; got {len(array)}"
        )
    if not np.isfinite(array).all():
        raise ValueError(f"an interval needs finite values; got {array[~np.isfinite(array)][0]} among {len(array)}")
    curve = band(array[:, None], level)
    return Interval(float(curve.mean[0]), float(curve.low[0]), float(curve.high[0]), len(array))


def proportion(successes: int, trials: int, level: float = 0.95) -> Proportion:
    """The share of ``successes`` among independent ``trials`` and its Clopper-Pearson interval.

    Args:
        successes: from 0 to ``trials``.
        trials: at least 1.
        level: the confidence level, between 0 and 1.

    Raises:
        ValueError: for a count that is not whole or out of range, or a level outside (0, 1).
    """
    if not 0 <= successes <= trials or trials < 1 or successes != int(successes) or trials != int(trials):
        given = f"{successes} of {trials}"
        raise ValueError(f"successes and trials are counts, from 0 to the trials and at least 1; got {given}")
    _check_level(level)
    k, n, tail = int(successes), int(trials), (1 - level) / 2
    low = float(betaincinv(k, n - k + 1, tail)) if k else 0.0
    high = float(betaincinv(k + 1, n - k, 1 - tail)) if k < n else 1.0
    return Proportion(k, n, low, high)


def band(curves: ArrayLike, level: float = 0.95) -> Band:
    """The interval at every point of several curves.

    Args:
        curves: shape (seeds, ...), one curve per seed. Values that are not finite are left out of their point.
        level: the confidence level, between 0 and 1.

    Returns:
        Arrays of shape (...). Where fewer than two values are finite the band is NaN; ``n`` says how many are.

    Raises:
        ValueError: for fewer than two curves or a level outside (0, 1).
    """
    values = np.asarray(curves, dtype=float)
    _check_level(level)
    if values.ndim < 2 or len(values) < 2:
        raise ValueError(f"a band needs at least 2 curves, stacked as (seeds, ...); got shape {values.shape}")
    finite = np.isfinite(values)
    n = finite.sum(axis=0)
    count = np.where(n > 1, n, np.nan)
    mean = np.where(finite, values, 0).sum(axis=0) / count
    variance = np.where(finite, values - mean, 0) ** 2
    half = stdtrit(count - 1, (1 + level) / 2) * np.sqrt(variance.sum(axis=0) / (count - 1) / count)
    return Band(mean, mean - half, mean + half, n)


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise ValueError(f"a confidence level lies strictly between 0 and 1; got {level}")


def _decimals(half: float) -> int:
    """Decimals that show two significant digits of ``half``; three where it is zero or not finite."""
    return min(8, max(0, 1 - floor(log10(half)))) if isfinite(half) and half > 0 else 3
