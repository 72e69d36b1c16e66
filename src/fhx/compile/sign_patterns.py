r"""What nets cannot do whatever their weights: how many verdicts they can give, counted by cells.

A piecewise linear unit looks at the sign of an affine function or of a few: one for a ReLU, two for an slu. These
signs, of all units at all steps, are a *pattern*, and two nets, or two states of a net, with the same pattern on some
words give the same verdicts on them. Two facts bound the number of patterns. A sign is here whether a value is above 0
or not.

* M affine functions on :math:`\mathbb R^d` have at most :math:`\sum_{i \le d} \binom{M}{i}` patterns of signs.
* M polynomials of degree at most D in P variables have at most :math:`(4 e D M / P)^P`, if :math:`M \ge P`
  (Warren 1968).

Both are stated for cells of the complement of the zero sets. To count patterns with values that are 0, take a point
for each pattern and subtract from all functions a positive number that is less than all values above 0 at these points:
no sign changes, and no value is 0.

Sources: Warren, Lower bounds for approximation by nonlinear manifolds (1968); Goldberg and Jerrum (1995) and Bartlett,
Maiorov and Meir (1998) count so for feed-forward nets, layer by layer.
"""

from collections.abc import Iterable, Sequence
from itertools import accumulate, count
from math import comb, e, lgamma, log, log2, prod

from fhx._checks import at_least, positive
from fhx.machines import DFA

__all__ = ["affine_patterns", "lookup_dfa", "lookup_units", "real_time_limit", "verdict_patterns"]

SLACK = 1 + 1e-9
"""What the logarithms of a bound are enlarged by, so that rounding cannot make it too small."""


def affine_patterns(functions: int, dimension: int) -> int:
    r"""The most patterns of signs of M affine functions on :math:`\mathbb R^d`, :math:`\sum_{i \le d} \binom{M}{i}`.

    The bound is reached, by hyperplanes in general position.

    Args:
        functions: M.
        dimension: d.

    Raises:
        ValueError: a number is negative or not whole.
    """
    functions, dimension = at_least("functions", functions, 0), at_least("dimension", dimension, 0)
    return sum(comb(functions, i) for i in range(min(dimension, functions) + 1))


def verdict_patterns(
    units: int, length: int, *, symbols: int = 2, steps_per_symbol: int = 1, breakpoints: int = 1
) -> int:
    r"""How many sets of words of a length n a net can tell apart by its states, at most.

    Let a net have d units with q breakpoints each and any real weights, and read each of s symbols in k steps. From a
    state :math:`h \in \mathbb R^d` it accepts some of the :math:`s^n` words of length n. Over all states there are at
    most

    .. math:: \prod_{i=1}^{n} R(d\,q\,s^i)^k \cdot R(s^n) = 2^{O(d k n^2)}, \qquad
       R(M) = \sum_{j \le d} \binom{M}{j},

    different sets. For a pattern of all units in the first steps fixes every state after them as an affine function of
    h, for each of the words that were read; so the next step, after :math:`s^i` words, adds :math:`d\,q\,s^i`
    affine functions, and splits each cell into at most :math:`R(d\,q\,s^i)`. At the end stand the outputs,
    :math:`s^n` of them.

    Args:
        units: d.
        length: n.
        symbols: s, that occur in the words of length n.
        steps_per_symbol: k.
        breakpoints: q, 1 for ReLUs and 2 for saturated units.

    Raises:
        ValueError: the length is negative, another number is not positive, or one is not whole.
    """
    units, symbols, k = (
        positive("units", units),
        positive("symbols", symbols),
        positive("steps_per_symbol", steps_per_symbol),
    )
    length, breakpoints = at_least("length", length, 0), positive("breakpoints", breakpoints)
    factors = [affine_patterns(units * breakpoints * symbols**i, units) ** k for i in range(1, length + 1)]
    return prod(factors, start=affine_patterns(symbols**length, units))


def real_time_limit(units: int, *, steps_per_symbol: int = 1, breakpoints: int = 1) -> int:
    r"""For which n no net of this size recognises the words :math:`u_1 \# \dots \# u_r \#\# v` of bits, all
    :math:`u_i` and v of length n, in which v is among the :math:`u_i`.

    What stands before v is a set of words of n bits, and each of the :math:`2^{2^n}` sets needs a state of its own: the
    v that are accepted after it are its elements. So :math:`2^{2^n}` is at most :func:`verdict_patterns`, which grows
    like :math:`2^{O(n^2)}`. This is the least n for which it is not.

    Args:
        units: d, at least 1.
        steps_per_symbol: k.
        breakpoints: of a unit, 1 for ReLUs and 2 for saturated units.

    Raises:
        ValueError: a number is not a positive integer.
    """
    units, k = positive("units", units), positive("steps_per_symbol", steps_per_symbol)
    q = positive("breakpoints", breakpoints)
    letters = accumulate(k * log2(affine_patterns(units * q * 2**n, units)) for n in count(1))
    patterns = ((n, bits + log2(affine_patterns(2**n, units))) for n, bits in enumerate(letters, 1))
    return next(n for n, bits in patterns if bits * SLACK < 2**n)


