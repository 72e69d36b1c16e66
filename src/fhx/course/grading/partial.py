"""Points for an answer that is right on some inputs, corrected for guessing.

Let an answer be right on r of n cases, and let the same value be expected on at most m of them. Then whoever says that
value to everything is right on m without knowing anything, and an answer gets the share

    max(0, (r - m) / (n - m))

of the points, rounded down to tenths: none for a constant, all for r = n, and in the mean none for guessing. Where the
same is expected on all cases, such as that a net does what was asked for, there is nothing to guess, and m = 0.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

__all__ = ["Tally", "tally"]


@dataclass(frozen=True)
class Tally:
    """On how many cases an answer is right.

    Attributes:
        right: r, the number of those.
        guessed: m, on how many the best constant would be.
        cases: n, of all.
    """

    right: int
    guessed: int
    cases: int

    def points(self, most: float) -> float:
        """Of so many for an answer that is right on all."""
        if self.right == self.cases:
            return most
        if self.right <= self.guessed:
            return 0.0
        share = Fraction(self.right - self.guessed, self.cases - self.guessed)
        return (10 * Fraction(most) * share // 1) / 10

    def told(self, most: float) -> str:
        """The same in words."""
        guessed = f"; the same answer to all would be on {self.guessed}" if self.guessed else ""
        given = f"{self.points(most):g} of {most:g} points"
        return f"It is right on {self.right} of {self.cases} inputs{guessed}. That gives {given}."


def tally(rights: Sequence[bool], expected: Sequence[str]) -> Tally:
    """Count.

    Args:
        rights: whether the answer is right, case by case.
        expected: what is expected, in words that are the same for the same value.
    """
    most = max(Counter(expected).values(), default=0)
    return Tally(sum(rights), most if most < len(rights) else 0, len(rights))
