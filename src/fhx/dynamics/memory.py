r"""What a long memory does to a gradient that does not explode.

A unit that forgets by :math:`a`, :math:`h_t = a h_{t-1} + x_t`, reads independent inputs of mean 0 and variance 1. In
the long run :math:`h_t = \sum_k a^k x_{t-k}`, and its derivative by :math:`a` is
:math:`s_t = \sum_k k a^{k-1} x_{t-k}`, so that with :math:`q = a^2`

.. math::

   \mathbb{E} h_t^2 = \frac{1}{1 - q}, \qquad \mathbb{E} h_t s_t = \frac{a}{(1 - q)^2}, \qquad
   \mathbb{E} s_t^2 = \frac{1 + q}{(1 - q)^3}.

As the memory :math:`1 / (1 - a)` grows, the sensitivity grows like its cube and the state like its first power. Two
remedies, alone and together: to learn :math:`\nu` in :math:`a = e^{-e^\nu}`, which multiplies :math:`s_t` by
:math:`a \ln a`; and to scale the input by :math:`\gamma = \sqrt{1 - a^2}`, which makes the state
:math:`\gamma h_t` and its derivative :math:`\gamma s_t - (a / \gamma) h_t`.
"""

from typing import Literal, NamedTuple, get_args

import torch
from jaxtyping import Float
from torch import Tensor

from fhx._checks import one_of

Remedy = Literal["none", "exponential", "normalized", "both"]


class Moments(NamedTuple):
    """Stationary second moments of a unit.

    Args:
        state: of the state.
        sensitivity: of its derivative by the parameter that is learned.
    """

    state: Float[Tensor, "*units"]
    sensitivity: Float[Tensor, "*units"]


def memory_moments(decay: Float[Tensor, "*units"], remedy: Remedy = "none") -> Moments:
    r"""The second moments of a unit that forgets by :math:`a` and of its derivative, under white input of variance 1.

    .. math::

       \begin{aligned}
       \text{none:} &\quad \frac{1}{1 - a^2}, & \frac{1 + a^2}{(1 - a^2)^3} \\
       \text{exponential:} &\quad \frac{1}{1 - a^2}, & (a \ln a)^2 \frac{1 + a^2}{(1 - a^2)^3} \\
       \text{normalized:} &\quad 1, & \frac{1}{(1 - a^2)^2} \\
       \text{both:} &\quad 1, & \left( \frac{a \ln a}{1 - a^2} \right)^2 \le \tfrac14
       \end{aligned}

    Args:
        decay: :math:`a`, between 0 and 1.
        remedy: which of the two is applied.

    Raises:
        ValueError: a decay outside (0, 1), or an unknown remedy.

    Source: Zucchet & Orvieto (2024), "Recurrent neural networks: vanishing and exploding gradients are not the end of
    the story"; both remedies are those of Orvieto et al. (2023).
    """
    one_of("remedy", remedy, get_args(Remedy))
    if not bool(((decay > 0) & (decay < 1)).all()):
        raise ValueError(f"every decay must lie between 0 and 1, got {decay.tolist()}")
    left = (1 - decay) * (1 + decay)  # 1 - a^2 without cancellation
    if remedy in ("normalized", "both"):
        state, sensitivity = torch.ones_like(decay), left**-2
    else:
        state, sensitivity = 1 / left, (1 + decay**2) / left**3
    if remedy in ("exponential", "both"):
        sensitivity = (decay * decay.log()) ** 2 * sensitivity
    return Moments(state, sensitivity)