def lookup_dfa(table: Sequence[Iterable[int]]) -> DFA:
    r"""The machine that looks up a bit: it accepts the words :math:`u 0^i` with the i-th bit of entry u equal to 1.

    The table has :math:`2^l` entries of l bits, u has l bits, and i runs from 1 to l. There are
    :math:`2^{l 2^l}` tables, and each machine has :math:`3 \cdot 2^l` states: the words of up to l bits; then an
    entry, which is accepted if its first bit is 1 and from which each further 0 takes that bit off and puts a 0
    behind; and a sink.

    Raises:
        ValueError: the number of entries is not a power of 2, 2 at least, or an entry has another length, or something
            that is not a bit.
    """
    entries = [tuple(entry) for entry in table]
    l = len(entries).bit_length() - 1
    if l < 1 or len(entries) != 2**l:
        raise ValueError(f"a table has 2, 4, 8, ... entries, not {len(entries)}")
    for i, entry in enumerate(entries):
        if len(entry) != l or not set(entry) <= {0, 1}:
            raise ValueError(f"entry {i} is to be {l} bits, got {entry}")
    read = ["".join(format(i, f"0{n}b")) if n else "" for n in range(l + 1) for i in range(2**n)]
    held = [tuple(map(int, format(i, f"0{l}b"))) for i in range(2**l)]
    after: dict[tuple[object, str], object] = {}
    for u in read:
        for x in "01":
            after[u, x] = u + x if len(u) < l else entries[int(u, 2)] if x == "0" else "sink"
    for bits in held:
        after |= {(bits, "0"): (*bits[1:], 0), (bits, "1"): "sink"}
    after |= {("sink", x): "sink" for x in "01"}
    return DFA([*read, *held, "sink"], "01", after, "", [bits for bits in held if bits[0]])


def lookup_units(bits: int, *, steps_per_symbol: int = 1, breakpoints: int = 1) -> int:
    r"""How many units a net needs for some machine of :func:`lookup_dfa` with words of l bits, whatever its weights.

    A net of N units that reads two symbols is :math:`P = N^2 + 5 N + 1` real numbers W, U, b, :math:`h_0` and the
    readout. The value of a unit at step j is a polynomial in them of degree j + 1 as long as the pattern of all steps
    before is fixed, and there are :math:`M_j = q N c_i` of them, :math:`c_i = 2^{\min(i, l)}` the words of
    :math:`i = \lceil j / k \rceil` letters that are beginnings of a :math:`u 0^l`. So nets give at most

    .. math:: \prod_{j=1}^{2 l k} W_j \cdot W_{\mathrm{out}}, \qquad
       W_j = \min\Big\{ 2^{M_j}, \Big(\frac{4 e\,(j + 1)\,M_j}{P}\Big)^P \Big\},

    (the first alone if :math:`M_j < P`) families of verdicts on the :math:`l 2^l` words that read all bits, and
    :math:`2^{l 2^l}` are needed. With :math:`m = 3 \cdot 2^l` states that asks for
    :math:`N = \Omega(\sqrt{m / (k \log (k m))})`.

    Args:
        bits: l.
        steps_per_symbol: k.
        breakpoints: q, 1 for ReLUs and 2 for saturated units.

    Raises:
        ValueError: a number is not a positive integer.
    """
    l, k, q = (
        positive("bits", bits),
        positive("steps_per_symbol", steps_per_symbol),
        positive("breakpoints", breakpoints),
    )
    low, high = 0, 2**l  # too few units, and more than enough
    while high - low > 1:
        N = (low + high) // 2
        low, high = (low, N) if _lookup_capacity(N, l, k, q) * SLACK >= l * 2**l else (N, high)
    return high


def _lookup_capacity(N: int, l: int, k: int, q: int) -> float:
    """The logarithm of the families of verdicts of nets of N units, to the base 2."""
    P = N * N + 5 * N + 1

    def patterns(polynomials: int, first: int, last: int) -> float:
        """Those of so many polynomials of each degree from the first to the last."""
        steps = last - first + 1
        if polynomials < P:
            return polynomials * steps
        degrees = (lgamma(last + 1) - lgamma(first)) / log(2)
        return min(polynomials * steps, P * (steps * log2(4 * e * polynomials / P) + degrees))

    letters = [patterns(q * N * 2 ** min(i, l), (i - 1) * k + 2, i * k + 1) for i in range(1, 2 * l + 1)]
    return sum(letters) + patterns(l * 2**l, 2 * l * k + 2, 2 * l * k + 2)
