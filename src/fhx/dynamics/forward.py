r"""Gradients forward in time: real-time recurrent learning, and its cheap form for units that do not read one another.

Back-propagation goes over a run twice and keeps all its states. Going forward, one carries the **sensitivity**
:math:`S_t = \partial h_t / \partial \theta` along with the state,

.. math:: S_t = J_t S_{t-1} + \left. \frac{\partial f}{\partial \theta} \right|_{h_{t-1}, x_t}, \qquad S_0 = 0,

and knows the gradient of every loss on the way at once, :math:`S_t^\top \nabla \ell_t(h_t)`. For :math:`d` numbers of
state and :math:`P` parameters that is :math:`d P` numbers and :math:`d^2 P` multiplications a step, whatever :math:`T`.
"""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor
from torch.func import functional_call, jacrev, vjp, vmap

from fhx.cells import Cell
from fhx.dynamics.jacobians import real_start

Loss = Callable[[Tensor, int], Tensor]


@torch.no_grad()
def rtrl(
    cell: Cell,
    inputs: Float[Tensor, "time batch d_in"],
    loss: Loss,
    h0: Float[Tensor, "*state"] | None = None,
) -> dict[str, Tensor]:
    r"""The gradient of :math:`\sum_t \ell_t(h_t)` by every parameter of a cell, without going back in time.

    It is the one of back-propagation through time, up to rounding. No state but the last is kept.

    Args:
        cell: a cell with :math:`P` parameters in all.
        inputs, h0: as for ``unroll``; :math:`h_0` does not depend on the parameters.
        loss: :math:`\ell_t`, from the states at a time ``(batch, width)`` and :math:`t = 1, \dots, T` to a loss for
            each sequence, ``(batch,)``.

    Returns:
        By the names of ``cell.named_parameters()``, gradients of their shapes, summed over the batch.

    Raises:
        TypeError: something that is no cell.
        ValueError: what ``unroll`` raises, a cell without parameters, or a ``loss`` that does not return one number for
            each sequence.

    Source: Williams & Zipser (1989), "A learning algorithm for continually running fully recurrent neural networks".
    """
    if not isinstance(cell, Cell):
        raise TypeError(f"real-time recurrent learning needs a cell and its parameters, got {type(cell).__name__}")
    parameters = {name: parameter.detach() for name, parameter in cell.named_parameters()}
    if not parameters:
        raise ValueError(f"{type(cell).__name__} has no parameters to learn")

    def next_state(parameters: dict[str, Tensor], h: Tensor, x: Tensor) -> Tensor:
        return functional_call(cell, parameters, (h[None], x[None]))[0]

    by_parameters = vmap(jacrev(next_state), (None, 0, 0))
    h = real_start(cell, inputs, h0)
    sizes = [parameter.numel() for parameter in parameters.values()]
    S, gradient = h.new_zeros(*h.shape, sum(sizes)), h.new_zeros(sum(sizes))
    for t, (x, drive) in enumerate(zip(inputs, cell.drive(inputs), strict=True), 1):
        at_once = by_parameters(parameters, h, x)
        S = cell.jacobian(h, drive) @ S + torch.cat([at_once[name].flatten(2) for name in parameters], -1)
        h = cell.step(h, drive)
        gradient += torch.einsum("bi,bip->p", _slopes(loss, h, t), S)
    parts = gradient.split(sizes)
    return {name: part.view_as(p) for (name, p), part in zip(parameters.items(), parts, strict=True)}


@torch.no_grad()
def diagonal_rtrl(
    decay: Float[Tensor, " d"],
    weight: Float[Tensor, "d d_in"],
    inputs: Float[Tensor, "time batch d_in"],
    loss: Loss,
    h0: Float[Tensor, "batch d"] | None = None,
) -> tuple[Float[Tensor, " d"], Float[Tensor, "d d_in"]]:
    r"""The same for :math:`h_t = a \circ h_{t-1} + B x_t`, at the cost of the forward run.

    A parameter of unit :math:`i` moves unit :math:`i` alone, so that of all :math:`S_t` one number a parameter is left,
    its **eligibility trace**:

    .. math::

       \frac{\partial h_{t,i}}{\partial a_i} = a_i \frac{\partial h_{t-1,i}}{\partial a_i} + h_{t-1,i}, \qquad
       \frac{\partial h_{t,i}}{\partial B_{ij}} = a_i \frac{\partial h_{t-1,i}}{\partial B_{ij}} + x_{t,j}.

    Args:
        decay: :math:`a`.
        weight: :math:`B`.
        inputs, loss: as for ``rtrl``.
        h0: :math:`h_0`, zero if None.

    Returns:
        The gradients by ``decay`` and by ``weight``, summed over the batch.

    Raises:
        ValueError: shapes that do not fit, or a ``loss`` that does not return one number for each sequence.

    Source: Mozer (1989) for traces of units with self-recurrence only; Zucchet, Meier, Schug, Mujika & Sacramento
    (2023), "Online learning of long-range dependencies", for complex diagonal recurrences of today.
    """
    if decay.ndim != 1 or weight.shape[:-1] != decay.shape or inputs.ndim != 3 or inputs.shape[2:] != weight.shape[1:]:
        raise ValueError(
            f"decay must be (d,), weight (d, d_in) and inputs (time, batch, d_in), got {tuple(decay.shape)}, "
            f"{tuple(weight.shape)} and {tuple(inputs.shape)}"
        )
    batch, d = inputs.shape[1], len(decay)
    if h0 is not None and h0.shape != (batch, d):
        raise ValueError(f"h0 must have shape (batch, d) = {(batch, d)}, got {tuple(h0.shape)}")
    h = inputs.new_zeros(batch, d) if h0 is None else h0
    by_decay, by_weight = torch.zeros_like(h), h.new_zeros(batch, *weight.shape)
    decay_gradient, weight_gradient = torch.zeros_like(decay), torch.zeros_like(weight)
    for t, x in enumerate(inputs, 1):
        by_decay = decay * by_decay + h
        by_weight = decay[:, None] * by_weight + x[:, None]
        h = decay * h + x @ weight.mT
        slopes = _slopes(loss, h, t)
        decay_gradient += (slopes * by_decay).sum(0)
        weight_gradient += (slopes[..., None] * by_weight).sum(0)
    return decay_gradient, weight_gradient


def _slopes(loss: Loss, h: Float[Tensor, "batch d"], t: int) -> Float[Tensor, "batch d"]:
    """The gradient of the loss at a time by the states of that time."""
    losses, pull = vjp(lambda h: loss(h, t), h)[:2]
    if losses.shape != h.shape[:1]:
        raise ValueError(f"loss must return {len(h)} numbers, one for each sequence, got {tuple(losses.shape)}")
    (slopes,) = pull(torch.ones_like(losses))
    return slopes
