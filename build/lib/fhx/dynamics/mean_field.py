r"""Mean-field theory of wide random nets: how fast gradients grow or die over layers, from two variances.

For a layer :math:`a_l = \sigma(z_l)`, :math:`z_l = W_l a_{l-1} + b_l`, with independent weights
:math:`W_{ij} \sim N(0, \sigma_w^2 / n)` and biases :math:`N(0, \sigma_b^2)`, the pre-activations of a wide layer are
normal, and their variance :math:`q_l` follows the **length map**

.. math:: q_{l+1} = \sigma_w^2\, \mathbb{E}\, \sigma(\sqrt{q_l}\, \zeta)^2 + \sigma_b^2, \qquad \zeta \sim N(0, 1).

With :math:`D = \operatorname{diag} \sigma'(z_l)` the Jacobian is :math:`D W_l`, and for a vector :math:`v` orthogonal
to :math:`a_{l-1}` the numbers :math:`W_l v` are independent of :math:`z_l`, so that

.. math::

   \frac{\mathbb{E} \lVert D W_l v \rVert^2}{\lVert v \rVert^2} = \chi
   = \sigma_w^2\, \mathbb{E}\, \sigma'(\sqrt{q}\, \zeta)^2

at every width, :math:`q` being the variance of :math:`z_l` given :math:`a_{l-1}`. So the mean *square* of a gradient's
norm goes like :math:`\chi^l = e^{\pm l / \xi}` with the depth scale :math:`\xi = 1 / |\log \chi|`, and its typical
norm, in a wide net, like :math:`e^{\lambda l}` with :math:`\lambda = \frac12 \log \chi`. The mean of a logarithm is
below the logarithm of the mean: the top exponent at width :math:`n` differs from :math:`\lambda` by a term of order
:math:`1/n`.

A residual layer :math:`a_l = a_{l-1} + s\, \sigma(z_l)` adds a path of gain 1 that is uncorrelated with the other:
:math:`\chi = 1 + s^2 \sigma_w^2\, \mathbb{E}\, \sigma'^2`, and the states grow with depth, without a fixed point.

Noise that is fresh at each step and independent for each unit acts like a bias: add its variance to :math:`\sigma_b^2`.
An input :math:`U x_t` of many independent numbers, with :math:`U` random, comes near it. A single number :math:`x_t`
does not: it moves all units together, so that :math:`q_t` stays random at every width, and the rate is the mean of
:math:`\frac12 \log \chi` over it. A recurrent net applies one :math:`W` again and again; its wide limit is the same
where the states of different times are uncorrelated (Molgedey, Schuchhardt & Schuster 1992), as they are in chaos
without a bias; for gated cells see Chen, Pennington & Schoenholz (2018). Orthogonal matrices of scale :math:`\sigma_w`
have the same two maps in the limit, and differ in the spread of the singular values (Pennington, Schoenholz & Ganguli
2017).
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, log, pi, sqrt
from typing import get_args

import numpy as np

from fhx._checks import non_negative, one_of, positive_number
from fhx._roots import root
from fhx.cells.activations import TanhOrRelu

_STEP = 1 / 32


@dataclass(frozen=True)
class MeanField:
    r"""The theory for one activation, one pair of variances, and a residual scale if there is one.

    Args:
        activation: "tanh" or "relu".
        weight_std: :math:`\sigma_w > 0`; a weight's variance is :math:`\sigma_w^2` over the number of its layer's
            inputs.
        bias_std: :math:`\sigma_b \ge 0`.
        residual_scale: :math:`s > 0` for residual layers; None for plain ones.

    Raises:
        ValueError: an unknown activation, or a number out of range.

    Source: Poole et al. (2016) and Schoenholz et al. (2017); Yang & Schoenholz (2017) for residual layers.
    """

    activation: TanhOrRelu
    weight_std: float
    bias_std: float = 0.0
    residual_scale: float | None = None

    def __post_init__(self) -> None:
        _known(self.activation)
        positive_number("weight_std", self.weight_std)
        non_negative("bias_std", self.bias_std)
        if self.residual_scale is not None:
            positive_number("residual_scale", self.residual_scale)

    @property
    def variance(self) -> float:
        r"""The limit :math:`q^*` of the length map from :math:`q_0 = 1`; infinite for residual layers."""
        if self.residual_scale is not None:
            return inf
        if self.activation == "relu":
            kept = self.gain
            return self.bias_std**2 / (1 - kept) if kept < 1 else inf if kept > 1 or self.bias_std else 1.0
        if self.bias_std == 0 and self.weight_std <= 1:
            return 0.0
        high = self.weight_std**2 + self.bias_std**2
        low = high
        while self._next(low) < low:
            low /= 2
        return root(lambda q: self._next(q) - q, low, high, xtol=1e-300) if low < high else high

    @property
    def gain(self) -> float:
        r"""The gain :math:`\chi` of a layer at the limit :math:`q^*`: what it multiplies a squared gradient norm by."""
        return self._gain(inf if self.activation == "relu" else self.variance)

    @property
    def depth_scale(self) -> float:
        r""":math:`\xi = 1 / |\log \chi|`, in layers; infinite at the edge of chaos, and for residual tanh layers."""
        return inf if self.gain == 1 else 1 / abs(log(self.gain))

    @property
    def exponent(self) -> float:
        r""":math:`\frac12 \log \chi`, the top Lyapunov exponent of a wide net in nats per layer."""
        return log(self.gain) / 2

    def variances(self, layers: int, input_mean_square: float = 1.0) -> list[float]:
        r"""The variances :math:`q_1, \dots, q_L` of the pre-activations, by the length map.

        Args:
            layers: :math:`L`.
            input_mean_square: the mean square of the first layer's inputs, which are taken to have mean zero.

        Raises:
            ValueError: a negative ``layers`` or ``input_mean_square``.
        """
        if layers < 0 or not input_mean_square >= 0:
            given = f"{layers} and {input_mean_square}"
            raise ValueError(f"layers and input_mean_square must not be negative, got {given}")
        square, mean, scale, variances = input_mean_square, 0.0, self.residual_scale, []
        for _ in range(layers):
            q = self.weight_std**2 * square + self.bias_std**2
            variances.append(q)
            if scale is None:
                square = _mean_square(self.activation, q)
            else:
                step = scale * _mean(self.activation, q)
                square += scale**2 * _mean_square(self.activation, q) + 2 * mean * step
                mean += step
        return variances

    def gains(self, layers: int, input_mean_square: float = 1.0) -> list[float]:
        r"""The gains :math:`\chi_1, \dots, \chi_L` at those variances; their product is the mean squared gradient norm.

        Args:
            layers, input_mean_square: as for ``variances``.

        Raises:
            ValueError: as for ``variances``.
        """
        return [self._gain(q) for q in self.variances(layers, input_mean_square)]

    @classmethod
    def critical_std(cls, activation: TanhOrRelu, bias_std: float = 0.0) -> float:
        r"""The edge of chaos: the :math:`\sigma_w` at which a plain layer's gain :math:`\chi` is 1, given a bias.

        Below it gradients vanish, above it they explode. :math:`\sqrt 2` for ReLU whatever the bias; 1 for tanh without
        one, and more with one. A residual layer has no edge: its gain is never below 1.

        Raises:
            ValueError: an unknown activation, or a negative ``bias_std``.
        """
        edge = cls(activation, sqrt(2), bias_std)
        if activation == "relu":
            return edge.weight_std
        if bias_std == 0:
            return 1.0
        high = 2.0
        while cls(activation, high, bias_std).gain < 1:
            high *= 2
        return root(lambda std: cls(activation, std, bias_std).gain - 1, 1.0, high, xtol=1e-13)

    def _next(self, q: float) -> float:
        return self.weight_std**2 * _mean_square(self.activation, q) + self.bias_std**2

    def _gain(self, q: float) -> float:
        relu = self.activation == "relu"  # (sqrt(2) / sqrt(2))**2 is 1, sqrt(2)**2 / 2 is not
        gain = (self.weight_std / sqrt(2)) ** 2 if relu else self.weight_std**2 * _mean_squared_slope(q)
        return gain if self.residual_scale is None else 1 + self.residual_scale**2 * gain


def _known(activation: TanhOrRelu) -> None:
    one_of("activation", activation, get_args(TanhOrRelu))


def _mean(activation: TanhOrRelu, q: float) -> float:
    r""":math:`\mathbb{E}\, \sigma(\sqrt q \zeta)`."""
    return 0.0 if activation == "tanh" else sqrt(q / (2 * pi))


def _mean_square(activation: TanhOrRelu, q: float) -> float:
    r""":math:`\mathbb{E}\, \sigma(\sqrt q \zeta)^2`."""
    return q / 2 if activation == "relu" else _normal_mean(lambda z: np.tanh(z) ** 2, q)


def _mean_squared_slope(q: float) -> float:
    r""":math:`\mathbb{E}\, \tanh'(\sqrt q \zeta)^2`."""
    return 0.0 if q == inf else _normal_mean(lambda z: (1 - np.tanh(z) ** 2) ** 2, q)


def _normal_mean(f: Callable[[np.ndarray], np.ndarray], q: float) -> float:
    r""":math:`\mathbb{E}\, f(\sqrt q\, \zeta)`, ``f`` being analytic up to a distance of :math:`\pi/2` from the reals.

    The trapezoidal rule in :math:`u`, :math:`\zeta = c \sinh u` with :math:`c = \min(1, 1/\sqrt q)`, is as fine as
    ``f`` near zero and reaches out to 10 standard deviations; it converges exponentially.
    """
    c = 1 / sqrt(max(1.0, q))
    ends = np.arcsinh(10 / c)
    u = np.linspace(-ends, ends, 2 * int(np.ceil(ends / _STEP)) + 1)
    z = c * np.sinh(u)
    density = np.exp(-(z**2) / 2) * np.cosh(u)
    return float(np.average(f(sqrt(q) * z), weights=density))
