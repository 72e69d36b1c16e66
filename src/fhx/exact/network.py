"""A simple RNN with an affine readout, and the code by which a compiled net holds the state of what it came from."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fhx.exact.matrix import Matrix
from fhx.exact.numbers import Number, vector
from fhx.exact.simple_rnn import SimpleRNN

State = Mapping[int, Number] | Sequence[Number]
"""A net's state: sparse, ``{unit: number}``, or all its numbers in order."""


@dataclass(frozen=True)
class Code:
    r"""How a net's state holds the state of the step that it was compiled from: the latter is :math:`D h + d`.

    Args:
        names: the names of the step's state, one to a row of D.
        D: :math:`(n, d)`.
        d: :math:`n` numbers.

    Raises:
        TypeError: an entry is no exact number.
        ValueError: the sizes do not fit.
    """

    names: tuple[str, ...]
    D: Matrix
    d: tuple[Number, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(self.names))
        object.__setattr__(self, "D", Matrix.of(self.D, "D"))
        object.__setattr__(self, "d", vector(self.d, "d", len(self.names)))
        if self.D.rows != len(self.names):
            raise ValueError(f"D has {self.D.rows} rows for {len(self.names)} names")

    def decode(self, state: State) -> dict[str, Number]:
        """The state of the step, by name."""
        return dict(zip(self.names, affine(self.D, state, self.d), strict=True))


def affine(A: Matrix, state: State, c: Sequence[Number]) -> tuple[Number, ...]:
    """:math:`A h + c` for a dense or sparse state h.

    Raises:
        TypeError: an entry of the state is no exact number.
        ValueError: the state is not one of A's width.
    """
    if isinstance(state, Mapping):
        for unit in state:
            if unit not in range(A.columns):
                raise ValueError(f"the state has a unit {unit!r}, but the net has {A.columns}")
        state = [state.get(j, 0) for j in range(A.columns)]
    products = A @ vector(state, "the state", A.columns)
    return vector((a + b for a, b in zip(products, c, strict=True)), "")


def check_steps(steps: Any, name: str) -> None:
    """Raises a ValueError unless ``steps`` is a positive integer."""
    if type(steps) is not int or steps < 1:
        raise ValueError(f"{name} must be an integer of at least 1, got {steps!r}")


def check_code(code: Code | None, rnn: SimpleRNN) -> None:
    """Raises a ValueError unless the code, if any, reads states of the net."""
    if code is not None and code.D.columns != rnn.size:
        raise ValueError(f"the code reads {code.D.columns} units, but the net has {rnn.size}")


@dataclass(frozen=True)
class Network:
    r"""A network :math:`\mathrm{out} \circ \mathrm{rec}` with :math:`\mathrm{out}(h) = V h + c`, a vector.

    Args:
        rnn: rec.
        V: readout weights, :math:`(m, d)`.
        c: readout bias, :math:`m` numbers.
        steps_per_input: k. Each input is followed by k - 1 zero vectors, and the output is read after the last.
        code: how the net's state holds that of the step it was compiled from, if it was.

    Raises:
        TypeError: a weight is no exact number.
        ValueError: sizes do not fit.
    """

    rnn: SimpleRNN
    V: Matrix
    c: tuple[Number, ...]
    steps_per_input: int = 1
    code: Code | None = None

    def __post_init__(self) -> None:
        V = Matrix.of(self.V, "V")
        if V.columns != self.rnn.size:
            raise ValueError(f"V has {V.columns} columns, but the net has {self.rnn.size} units")
        check_steps(self.steps_per_input, "steps_per_input")
        check_code(self.code, self.rnn)
        object.__setattr__(self, "V", V)
        object.__setattr__(self, "c", vector(self.c, "c", V.rows))

    @property
    def units(self) -> int:
        """How many units the net has."""
        return self.rnn.size

    def outputs(self, xs: Iterable[Sequence[Number]]) -> tuple[tuple[Number, ...], ...]:
        """The output after each input, by the definition: ``rnn.rec``, then the readout.

        Raises:
            TypeError: an input holds what is no exact number.
            ValueError: an input has the wrong width.
        """
        k, zero = self.steps_per_input, (0,) * self.rnn.input_size
        fed = [each for x in xs for each in (x, *[zero] * (k - 1))]
        return tuple(affine(self.V, h, self.c) for h in self.rnn.rec(fed)[k - 1 :: k])

    def decode(self, state: State) -> dict[str, Number]:
        """The state of the step that the net was compiled from, by name.

        Raises:
            ValueError: the net was not compiled, or the state is none of its states.
        """
        if self.code is None:
            raise ValueError("this net has no code: it was not compiled from a step")
        return self.code.decode(state)
