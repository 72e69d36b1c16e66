r"""A stack of bounded height in bits, and with it the brackets of k kinds and depth m in O(m log k) units."""

from collections.abc import Iterable, Mapping
from typing import SupportsIndex

from attrs import field, frozen

from fhx._checks import positive
from fhx.exact import Expression, Matrix, Recognizer, SimpleRNN, StateDecoder, const, sum_of, variable
from fhx.exact.numbers import Number
from fhx.machines import bracket_pairs

__all__ = ["DyckLayout", "dyck_to_rnn", "dyck_units"]


def _k(k: SupportsIndex) -> int:
    return positive("k", k)


def _m(m: SupportsIndex) -> int:
    return positive("m", m)


@frozen
class DyckLayout:
    r"""Which unit of :func:`fhx.compile.dyck_to_rnn` holds which bit of a stack, and back.

    Args:
        k: kinds of brackets; kind :math:`0, 1, \dots` is written in :math:`b = \lceil \log_2 k \rceil` bits.
        m: the largest height.

    Raises:
        ValueError: k or m is not a positive integer.
    """

    k: int = field(converter=_k)
    m: int = field(converter=_m)

    @property
    def bits(self) -> int:
        """b, the bits of a kind."""
        return (self.k - 1).bit_length()

    @property
    def depth(self) -> tuple[str, ...]:
        """Whether there are at least 1, ..., m brackets, and last whether there were more than m just now."""
        return tuple(f"depth {i}" for i in range(1, self.m + 2))

    @property
    def top(self) -> tuple[str, ...]:
        """The bits of the uppermost bracket, the lowest bit first; all 0 if there is none."""
        return tuple(f"top.{j}" for j in range(self.bits))

    @property
    def slots(self) -> tuple[tuple[str, ...], ...]:
        """The bits of the first, ..., (m - 1)-th bracket; all 0 unless there is another one on it."""
        return tuple(tuple(f"slot {i}.{j}" for j in range(self.bits)) for i in range(1, self.m))

    @property
    def above(self) -> str | None:
        """Whether the kind on top was above that of the closing bracket just read; None if there is one kind."""
        return "above" if self.k > 1 else None

    @property
    def wrong(self) -> str:
        """Whether another fault was made, or any before the last symbol."""
        return "wrong"

    @property
    def names(self) -> tuple[str, ...]:
        """All units, in order."""
        slots = (name for slot in self.slots for name in slot)
        return (*self.depth, *self.top, *slots, *([self.above] if self.above else []), self.wrong)

    def encode(self, stack: Iterable[str]) -> dict[str, int]:
        """The units that hold a stack, the bottom first.

        Args:
            stack: opening brackets of :func:`fhx.machines.bracket_pairs`.

        Raises:
            ValueError: there are more than m, or a symbol is not an opening bracket.
        """
        stack, openings = tuple(stack), [opening for opening, _ in bracket_pairs(self.k)]
        if len(stack) > self.m or not set(stack) <= set(openings):
            raise ValueError(f"a stack has at most {self.m} of the brackets {openings}, and this is {stack}")
        bits = dict.fromkeys(self.names, 0) | dict.fromkeys(self.depth[: len(stack)], 1)
        for place, symbol in zip([*self.slots[: max(len(stack) - 1, 0)], self.top], stack, strict=False):
            bits |= {name: openings.index(symbol) >> j & 1 for j, name in enumerate(place)}
        return bits

    def decode(self, bits: Mapping[str, Number]) -> tuple[str, ...] | None:
        """The stack, the bottom first; None if a fault was made.

        Args:
            bits: what ``decode`` of the net gives.
        """
        if bits[self.wrong] or bits[self.depth[-1]] or (self.above and bits[self.above]):
            return None
        height = sum(int(bits[name]) for name in self.depth)
        places = [*self.slots[: height - 1], self.top] if height else []
        kinds = (sum(int(bits[name]) << j for j, name in enumerate(place)) for place in places)
        return tuple(bracket_pairs(self.k)[kind][0] for kind in kinds)


def dyck_units(k: SupportsIndex, m: SupportsIndex) -> int:
    r"""Units of :func:`fhx.compile.dyck_to_rnn`: :math:`m(\lceil \log_2 k \rceil + 1) + 3`, and m + 2 for k = 1.

    They are 0 or 1. Any net with such units, whatever it does, has at least :math:`\log_2 S` of them, where S is
    :func:`fhx.machines.dyck_states`, since it has a state for each of the machine's, which is minimal. As
    :math:`S > k^m` and, for k > 1, :math:`\lceil \log_2 k \rceil + 1 \le 2 \log_2 k`, there are at most three units
    more than twice this bound.

    Args:
        k: kinds of brackets.
        m: the largest depth.

    Raises:
        ValueError: k or m is not a positive integer.
    """
    layout = DyckLayout(k, m)
    return layout.m * (layout.bits + 1) + 2 + (layout.k > 1)


