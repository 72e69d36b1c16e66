r"""Recurrent layers of several nets, run in step: tensors of shape (nets, time, batch, width).

The derivative by W is one product over all steps, and a step of an LSTM is one kernel on a GPU.
"""

from typing import Any

import torch
from torch import Tensor

__all__ = ["lstm", "simple"]


def simple(drive: Tensor, W: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
    r"""States :math:`h_t = \tanh(\text{drive}_t + W h_{t-1})`, and the last one.

    Args:
        drive: (nets, time, batch, d).
        W: (nets, d, d).
        state: :math:`h_0`, (nets, batch, d).
    """
    shown = _Simple.apply(drive, W, state)
    return shown, shown[:, -1]


def lstm(drive: Tensor, W: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
    """What LSTMs show, (nets, time, batch, d), and their last state (h, c), side by side.

    Args:
        drive: of the gates i, f, z, o side by side, (nets, time, batch, 4 d).
        W: (nets, 4 d, d).
        state: (h, c), side by side, (nets, batch, 2 d).
    """
    shown, memory = _LSTM.apply(drive, W, *state.chunk(2, -1))
    return shown, torch.cat([shown[:, -1], memory], -1)


def _by_matrix(gradient: Tensor, first: Tensor, shown: Tensor) -> Tensor:
    """The derivative by W from those by the pre-activations, and the states before; time first."""
    before = torch.cat([first[None], shown[:-1]])
    return gradient.transpose(0, 1).flatten(1, 2).mT @ before.transpose(0, 1).flatten(1, 2)


def _time_first(x: Tensor) -> Tensor:
    return x.transpose(0, 1).contiguous()


class _Simple(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, drive: Tensor, W: Tensor, h: Tensor) -> Tensor:
        first, states, back = h, [], W.mT.contiguous()
        for pre in _time_first(drive).unbind():
            h = torch.baddbmm(pre, h, back).tanh_()
            states.append(h)
        shown = torch.stack(states)
        ctx.save_for_backward(W, first, shown)
        return shown.transpose(0, 1)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        W, first, shown = ctx.saved_tensors
        found, later = [], None
        for by_h, h in zip(reversed(_time_first(gradient).unbind()), reversed(shown.unbind()), strict=True):
            total = by_h if later is None else torch.baddbmm(by_h, later, W)
            later = torch.ops.aten.tanh_backward(total, h)
            found.append(later)
        by_pre = torch.stack(found[::-1])
        by_W = _by_matrix(by_pre, first, shown) if ctx.needs_input_grad[1] else None
        return by_pre.transpose(0, 1), by_W, None


class _LSTM(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, drive: Tensor, W: Tensor, h: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
        first, back = h, W.mT.contiguous()
        states, memories, gates = [], [c], []
        for pre in _time_first(drive).unbind():
            rows = _step(pre.flatten(0, 1), torch.bmm(h, back).flatten(0, 1), c.flatten(0, 1))
            h, c, opened = (x.unflatten(0, pre.shape[:2]) for x in rows)
            states.append(h)
            memories.append(c)
            gates.append(opened)
        shown = torch.stack(states)
        ctx.save_for_backward(W, first, shown, *memories, *gates)
        return shown.transpose(0, 1), c

    @staticmethod
    def backward(ctx: Any, gradient: Tensor, by_last: Tensor) -> tuple[Tensor | None, ...]:
        W, first, shown, *kept = ctx.saved_tensors
        steps, gradient = len(shown), _time_first(gradient)
        memories, gates = kept[: steps + 1], kept[steps + 1 :]
        found, by_c, later = [], by_last.flatten(0, 1).contiguous(), None
        for t in range(steps - 1, -1, -1):
            by_h = gradient[t] if later is None else torch.baddbmm(gradient[t], later, W)
            rows = (x.flatten(0, 1) for x in (memories[t], memories[t + 1], gates[t]))
            by_pre, by_c = _step_back(by_h.flatten(0, 1), by_c, *rows)
            later = by_pre.unflatten(0, by_h.shape[:2])
            found.append(later)
        by_pre = torch.stack(found[::-1])
        by_W = _by_matrix(by_pre, first, shown) if ctx.needs_input_grad[1] else None
        return by_pre.transpose(0, 1), by_W, None, None


def _step(drive: Tensor, recurrent: Tensor, c: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The next h and c, of shape (rows, d), and the open gates."""
    if drive.is_cuda:
        return torch.ops.aten._thnn_fused_lstm_cell(drive.contiguous(), recurrent, c.contiguous())
    gates = drive + recurrent
    i, f, z, o = gates.chunk(4, -1)
    for gate in (i, f, o):
        gate.sigmoid_()
    z.tanh_()
    c = i * z + f * c
    return o * c.tanh(), c, gates


def _step_back(by_h: Tensor, by_c: Tensor, c: Tensor, new: Tensor, gates: Tensor) -> tuple[Tensor, Tensor]:
    """The derivatives by the pre-activations and by c."""
    if by_h.is_cuda:
        back = torch.ops.aten._thnn_fused_lstm_cell_backward_impl
        by_pre, by_c, _ = back(by_h.contiguous(), by_c, c.contiguous(), new.contiguous(), gates, False)
        return by_pre, by_c
    i, f, z, o = gates.chunk(4, -1)
    shown = new.tanh()
    by_c = by_c + by_h * o * (1 - shown * shown)
    by_gates = (by_c * z * i * (1 - i), by_c * c * f * (1 - f), by_c * i * (1 - z * z), by_h * shown * o * (1 - o))
    return torch.cat(by_gates, -1), by_c * f
