"""Jacobians along a run: how each state depends on the one before it."""

from collections.abc import Iterator

import torch
from jaxtyping import Float, Shaped
from torch import Tensor

from fhx.cells import Cell
from fhx.cells.function import Step, as_cell
from fhx.dynamics.unrolling import initial, unroll

CHUNK = 2**22  # numbers in the Jacobians that are held at once where all are not asked for


def jacobians(
    cell: Step,
    inputs: Shaped[Tensor, "time batch d_in"],
    h0: Shaped[Tensor, "*state"] | None = None,
) -> Float[Tensor, "time batch width width"]:
    r"""The Jacobians of the step along a run, whose product is the derivative through time.

    .. math::

       J_t = \frac{\partial f}{\partial h}(h_{t-1}, x_t) = \frac{\partial h_t}{\partial h_{t-1}}, \qquad
       \frac{\partial h_T}{\partial h_t} = J_T J_{T-1} \cdots J_{t+1}.

    Row :math:`t - 1` of the result holds :math:`J_t`; entry :math:`(i, j)` of it is
    :math:`\partial h_{t,i} / \partial h_{t-1,j}`. A cell's own closed form is used, and ``torch.func`` for a function.

    Args:
        cell: a cell, or any function ``f(h, x)`` of ``(batch, width)`` and ``(batch, d_in)`` in which no sequence
            depends on another one of the batch; a function needs ``h0``, and must work under ``torch.func.vmap``.
        inputs: :math:`x_1, \dots, x_T`, time first.
        h0: :math:`h_0` as for ``unroll``.

    Raises:
        ValueError: what ``unroll`` raises, or states that are not real numbers and so have no derivative.
    """
    chunks = [chunk for _, chunk in jacobian_chunks(cell, inputs, h0)]
    if chunks:
        return torch.cat(chunks)
    h = initial(as_cell(cell), inputs, h0)
    return h.new_empty(0, *h.shape, h.shape[-1])


def jacobian_chunks(
    cell: Step, inputs: Tensor, h0: Tensor | None = None
) -> Iterator[tuple[Tensor, Float[Tensor, "steps batch width width"]]]:
    """The states before each step and the Jacobians, for some steps at a time and in the order of time."""
    cell = as_cell(cell)
    start = real_start(cell, inputs, h0)
    before, drives = torch.cat([start[None], unroll(cell, inputs, h0)])[:-1], cell.drive(inputs)
    for now in spans(start, len(inputs)):
        h = before[now]
        yield h, cell.jacobian(h, drives[now])


def spans(start: Float[Tensor, "batch width"], time: int) -> list[slice]:
    """The times 0, ..., T - 1 in pieces, for each of which all Jacobians can be held at once."""
    steps = max(1, CHUNK // max(1, start.numel() * start.shape[1]))
    return [slice(first, first + steps) for first in range(0, time, steps)]


def real_start(cell: Cell, inputs: Tensor, h0: Tensor | None) -> Float[Tensor, "batch width"]:
    """The initial states, which must be of a dtype that has derivatives."""
    start = initial(cell, inputs, h0)
    if not start.is_floating_point():
        raise ValueError(f"a gradient needs states of a real dtype, got h0 of {start.dtype}")
    return start
