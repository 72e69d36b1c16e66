"""The LSTM whose gates are computed by a net of several layers."""

from typing import final

import torch
from jaxtyping import Float
from torch import Tensor

from recurrence.cells.base import positive
from recurrence.cells.gated import lstm_state
from recurrence.cells.layered import LayeredCell


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
        placed = {"generator": generator, "dtype": dtype, "device": device}
        super().__init__(input_size, d, [*[d] * (depth - 1), 4 * d], [d] * depth, parts=2, **placed)

    def _layer(self, k: int, below: Tensor, pre: Tensor) -> Tensor:
        return pre if k == self.depth - 1 else pre.tanh()

    def _layer_tangent(self, k: int, below: Tensor, pre: Tensor, by_below: Tensor, by_pre: Tensor) -> Tensor:
        raise NotImplementedError

    def step(
        self, h: Float[Tensor, "*batch width"], drive: Float[Tensor, "*batch rows"]
    ) -> Float[Tensor, "*batch width"]:
        """The next :math:`(h, c)` from :math:`(h, c)` and the first layer's drive."""
        h, c = h.chunk(2, -1)
        return lstm_state(super().step(h, drive), c)

    def hidden(self, state: Float[Tensor, "*batch width"]) -> Float[Tensor, "*batch d"]:
        """:math:`h` of the state :math:`(h, c)`."""
        return state[..., : self.state_size]

    def layer_matrices(self) -> list[Tensor]:
        """:math:`W, W_2, \\dots` and the four blocks of rows of the top layer, as views."""
        *lower, top = super().layer_matrices()
        return [*lower, *top.chunk(4)]
