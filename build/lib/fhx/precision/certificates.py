r"""Steps of a Turing net that are certainly right in floating-point numbers: a running bound of all errors.

**The model.** A type has p bits and :math:`u = 2^{-p}`. A unit's sum of n nonzero products is computed in any order,
the bias and the input's part anywhere among them; each product and each partial sum is rounded to the nearest number of
the type, or kept longer. Then, with :math:`\gamma_n = n u / (1 - n u)` (Higham 2002, section 3.1),

.. math:: \Big|\mathrm{fl}\Big(\sum_j w_j h_j\Big) - \sum_j w_j h_j\Big|
   \le \sum_j |\hat w_j - w_j| h_j + \gamma_n \sum_j |\hat w_j| h_j + n \eta

for weights :math:`\hat w` of the type; :math:`\eta` is for underflow. Every float of size at most :math:`2^p g` is a
multiple of g or lies between two that are floats; so if :math:`\sum_j |\hat w_j h_j| \le (2^p - n)\, g`, then, rounding
being monotone, the computed sum is at least that of the products rounded down to multiples of g, and at most that of
those rounded up. Products that are multiples of g are summed **without error**.

This is what torch does on a CPU. On a GPU it is too, unless float32 products are taken in TensorFloat-32.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import islice, pairwise
from math import ceil, floor, frexp, inf
from typing import NamedTuple

import torch

from fhx._checks import check_kind
from fhx.compile.layers import in_layers
from fhx.compile.turing_layout import Layout
from fhx.compile.turing_net import TuringNet
from fhx.exact import TorchHaltingNet, Unit, units_of
from fhx.exact.numbers import Number, size
from fhx.precision.digits import significand_bits
from fhx.precision.wrong_steps import decisive_bits

__all__ = ["Bounds", "certified_steps", "error_bounds"]

UP = 1 + 2.0**-30  # bounds are computed in float64 and enlarged by more than these few operations can be wrong


class Bounds(NamedTuple):
    """How far a float net may be off: the names of its step's state, without those that are exact, and the output."""

    names: Mapping[str, float]
    output: float


def certified_steps(net: TuringNet[Layout], word: Iterable[Hashable], dtype: torch.dtype, max_steps: int) -> int:
    r"""How many net steps, of at most ``max_steps``, are right on a word in a float type, in every order of summation.

    By ``error_bounds``, all bits of the state (see :func:`first_wrong_step`), and the output, are off by less than 1/2.

    Raises:
        ValueError: a symbol is outside the alphabet.
        TypeError: the net is not a TuringNet, or ``dtype`` is not a floating-point type.
    """
    check_kind(net, TuringNet, "certified_steps")
    decisive = decisive_bits(net.layout)
    for t, bounds in enumerate(islice(error_bounds(net, word, dtype), max_steps)):
        if max(bounds.output, *(bounds.names.get(name, 0) for name in decisive)) >= 0.5:
            return t
    return max_steps


def error_bounds(net: TuringNet[Layout], word: Iterable[Hashable], dtype: torch.dtype) -> Iterator[Bounds]:
    r"""After each net step on a word, and then on EOS for ever, bounds of the errors in a float type, in every order of
    summation.

    **Proof.** Beside the exact run goes a bound of the float net's error, unit by unit and, by the decoder
    :math:`s = D h + d`, name by name. The argument of a unit is affine in the names, so with error bounds
    :math:`\epsilon` of these and :math:`\rho` of its summation it is off by at most
    :math:`\delta = \sum |v| \epsilon + \rho`. If the exact argument is at most :math:`-\delta`, the unit is 0 in both
    nets; if it is at least :math:`\delta`, both are in the linear part. A name is a combination of units. Those in
    the linear part are summed as affine functions *before* the bounds are taken, so the two units of a saturated SLU,
    :math:`(s) - (s - 1) = 1`, keep nothing of the error of s, only their own two :math:`\rho`; the others add their
    :math:`\delta`.

    Raises:
        ValueError: a symbol is outside the alphabet.
        TypeError: the net is not a TuringNet, or ``dtype`` is not a floating-point type.
    """
    check_kind(net, TuringNet, "error_bounds")
    errors, word = _Errors(net, dtype), tuple(word)
    for column, (before, after) in zip(net.input_columns(word), pairwise(net.run(word)), strict=False):
        errors.step(before, column)
        yield Bounds(errors.names, errors.of_output(after))


_Part = tuple[Mapping[int, Number], list[float]]
"""Weights, exact and as floats."""


class _Row(NamedTuple):
    """What a unit computes: its row of weights, of the type and exact, by what they multiply."""

    rounded: Mapping[Hashable, Fraction]
    exact: Mapping[Hashable, Number]


class _Sum(NamedTuple):
    """A computed sum: its exact value without rounding, and bounds of how far the computed one is above and below."""

    value: Fraction
    error: float
    upper: Fraction | float


