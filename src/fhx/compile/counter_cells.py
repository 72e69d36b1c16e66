r"""The cells of an LSTM that runs a counter machine: how many, and the gain that words of a length ask for."""

from collections.abc import Mapping
from itertools import chain, combinations
from math import exp, inf, tanh

from attrs import field, frozen
from frozendict import frozendict

from fhx._checks import check_kind, positive
from fhx.machines import CounterMachine
from fhx.machines.words import State, Symbol

__all__ = ["PairCell", "lstm_gain", "lstm_units", "pair_cells"]

SCALE = tanh(1.0)
"""What a hidden unit shows of a memory of 1."""
ZERO_WEIGHT = 4.0
r"""The weight of a zero test. A positive counter shows at least :math:`\tanh 2 / \tanh 1 - 1 > 1/4` of itself."""
Key = tuple[str, State | int]
"""What is read off the cells: ("state", q), ("up", i) or ("down", i)."""


def _frozen(reads: Mapping[Key, int]) -> Mapping[Key, int]:
    return frozendict(reads)


@frozen
class PairCell:
    r"""A cell that is 1 if the state was q, the symbol a, and the counters of S all 0.

    Attributes:
        state, symbol, zeros: q, a and S.
        reads: what it adds to each state and to each counter's moves.
    """

    state: State
    symbol: Symbol
    zeros: tuple[int, ...]
    reads: Mapping[Key, int] = field(converter=_frozen)


def lstm_units(machine: CounterMachine) -> int:
    r"""How many cells :func:`fhx.compile.counters_to_lstm` gives a machine: at most
    :math:`1 + k + \sum_{q, a} 2^{t(q, a)}`, with k counters of which t(q, a) are tested in state q on symbol a.

    Sets S that cancel in all sums get no cell.

    Raises:
        TypeError: ``machine`` is not a counter machine.
    """
    check_kind(machine, CounterMachine, "lstm_units")
    return 1 + machine.counters + len(pair_cells(machine))


def lstm_gain(machine: CounterMachine, length: int) -> int:
    r"""A gain with which the LSTM of a machine is right on all words of up to n symbols, in exact arithmetic.

    Let :math:`L` be the largest sum of absolute values of what H, D, A or the output reads off the pair cells and
    ``start``, and :math:`\sigma` the logistic function. Suppose that until some step every pair cell shows
    :math:`\tau` times its bit but for :math:`\tau \varepsilon`, and every counter cell holds its count but for
    :math:`E \le 1`. Then each sum that drives an input gate, and the output, is right but for

    .. math:: G = L \varepsilon + 4 k \Big(\frac{\sigma(-K) + E}{\tau} + L \varepsilon\Big).

    If :math:`K G \le 1`, input gates are within :math:`s = \sigma(1 - K/2)` of 0 or 1, and after the step

    .. math:: \varepsilon \le \frac{s + 2 e^{-2K} + 3 \sigma(-K)}{\tau}, \qquad
       E \le (n + 1) \big(s + 2 e^{-3K/2} + (n + 2)\, \sigma(-K)\big),

    where the terms are the input gate, the candidate, the forget gate and the output gate. So it suffices that these
    two bounds make :math:`K G \le 1 \le K / 2` true: then the induction never ends. The least such whole K is returned;
    since :math:`s \approx e^{1 - K/2}` it is :math:`2 \ln n + 2 \ln \ln n + O(1)`.

    Args:
        machine: a counter machine.
        length: n.

    Raises:
        TypeError: ``machine`` is not a counter machine.
        ValueError: ``length`` is not a positive integer.
    """
    check_kind(machine, CounterMachine, "lstm_gain")
    n, L, k = positive("length", length), _largest_reading(machine), machine.counters
    K = 2
    while K * _error_in_gates(K, n, L, k) > 1:
        K += 1
    return K


def pair_cells(machine: CounterMachine) -> list[PairCell]:
    """The pair cells, by state, symbol and set of counters; those that cancel in all sums left out."""
    cells = []
    for q in machine.states:
        for a in machine.alphabet:
            tested = machine.tested(q, a)
            for zeros in chain.from_iterable(combinations(tested, size) for size in range(len(tested) + 1)):
                inside = chain.from_iterable(combinations(zeros, size) for size in range(len(zeros) + 1))
                reads: dict[Key, int] = {}
                for Z in inside:
                    counts = [0 if i in Z else 1 for i in range(machine.counters)]
                    for rule in (rule for rule in machine.rules_of(q, a) if rule.applies(counts)):
                        moves = {("up" if move > 0 else "down", i): 1 for i, move in enumerate(rule.moves) if move}
                        for key in (("state", rule.target), *moves):
                            reads[key] = reads.get(key, 0) + (-1) ** (len(zeros) - len(Z))
                if reads := {key: number for key, number in reads.items() if number}:
                    cells.append(PairCell(q, a, zeros, reads))
    return cells


def _largest_reading(machine: CounterMachine) -> int:
    """L: how much of the errors of pair cells and of ``start`` a sum can take up."""
    cells = pair_cells(machine)
    sums = [[cell.reads.get(("state", q), 0) for cell in cells] + [q == machine.start] for q in machine.states]
    accepted = [
        sum(column)
        for column in zip(*(s for q, s in zip(machine.states, sums, strict=True) if q in machine.accept), strict=True)
    ]
    sums.append(accepted)
    for i in range(machine.counters):
        up, down = ([cell.reads.get((what, i), 0) for cell in cells] for what in ("up", "down"))
        sums += [[u + v for u, v in zip(up, down, strict=True)], [u - v for u, v in zip(up, down, strict=True)]]
    return max(sum(map(abs, numbers)) for numbers in sums)


def _error_in_gates(K: float, n: int, L: int, k: int) -> float:
    """G, if it is small enough for the bounds behind it; else infinity."""
    off, s = 1 / (1 + exp(K)), 1 / (1 + exp(K / 2 - 1))
    eps = (s + 2 * exp(-2 * K) + 3 * off) / SCALE
    E = (n + 1) * (s + 2 * exp(-1.5 * K) + (n + 2) * off)
    G = L * eps + ZERO_WEIGHT * k * ((off + E) / SCALE + L * eps)
    return G if E <= 1 and L * eps <= 1 / 4 else inf
