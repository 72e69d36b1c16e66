"""The simple RNN of Definition 4.1 over integers and fractions: its definition, and a fast path equal to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import chain
from math import gcd
from typing import TYPE_CHECKING

from attrs import field, frozen

from fhx._checks import one_of
from fhx._extras import needs
from fhx.exact.matrix import Matrix, Rows
from fhx.exact.numbers import Activation, Exact, Number, common_denominator, dot, quotient, vector

if TYPE_CHECKING:
    import torch
    from torch import nn

ACTIVATIONS: Mapping[str, Callable[[Number], Number]] = {
    "relu": lambda x: max(x, 0),
    "slu": lambda x: min(max(x, 0), 1),
}

Scaled = tuple[dict[int, int], int]
"""A sparse state as its nonzero numerators ``{unit: integer}`` and their common denominator."""


def _W(rows: Matrix | Rows) -> Matrix:
    return Matrix.of(rows, "W")


def _U(rows: Matrix | Rows) -> Matrix:
    return Matrix.of(rows, "U")


def _b(values: Iterable[Exact]) -> tuple[Number, ...]:
    return vector(values, "b")


def _h0(values: Iterable[Exact]) -> tuple[Number, ...]:
    return vector(values, "h0")


def _names(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(names)


@frozen(repr=False)
class SimpleRNN:
    r"""A simple RNN over exact numbers,

    .. math:: h_t = \sigma(W h_{t-1} + U x_t + b), \qquad t = 1, \dots, T, \qquad h_0 \text{ given.}

    ``reference_states`` is this definition, written out. ``run`` is for one-hot inputs, and fast; both give the same
    numbers.

    Args:
        W: recurrent weights, :math:`(d, d)`, a ``Matrix`` or nested sequences.
        U: input weights, :math:`(d, d_{in})`.
        b: bias, :math:`d` numbers.
        h0: the state before the first input, :math:`d` numbers, of any sign.
        activation: :math:`\sigma`: "relu", :math:`\max(x, 0)`, or "slu", :math:`\min(\max(x, 0), 1)`.
        unit_names: all different; ``u0``, ``u1``, ... unless given.

    Raises:
        TypeError: a weight is neither an integer nor a ``Fraction``.
        ValueError: sizes do not fit, the activation is unknown, or two units share a name.

    Source: Definition 4.1 of the lecture notes; Elman (1990), "Finding structure in time".
    """

    W: Matrix = field(converter=_W)
    U: Matrix = field(converter=_U)
    b: tuple[Number, ...] = field(converter=_b)
    h0: tuple[Number, ...] = field(converter=_h0)
    activation: Activation
    unit_names: tuple[str, ...] = field(converter=_names)

    @unit_names.default
    def _numbered(self) -> tuple[str, ...]:
        return tuple(f"u{i}" for i in range(self.units))

    def __attrs_post_init__(self) -> None:
        d, names = self.units, self.unit_names
        if self.W.columns != d:
            raise ValueError(f"W must be square, since it maps a state to a state; its shape is {self.W.shape}")
        if self.U.rows != d:
            raise ValueError(f"U has {self.U.rows} rows, but W has {d}: one row per unit")
        one_of("activation", self.activation, ACTIVATIONS)
        if len(names) != d:
            raise ValueError(f"there are {len(names)} names of units, but W has {d} rows")
        if len(set(names)) != d:
            twice = next(name for i, name in enumerate(names) if name in names[:i])
            raise ValueError(f"two units are called {twice!r}: a name stands for one unit")
        vector(self.b, "b", d)
        vector(self.h0, "h0", d)

    @classmethod
    def from_torch(cls, net: nn.RNN | nn.RNNCell, h0: Iterable[Exact] | None = None) -> SimpleRNN:
        r"""A ReLU net of torch over fractions: every finite float is one, with a power of two below.

        Nothing is rounded; torch's two biases are added exactly. So the states of ``run`` are what torch's net would
        compute if it did not round, and how far torch is from them is its rounding.

        Args:
            net: ``torch.nn.RNN`` or ``RNNCell`` with ``nonlinearity="relu"``, of one layer and one direction.
            h0: the start, which torch's net does not hold; zeros if None.

        Raises:
            TypeError: it is not one of these classes, or ``h0`` holds something that is not an exact number.
            ValueError: it has another activation, several layers or both directions, or a weight that is not finite:
                all reasons; or ``h0`` does not fit.
        """
        with needs("torch"):
            from fhx.exact.torch_weights import exact_weights  # exact nets are there without torch
        W, U, b = exact_weights(net)
        return cls(W, U, b, [0] * len(b) if h0 is None else h0, activation="relu")

    def to_torch(self, dtype: torch.dtype | None = None, exact: bool = True) -> nn.RNN:
        """The weights as ``torch.nn.RNN(nonlinearity="relu")``, which reads ``(time, batch, input)``.

        It does not hold :math:`h_0`, which torch's nets are given with their input and take for zeros. Its sums are
        torch's, and may round; ``Recognizer.to_torch`` is the net that watches over that.

        Args:
            dtype: a floating-point type; None: ``torch.float64``.
            exact: refuse weights that the type would round.

        Raises:
            TypeError: ``dtype`` is not a floating-point type.
            ValueError: the units are not ReLU units; or ``exact``, and weights are not of this type.
        """
        with needs("torch"):
            from fhx.exact.torch_weights import torch_rnn  # exact nets are there without torch
        if self.activation != "relu":
            raise ValueError(
                f"torch.nn.RNN has no {self.activation} units; Recognizer.to_torch makes two relu units of each"
            )
        return torch_rnn(self.W, self.U, self.b, dtype, exact)

    def __repr__(self) -> str:
        return f"SimpleRNN(units={self.units}, input_size={self.input_size}, activation={self.activation!r})"

    @property
    def units(self) -> int:
        """:math:`d`, how many units there are."""
        return self.W.rows

    @property
    def input_size(self) -> int:
        """:math:`d_{in}`, the width of an input."""
        return self.U.columns

    @cached_property
    def is_integer(self) -> bool:
        """Whether all weights and the start are integers, so that all states are."""
        numbers = chain(self.W.entries.values(), self.U.entries.values(), self.b, self.h0)
        return all(isinstance(value, int) for value in numbers)

    def reference_states(self, xs: Iterable[Sequence[Exact]]) -> Iterator[tuple[Fraction, ...]]:
        r"""The states :math:`h_1, h_2, \dots`, one for each input, by the definition: dense, slow, and plain to see.

        Args:
            xs: the inputs, vectors of :math:`d_{in}` exact numbers.

        Raises:
            TypeError: an input holds something that is not an exact number.
            ValueError: an input does not have :math:`d_{in}` entries.
        """
        act, W, U = ACTIVATIONS[self.activation], self.W.dense(), self.U.dense()
        h = tuple(map(Fraction, self.h0))
        for t, x in enumerate(xs, start=1):
            x = vector(x, f"x_{t}", self.input_size)
            h = tuple(Fraction(act(dot(W[i], h) + dot(U[i], x) + self.b[i])) for i in range(self.units))
            yield h

    def run(self, symbols: Iterable[int | None]) -> Iterator[dict[int, Number]]:
        """The states :math:`h_0, h_1, ...` of a run on one-hot inputs, sparse: ``{unit: nonzero number}``.

        Args:
            symbols: for each step the place of the input's one, or None for the zero vector; may go on for ever.

        Raises:
            ValueError: a symbol is not a column of U.
        """
        for state, denominator in self.run_scaled(symbols):
            yield _unscaled(state, denominator)

    def step(self, state: Mapping[int, Number], symbol: int | None) -> dict[int, Number]:
        """The sparse state after ``state``: one step of ``run``."""
        denominator = common_denominator(state.values())
        numerators = {j: int(value * denominator) for j, value in state.items()}
        return _unscaled(*self._step(numerators, denominator, symbol))

    def run_scaled(self, symbols: Iterable[int | None]) -> Iterator[Scaled]:
        """``run`` with each state as integers over one denominator, ``({unit: numerator}, denominator)``.

        The pair has no common factor. It is the run's own memory, to be read and not written.
        """
        denominator = common_denominator(self.h0)
        state = {j: int(value * denominator) for j, value in enumerate(self.h0) if value}
        yield state, denominator
        step = self._step
        for symbol in symbols:
            state, denominator = step(state, denominator, symbol)
            yield state, denominator

    def _step(self, state: dict[int, int], denominator: int, symbol: int | None) -> Scaled:
        """With weights w / M and units n / D the next sums are (w n + drive D) / (M D).

        A unit whose sum gets nothing from an active unit is its drive, so it is positive only where that is.
        """
        columns, drives, scale, factor = self._columns_drives_scale_factor
        try:
            drive, positive = drives[symbol]
        except (KeyError, TypeError):
            raise ValueError(
                f"input {symbol!r} is neither a column of U, which has {self.input_size}, nor None"
            ) from None
        sums = positive.copy() if denominator == 1 else {i: value * denominator for i, value in positive.items()}
        for j, n in state.items():
            for i, w in columns[j]:
                if i in sums:
                    sums[i] += w * n
                else:
                    sums[i] = drive[i] * denominator + w * n
        denominator *= scale
        if self.activation == "relu":
            after = {i: n for i, n in sums.items() if n > 0}
        else:
            after = {i: n if n < denominator else denominator for i, n in sums.items() if n > 0}
        if denominator == 1:
            return after, 1
        return _reduced(after, denominator, factor)

    @cached_property
    def _columns_drives_scale_factor(
        self,
    ) -> tuple[list[list[tuple[int, int]]], dict[int | None, tuple[list[int], dict[int, int]]], int, int]:
        """What a step needs, over the common denominator M of W, U and b: W by columns; per symbol a, the drives
        U[:, a] + b and the positive ones among them; M; and a number with every prime that a denominator can have.
        """
        scale = common_denominator(chain(self.W.entries.values(), self.U.entries.values(), self.b))
        columns = [[(i, int(w * scale)) for i, w in self.W.column(j).items()] for j in range(self.units)]
        bias = [int(value * scale) for value in self.b]
        drives: dict[int | None, tuple[list[int], dict[int, int]]] = {}
        for symbol in (None, *range(self.input_size)):
            drive = bias.copy()
            for i, u in self.U.column(symbol).items() if symbol is not None else ():
                drive[i] += int(u * scale)
            drives[symbol] = drive, {i: value for i, value in enumerate(drive) if value > 0}
        return columns, drives, scale, scale * common_denominator(self.h0)


def _unscaled(state: dict[int, int], denominator: int) -> dict[int, Number]:
    return {i: quotient(n, denominator) for i, n in state.items()}


def _reduced(state: dict[int, int], denominator: int, factor: int) -> Scaled:
    """In lowest terms. A common divisor has only primes of ``factor``, which is short where the numbers are long, and
    a division by a short number takes linear time.
    """
    if not state:
        return state, 1
    while (common := gcd(factor, denominator, *state.values())) > 1:
        denominator //= common
        state = {i: n // common for i, n in state.items()}
    return state, denominator
