"""Cells whose step is affine in the state with a diagonal matrix, so that one scan makes all their states."""

from abc import abstractmethod
from math import pi
from typing import final

import torch
from jaxtyping import Float, Inexact
from torch import Tensor, nn
from torch.nn import functional as F

from fhx.cells.base import Cell, uniform_parameter

Place = tuple[torch.Generator | None, torch.dtype | None, torch.device | str | None]
"""Where the numbers of a parameter are drawn from, their type, and where they are put."""
SHARPNESS = 8.0
"""The constant c of an RG-LRU."""


class DiagonalCell(Cell):
    r"""A cell of the form :math:`h_t = a(x_t) \circ h_{t-1} + b(x_t)`.

    ``factors`` are :math:`a` and :math:`b`, and the drive holds them side by side; a complex number stands in the state
    and in the drive as its real and its imaginary part. :func:`fhx.dynamics.diagonal_states` makes all states at once.
    """

    @abstractmethod
    def factors(self, x: Float[Tensor, "*batch input"]) -> tuple[Inexact[Tensor, "*b n"], Inexact[Tensor, "*b n"]]:
        """What the state is multiplied by, and what is added to it; ``x`` may hold all times at once.

        Raises:
            ValueError: ``x`` has another width than ``input_size``.
        """

    def drive(self, x: Float[Tensor, "*batch input"]) -> Float[Tensor, "*batch drive"]:
        """:math:`a(x)` and :math:`b(x)` side by side."""
        return torch.cat(self.factors(x), -1)

    def step(self, h: Float[Tensor, "*batch d"], drive: Float[Tensor, "*batch drive"]) -> Float[Tensor, "*batch d"]:
        r""":math:`a \circ h + b`."""
        a, b = drive.chunk(2, -1)
        return a * h + b

    def jacobian(
        self, h: Float[Tensor, "*batch d"], drive: Float[Tensor, "*batch drive"]
    ) -> Float[Tensor, "*batch d d"]:
        r""":math:`\mathrm{diag}(a)`, wherever the state is."""
        return drive.chunk(2, -1)[0].diag_embed()


