r"""Projected gradient descent of a recurrent model and of its truncation, side by side."""

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from math import sqrt
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from fhx._checks import non_negative, one_of, positive
from fhx.cells import Cell
from fhx.dynamics import unroll
from fhx.stability.truncation import truncated_states

Loss = Callable[[Tensor], Tensor]
Schedule = Literal["1/t", "constant", "1/sqrt(t)"]
SCHEDULES: dict[Schedule, Callable[[int], float]] = {
    "1/t": lambda t: 1 / t,
    "constant": lambda t: 1.0,
    "1/sqrt(t)": lambda t: 1 / sqrt(t),
}


@dataclass(frozen=True, eq=False)
class Descent:
    r"""The record of a descent of two models.

    Args:
        cell, truncated: the two models after the last step.
        weights: :math:`|\theta_t - \hat\theta_t|` after 0, 1, ..., N steps; the first is 0.
        gradients: :math:`|\nabla p(\theta_t) - \nabla \hat p(\hat\theta_t)|` where each step began, N numbers.
        losses, truncated_losses: of each model where each step began, N numbers.
    """

    cell: Cell
    truncated: Cell
    weights: Float[Tensor, " steps_and_one"]
    gradients: Float[Tensor, " steps"]
    losses: Float[Tensor, " steps"]
    truncated_losses: Float[Tensor, " steps"]


def step_sizes(schedule: Schedule, alpha: float, steps: int) -> list[float]:
    r"""Step sizes :math:`\alpha_1, \dots, \alpha_N`: :math:`\alpha / t`, :math:`\alpha` or :math:`\alpha / \sqrt t`.

    Args:
        schedule: "1/t", "constant" or "1/sqrt(t)".
        alpha: :math:`\alpha \ge 0`.
        steps: N.

    Raises:
        ValueError: an unknown schedule, :math:`\alpha` negative or not finite, or ``steps`` no positive integer.
    """
    one_of("schedule", schedule, SCHEDULES)
    non_negative("alpha", alpha)
    return [alpha * SCHEDULES[schedule](t) for t in range(1, positive("steps", steps) + 1)]


def descend(
    cell: Cell,
    inputs: Float[Tensor, "time batch d_in"],
    loss: Loss,
    k: int,
    step_sizes: Sequence[float],
    project: Callable[[Cell], object] | None = None,
    every_step: bool = False,
) -> Descent:
    r"""Train a cell and its truncation from the same start on the same data.

    .. math::

       \theta_t = \Pi\bigl(\theta_{t-1} - \alpha_t \nabla p(\theta_{t-1})\bigr), \qquad
       \hat\theta_t = \Pi\bigl(\hat\theta_{t-1} - \alpha_t \nabla p^k(\hat\theta_{t-1})\bigr), \qquad
       \theta_0 = \hat\theta_0,

    with :math:`p = \ell(h_T)` and :math:`p^k = \ell(h_T^k)`: the truncated model's own gradient, of k steps from the
    zero state. The given cell stays as it is.

    Args:
        cell: the start.
        inputs: :math:`x_1, \dots, x_T`, the same in every step.
        loss: :math:`\ell`, from what the readout sees of the last state, ``(batch, d)``, to a number.
        k: inputs that the truncated model reads, at least 1.
        step_sizes: :math:`\alpha_1, \dots, \alpha_N`.
        project: :math:`\Pi`, changes a cell in place after each step; None: nothing does.
            :func:`~fhx.stability.weight_gap_bound` is about the projection onto one convex set.
        every_step: the loss is of all states, ``(time, batch, d)``, each truncated for itself.

    Raises:
        ValueError: k is not a positive integer, there are no inputs, or what ``unroll`` raises.

    Source: Miller and Hardt (2019), "Stable recurrent models", section 3.3.
    """
    full, truncated = deepcopy(cell), deepcopy(cell)
    distances, gaps, losses, truncated_losses = [0.0], [], [], []
    k = positive("k", k)
    for size in step_sizes:
        value, slope = _slope(full, inputs, loss, None, every_step)
        truncated_value, truncated_slope = _slope(truncated, inputs, loss, k, every_step)
        losses.append(value)
        truncated_losses.append(truncated_value)
        gaps.append(_distance(slope, truncated_slope))
        moved = _move(full, size * slope, project)
        distances.append(_distance(moved, _move(truncated, size * truncated_slope, project)))
    curves = (torch.tensor(values, dtype=torch.float64) for values in (distances, gaps, losses, truncated_losses))
    return Descent(full, truncated, *curves)


def gradient_gap(
    cell: Cell, inputs: Float[Tensor, "time batch d_in"], loss: Loss, k: int, every_step: bool = False
) -> float:
    r"""How far apart the two gradients are: :math:`|\nabla_\theta \ell(h_T) - \nabla_\theta \ell(h_T^k)|`.

    :func:`~fhx.stability.gradient_gap_bound` bounds it.

    Args:
        cell, inputs, loss, k, every_step: as for :func:`descend`.

    Raises:
        ValueError: k is not a positive integer, there are no inputs, or what ``unroll`` raises.
    """
    full, cut = (_slope(cell, inputs, loss, length, every_step)[1] for length in (None, positive("k", k)))
    return _distance(full, cut)


def _slope(cell: Cell, inputs: Tensor, loss: Loss, k: int | None, every_step: bool) -> tuple[float, Tensor]:
    """The loss and its gradient by all weights, as one vector; of the whole run if k is None."""
    if not len(inputs):
        raise ValueError("a loss of the last state needs at least one input")
    with torch.enable_grad():
        if k is None or k >= len(inputs):
            states = unroll(cell, inputs)
        else:
            states = truncated_states(cell, inputs, k) if every_step else unroll(cell, inputs[-k:])
        value = loss(cell.hidden(states if every_step else states[-1]))
        slopes = torch.autograd.grad(value, list(cell.parameters()), materialize_grads=True)
    return value.item(), parameters_to_vector(slopes)


@torch.no_grad()
def _move(cell: Cell, step: Tensor, project: Callable[[Cell], object] | None) -> Tensor:
    """Take a step from the weights, project, and return them as one vector."""
    vector_to_parameters(parameters_to_vector(cell.parameters()) - step, cell.parameters())
    if project is not None:
        project(cell)
    return parameters_to_vector(cell.parameters())


def _distance(a: Float[Tensor, " weights"], b: Float[Tensor, " weights"]) -> float:
    return (a - b).double().norm().item()
