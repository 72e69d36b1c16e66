"""The LSTM whose gates are computed by a net of several layers."""

from typing import final

import torch
from jaxtyping import Float
from torch import Tensor

from fhx._checks import positive
from fhx.cells.activations import scale_rows, tanh_slope
from fhx.cells.gated import lstm_memory_tangent, lstm_state, lstm_tangent
from fhx.cells.layered import LayeredCell


@final
class DeepLSTMCell(LayeredCell):
    r"""The LSTM whose four pre-activations are the top layer of a net of :math:`L` layers of :math:`(h, x)`:

    .. math::

       \begin{aligned}
       a_1 &= \tanh(W h + U x + b), \qquad a_l = \tanh(W_l a_{l-1} + b_l), \quad l = 2, \dots, L - 1,\\
       (p^i, p^f, p^z, p^o) &= W_L a_{L-1} + b_L,\\
       c' &= \sigma(p^i) \circ \tanh(p^z) + \sigma(p^f) \circ c, \qquad h' = \sigma(p^o) \circ \tanh(c').
       \end{aligned}

    The state is :math:`(h, c)` side by side, of width :math:`2 d`. With ``depth`` 1 the four pre-activations are
    :math:`W h + U x + b` and the cell is the LSTM. However deep the net, :math:`c` goes through none of its layers.

    Parameters ``W`` :math:`(d, d)`, ``U`` :math:`(d, d_{in})`, ``b`` :math:`(d)`, with :math:`4 d` rows where
    :math:`L = 1`; ``W_upper`` and ``b_upper`` list :math:`W_2, \dots, W_L` and :math:`b_2, \dots, b_L`, the last of
    :math:`4 d` rows in the order i, f, z, o.

    Args:
        input_size: :math:`d_{in}`, width of the input.
        state_size: :math:`d`, width of :math:`h` and of every layer below the top.
        depth: :math:`L`.
        generator, dtype, device: see ``AffineCell``.

    Raises:
        ValueError: a width or the depth is not a positive integer.
    """

    def __init__(
        self,
        input_size: int,
        state_size: int,
        depth: int,
        *,
        generator: torch.Generator | None = None,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> None:
        depth, d = positive("depth", depth), positive("state_size", state_size)
        rows = [*[d] * (depth - 1), 4 * d]
        super().__init__(input_size, d, rows, [d] * depth, 2, generator=generator, dtype=dtype, device=device)

    def _layer(self, k: int, below: Tensor, pre: Tensor) -> Tensor:
        return pre if k == self.depth - 1 else pre.tanh()

    def _layer_tangent(self, k: int, below: Tensor, pre: Tensor, by_below: Tensor, by_pre: Tensor) -> Tensor:
        return by_pre if k == self.depth - 1 else scale_rows(tanh_slope(pre), by_pre)

    def step(
        self, h: Float[Tensor, "*batch width"], drive: Float[Tensor, "*batch rows"]
    ) -> Float[Tensor, "*batch width"]:
        """The next :math:`(h, c)` from :math:`(h, c)` and the first layer's drive."""
        h, c = h.chunk(2, -1)
        return lstm_state(self._top(h, drive), c)

    def jacobian(
        self, h: Float[Tensor, "*batch width"], drive: Float[Tensor, "*batch rows"]
    ) -> Float[Tensor, "*batch width width"]:
        """In closed form; the block of :math:`c` by :math:`c` is the diagonal of the forget gate."""
        h, c = h.chunk(2, -1)
        pre, by_h = self._tangent(h, drive, self.W, self.W)
        return torch.cat((lstm_tangent(pre, c, by_h), lstm_memory_tangent(pre, c)), -1)

    def input_jacobian(
        self, h: Float[Tensor, "*batch width"], x: Float[Tensor, "*batch input"]
    ) -> Float[Tensor, "*batch width input"]:
        """In closed form."""
        h, c = h.chunk(2, -1)
        pre, by_x = self._tangent(h, self.drive(x), self.U, self.U)
        return lstm_tangent(pre, c, by_x)

    def hidden(self, state: Float[Tensor, "*batch width"]) -> Float[Tensor, "*batch d"]:
        """:math:`h` of the state :math:`(h, c)`."""
        return state[..., : self.state_size]

    def layer_matrices(self) -> list[Tensor]:
        """:math:`W, W_2, \\dots` and the four blocks of rows of the top layer, as views."""
        *lower, top = super().layer_matrices()
        return [*lower, *top.chunk(4)]