class GatedLinearCell(DiagonalCell):
    r"""A diagonal cell that reads its input through two blocks of rows of :math:`U x + b`.

    ``U`` has shape :math:`(2d, d_{in})` and ``b`` :math:`(2d)`. Both start uniform in :math:`\pm 1/\sqrt d`.

    Args:
        input_size: :math:`d_{in}`, width of the input.
        state_size: :math:`d`, width of the state.
        generator, dtype, device: see ``AffineCell``.

    Raises:
        ValueError: a width is not a positive integer, or the dtype is not a real floating-point type.
    """

    def __init__(
        self,
        input_size: int,
        state_size: int,
        *,
        generator: torch.Generator | None = None,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> None:
        super().__init__(input_size, state_size)
        bound, place = self.state_size**-0.5, (generator, dtype, device)
        self.U = uniform_parameter((2 * self.state_size, self.input_size), -bound, bound, *place)
        self.b = uniform_parameter((2 * self.state_size,), -bound, bound, *place)
        self._more(bound, place)

    def _more(self, bound: float, place: Place) -> None:
        """Draw the other parameters, where a cell has some."""

    def _blocks(self, x: Float[Tensor, "*batch input"]) -> tuple[Float[Tensor, "*batch d"], ...]:
        """The two blocks of :math:`U x + b`."""
        self.check_input(x)
        return F.linear(x, self.U, self.b).chunk(2, -1)


@final
class MinGRUCell(GatedLinearCell):
    r"""A GRU whose gate and candidate do not look at the state:

    .. math::

       z_t = \sigma(U_z x_t + b_z), \qquad n_t = U_n x_t + b_n, \qquad
       h_t = (1 - z_t) \circ h_{t-1} + z_t \circ n_t .

    Parameters ``U`` :math:`(2d, d_{in})` and ``b`` :math:`(2d)` hold the rows of z, then those of n; all start uniform
    in :math:`\pm 1/\sqrt d`. Here :math:`z` is what is written; in a ``GRUCell`` it is what is kept.

    Args:
        input_size: :math:`d_{in}`, width of the input.
        state_size: :math:`d`, width of the state.
        generator, dtype, device: see ``AffineCell``.

    Raises:
        ValueError: a width is not a positive integer, or the dtype is not a real floating-point type.

    Source: Feng et al. (2024), "Were RNNs all we needed?"; with a tanh around the candidate it is the gated impulse
    linear recurrence of Martin and Cundy (2018).
    """

    def factors(self, x: Float[Tensor, "*batch input"]) -> tuple[Float[Tensor, "*b n"], Float[Tensor, "*b n"]]:
        r""":math:`1 - z` and :math:`z \circ n`."""
        z, n = self._blocks(x)
        return (-z).sigmoid(), z.sigmoid() * n


@final
class RGLRUCell(GatedLinearCell):
    r"""The real-gated linear recurrent unit, which keeps less of a number where a gate opens, and writes as much more:

    .. math::

       \begin{aligned}
       r_t &= \sigma(U_r x_t + b_r) & \text{how fast to forget}\\
       i_t &= \sigma(U_i x_t + b_i) & \text{what to write}\\
       a_t &= \sigma(\Lambda)^{c\, r_t}, \qquad c = 8\\
       h_t &= a_t \circ h_{t-1} + \sqrt{1 - a_t^2} \circ i_t \circ (V x_t)
       \end{aligned}

    Parameters ``U`` :math:`(2d, d_{in})` and ``b`` :math:`(2d)` hold the rows of r, then those of i; ``V`` is
    :math:`(d, d_{in})`, the identity in the source, whose inputs are as wide as its state; ``Lambda`` :math:`(d)`. They
    start uniform in :math:`\pm 1/\sqrt d`, but :math:`\sigma(\Lambda)^c` uniform between 0.9 and 0.999.

    Args:
        input_size: :math:`d_{in}`, width of the input.
        state_size: :math:`d`, width of the state.
        generator, dtype, device: see ``AffineCell``.

    Raises:
        ValueError: a width is not a positive integer, or the dtype is not a real floating-point type.

    Source: De et al. (2024), "Griffin: mixing gated linear recurrences with local attention for efficient language
    models".
    """

    def _more(self, bound: float, place: Place) -> None:
        d = self.state_size
        self.V = uniform_parameter((d, self.input_size), -bound, bound, *place)
        kept = uniform_parameter((d,), 0.9, 0.999, *place).detach()
        self.Lambda = nn.Parameter((kept ** (1 / SHARPNESS)).logit())

    def factors(self, x: Float[Tensor, "*batch input"]) -> tuple[Float[Tensor, "*b n"], Float[Tensor, "*b n"]]:
        r""":math:`a` and :math:`\sqrt{1 - a^2} \circ i \circ V x`."""
        r, i = (block.sigmoid() for block in self._blocks(x))
        log_a = SHARPNESS * r * F.logsigmoid(self.Lambda)
        written = (-torch.expm1(2 * log_a)).sqrt()  # 1 - a^2 without cancellation, where a is near 1
        return log_a.exp(), written * i * F.linear(x, self.V)


@final
class LRUCell(DiagonalCell):
    r"""The linear recurrent unit: complex numbers that turn and fade, each at a rate of its own.

    .. math::

       h_t = \lambda \circ h_{t-1} + \gamma \circ (B x_t), \qquad
       \lambda = \exp(-e^{\nu} + i e^{\theta}), \qquad \gamma = \sqrt{1 - |\lambda|^2} .

    The state holds :math:`\operatorname{Re} h`, then :math:`\operatorname{Im} h`, so that an affine readout has what
    :math:`\operatorname{Re}(C h)` can be. Parameters ``nu`` and ``theta`` :math:`(d/2)`, and ``B`` :math:`(d, d_{in})`,
    its real rows first. At the start :math:`|\lambda|^2` is uniform between :math:`r_{min}^2` and :math:`r_{max}^2`,
    the angle :math:`e^{\theta}` uniform below the largest one, and the entries of ``B`` uniform with the variance
    :math:`1 / (2 d_{in})`. (In the source the scale :math:`\gamma` is a parameter that starts like this.)

    Args:
        input_size: :math:`d_{in}`, width of the input.
        state_size: :math:`d`, twice the number of complex numbers.
        smallest, largest: :math:`r_{min}` and :math:`r_{max}`, between 0 and 1.
        angle: the largest angle, above 0.
        generator, dtype, device: see ``AffineCell``.

    Raises:
        ValueError: a width is not a positive integer, ``state_size`` is odd, the dtype is not a real floating-point
            type, or not :math:`0 \le r_{min} < r_{max} < 1` and :math:`0 < \text{angle} \le 2 \pi`.

    Source: Orvieto et al. (2023), "Resurrecting recurrent neural networks for long sequences".
    """

    def __init__(
        self,
        input_size: int,
        state_size: int,
        smallest: float = 0.0,
        largest: float = 0.99,
        angle: float = 2 * pi,
        *,
        generator: torch.Generator | None = None,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> None:
        super().__init__(input_size, state_size)
        if self.state_size % 2:
            raise ValueError(f"state_size must be even, two for each complex number, got {state_size}")
        if not (0 <= smallest < largest < 1 and 0 < angle <= 2 * pi):
            raise ValueError(
                f"an LRU starts with 0 <= smallest < largest < 1 and 0 < angle <= 2 pi, "
                f"got {smallest}, {largest} and {angle}"
            )
        n, bound, place = self.state_size // 2, (1.5 / self.input_size) ** 0.5, (generator, dtype, device)
        squares = uniform_parameter((n,), smallest**2, largest**2, *place).detach()
        angles = uniform_parameter((n,), 0.0, angle, *place).detach()
        self.nu = nn.Parameter((-squares.clamp(min=1e-12).log() / 2).log())
        self.theta = nn.Parameter(angles.clamp(min=1e-12).log())
        self.B = uniform_parameter((self.state_size, self.input_size), -bound, bound, *place)

    def factors(self, x: Float[Tensor, "*batch input"]) -> tuple[Inexact[Tensor, "*a n"], Inexact[Tensor, "*b n"]]:
        r""":math:`\lambda`, the same at all times, and :math:`\gamma \circ B x`, both complex."""
        p, q, re, im = self._parts(x)
        return torch.complex(p, q), torch.complex(re, im)

    def drive(self, x: Float[Tensor, "*batch input"]) -> Float[Tensor, "*batch drive"]:
        r""":math:`\operatorname{Re} \lambda, \operatorname{Im} \lambda` and the parts of :math:`\gamma \circ B x`."""
        return torch.cat(self._parts(x), -1)

    def _parts(self, x: Tensor) -> tuple[Tensor, ...]:
        """The real and imaginary parts of both factors, for every input."""
        self.check_input(x)
        fading, angle = self.nu.exp(), self.theta.exp()
        size, gamma = (-fading).exp(), (-torch.expm1(-2 * fading)).sqrt()
        written = [gamma * part for part in F.linear(x, self.B).chunk(2, -1)]
        return *((size * turn).expand_as(written[0]) for turn in (angle.cos(), angle.sin())), *written

    def step(self, h: Float[Tensor, "*batch d"], drive: Float[Tensor, "*batch drive"]) -> Float[Tensor, "*batch d"]:
        r""":math:`\lambda \circ h + \gamma \circ B x`, in real and imaginary parts."""
        (u, v), (p, q, re, im) = h.chunk(2, -1), drive.chunk(4, -1)
        return torch.cat((p * u - q * v + re, q * u + p * v + im), -1)

    def jacobian(
        self, h: Float[Tensor, "*batch d"], drive: Float[Tensor, "*batch drive"]
    ) -> Float[Tensor, "*batch d d"]:
        r"""The turn by :math:`\lambda`, four diagonal blocks, wherever the state is."""
        p, q, _, _ = (part.diag_embed() for part in drive.chunk(4, -1))
        return torch.cat((torch.cat((p, -q), -1), torch.cat((q, p), -1)), -2)
