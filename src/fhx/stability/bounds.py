r"""How far apart a stable model and its truncation are: states, gradients, weights after training, outputs.

Every bound is a function of a cell's :class:`~fhx.stability.Constants` and a loss's
:class:`~fhx.stability.LossConstants` (written L and M), in their norm; none adds a constant of its own. All hold
for a loss of each state, averaged over a batch and over times.
"""

from collections.abc import Sequence
from math import ceil, exp, expm1, inf, isnan, log, log1p

from fhx._checks import all_at_least_zero, positive, positive_number
from fhx.stability.contraction import check_rate
from fhx.stability.curvature import gradient_lipschitz_bound
from fhx.stability.norms import UP
from fhx.stability.smoothness import Constants, LossConstants


def state_gap_bound(constants: Constants, k: int) -> float:
    r"""How far apart the states are:

    .. math:: |h_t - h_t^k| \le \lambda^k H, \qquad H \le \max(|h_0|, B / (1 - \lambda)).

    Args:
        constants: of the cell.
        k: at least 1.

    Raises:
        ValueError: the rate is not below 1, or k is not a positive integer.

    Source: Lemma 1 of Miller and Hardt (2019), "Stable recurrent models".
    """
    return check_rate(constants.rate) ** positive("k", k) * constants.state_bound * UP


def gradient_gap_bound(constants: Constants, loss_constants: LossConstants, k: int) -> float:
    r"""How far apart the gradients are at the same weights:

    .. math::

       |\nabla_\theta \ell(h_T) - \nabla_\theta \ell(h_T^k)| \le \lambda^k (L + M H) \Sigma
       + \lambda^{k-1} L H \bigl(k\, M_{h\theta} + (k - 1)\, M_{hh} \Sigma\bigr), \qquad
       \Sigma = \frac{L_\theta}{1 - \lambda}.

    One term is without k, one with :math:`k \lambda^{k-1}`: at :math:`\lambda = 0, k = 1` the right side is
    :math:`L H M_{h\theta}`, not 0. The truncated gradient is that of the truncated model, which starts from zero.

    Args:
        constants: of the cell.
        loss_constants: of the loss.
        k: at least 1.

    Raises:
        ValueError: the rate is not below 1, or k is not a positive integer.

    Source: Lemma 2 of Miller and Hardt (2019), "Stable recurrent models", there :math:`\gamma k \lambda^k`.
    """
    return check_rate(constants.rate) ** (positive("k", k) - 1) * _polynomial(constants, loss_constants, k) * UP


def gradient_bound(constants: Constants, loss_constants: LossConstants) -> float:
    r"""The size of the gradient: :math:`|\nabla_\theta \ell(h_T)| \le L \Sigma`.

    Args:
        constants: of the cell.
        loss_constants: of the loss.

    Raises:
        ValueError: the rate is not below 1.
    """
    check_rate(constants.rate)
    return loss_constants.lipschitz * constants.sensitivity * UP


def weight_gap_bound(gap: float, smoothness: float, step_sizes: Sequence[float], gradient: float = inf) -> float:
    r"""How far apart the weights are after projected gradient descent, by the recursion

    .. math:: \delta_0 = 0, \qquad \delta_t = \delta_{t-1} + \alpha_t \min(\beta \delta_{t-1} + E,\; 2 G)

    for any step sizes :math:`\alpha_1, \dots, \alpha_N`. Both models start from the same weights; the projection is
    onto one closed convex set for all steps, on which the constants hold: :func:`project` of a simple or linear cell,
    :func:`project_within` of an LSTM.

    Args:
        gap: E, a bound of how far apart the two gradients are at the same weights, ``gradient_gap_bound``.
        smoothness: :math:`\beta`, ``gradient_lipschitz_bound``.
        step_sizes: :math:`\alpha_t \ge 0`.
        gradient: G, a bound of every gradient; without one the result is
            :math:`\frac{E}{\beta} (\prod_t (1 + \alpha_t \beta) - 1)`.

    Returns:
        A bound of :math:`|\theta_N - \hat\theta_N|`, possibly infinite.

    Raises:
        ValueError: a number is negative or NaN.

    Source: Proposition 2 of Miller and Hardt (2019), "Stable recurrent models", for :math:`\alpha_t = \alpha / t`.
    """
    all_at_least_zero(gap=gap, smoothness=smoothness, gradient=gradient)
    distance = 0.0
    for size in step_sizes:
        all_at_least_zero(step_size=size)
        change = gap + smoothness * distance if distance else gap
        distance += size * min(change, 2 * gradient) * UP if size else 0.0
    return distance


def weight_gap_bound_harmonic(gap: float, smoothness: float, alpha: float, steps: int) -> float:
    r"""``weight_gap_bound`` for :math:`\alpha_t = \alpha / t` as a power of the number of steps:

    .. math:: \frac{E}{\beta} \left((1 + \alpha\beta) N^{\alpha\beta} - 1\right),

    since :math:`(1 - 1/t)^q (1 + q/t) \le 1`. At N = 1 it is :math:`\alpha E`, which is exact.

    Args:
        gap, smoothness: E and :math:`\beta`, as for ``weight_gap_bound``.
        alpha: :math:`\alpha`.
        steps: N.

    Raises:
        ValueError: a number is negative or NaN, or ``steps`` is not a positive integer.
    """
    all_at_least_zero(gap=gap, smoothness=smoothness, alpha=alpha)
    power, steps = alpha * smoothness, positive("steps", steps)
    if not gap or not alpha:
        return 0.0
    if not power:
        return alpha * gap * (1 + log(steps)) * UP
    return gap / smoothness * _expm1((log1p(power) + power * log(steps)) * UP) * UP


