"""How fast a gradient changes in the weights: bounds of second derivatives."""

from fhx.stability.contraction import check_rate
from fhx.stability.norms import UP
from fhx.stability.smoothness import Constants, LossConstants


def gradient_lipschitz_bound(constants: Constants, loss_constants: LossConstants) -> float:
    r"""The gradient's Lipschitz constant in the weights, on the convex set that the constants are for:

    .. math::

       \beta = L \frac{M_{hh} \Sigma^2 + 2 M_{h\theta} \Sigma + M_{\theta\theta}}{1 - \lambda} + M \Sigma^2, \qquad
       \Sigma = \frac{L_\theta}{1 - \lambda}.

    It bounds the full model's gradient and that of every truncation. The power of :math:`1/(1 - \lambda)` is 3 for a
    fixed :math:`L_\theta`. But :math:`L_\theta` grows with the states: for the linear cell it is of the order of
    :math:`1/(1 - \lambda)` itself, and the power is 3 only without M, and 4 with it.

    Args:
        constants: of the cell.
        loss_constants: of the loss.

    Raises:
        ValueError: the rate is not below 1.

    Source: Lemma 3 of Miller and Hardt (2019), "Stable recurrent models".
    """
    gap, change = 1 - check_rate(constants.rate), constants.sensitivity
    curve = constants.by_states * change**2 + 2 * constants.by_state_and_weights * change + constants.by_weights_twice
    return (loss_constants.lipschitz * curve / gap + loss_constants.smoothness * change**2) * UP


def tanh_gradient_lipschitz_bound(constants: Constants, loss_constants: LossConstants) -> float:
    r"""The gradient's Lipschitz constant in the weights of a simple cell with tanh, in the 2-norm, at any width:

    .. math::

       \beta = L \Bigl(\frac{2 \xi^2}{(1 - \lambda)^{5/2}} + \frac{2 \xi}{(1 - \lambda)^2}\Bigr)
         + \frac{M \xi^2}{(1 - \lambda)^2}, \qquad \xi = L_\theta,

    on every convex set of weights with :math:`\lVert W \rVert_2 \le \lambda`. A scalar cell reaches the power 5/2 of
    :math:`1/(1 - \lambda)`, where :func:`gradient_lipschitz_bound` has 3.

    Args:
        constants: of one or several simple cells with tanh.
        loss_constants: of the loss.

    Raises:
        ValueError: the rate is not below 1, or not one in the 2-norm.

    Source: derived here, from :math:`1 - (1 - h^2)^2 \ge h^2`.
    """
    if constants.norm != 2:
        raise ValueError(f"this bound is for rates in the 2-norm, got constants in the norm {constants.norm!r}")
    gap, xi = 1 - check_rate(constants.rate), constants.by_weights
    curve = 2 * xi**2 / gap**2.5 + 2 * xi / gap**2
    return (loss_constants.lipschitz * curve + loss_constants.smoothness * (xi / gap) ** 2) * UP
