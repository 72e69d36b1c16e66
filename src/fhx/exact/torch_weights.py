"""Simple RNNs from torch and to torch: every finite float is a fraction, and some fractions are floats."""

from collections.abc import Iterable, Iterator
from fractions import Fraction

import torch
from torch import Tensor, nn

from fhx._modules import undrawn
from fhx.exact.matrix import Matrix
from fhx.exact.numbers import Exact, Number
from fhx.exact.simple_rnn import SimpleRNN

__all__ = ["fill", "load", "rnn_from_torch", "rnn_to_torch"]


def rnn_from_torch(net: nn.RNN | nn.RNNCell, h0: Iterable[Exact] | None = None) -> SimpleRNN:
    """See :meth:`fhx.exact.SimpleRNN.from_torch`."""
    if not isinstance(net, nn.RNN | nn.RNNCell):
        raise TypeError(f"from_torch is for torch.nn.RNN and RNNCell, not {type(net).__name__}")
    if reasons := list(_reasons_against(net)):
        raise ValueError(f"no exact net is {net}: it {'; it '.join(reasons)}")
    weights = {name.removesuffix("_l0"): parameter for name, parameter in net.named_parameters()}
    W, U = _fractions(weights["weight_hh"]), _fractions(weights["weight_ih"])
    b = [Fraction(0)] * net.hidden_size
    for name in ("bias_ih", "bias_hh") if net.bias else ():
        b = [value + more for value, (more,) in zip(b, _fractions(weights[name][:, None]), strict=True)]
    return SimpleRNN(W, U, b, [0] * net.hidden_size if h0 is None else h0, activation="relu")


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
            yield f"has infinite weights or some that are not a number, in {name}"


def _fractions(weights: Tensor) -> list[list[Fraction]]:
    return [[Fraction(value) for value in row] for row in weights.detach().to("cpu", torch.float64).tolist()]


def rnn_to_torch(rnn: SimpleRNN, dtype: torch.dtype | None = None, exact: bool = True) -> nn.RNN:
    """See :meth:`fhx.exact.SimpleRNN.to_torch`."""
    dtype = torch.float64 if dtype is None else dtype
    if not (isinstance(dtype, torch.dtype) and dtype.is_floating_point):
        raise TypeError(f"dtype must be a floating-point type of torch, got {dtype}")
    if rnn.activation != "relu":
        raise ValueError(
            f"torch.nn.RNN has no {rnn.activation} units; Recognizer.to_torch makes two relu units of each"
        )
    if exact and (rounded := list(_rounded(rnn, dtype))):
        raise ValueError(
            f"{dtype} rounds {len(rounded)} numbers, the first {rounded[0]}. With exact=False they are rounded"
        )
    net = undrawn(nn.RNN, rnn.input_size, rnn.units, nonlinearity="relu", dtype=dtype)
    load(net, rnn)
    return net


def _rounded(rnn: SimpleRNN, dtype: torch.dtype) -> Iterator[str]:
    """The weights that are no floats of this type."""
    weights: dict[str, Number] = {f"W[{i}, {j}]": value for (i, j), value in rnn.W.entries.items()}
    weights |= {f"U[{i}, {a}]": value for (i, a), value in rnn.U.entries.items()}
    weights |= {f"b[{i}]": value for i, value in enumerate(rnn.b)}
    for name, value in weights.items():
        as_float = torch.tensor(_float(value), dtype=torch.float64).to(dtype).item()
        if as_float in (float("inf"), float("-inf")) or Fraction(as_float) != value:
            yield f"{name} = {value}"


def _float(value: Number) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


@torch.no_grad()
def load(net: nn.RNN, rnn: SimpleRNN) -> None:
    """Write an exact net's weights into torch's; its bias is torch's first, and the second is zero."""
    fill(net.get_parameter("weight_hh_l0"), rnn.W)
    fill(net.get_parameter("weight_ih_l0"), rnn.U)
    b = torch.tensor([_float(value) for value in rnn.b], dtype=torch.float64)
    net.get_parameter("bias_ih_l0").copy_(b)
    net.get_parameter("bias_hh_l0").zero_()


def fill(parameter: Tensor, matrix: Matrix) -> None:
    """Write an exact matrix into a parameter."""
    parameter.zero_()
    if matrix.entries:
        places = torch.tensor(list(matrix.entries)).T
        values = torch.tensor([_float(value) for value in matrix.entries.values()], dtype=torch.float64)
        parameter[places[0], places[1]] = values.to(parameter.dtype)
