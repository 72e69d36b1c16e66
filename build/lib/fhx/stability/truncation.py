r"""Truncation: the states that only the last k inputs decide, and how many inputs are enough."""

from math import ceil, log

import torch
from jaxtyping import Shaped
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from fhx._checks import non_negative, positive, positive_number
from fhx.cells.function import Step, as_cell
from fhx.dynamics import unroll
from fhx.dynamics.unrolling import initial
from fhx.stability.contraction import check_rate

CHUNK = 2**20  # numbers in the states and drives of the windows that are run side by side


def truncated_states(
    cell: Step,
    inputs: Shaped[Tensor, "time batch d_in"],
    k: int,
    h0: Shaped[Tensor, "*state"] | None = None,
    block: int | None = None,
) -> Shaped[Tensor, "time batch width"]:
    r"""The states :math:`h_t^k` of the model that is cut to its last k inputs, for every :math:`t = 1, \dots, T`.

    For :math:`t > k` it is the last state of the run over :math:`x_{t-k+1}, \dots, x_t` from the zero state; for
    :math:`t \le k` it is the state :math:`h_t` of the run itself, from :math:`h_0`, since there is nothing to cut off.

    The windows are a batch: k steps of all of them, some at a time, so that the work is that of :math:`T k` steps and
    nothing waits for the window before. Gradients flow into inputs, weights and ``h0``. Where the windows fill more
    than one block, the way back runs each block again instead of keeping what its steps computed.

    Args:
        cell: a cell, or any function ``f(h, x)`` of ``(batch, width)`` and ``(batch, d_in)`` in which no sequence
            depends on another one of the batch; a function needs ``h0``.
        inputs: :math:`x_1, \dots, x_T`, time first.
        k: at least 1; with :math:`k \ge T` the result is that of ``unroll``.
        h0: :math:`h_0` as for ``unroll``.
        block: windows that are run side by side; None: as many as hold about a million numbers.

    Raises:
        ValueError: ``k`` or ``block`` is not a positive integer, or what ``unroll`` raises.

    Source: the feed-forward approximation of Miller and Hardt (2019), "Stable recurrent models".
    """
    k = positive("k", k)
    cell = as_cell(cell)
    head = unroll(cell, inputs[:k], h0)
    windows = len(inputs) - k
    if windows <= 0:
        return head
    step, drives = cell.step, cell.drive(inputs)
    start = torch.zeros_like(initial(cell, inputs, h0))
    if block is None:
        numbers = start.numel() + drives[0].numel()
        block = max(1, CHUNK // max(1, numbers))

    def last_states(first: int, count: int) -> Tensor:
        """The last states of the windows that begin with the inputs ``first``, ``first + 1``, ... (from 0)."""
        h = start.repeat(count, 1)
        for j in range(first, first + k):
            h = step(h, drives[j : j + count].flatten(0, 1))
        return h.unflatten(0, (count, len(start)))

    block = positive("block", block)
    if block >= windows:
        return torch.cat([head, last_states(1, windows)])
    keep_none = torch.is_grad_enabled() and (drives.requires_grad or head.requires_grad)
    blocks = [(first, min(block, windows + 1 - first)) for first in range(1, windows + 1, block)]
    tails = [
        checkpoint(last_states, *one, use_reentrant=False, preserve_rng_state=False) if keep_none else last_states(*one)
        for one in blocks
    ]
    return torch.cat([head, *tails])


def truncation_length(rate: float, input_lipschitz: float, input_bound: float, eps: float, at_zero: float = 0.0) -> int:
    r"""How many inputs are enough for :math:`\lVert h_t - h_t^k \rVert \le \varepsilon`, by Lemma 1.

    .. math:: k = \left\lceil \log \frac{B}{(1 - \lambda)\, \varepsilon} \Big/ \log \frac1\lambda \right\rceil,
       \qquad B = L_x B_x + \lVert f(0, 0) \rVert \ge \sup_x \lVert f(0, x) \rVert,

    and at least 1. The divisor belongs to it: near :math:`\lambda = 1` it is about :math:`1 - \lambda`. Where B itself
    is known it may be given as ``input_bound`` with ``input_lipschitz=1``, and is never more than the sum.

    Args:
        rate: :math:`\lambda < 1`, of the step in the state.
        input_lipschitz: :math:`L_x`, of the step in the input.
        input_bound: :math:`B_x`, of the inputs' norms.
        eps: :math:`\varepsilon > 0`.
        at_zero: :math:`\lVert f(0, 0) \rVert`, which a bias makes.

    Raises:
        ValueError: ``rate`` is outside 0 to 1, ``eps`` is not positive and finite, or another number is negative or
            infinite.
    """
    for name, value in (("input_lipschitz", input_lipschitz), ("input_bound", input_bound), ("at_zero", at_zero)):
        non_negative(name, value)
    check_rate(rate)
    return window_for_state_gap(rate, (input_lipschitz * input_bound + at_zero) / (1 - rate), eps)


def window_for_state_gap(rate: float, state_bound: float, eps: float) -> int:
    r"""The smallest :math:`k \ge 1` with :math:`\lambda^k H \le \varepsilon`, for states no larger than H.

    Args:
        rate: :math:`\lambda < 1`.
        state_bound: :math:`H \ge \sup_t \lVert h_t \rVert`.
        eps: :math:`\varepsilon > 0`.

    Raises:
        ValueError: ``rate`` is outside 0 to 1, ``eps`` is not positive and finite, or H is negative or infinite.
    """
    check_rate(rate)
    positive_number("eps", eps)
    non_negative("state_bound", state_bound)
    if rate * state_bound <= eps:
        return 1
    k = ceil((log(state_bound) - log(eps)) / -log(rate))
    while rate**k * state_bound > eps:  # the logarithms are rounded
        k += 1
    while k > 1 and rate ** (k - 1) * state_bound <= eps:
        k -= 1
    return k