class _Errors:
    """Bounds of a float net's errors along a run: of units by number, and of names; those missing are exact."""

    def __init__(self, net: TuringNet[Layout], dtype: torch.dtype) -> None:
        self.p = significand_bits(dtype)
        info = torch.finfo(dtype)
        self.eta = max(info.smallest_normal * info.eps, 2.0**-126)
        self.state = in_layers(net.step, 1)
        self.atoms = list(dict.fromkeys(units_of(self.state.values())))  # unit j + 1 of the net
        self.rows = _rows(net, net.to_torch(dtype))
        self.units: dict[Hashable, float] = {}
        self.names: dict[str, float] = {}

    def step(self, before: Mapping[int, Number], column: int) -> None:
        """Go from the bounds at an exact state to those after a symbol."""
        known: dict[Hashable, Number] = dict(before.items())
        known |= {"bias": 1, f"x{column}": 1}
        sums = [self._sum(row, known) for row in self.rows[1:-1]]
        on, off = set[Unit](), set[Unit]()
        slack: dict[Unit, float] = {}
        for atom, s in zip(self.atoms, sums, strict=True):
            carried = (
                sum(abs(float(c)) * self.names.get(name, 0) for name, c in atom.argument.affine_terms().items()) * UP
            )
            slack[atom] = carried + s.error
            if (s.upper if not carried else s.value + _above(slack[atom])) <= 0:
                off.add(atom)
            elif s.value >= _above(slack[atom]):
                on.add(atom)
        rounding = {atom: s.error for atom, s in zip(self.atoms, sums, strict=True)}
        self.names = {name: e for name, e in self._names(on, off, slack, rounding) if e}
        self.units = {j: slack[a] for j, a in enumerate(self.atoms, start=1) if a not in off and slack[a]}

    def of_output(self, after: Mapping[int, Number]) -> float:
        """The bound of the output's error at an exact state."""
        row = self.rows[-1]
        known: dict[Hashable, Number] = dict(after.items())
        known["bias"] = 1
        carried = sum(abs(float(row.exact[j])) * e for j, e in self.units.items() if j in row.exact)
        return carried * UP + self._sum(row, known).error

    def _names(
        self, on: set[Unit], off: set[Unit], slack: Mapping[Unit, float], rounding: Mapping[Unit, float]
    ) -> Iterator[tuple[str, float]]:
        for name, e in self.state.items():
            linear: dict[str, Number] = {}
            error = 0.0
            for atom, c in e.terms.items():
                if not isinstance(atom, Unit):
                    raise ValueError(f"{name} holds {atom!r} without a unit around it")
                if atom in on:
                    error += abs(float(c)) * rounding[atom]
                    for other, v in atom.argument.affine_terms().items():
                        if other in self.names:
                            linear[other] = linear.get(other, 0) + c * v
                elif atom not in off:
                    error += abs(float(c)) * slack[atom]
            yield name, UP * (error + sum(abs(float(v)) * self.names[other] for other, v in linear.items()))

    def _sum(self, row: _Row, known: Mapping[Hashable, Number]) -> _Sum:
        """A unit's sum at an exact state, with the errors of its summation alone."""
        active = [key for key in row.exact if key in known or key in self.units]
        value = Fraction(sum((row.exact[key] * known.get(key, 0) for key in active), 0))
        n = len(active)
        if not n:
            return _Sum(value, 0.0, value)
        if n >= 2 ** (self.p - 1):
            return _Sum(value, inf, inf)
        largest = {key: float(size(known.get(key, 0))) + self.units.get(key, 0) for key in active}
        weighed = sum(abs(float(row.rounded[key])) * largest[key] for key in active) * UP
        drift = sum(abs(float(row.rounded[key] - row.exact[key])) * largest[key] for key in active) * UP
        error = (drift + n / (2**self.p - n) * weighed + n * self.eta) * UP
        if drift or any(key in self.units for key in active) or error == inf:
            return _Sum(value, error, value + _above(error))
        grid = max(_power_above(weighed / (2**self.p - n)), Fraction(self.eta))
        places = [row.exact[key] * known[key] / grid for key in active]
        low, high = grid * sum(map(floor, places)), grid * sum(map(ceil, places))
        on_grid = float(max(high - value, value - low)) * UP
        return _Sum(value, min(error, on_grid), min(high, value + _above(error)))


def _rows(net: TuringNet[Layout], floats: TorchHaltingNet) -> list[_Row]:
    """A row per unit, then the readout; the keys are units, inputs ``x0``, ``x1``, ... and ``bias``."""
    rnn, inner = net.rnn, floats.inner
    names = ("weight_hh_l0", "weight_ih_l0", "bias_ih_l0")
    W, U, b = (inner.rnn.get_parameter(name).double().tolist() for name in names)
    w, c = (parameter.double().tolist() for parameter in (inner.readout.weight, inner.readout.bias))

    def row(units: _Part, inputs: _Part, bias: tuple[Number, float]) -> _Row:
        exact: dict[Hashable, Number] = dict(units[0].items())
        exact |= {"bias": bias[0]}
        exact |= {f"x{a}": value for a, value in inputs[0].items()}
        rounded: dict[Hashable, float] = {**{j: units[1][j] for j in units[0]}, "bias": bias[1]}
        rounded |= {f"x{a}": inputs[1][a] for a in inputs[0]}
        kept = [key for key in exact if exact[key]]
        return _Row({key: Fraction(rounded[key]) for key in kept}, {key: exact[key] for key in kept})

    rows = [row((rnn.W.row(i), W[i]), (rnn.U.row(i), U[i]), (rnn.b[i], b[i])) for i in range(rnn.units)]
    return [*rows, row((dict(enumerate(net.w)), w[0]), ({}, []), (net.c, c[0]))]


def _power_above(value: float) -> Fraction:
    """A power of two that is not smaller."""
    exponent = frexp(value)[1]
    return Fraction(2**exponent) if exponent >= 0 else Fraction(1, 2**-exponent)


def _above(error: float) -> Fraction | float:
    return error if error == inf else Fraction(error)
