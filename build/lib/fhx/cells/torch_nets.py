"""From torch's recurrent nets to cells; ``Cell.to_torch`` is the way back."""

from typing import Any, get_args, overload

import torch
from torch import Tensor, nn

from fhx._modules import undrawn
from fhx.cells.activations import TanhOrRelu
from fhx.cells.base import AffineCell, Cell
from fhx.cells.gated import GRUCell, LSTMCell
from fhx.cells.simple import SimpleCell
from fhx.cells.stack import Stack

TorchNet = nn.RNN | nn.LSTM | nn.GRU | nn.RNNCell | nn.LSTMCell | nn.GRUCell


@overload
def from_torch(net: nn.RNNCell) -> SimpleCell: ...
@overload
def from_torch(net: nn.LSTMCell) -> LSTMCell: ...
@overload
def from_torch(net: nn.GRUCell) -> GRUCell: ...
@overload  # of several layers it is a Stack, and how many a net has is not in its type
def from_torch(net: nn.RNN) -> SimpleCell | Any: ...
@overload
def from_torch(net: nn.LSTM) -> LSTMCell | Any: ...
@overload
def from_torch(net: nn.GRU) -> GRUCell | Any: ...
def from_torch(net: TorchNet) -> Cell:
    r"""The cell that one of torch's recurrent nets repeats, with a copy of its weights, dtype and device.

    ======================================== ==================================
    net                                      cell
    ======================================== ==================================
    ``RNN``, ``RNNCell``, tanh or relu       ``SimpleCell``
    ``LSTM``, ``LSTMCell``                   ``LSTMCell``
    ``GRU``, ``GRUCell``                     ``GRUCell``
    any of these with several layers         a ``Stack`` of such cells
    ======================================== ==================================

    The numbers are the same: ``unroll(from_torch(net), x)`` has the states of ``net(x)``, up to the order in which
    biases are added. A cell has one bias where torch has two that are added; a net without biases becomes a cell whose
    biases are zero. The state of an LSTM is :math:`(h, c)` side by side. ``batch_first`` is about how a net is given
    its inputs, which a cell does not know: ``unroll`` wants time first.

    Args:
        net: one of torch's nets.

    Raises:
        TypeError: it is not.
        ValueError: it is bidirectional, has projections (``proj_size``), or drops out between its layers and is not in
            evaluation mode. All that apply are named.
    """
    if not isinstance(net, get_args(TorchNet)):
        names = ", ".join(kind.__name__ for kind in get_args(TorchNet))
        raise TypeError(f"from_torch is for torch.nn's {names}, not {type(net).__name__}")
    if isinstance(net, nn.RNNCellBase):
        return _cell(net, "")
    refused = {
        "reads in both directions, and a cell reads in one": net.bidirectional,
        f"has projections, proj_size={net.proj_size}, and no cell here has": net.proj_size > 0,
        f"drops out, dropout={net.dropout}, and a cell does not: call eval() first": net.dropout > 0 and net.training,
    }
    if any(refused.values()):
        raise ValueError(f"no cell repeats {net}: it {'; it '.join(law for law, broken in refused.items() if broken)}")
    cells = [_cell(net, f"_l{k}") for k in range(net.num_layers)]
    return cells[0] if len(cells) == 1 else Stack(cells)


@torch.no_grad()
def _cell(net: TorchNet, layer: str) -> AffineCell:
    U, W = (getattr(net, f"{name}{layer}") for name in ("weight_ih", "weight_hh"))
    read, remembered = (
        getattr(net, f"{name}{layer}") if net.bias else W.new_zeros(len(W)) for name in ("bias_ih", "bias_hh")
    )
    cell = _undrawn(net, U.shape[1], W.shape[1], dtype=W.dtype, device=W.device)
    weights: dict[str, Tensor] = {"W": W, "U": U, "b": read + remembered}
    if isinstance(cell, GRUCell):
        gates = 2 * cell.state_size
        weights["b"] = torch.cat([weights["b"][:gates], read[gates:]])
        weights["b_m"] = remembered[gates:]
    cell.load_state_dict(weights)
    return cell


def _undrawn(net: TorchNet, *sizes: int, **options: Any) -> AffineCell:
    """A cell of the net's kind, without numbers."""
    if isinstance(net, nn.RNN | nn.RNNCell):
        activation: TanhOrRelu = "relu" if net.nonlinearity == "relu" else "tanh"  # torch knows these two
        return undrawn(SimpleCell, *sizes, activation=activation, **options)
    return undrawn(LSTMCell if isinstance(net, nn.LSTM | nn.LSTMCell) else GRUCell, *sizes, **options)
