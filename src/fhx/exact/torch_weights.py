"""Exact weights from torch's nets, and torch's nets of exact weights: every finite float is a fraction."""

from collections.abc import Iterator, Sequence
from fractions import Fraction

import torch
from torch import Tensor, nn

from fhx._modules import undrawn
from fhx.exact.matrix import Matrix
from fhx.exact.numbers import Number

__all__ = ["exact_weights", "fill", "fill_rnn", "torch_rnn"]

Weights = tuple[list[list[Fraction]], list[list[Fraction]], list[Fraction]]
"""W, U and b."""


def exact_weights(net: nn.RNN | nn.RNNCell) -> Weights:
    """The weights of a ReLU net of torch, its two biases added.

    Raises:
        TypeError: it is neither ``RNN`` nor ``RNNCell``.
        ValueError: it has another activation, several layers or both directions, or a weight that is not finite: all
            reasons.
    """
    if not isinstance(net, nn.RNN | nn.RNNCell):
        raise TypeError(f"from_torch is for torch.nn.RNN and RNNCell, not {type(net).__name__}")
    if reasons := list(_reasons_against(net)):
        raise ValueError(f"no exact net is {net}: it {'; it '.join(reasons)}")
    weights = {name.removesuffix("_l0"): parameter for name, parameter in net.named_parameters()}
    b = [Fraction(0)] * net.hidden_size
    for name in ("bias_ih", "bias_hh") if net.bias else ():
        b = [value + more for value, (more,) in zip(b, _fractions(weights[name][:, None]), strict=True)]
    return _fractions(weights["weight_hh"]), _fractions(weights["weight_ih"]), b


def _reasons_against(net: nn.RNN | nn.RNNCell) -> Iterator[str]:
    if net.nonlinearity != "relu":
        yield f"has the activation {net.nonlinearity}, which makes no fractions of fractions"
    if isinstance(net, nn.RNN):
        if net.num_layers > 1:
            yield f"has {net.num_layers} layers"
        if net.bidirectional:
            yield "reads in both directions"
    for name, parameter in net.named_parameters():
        if not parameter.isfinite().all():
            yield f"has weights that are infinite or not a number, in {name}"


def _fractions(weights: Tensor) -> list[list[Fraction]]:
    return [[Fraction(value) for value in row] for row in weights.detach().to("cpu", torch.float64).tolist()]


def torch_rnn(W: Matrix, U: Matrix, b: Sequence[Number], dtype: torch.dtype | None, exact: bool) -> nn.RNN:
    """A ReLU net of torch with these weights; the arguments are those of ``SimpleRNN.to_torch``.

    Raises:
        TypeError: ``dtype`` is not a floating-point type.
        ValueError: ``exact``, and the type rounds weights.
    """
    dtype = torch.float64 if dtype is None else dtype
    if not (isinstance(dtype, torch.dtype) and dtype.is_floating_point):
        raise TypeError(f"dtype must be a floating-point type of torch, got {dtype}")
    if exact and (rounded := list(_rounded(W, U, b, dtype))):
        raise ValueError(
            f"{dtype} rounds {len(rounded)} numbers, the first {rounded[0]}. With exact=False they are rounded"
        )
    net = undrawn(nn.RNN, U.columns, W.rows, nonlinearity="relu", dtype=dtype)
    fill_rnn(net, W, U, b)
    return net


def _rounded(W: Matrix, U: Matrix, b: Sequence[Number], dtype: torch.dtype) -> Iterator[str]:
    """The weights that are no floats of this type."""
    weights = {f"W[{i}, {j}]": value for (i, j), value in W.entries.items()}
    weights |= {f"U[{i}, {a}]": value for (i, a), value in U.entries.items()}
    weights |= {f"b[{i}]": value for i, value in enumerate(b)}
    for name, value in weights.items():
        nearest = torch.tensor(_float(value), dtype=torch.float64).to(dtype)
        if not nearest.isfinite() or Fraction(nearest.item()) != value:
            yield f"{name} = {value}"


def _float(value: Number) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


@torch.no_grad()
def fill_rnn(net: nn.RNN, W: Matrix, U: Matrix, b: Sequence[Number]) -> None:
    """Write exact weights into a net of torch; the bias is its first one, and its second is zero."""
    fill(net.get_parameter("weight_hh_l0"), W)
    fill(net.get_parameter("weight_ih_l0"), U)
    net.get_parameter("bias_ih_l0").copy_(torch.tensor([_float(value) for value in b], dtype=torch.float64))
    net.get_parameter("bias_hh_l0").zero_()


def fill(parameter: Tensor, matrix: Matrix) -> None:
    """Write an exact matrix into a parameter."""
    parameter.zero_()
    if matrix.entries:
        places = torch.tensor(list(matrix.entries)).T
        values = torch.tensor([_float(value) for value in matrix.entries.values()], dtype=torch.float64)
        parameter[places[0], places[1]] = values.to(parameter.dtype)
