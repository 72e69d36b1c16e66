"""Points for an answer that is right on some inputs, less what can be had without understanding.

Let an answer be right on r of n cases. On m of them it could be right without any idea: by a table of those that the
exercise states, and by one and the same value for all others, the one that is expected most often. So it gets the share

    max(0, (r - m) / (n - m))

of the points, rounded down to tenths: nothing for such a table, all for r = n, and little for guessing.
Where the same is expected on all others, such as that a net does what was asked for, m = n: nothing tells an answer
that is right on some of them from one that does nothing, and only what is right on all gets points.
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
        guessed: m, on how many it could be without any idea.
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
        if self.guessed == self.cases:
            same = "the same is expected on all that are not stated, so that single ones count for nothing"
            return f"It is right on {self.right} of {self.cases} inputs, and {same}."
        table = f"a table of the stated ones, with one answer to all others, is right on {self.guessed}"
        given = f"{self.points(most):g} of {most:g} points"
        return f"It is right on {self.right} of {self.cases} inputs; {table}. That gives {given}."


def tally(rights: Sequence[bool], expected: Sequence[str]) -> Tally:
    """Count.

    Args:
        rights: whether the answer is right, case by case, the stated ones first.
        expected: what is expected on the others, in words that are the same for the same value.
    """
    most = max(Counter(expected).values(), default=0)
    return Tally(sum(rights), len(rights) - len(expected) + most, len(rights))
