r"""Gradients through time: how strongly an end depends on every state and every input before it."""

from collections.abc import Callable

import torch
from jaxtyping import Float, Shaped
from torch import Tensor
from torch.func import jacrev, vjp, vmap

from fhx.cells.function import Step, as_cell
from fhx.dynamics.jacobians import real_start
from fhx.dynamics.products import natural_log, rescaled
from fhx.dynamics.realization import Realization
from fhx.dynamics.unrolling import unroll


@torch.no_grad()
def gradient_norms(
    cell: Step,
    inputs: Shaped[Tensor, "time batch d_in"],
    loss: Callable[[Tensor], Tensor],
    h0: Shaped[Tensor, "*state"] | None = None,
    log_scale: bool = False,
) -> Float[Tensor, "time batch"]:
    r"""The norms of the gradients of a loss by every state, :math:`\lVert \partial \ell(h_T) / \partial h_t \rVert_2`.

    Row :math:`t - 1` holds :math:`t = 1, \dots, T`. They are computed backwards by
    :math:`g_{t-1} = J_t^\top g_t`, :math:`g_T = \nabla \ell(h_T)`, with a scale of their own for each sequence, so that
    their logarithms neither overflow nor underflow: :math:`-\infty` means that a gradient is exactly zero.

    Args:
        cell, inputs, h0: as for ``unroll``; the state must be real.
        loss: :math:`\ell`, from the last states ``(batch, width)`` to a loss for each sequence, ``(batch,)``.
        log_scale: return natural logarithms.

    Raises:
        ValueError: what ``unroll`` raises, or a ``loss`` that does not return one number for each sequence.

    Source: Mikhaeil, Monfared & Durstewitz (2022) on these norms and the Lyapunov exponent.
    """
    cell = as_cell(cell)
    start = real_start(cell, inputs, h0)
    states = unroll(cell, inputs, start)
    drives, step = cell.drive(inputs), cell.step
    last = states[-1] if len(states) else start
    losses, pull = vjp(loss, last)[:2]
    if losses.shape != last.shape[:1]:
        raise ValueError(f"loss must return {len(last)} numbers, one for each sequence, got {tuple(losses.shape)}")
    (gradient,) = pull(torch.ones_like(losses))
    exponent: Tensor | int = 0
    logs = []
    for t in reversed(range(len(states))):
        gradient, exponent = rescaled(gradient, (-1,), exponent)
        logs.append(torch.linalg.vector_norm(gradient, dim=-1).log() + natural_log(exponent[:, 0], gradient))
        if t:
            pull = vjp(lambda h, t=t: step(h, drives[t]), states[t - 1])[1]
            (gradient,) = pull(gradient)
    norms = torch.stack(logs).flip(0) if logs else last.new_empty(0, len(last))
    return norms if log_scale else norms.exp()


@torch.no_grad()
def input_gradients(
    net: Realization, inputs: Float[Tensor, "time batch d_in"], lags: int, log_scale: bool = False
) -> Float[Tensor, "starts delays batch"]:
    r"""How strongly outputs depend on earlier inputs, :math:`\lVert \partial p_{t+i} / \partial x_t \rVert_F`.

    Entry :math:`(t - 1, i)` of the result, for :math:`t = 1, \dots, T - m` and delays :math:`i = 0, \dots, m`,
    :math:`m` being ``lags``; :math:`p_t` is the output of the realisation at time :math:`t` as a vector. Frobenius's
    norm: the root of the sum of the squares of all derivatives. Shape ``(time - lags, lags + 1, batch)``.

    Args:
        net: a realisation :math:`(f, g, h_0)` whose readout reads each sequence and time by itself.
        inputs: :math:`x_1, \dots, x_T`, time first.
        lags: :math:`m`, the largest delay, 0 to :math:`T - 1`.
        log_scale: return natural logarithms, which neither overflow nor underflow.

    Raises:
        ValueError: what ``jacobians`` raises, or ``lags`` out of range.
    """
    time = len(inputs)
    if not 0 <= lags < time:
        raise ValueError(f"lags must lie between 0 and T - 1 = {time - 1}, got {lags}")
    cell = as_cell(net.cell)

    def step(h: Tensor, x: Tensor) -> Tensor:
        return net.cell(h[None], x[None])[0]

    def readout(h: Tensor) -> Tensor:
        return net.readout(cell.hidden(h)[None, None]).flatten()

    def everywhere(f: Callable[..., Tensor], *arguments: Tensor) -> Tensor:
        return vmap(vmap(f))(*arguments)

    states = net.states(inputs)
    before = torch.cat([real_start(cell, inputs, net.h0)[None], states[:-1]])
    drives = cell.drive(inputs)
    starts = time - lags
    derivative = everywhere(jacrev(step, argnums=1), before[:starts], inputs[:starts])
    readouts = everywhere(jacrev(readout), states)
    exponent: Tensor | int = 0
    logs = []
    for delay in range(lags + 1):
        now = slice(delay, delay + starts)
        if delay:
            derivative = cell.jacobian(before[now], drives[now]) @ derivative
        derivative, exponent = rescaled(derivative, (-2, -1), exponent)
        norms = torch.linalg.matrix_norm(readouts[now] @ derivative)
        logs.append(norms.log() + natural_log(exponent[..., 0, 0], norms))
    norms = torch.stack(logs, 1)
    return norms if log_scale else norms.exp()
