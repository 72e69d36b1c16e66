r"""How many units: what the constructions need, and what every net with bounded integer weights needs.

**Counting.** Take k symbols and m states :math:`0, \dots, m - 1`, let :math:`a_1` be the cycle
:math:`i \mapsto i + 1 \bmod m`, the start 0, the one accepting state 0, and the other k - 1 symbols anything. There are
:math:`m^{(k-1)m}` such tables, and different ones give different languages, since a language shows its table:
:math:`a_1^i` leads to state i, and from any state q exactly those :math:`a_1^t` with :math:`q + t \equiv 0 \bmod m`
lead to acceptance; so :math:`\delta(i, a_j)` is the q, one only, with :math:`a_1^i a_j a_1^{(m - q) \bmod m}` in the
language. For k = 1 take the cycle with any set of accepting states: :math:`2^m` languages, since i is accepting if and
only if :math:`a_1^i` is in the language.

A net of N units that reads k symbols is its activation, its number of steps per symbol, and
:math:`N^2 + N k + N + N + N + 1` numbers: W, U, b, :math:`h_0`, w and c. If these are integers in [-B, B], there are at
most :math:`(2B + 1)^{N^2 + N k + 3 N + 1}` such nets. That must be at least the number of languages, if each of them
has a net.
"""

from math import isqrt, log2

from fhx._checks import positive

__all__ = ["grid_shape", "grid_units", "language_count", "one_hot_units", "unit_lower_bound"]


def one_hot_units(Q: int, S: int) -> int:
    r"""Units of :func:`fhx.compile.dfa_to_rnn` for Q states and S symbols: :math:`|Q||\Sigma| + 1`."""
    Q, S = positive("Q", Q), positive("S", S)
    return Q * S + 1


def grid_shape(Q: int, S: int) -> tuple[int, int]:
    r"""(rows, columns) of the grid with the fewest units, with :math:`\lceil Q / C \rceil + 1` rows for C columns.

    The extra row lets accepting states have rows of their own; C is at most :math:`\sqrt{Q}`.

    Args:
        Q, S: how many states and symbols the machine has.
    """
    Q, S = positive("Q", Q), positive("S", S)
    columns = min(range(1, isqrt(Q) + 1), key=lambda C: _grid_units(Q, S, C))
    return -(-Q // columns) + 1, columns


def grid_units(Q: int, S: int) -> int:
    r"""Units of :func:`fhx.compile.dfa_to_grid_rnn` for Q states and S symbols.

    With C columns and :math:`R = \lceil Q / C \rceil + 1` rows they are S C for the next row's number and, if C > 1,
    S C for the next column's; R - 1 and C - 1 for the one-hot vectors; two phases and a start:

    .. math:: S C\,(1 + [C > 1]) + (R - 1) + (C - 1) + 3.
    """
    return _grid_units(Q, S, grid_shape(Q, S)[1])


def unit_lower_bound(Q: int, S: int, weight_bound: int) -> int:
    r"""The least N with :math:`(2B + 1)^{N^2 + N S + 3 N + 1} \ge` the number of languages above, B the weight bound.

    So for some machine with Q states and S symbols every net that recognises its language has at least N units, if its
    weights, start and readout are integers in [-B, B], and its activation and its number of steps per symbol are given.

    Args:
        Q, S: how many states and symbols the machine has.
        weight_bound: B.

    Raises:
        ValueError: a number is not a positive integer.
    """
    Q, S, weight_bound = positive("Q", Q), positive("S", S), positive("weight_bound", weight_bound)
    numbers = _least_exponent(2 * weight_bound + 1, language_count(Q, S))
    N = max(0, (isqrt((S + 3) ** 2 + 4 * max(numbers - 1, 0)) - (S + 3)) // 2 - 1)
    while numbers > N**2 + N * (S + 3) + 1:
        N += 1
    return N


def language_count(Q: int, S: int) -> int:
    r"""A lower bound on the number of languages of machines with Q states and S symbols: :math:`Q^{(S-1)Q}`, or
    :math:`2^Q` for one symbol. The head of this module proves it.
    """
    Q, S = positive("Q", Q), positive("S", S)
    return Q ** ((S - 1) * Q) if S > 1 else 2**Q


def _grid_units(Q: int, S: int, C: int) -> int:
    return S * C * (1 + (C > 1)) + -(-Q // C) + (C - 1) + 3


def _least_exponent(base: int, count: int) -> int:
    """The least e with base**e >= count, exactly: the estimate of the logarithm only says where to start."""
    e = max(0, int((count.bit_length() - 1) / log2(base) * (1 - 1e-12)) - 1)
    power = base**e
    while power < count:
        power, e = power * base, e + 1
    return e
