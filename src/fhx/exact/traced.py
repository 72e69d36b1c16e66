"""Runs of nets as one operation of torch, whatever their length: what ``torch.export`` and ``torch.compile`` record.

Torch records ``nn.RNN`` as so many copies of its step as the example has symbols. Here the step is recorded once, by
``scan``, which becomes the operator ``Scan`` of ONNX. Shapes stand in the docstrings, since no annotation that is
checked can be recorded.
"""

import torch
from torch import Tensor, nn
from torch._higher_order_ops.scan import scan

__all__ = ["relu_states", "table_reads"]


def relu_states(rnn: nn.RNN, h0: Tensor, inputs: Tensor) -> Tensor:
    """The states of a ReLU net with one layer, (word, step, unit).

    Args:
        rnn: the net.
        h0: its start, (unit).
        inputs: (word, step, symbol).
    """
    weights = dict(rnn.named_parameters())
    drives = nn.functional.linear(inputs, weights["weight_ih_l0"], weights["bias_ih_l0"] + weights["bias_hh_l0"])
    W = weights["weight_hh_l0"]

    def step(h: Tensor, drive: Tensor) -> tuple[Tensor, Tensor]:
        h = torch.relu(nn.functional.linear(h, W) + drive)
        return h, h.clone()

    _, states = scan(step, h0.expand(inputs.shape[0], -1).clone(), drives.transpose(0, 1))
    return states.transpose(0, 1)


def table_reads(table: Tensor, read: Tensor, start: int, ids: Tensor) -> Tensor:
    """The decisions after each symbol of a net that is a table, (word, step).

    Args:
        table: the row that each row and symbol lead to, (row, symbol).
        read: the decision at each row, (row).
        start: the first row.
        ids: the symbols' places in the alphabet, (word, step).
    """
    symbols, flat = table.shape[1], table.flatten()

    def step(state: Tensor, column: Tensor) -> tuple[Tensor, Tensor]:
        state = flat[state * symbols + column]
        return state, state.clone()

    _, states = scan(step, ids.new_full((ids.shape[0],), start, dtype=torch.int64), ids.T.to(torch.int64))
    return read[states].T
