"""A step with one hidden layer: the form in which any continuous step can be imitated."""

from collections.abc import Sequence
from fractions import Fraction
from typing import final

from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from fhx.cells import Cell
from fhx.cells.activations import Activation, ActivationName, find_activation, scale_rows, slope_of

Exact = tuple[tuple[Fraction, ...], ...]


@final
class ShallowCell(Cell):
    r"""The step :math:`\hat f(h, x) = V\, \sigma(A h + B x + c) + d`.

    Unlike a simple cell it ends with an affine map. ``fold`` makes a simple RNN of it.

    Args:
        V: :math:`(d, n)`, for a state of d numbers and n units.
        A: :math:`(n, d)`.
        B: :math:`(n, d_{in})`.
        c: n numbers.
        d: d numbers.
        activation: :math:`\sigma`, as for a ``SimpleCell``.

    Raises:
        ValueError: the sizes do not fit, or the activation is unknown.
    """

    def __init__(
        self,
        V: Float[Tensor, "d n"],
        A: Float[Tensor, "n d"],
        B: Float[Tensor, "n input"],
        c: Float[Tensor, " n"],
        d: Float[Tensor, " d"],
        activation: ActivationName | Activation = "relu",
    ) -> None:
        if any(m.ndim != 2 for m in (V, A, B)):
            raise ValueError("V, A and B must be matrices")
        super().__init__(B.shape[1], V.shape[0])
        rows, units = V.shape
        wanted = {"A": (units, rows), "B": (units, B.shape[1]), "c": (units,), "d": (rows,)}
        for name, value in (("A", A), ("B", B), ("c", c), ("d", d)):
            if tuple(value.shape) != wanted[name]:
                raise ValueError(
                    f"{name} must have shape {wanted[name]} beside V {rows, units}, got {tuple(value.shape)}"
                )
        self.V, self.A, self.B, self.c, self.d = (nn.Parameter(m.detach().clone()) for m in (V, A, B, c, d))
        self.activation = find_activation(activation)

    @property
    def units(self) -> int:
        """How many units the hidden layer has."""
        return self.V.shape[1]

    def drive(self, x: Float[Tensor, "*batch input"]) -> Float[Tensor, "*batch n"]:
        """:math:`B x + c`.

        Raises:
            ValueError: ``x`` has another width than ``input_size``.
        """
        self.check_input(x)
        return F.linear(x, self.B, self.c)

    def step(self, h: Float[Tensor, "*batch d"], drive: Float[Tensor, "*batch n"]) -> Float[Tensor, "*batch d"]:
        r""":math:`V\, \sigma(A h + \mathrm{drive}) + d`."""
        return F.linear(self.activation(drive + F.linear(h, self.A)), self.V, self.d)

    def jacobian(self, h: Float[Tensor, "*batch d"], drive: Float[Tensor, "*batch n"]) -> Float[Tensor, "*batch d d"]:
        r""":math:`V\, \mathrm{diag}(\sigma'(A h + \mathrm{drive}))\, A`, closed for an activation given by name."""
        slope = slope_of(self.activation)
        if slope is None:
            return super().jacobian(h, drive)
        return self.V @ scale_rows(slope(drive + F.linear(h, self.A)), self.A)

    def input_jacobian(
        self, h: Float[Tensor, "*batch d"], x: Float[Tensor, "*batch input"]
    ) -> Float[Tensor, "*batch d input"]:
        r""":math:`V\, \mathrm{diag}(\sigma'(A h + B x + c))\, B`, closed for an activation given by name."""
        slope = slope_of(self.activation)
        if slope is None:
            return super().input_jacobian(h, x)
        return self.V @ scale_rows(slope(self.drive(x) + F.linear(h, self.A)), self.B)

    def exact_weights(self) -> tuple[Exact, Exact, Exact, tuple[Fraction, ...], tuple[Fraction, ...]]:
        """V, A, B, c and d as the fractions that the floats are, for ``fold_exactly``."""

        def matrix(rows: Sequence[Sequence[float]]) -> Exact:
            return tuple(tuple(map(Fraction, row)) for row in rows)

        V, A, B, c, d = (m.detach().cpu().double().tolist() for m in (self.V, self.A, self.B, self.c, self.d))
        return matrix(V), matrix(A), matrix(B), tuple(map(Fraction, c)), tuple(map(Fraction, d))

    def extra_repr(self) -> str:
        name = getattr(self.activation, "__name__", self.activation)
        return f"{super().extra_repr()}, units={self.units}, activation={name}"