def dyck_to_rnn(k: SupportsIndex, m: SupportsIndex) -> Recognizer:
    r"""A simple RNN of saturated units with whole weights for Dyck-(k, m), one step a symbol.

    **State.** All units are 0 or 1. In a stack of d brackets :math:`t_i = \mathbb{I}[d \ge i]` for
    :math:`i \le m + 1`; the bits :math:`T_j` say which kind is on top, and :math:`s_{ij}` which is the i-th, if
    :math:`i < d`, and are 0 if not; *above* and *wrong* are about faults. An opening bracket has p = 1 and the bits
    :math:`c_j` of its kind, a closing one q = 1 and the number C of its kind; of the bracket on top the number is
    :math:`N = \sum_j 2^j T_j`, 0 in the empty stack. Let K be the power of two :math:`2^b`, all numbers being less,
    and :math:`H = 2^{\max(m - 2, 0)}`.

    **Step**, each line the argument of one slu, with :math:`\mathrm{lost} = \text{wrong} + t_{m+1} + \text{above}`
    and :math:`t_{m+2} = 0`:

    .. math::

       \begin{aligned}
       t_1' &: C - N + t_2 + 1 - t_1 + K p + K\,\mathrm{lost}, \\
       t_i' &: t_{i-1} + t_{i+1} - q \quad (2 \le i \le m + 1), \\
       s_{ij}' &: 4 s_{ij} + T_j + t_i - 3 t_{i+1} + 2 t_{i+2} + 2 p - 3 \quad (i < m), \\
       T_j' &: \textstyle\sum_{i<m} 2^{i-1} s_{ij} - \sum_{i=3}^m 2^{i-3} t_i + H (2 c_j - p), \\
       \text{above}' &: N - C - K p - K\,\mathrm{lost}, \\
       \text{wrong}' &: C - N + 1 - t_1 - p + (K + 1)\,\mathrm{lost}.
       \end{aligned}

    The output is :math:`1 - t_1 - \text{above}`.

    **Proof.** All numbers are whole, so an argument gives 1 if it is at least 1, and else 0. Let the state hold a stack
    of d brackets, and lost = 0.

    - *Depth*, :math:`i \ge 2`. As :math:`t_{i-1} \ge t_{i+1}`, the sum of both is at least 1 if
      :math:`t_{i-1} = 1`, and 2 if :math:`t_{i+1} = 1`: with p it is the former that counts, with q the latter. So
      :math:`t_{m+1}' = 1` just if a bracket is opened on m others.
    - *Slots*. If d < i then :math:`s_{ij} = t_i = 0`, and the argument is at most :math:`T_j + 2p - 3 \le 0`. If
      d = i it is :math:`T_j + 2p - 2`: the bit of the top, if a bracket is opened on it, and else 0. If d = i + 1 it is
      :math:`4 s_{ij} + T_j + 2p - 5`: the bit stays if p = 1, and is deleted if q = 1. If d > i + 1 it is
      :math:`4 s_{ij} + T_j + 2p - 3`: the bit stays.
    - *Top*. Without H the argument is at least 1 just if the bit of slot d - 1 is 1: this slot weighs
      :math:`2^{d-2}`, those below it :math:`2^{d-2} - 1` together, as much as is subtracted, and those above it are 0.
      For d < 2 it is 0. So it is right if q = 1. It is at least :math:`1 - H` and at most H, so that if p = 1 the bit
      :math:`c_j` decides.
    - *Closing*, q = 1. If d = 0 then N = 0, :math:`t_1' = \text{wrong}' = 1` and above' = 0. If N = C and d > 0 then
      above' = wrong' = 0, and :math:`t_1' = t_2` is right. If N < C then :math:`t_1' = \text{wrong}' = 1` and
      above' = 0. If N > C then above' = 1 and wrong' = 0, and as :math:`C - N + t_2 \le 0`, :math:`t_1' = 0`.
    - *Opening*, p = 1. :math:`t_1' = 1` and above' = wrong' = 0, since :math:`0 \le N < K` and
      :math:`1 - t_1 - p \le 0`.

    So without a fault the state holds the new stack, and the output is :math:`1 - t_1'`, 1 just if it is empty. With a
    fault lost' is at least 1, and the output is 0: either :math:`t_1' = 1` and above' = 0, or the other way round. And
    **lost stays**: whatever bits the other units then hold, N is between 0 and K - 1, so that the arguments of
    :math:`t_1'` and wrong' are at least 1 and that of above' is at most -1, and the output is 0 again.

    There are :func:`fhx.compile.dyck_units` units, for m + 1 depths, m kinds, above and wrong; no weight exceeds
    K + 1, 4 and H. :class:`fhx.compile.DyckLayout` turns what the net decodes into the stack.

    **To predict** the next symbol of words without a fault, above, wrong and :math:`t_{m+1}` are not needed, and
    :math:`t_2 + p` will do for :math:`t_1'`: :math:`m (b + 1)` units. An opening bracket may follow if :math:`t_m = 0`,
    and the closing one with the bits :math:`c_j` if :math:`t_1 = 1` and no :math:`T_j` differs, which is
    :math:`t_1 + \sum_j (2 c_j - 1) T_j - \sum_j c_j \ge 1`.

    Args:
        k: kinds of brackets, those of :func:`fhx.machines.bracket_pairs`.
        m: the largest depth.

    Raises:
        ValueError: k or m is not a positive integer.

    Source: Hewitt, Hahn, Ganguli, Liang and Manning (2020), "RNNs can generate bounded hierarchical languages with
    optimal memory". Theirs predicts, and shifts all brackets by a slot in each step, in :math:`m (6 b - 2)` logistic
    units for :math:`k = 2^b`.
    """
    layout = DyckLayout(k, m)
    k, m, b = layout.k, layout.m, layout.bits
    K, H = 2**b, 2 ** max(m - 2, 0)
    pairs = bracket_pairs(k)
    opened, closed = ([variable(f"x={pair[side]}") for pair in pairs] for side in (0, 1))
    p, q = sum_of(opened), sum_of(closed)
    c = [sum_of(x for kind, x in enumerate(opened) if kind >> j & 1) for j in range(b)]
    C = sum_of(kind * x for kind, x in enumerate(closed))

    t = [const(1), *map(variable, layout.depth), const(0)]
    T = [variable(name) for name in layout.top]
    s = [[variable(name) for name in slot] for slot in layout.slots]
    N = sum_of(2**j * bit for j, bit in enumerate(T))
    above = variable(layout.above) if layout.above else const(0)
    lost = variable(layout.wrong) + t[m + 1] + above

    argument = {layout.depth[0]: C - N + t[2] + 1 - t[1] + K * p + K * lost}
    argument |= {layout.depth[i - 1]: t[i - 1] + t[i + 1] - q for i in range(2, m + 2)}
    for j, name in enumerate(layout.top):
        below = sum_of(2**i * slot[j] for i, slot in enumerate(s))
        argument[name] = below - sum_of(2 ** (i - 3) * t[i] for i in range(3, m + 1)) + H * (2 * c[j] - p)
    for i, names in enumerate(layout.slots, start=1):
        here = t[i] - 3 * t[i + 1] + 2 * t[i + 2] + 2 * p - 3
        argument |= {name: 4 * s[i - 1][j] + T[j] + here for j, name in enumerate(names)}
    if layout.above:
        argument[layout.above] = N - C - K * p - K * lost
    argument[layout.wrong] = C - N + 1 - t[1] - p + (K + 1) * lost
    inputs = [next(iter(x.variables)) for pair in zip(opened, closed, strict=True) for x in pair]
    return _recognizer(argument, inputs, 1 - t[1] - above, [symbol for pair in pairs for symbol in pair])


def _recognizer(
    argument: Mapping[str, Expression], inputs: list[str], out: Expression, alphabet: list[str]
) -> Recognizer:
    """The net of slu units with these arguments, all 0 at first; its state is that of the step, so none is for h0."""
    names, d = list(argument), len(argument)

    def rows(columns: list[str]) -> Matrix:
        terms = [e.affine_terms() for e in argument.values()]
        return Matrix(
            (d, len(columns)), {(i, j): e.get(v, 0) for i, e in enumerate(terms) for j, v in enumerate(columns)}
        )

    b = [e.constant for e in argument.values()]
    rnn = SimpleRNN(rows(names), rows(inputs), b, [0] * d, "slu", names)
    w = [out.affine_terms().get(name, 0) for name in names]
    same = StateDecoder(names, Matrix((d, d), {(i, i): 1 for i in range(d)}), [0] * d)
    return Recognizer(rnn, w, out.constant, alphabet, decoder=same)
