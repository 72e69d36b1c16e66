"""Unrolling: the run of a cell over a batch of sequences, one step at a time."""

import torch
from jaxtyping import Integer, Shaped
from torch import Tensor

from fhx.cells import Cell
from fhx.cells.function import FunctionCell, Step, as_cell


def unroll(
    cell: Step,
    inputs: Shaped[Tensor, "time batch d_in"],
    h0: Shaped[Tensor, "*state"] | None = None,
    lengths: Integer[Tensor, " batch"] | None = None,
) -> Shaped[Tensor, "time batch width"]:
    r"""The states :math:`h_t = f(h_{t-1}, x_t)` for :math:`t = 1, \dots, T`.

    Row :math:`t - 1` of the result is :math:`h_t`; :math:`h_0` is not in it. No inputs (:math:`T = 0`) give no states.

    Args:
        cell: a cell, or any function ``f(h, x)`` from a state ``(batch, width)`` and an input ``(batch, d_in)`` to
            the next state; a function needs ``h0``.
        inputs: :math:`x_1, \dots, x_T`, time first; of any dtype for a function.
        h0: :math:`h_0`, ``(width,)`` for the same one in the whole batch or ``(batch, width)``; zeros for a cell if
            None.
        lengths: the number of inputs of each sequence, 0 to T; all are of length T if None. After a sequence's last
            input its state stays as it is, so that ``states[-1]`` is every sequence's state at its own end. What the
            padding holds does not matter, to the states or to their gradients.

    Raises:
        ValueError: a shape, dtype or device that does not fit the cell, a length outside 0 to T, no ``h0`` for a
            function, or a function that changes the state's shape or dtype.
    """
    cell = as_cell(cell)
    h = initial(cell, inputs, h0)
    running = None
    if lengths is not None:
        running = _running(lengths, inputs)
        inputs = torch.where(running, inputs, torch.zeros_like(inputs))
    step, states = cell.step, []
    for t, drive in enumerate(cell.drive(inputs)):
        h = step(h, drive) if running is None else torch.where(running[t], step(h, drive), h)
        states.append(h)
    return torch.stack(states) if states else h.new_empty(0, *h.shape)


def initial(cell: Cell, inputs: Tensor, h0: Tensor | None) -> Tensor:
    """:math:`h_0` for every sequence, ``(batch, width)``, of the cell's dtype and device, which are the inputs' too."""
    if inputs.ndim != 3:
        raise ValueError(f"inputs must have shape (time, batch, d_in), got {tuple(inputs.shape)}")
    batch = inputs.shape[1]
    if h0 is None or not isinstance(cell, FunctionCell):
        zeros = cell.initial_state(batch)
        h0 = zeros if h0 is None else h0
        cell.check_state(h0)
        for name, value in (("inputs", inputs), ("h0", h0)):
            if (value.dtype, value.device) != (zeros.dtype, zeros.device):
                raise ValueError(
                    f"{name} must be like the cell's parameters, {zeros.dtype} on {zeros.device}, "
                    f"not {value.dtype} on {value.device}"
                )
    if h0.ndim not in (1, 2) or h0.shape[:-1] not in ((), (1,), (batch,)):
        raise ValueError(f"h0 must have shape (width,) or (batch, width) with batch = {batch}, got {tuple(h0.shape)}")
    return h0.expand(batch, h0.shape[-1])


def _running(lengths: Tensor, inputs: Tensor) -> Tensor:
    """``(time, batch, 1)``: whether a sequence still has an input at a time."""
    time, batch, _ = inputs.shape
    if lengths.shape != (batch,) or lengths.is_floating_point() or lengths.dtype == torch.bool:
        raise ValueError(
            f"lengths must be {batch} integers, one for each sequence, got {tuple(lengths.shape)}, {lengths.dtype}"
        )
    try:
        outside = bool(((lengths < 0) | (lengths > time)).any())
    except RuntimeError:  # inside vmap no value can be looked at
        outside = False
    if outside:
        raise ValueError(f"lengths must lie between 0 and T = {time}, got {lengths.tolist()}")
    return (torch.arange(time, device=inputs.device)[:, None] < lengths.to(inputs.device))[..., None]
