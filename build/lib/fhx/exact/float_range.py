"""In which range a float type runs a net without rounding."""

from fractions import Fraction

import torch
from attrs import evolve

from fhx.exact.matrix import Matrix
from fhx.exact.numbers import Number, size
from fhx.exact.simple_rnn import SimpleRNN
from fhx.exact.word_reader import WordReader

TENSOR_FLOAT = 2**11  # products on a GPU may round float32 operands to TensorFloat-32, which has 11 bits


def two_relus(net: WordReader) -> WordReader:
    r"""The same net with ReLU units, two for each SLU unit:

    .. math:: \mathrm{slu}(s) = \mathrm{relu}(s) - \mathrm{relu}(s - 1).

    The first d units are the minuends, the other d the subtrahends; whatever read a unit reads the difference. The
    start is :math:`(h_0, 0)`. A net with ReLU units is returned as it is.
    """
    rnn = net.rnn
    if rnn.activation == "relu":
        return net
    d = rnn.units
    W = {
        (i + row, j + column): w if column == 0 else -w
        for (i, j), w in rnn.W.entries.items()
        for row in (0, d)
        for column in (0, d)
    }
    U = {(i + row, a): u for (i, a), u in rnn.U.entries.items() for row in (0, d)}
    relu = SimpleRNN(
        W=Matrix((2 * d, 2 * d), W),
        U=Matrix((2 * d, rnn.input_size), U),
        b=rnn.b + tuple(value - 1 for value in rnn.b),
        h0=rnn.h0 + (0,) * d,
        activation="relu",
        unit_names=tuple(f"{name}{part}" for part in "+-" for name in rnn.unit_names),
    )
    return evolve(net, rnn=relu, w=net.w + tuple(-value for value in net.w), decoder=None)


def largest_exact_state(net: WordReader, largest: int) -> int:
    r"""The largest H such that a step from a state with :math:`|h_j| \le H`, and the readout of one, stay within
    ``largest``, L, in each partial sum, in any order; negative if there is none:

    .. math::

       \sum_j |W_{ij}| H + \max_a |U_{ia}| + |b_i| \le L \text{ for all } i, \qquad \sum_j |w_j| H + |c| \le L.
    """
    rnn = net.rnn
    sums: list[tuple[Number, Number]] = [(sum((size(w) for w in net.w), 0), size(net.c))]
    for i in range(rnn.units):
        drive = max((size(u) for u in rnn.U.row(i).values()), default=0) + size(rnn.b[i])
        sums.append((sum((size(w) for w in rnn.W.row(i).values()), 0), drive))
    bounds = ((largest - rest) // weight if weight else largest if rest <= largest else -1 for weight, rest in sums)
    return min([largest, *bounds])


def exact_ranges(relu: WordReader, dtype: torch.dtype) -> tuple[int, int]:
    r"""The largest exact state, without and with float32 products in TensorFloat-32 (negative: none is).

    Args:
        relu: a net with ReLU units.
        dtype: a floating-point type.

    Raises:
        ValueError: there is none, since a number is not an integer, or the weights or the start are too large.
    """
    rnn, integers = relu.rnn, int(2 / torch.finfo(dtype).eps)
    arrays: dict[str, dict[str, Number]] = {
        "W": {f"W[{i}, {j}]": value for (i, j), value in rnn.W.entries.items()},
        "U": {f"U[{i}, {a}]": value for (i, a), value in rnn.U.entries.items()},
        "b": {f"b[{i}]": value for i, value in enumerate(rnn.b)},
        "h0": {f"h0[{i}]": value for i, value in enumerate(rnn.h0)},
        "w": {f"w[{j}]": value for j, value in enumerate(relu.w)},
        "c": {"c": relu.c},
    }
    reasons = []
    for name, entries in arrays.items():
        fractions = [f"{place} = {value}" for place, value in entries.items() if isinstance(value, Fraction)]
        if fractions:
            reasons.append(f"{name} holds {len(fractions)} numbers that are not integers, the first {fractions[0]}")
    largest, start = largest_exact_state(relu, integers), max((size(value) for value in rnn.h0), default=0)
    if largest < max(start, 1):
        reasons.append(
            f"within {dtype}, exact up to {integers}, these weights allow units up to {largest} only, "
            f"and h_0 has {start}"
        )
    if reasons:
        raise ValueError(f"no exact net in {dtype}: {'; '.join(reasons)}. With exact=False the weights are rounded")
    heaviest = max((size(value) for name in "WUw" for value in arrays[name].values()), default=0)
    return largest, min(largest, TENSOR_FLOAT) if max(heaviest, start) <= TENSOR_FLOAT else -1
