"""A simple RNN with an affine readout, and how a compiled net holds the state of what it came from."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import SupportsIndex

from attrs import field, frozen
from attrs.validators import instance_of, optional

from fhx._checks import positive
from fhx.exact.matrix import Matrix, Rows
from fhx.exact.numbers import Exact, Number, vector
from fhx.exact.simple_rnn import SimpleRNN

State = Mapping[int, Number] | Sequence[Number]
"""A net's state: sparse, ``{unit: number}``, or all its numbers in order."""


def _names(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(names)


def _D(rows: Matrix | Rows) -> Matrix:
    return Matrix.of(rows, "D")


def _d(values: Iterable[Exact]) -> tuple[Number, ...]:
    return vector(values, "d")


def _V(rows: Matrix | Rows) -> Matrix:
    return Matrix.of(rows, "V")


def _c(values: Iterable[Exact]) -> tuple[Number, ...]:
    return vector(values, "c")


@frozen
class StateDecoder:
    r"""How a net's state holds the state of the step that it was compiled from: the latter is :math:`D h + d`.

    Args:
        names: the names of the step's state, one for each row of D.
        D: :math:`(n, d)`.
        d: :math:`n` numbers.

    Raises:
        TypeError: an entry is not an exact number.
        ValueError: the sizes do not fit.
    """

    names: tuple[str, ...] = field(converter=_names)
    D: Matrix = field(converter=_D)
    d: tuple[Number, ...] = field(converter=_d)

    def __attrs_post_init__(self) -> None:
        vector(self.d, "d", len(self.names))
        if self.D.rows != len(self.names):
            raise ValueError(f"D has {self.D.rows} rows for {len(self.names)} names")

    def row(self, name: str) -> Mapping[int, Number]:
        """The units that hold a name of the step's state, with their weights; a KeyError if there is no such name."""
        return self._rows[name]

    @cached_property
    def _rows(self) -> Mapping[str, Mapping[int, Number]]:
        return {name: self.D.row(i) for i, name in enumerate(self.names)}

    def decode(self, state: State) -> dict[str, Number]:
        """The state of the step, by name.

        Raises:
            TypeError: an entry of the state is not an exact number.
            ValueError: the state is not one of the net.
        """
        return dict(zip(self.names, affine(self.D, state, self.d), strict=True))


def affine(A: Matrix, state: State, c: Sequence[Number]) -> tuple[Number, ...]:
    """:math:`A h + c` for a dense or sparse state h.

    Raises:
        TypeError: an entry of the state is not an exact number.
        ValueError: the state does not have A's width.
    """
    if isinstance(state, Mapping):
        check_units(state, A.columns)
        state = [state.get(j, 0) for j in range(A.columns)]
    products = A @ vector(state, "the state", A.columns)
    return vector((a + b for a, b in zip(products, c, strict=True)), "")


def check_units(state: Iterable[int], units: int) -> None:
    """Raises a ValueError unless the keys of a sparse state are units."""
    for unit in state:
        if unit not in range(units):
            raise ValueError(f"the state has a unit {unit!r}, but the net has {units}")


def whole_steps(steps_per_symbol: SupportsIndex) -> int:
    """The number as an integer; a ValueError unless it is positive."""
    return positive("steps_per_symbol", steps_per_symbol)


def check_decoder(decoder: StateDecoder | None, rnn: SimpleRNN) -> None:
    """Raises a ValueError unless the decoder, if any, reads states of the net."""
    if decoder is not None and decoder.D.columns != rnn.units:
        raise ValueError(f"the decoder reads {decoder.D.columns} units, but the net has {rnn.units}")


def found_decoder(decoder: StateDecoder | None) -> StateDecoder:
    """The decoder of a net; a ValueError if it has none."""
    if decoder is None:
        raise ValueError("this net has no decoder: it was not compiled from a step")
    return decoder


@frozen(repr=False)
class Network:
    r"""A network :math:`\mathrm{out} \circ \mathrm{rec}` with :math:`\mathrm{out}(h) = V h + c`, a vector.

    Args:
        rnn: rec.
        V: readout weights, :math:`(m, d)`.
        c: readout bias, :math:`m` numbers.
        steps_per_symbol: k. Each input is followed by k - 1 zero vectors, and the output is read after the last.
        decoder: how the net's state holds that of the step it was compiled from, if it was.

    Raises:
        TypeError: a weight is not an exact number, or the net is not a ``SimpleRNN``.
        ValueError: sizes do not fit.
    """

    rnn: SimpleRNN = field(validator=instance_of(SimpleRNN))
    V: Matrix = field(converter=_V)
    c: tuple[Number, ...] = field(converter=_c)
    steps_per_symbol: int = field(default=1, converter=whole_steps)
    _decoder: StateDecoder | None = field(default=None, validator=optional(instance_of(StateDecoder)))

    def __attrs_post_init__(self) -> None:
        if self.V.columns != self.rnn.units:
            raise ValueError(f"V has {self.V.columns} columns, but the net has {self.rnn.units} units")
        check_decoder(self._decoder, self.rnn)
        vector(self.c, "c", self.V.rows)

    def __repr__(self) -> str:
        return f"Network({self.rnn!r}, outputs={self.V.rows})"

    @property
    def units(self) -> int:
        """How many units the net has."""
        return self.rnn.units

    @property
    def decoder(self) -> StateDecoder:
        """How the net's state holds that of the step it was compiled from; a ValueError if it was not compiled."""
        return found_decoder(self._decoder)

    def outputs(self, xs: Iterable[Sequence[Exact]]) -> Iterator[tuple[Number, ...]]:
        """The output after each input, by the definition: ``rnn.reference_states``, then the readout.

        Raises:
            TypeError: an input holds something that is not an exact number.
            ValueError: an input has the wrong width.
        """
        k, zero = self.steps_per_symbol, (0,) * self.rnn.input_size
        fed = (each for x in xs for each in (x, *[zero] * (k - 1)))
        for h in islice(self.rnn.reference_states(fed), k - 1, None, k):
            yield affine(self.V, h, self.c)

    def decode(self, state: State) -> dict[str, Number]:
        """The state of the step that the net was compiled from, by name.

        Raises:
            ValueError: the net was not compiled, or the state is not one of its states.
        """
        return self.decoder.decode(state)