def weight_gap_bound_power_law(gap: float, smoothness: float, alpha: float, steps: int) -> float:
    r"""The same as a power law, :math:`\alpha E N^{\alpha\beta + 1}`: as valid, and looser.

    It is the published form, whose :math:`\gamma k \lambda^k` is our E.

    Args:
        gap, smoothness, alpha, steps: as for ``weight_gap_bound_harmonic``.

    Raises:
        ValueError: a number is negative or NaN, or ``steps`` is not a positive integer.

    Source: Proposition 2 of Miller and Hardt (2019), "Stable recurrent models".
    """
    all_at_least_zero(gap=gap, smoothness=smoothness, alpha=alpha)
    factor = (alpha * smoothness + 1) * log(positive("steps", steps))
    return alpha * gap * (_expm1(factor) + 1) if gap and alpha else 0.0


def output_gap_bound(
    constants: Constants,
    loss_constants: LossConstants,
    k: int,
    step_sizes: Sequence[float],
    output_lipschitz: float = 1.0,
) -> float:
    r"""How far apart the outputs of the two trained models are:

    .. math:: |y_T - y_T^k| \le L_g (\Sigma\, \delta_N + \lambda^k H).

    Args:
        constants: of the cell, on the convex set that training stays in.
        loss_constants: of the loss.
        k: at least 1.
        step_sizes: of the training, as for ``weight_gap_bound``.
        output_lipschitz: :math:`L_g`, of the readout, in the norm of the states.

    Raises:
        ValueError: the rate is not below 1, k is not a positive integer, or a number is negative or NaN.

    Source: Theorem 1 of Miller and Hardt (2019), "Stable recurrent models".
    """
    all_at_least_zero(output_lipschitz=output_lipschitz)
    gap = gradient_gap_bound(constants, loss_constants, k)
    smoothness = gradient_lipschitz_bound(constants, loss_constants)
    distance = weight_gap_bound(gap, smoothness, step_sizes, gradient_bound(constants, loss_constants))
    moved = constants.sensitivity * distance if distance else 0.0
    return output_lipschitz * (moved + state_gap_bound(constants, k)) * UP


def window_for_output_gap(
    constants: Constants,
    loss_constants: LossConstants,
    eps: float,
    step_sizes: Sequence[float],
    output_lipschitz: float = 1.0,
) -> int:
    r"""A window k for which the outputs of the trained models are :math:`\varepsilon`-close, as for all longer ones.

    It is found in logarithms, since :math:`\prod_t (1 + \alpha_t \beta)` may be beyond the range of floats.

    Args:
        constants, loss_constants, step_sizes, output_lipschitz: as for ``output_gap_bound``.
        eps: :math:`\varepsilon > 0`.

    Raises:
        ValueError: what ``output_gap_bound`` raises, ``eps`` is not positive and finite, or the constants are not
            finite.

    Source: Theorem 1 of Miller and Hardt (2019), "Stable recurrent models".
    """
    positive_number("eps", eps)
    all_at_least_zero(output_lipschitz=output_lipschitz)
    rate, smoothness = check_rate(constants.rate), gradient_lipschitz_bound(constants, loss_constants)
    if not smoothness + constants.state_bound < inf:
        raise ValueError("no window is long enough: the constants are not finite")
    moved = _log(output_lipschitz * constants.sensitivity) + _log_growth(smoothness, step_sizes)

    def enough(k: int) -> bool:
        first = 0.0 if k == 1 else (k - 1) * _log(rate)
        states = _log(rate * constants.state_bound * output_lipschitz)
        return first + _log_sum(moved + _log(_polynomial(constants, loss_constants, k)), states) <= log(eps)

    k = 2 if rate == 0 else ceil(-1 / log(rate)) + 1  # from here on k times rate^k falls
    if enough(k):
        while k > 1 and enough(k - 1):
            k -= 1
        return k
    low, high = k, 2 * k
    while not enough(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _polynomial(constants: Constants, loss_constants: LossConstants, k: int) -> float:
    r"""What multiplies :math:`\lambda^{k-1}` in ``gradient_gap_bound``."""
    H, change = constants.state_bound, constants.sensitivity
    older = constants.rate * (loss_constants.lipschitz + loss_constants.smoothness * H) * change
    newer = loss_constants.lipschitz * H * (k * constants.by_state_and_weights + (k - 1) * constants.by_states * change)
    return inf if isnan(older + newer) else older + newer  # 0 times inf


def _log_growth(smoothness: float, step_sizes: Sequence[float]) -> float:
    r"""The logarithm of :math:`\frac1\beta (\prod_t (1 + \alpha_t \beta) - 1)`, of the sum of step sizes at 0."""
    all_at_least_zero(**{f"step size {t}": size for t, size in enumerate(step_sizes, 1)})
    if smoothness == 0:
        return _log(sum(step_sizes))
    total = sum(log1p(size * smoothness) for size in step_sizes)
    return (log(expm1(total)) if total < 1 else total + log1p(-exp(-total))) - log(smoothness) if total else -inf


def _log(value: float) -> float:
    return log(value) if value else -inf


def _log_sum(a: float, b: float) -> float:
    """The logarithm of the sum of two numbers from theirs."""
    high, low = max(a, b), min(a, b)
    return high if low == -inf else high + log1p(exp(low - high))


def _expm1(value: float) -> float:
    try:
        return expm1(value)
    except OverflowError:
        return inf
