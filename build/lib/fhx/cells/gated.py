"""Cells that choose, number by number, what of their state to keep: the LSTM and the GRU."""

from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from fhx.cells.activations import scale_rows
from fhx.cells.base import AffineCell, TorchLayer


def _rows(name: str, blocks: str) -> tuple[property, ...]:
    """A property for each block of rows of parameter ``name``: a view, so writing to it writes to the parameter."""

    def block(k: int, gate: str) -> property:
        def view(cell: AffineCell) -> Tensor:
            d = cell.state_size
            return getattr(cell, name)[k * d : (k + 1) * d]

        return property(view, doc=f"The rows of {name} that belong to {gate}, a view.")

    return tuple(block(k, gate) for k, gate in enumerate(blocks))


def lstm_state(pre: Tensor, c: Tensor) -> Tensor:
    """The next state (h, c) of an LSTM from its four pre-activations i, f, z, o side by side, and c."""
    i, f, z, o = pre.chunk(4, -1)
    c = i.sigmoid() * z.tanh() + f.sigmoid() * c
    return torch.cat((o.sigmoid() * c.tanh(), c), -1)


def lstm_tangent(pre: Tensor, c: Tensor, by_pre: Tensor) -> Tensor:
    """The derivative of ``lstm_state``, (*batch, 2 d, directions), along changes ``by_pre`` of the pre-activations."""
    i, f, z, o = pre.chunk(4, -1)
    i, f, z, o = i.sigmoid(), f.sigmoid(), z.tanh(), o.sigmoid()
    shown = (i * z + f * c).tanh()
    by_i, by_f, by_z, by_o = by_pre.chunk(4, -2)
    by_c = (
        scale_rows(i * (1 - i) * z, by_i) + scale_rows(f * (1 - f) * c, by_f) + scale_rows(i * (1 - z.square()), by_z)
    )
    by_h = scale_rows(o * (1 - shown.square()), by_c) + scale_rows(o * (1 - o) * shown, by_o)
    return torch.cat((by_h, by_c), -2)


def lstm_memory_tangent(pre: Tensor, c: Tensor) -> Tensor:
    """The derivative of ``lstm_state`` by c, (*batch, 2 d, d): two diagonal blocks, the lower one the forget gate."""
    i, f, z, o = pre.chunk(4, -1)
    f = f.sigmoid()
    shown = (i.sigmoid() * z.tanh() + f * c).tanh()
    return torch.cat(((o.sigmoid() * (1 - shown.square()) * f).diag_embed(), f.diag_embed()), -2)


@final
class LSTMCell(AffineCell):
    r"""The long short-term memory, whose state is :math:`(h, c)` side by side, of width :math:`2 d`:

    .. math::

       \begin{aligned}
       f_t &= \sigma(W_f h_{t-1} + U_f x_t + b_f) & \text{what to keep}\\
       i_t &= \sigma(W_i h_{t-1} + U_i x_t + b_i) & \text{what to write}\\
       o_t &= \sigma(W_o h_{t-1} + U_o x_t + b_o) & \text{what to show}\\
       z_t &= \tanh(W_z h_{t-1} + U_z x_t + b_z) & \text{the candidate}\\
       c_t &= i_t \circ z_t + f_t \circ c_{t-1}\\
       h_t &= o_t \circ \tanh(c_t)
       \end{aligned}

    Parameters ``W`` :math:`(4d, d)`, ``U`` :math:`(4d, d_{in})`, ``b`` :math:`(4d)` hold the rows of i, f, z, o in
    torch's order (torch writes :math:`g` for :math:`z`). ``W_i``, ``W_f``, ``W_z``, ``W_o``, ``U_i``, ..., ``b_o``
    are views of them: under ``torch.no_grad()``, ``cell.b_f[...] = 1`` writes to the parameter.

    Args:
        input_size: :math:`d_{in}`, width of the input.
        state_size: :math:`d`, width of :math:`h`.
        generator, dtype, device: see ``AffineCell``.

    Raises:
        ValueError: a width is not a positive integer.

    Source: Hochreiter and Schmidhuber (1997), with the forget gate of Gers, Schmidhuber and Cummins (2000).
    """

    blocks, parts = 4, 2
    W_i, W_f, W_z, W_o = _rows("W", "ifzo")
    U_i, U_f, U_z, U_o = _rows("U", "ifzo")
    b_i, b_f, b_z, b_o = _rows("b", "ifzo")

    def step(
        self, h: Float[Tensor, "*batch width"], drive: Float[Tensor, "*batch rows"]
    ) -> Float[Tensor, "*batch width"]:
        """The next :math:`(h, c)` from :math:`(h, c)` and the drive of the four blocks."""
        h, c = h.chunk(2, -1)
        return lstm_state(drive + F.linear(h, self.W), c)

    def jacobian(
        self, h: Float[Tensor, "*batch width"], drive: Float[Tensor, "*batch rows"]
    ) -> Float[Tensor, "*batch width width"]:
        """In closed form; the block of :math:`c` by :math:`c` is the diagonal of the forget gate."""
        h, c = h.chunk(2, -1)
        pre = drive + F.linear(h, self.W)
        return torch.cat((lstm_tangent(pre, c, self.W), lstm_memory_tangent(pre, c)), -1)

    def input_jacobian(
        self, h: Float[Tensor, "*batch width"], x: Float[Tensor, "*batch input"]
    ) -> Float[Tensor, "*batch width input"]:
        """In closed form."""
        h, c = h.chunk(2, -1)
        return lstm_tangent(self.drive(x) + F.linear(h, self.W), c, self.U)

    def hidden(self, state: Float[Tensor, "*batch width"]) -> Float[Tensor, "*batch d"]:
        """:math:`h` of the state :math:`(h, c)`."""
        return state[..., : self.state_size]

    def torch_layers(self) -> list[TorchLayer]:
        """One layer of ``torch.nn.LSTM``."""
        return [TorchLayer(nn.LSTM, {}, self.state_size, self._torch_weights())]


@final
class GRUCell(AffineCell):
    r"""The gated recurrent unit in torch's form:

    .. math::

       \begin{aligned}
       r_t &= \sigma(W_r h_{t-1} + U_r x_t + b_r) & \text{what the candidate sees of the state}\\
       z_t &= \sigma(W_z h_{t-1} + U_z x_t + b_z) & \text{what to keep}\\
       n_t &= \tanh(U_n x_t + b_n + r_t \circ (W_n h_{t-1} + b_m)) & \text{the candidate}\\
       h_t &= (1 - z_t) \circ n_t + z_t \circ h_{t-1}
       \end{aligned}

    The candidate has two biases: :math:`b_n` beside the input, and :math:`b_m` beside the state (the memory), which the
    reset gate scales. For the gates torch's two biases add up to one, which is all that is kept here.

    Cho et al. (2014) reset the state *before* the matrix:
    :math:`n_t = \tanh(U_n x_t + W_n (r_t \circ h_{t-1}) + b_n)`. The two agree where :math:`b_m = 0` and :math:`W_n` is
    diagonal; for no other :math:`W_n` is :math:`r \circ (W_n h) = W_n (r \circ h)` for every :math:`r` and :math:`h`.
    The form here needs one matrix product per step, theirs two. In some later texts :math:`z` and :math:`1 - z` change
    places; here they stand as in Cho et al. and in torch.

    Parameters ``W`` :math:`(3d, d)`, ``U`` :math:`(3d, d_{in})`, ``b`` :math:`(3d)` hold the rows of r, z, n in
    torch's order; ``b_m`` :math:`(d)`. ``W_r``, ``W_z``, ``W_n``, ``U_r``, ..., ``b_n`` are views of them. :math:`z`
    is an update gate here and the candidate in the LSTM, after the usual letters of either.

    Args:
        input_size: :math:`d_{in}`, width of the input.
        state_size: :math:`d`, width of the state.
        generator, dtype, device: see ``AffineCell``.

    Raises:
        ValueError: a width is not a positive integer.

    Source: Cho et al. (2014), "Learning phrase representations using RNN encoder-decoder".
    """

    blocks = 3
    W_r, W_z, W_n = _rows("W", "rzn")
    U_r, U_z, U_n = _rows("U", "rzn")
    b_r, b_z, b_n = _rows("b", "rzn")

    def __init__(
        self,
        input_size: int,
        state_size: int,
        *,
        generator: torch.Generator | None = None,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> None:
        super().__init__(input_size, state_size, generator=generator, dtype=dtype, device=device)
        self.b_m = self._uniform((self.state_size,), generator, dtype, device)

    def step(self, h: Float[Tensor, "*batch d"], drive: Float[Tensor, "*batch rows"]) -> Float[Tensor, "*batch d"]:
        """The next state from the state and the drive of the three blocks."""
        sizes = (2 * self.state_size, self.state_size)
        gates, candidate = drive.split(sizes, -1)
        from_gates, from_candidate = F.linear(h, self.W).split(sizes, -1)
        r, z = (gates + from_gates).sigmoid().chunk(2, -1)
        n = (candidate + r * (from_candidate + self.b_m)).tanh()
        return n + z * (h - n)

    def jacobian(
        self, h: Float[Tensor, "*batch d"], drive: Float[Tensor, "*batch rows"]
    ) -> Float[Tensor, "*batch d d"]:
        """In closed form."""
        r, z, n, memory = self._gates(h, drive)
        by_r, by_z, by_memory = self.W.chunk(3)
        by_n = scale_rows(r * (1 - r) * memory, by_r) + scale_rows(r, by_memory)
        return self._tangent(h, z, n, by_z, by_n) + z.diag_embed()

    def input_jacobian(
        self, h: Float[Tensor, "*batch d"], x: Float[Tensor, "*batch input"]
    ) -> Float[Tensor, "*batch d input"]:
        """In closed form."""
        r, z, n, memory = self._gates(h, self.drive(x))
        by_r, by_z, by_candidate = self.U.chunk(3)
        return self._tangent(h, z, n, by_z, scale_rows(r * (1 - r) * memory, by_r) + by_candidate)

    def _gates(self, h: Tensor, drive: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """r, z, n, and what r scales."""
        from_r, from_z, memory = F.linear(h, self.W).chunk(3, -1)
        gate_r, gate_z, candidate = drive.chunk(3, -1)
        r, memory = (gate_r + from_r).sigmoid(), memory + self.b_m
        return r, (gate_z + from_z).sigmoid(), (candidate + r * memory).tanh(), memory

    def _tangent(self, h: Tensor, z: Tensor, n: Tensor, by_z: Tensor, by_n: Tensor) -> Tensor:
        """The change of the next state where the pre-activations of z and n change so and ``h`` does not."""
        return scale_rows((h - n) * z * (1 - z), by_z) + scale_rows((1 - z) * (1 - n.square()), by_n)

    def layer_biases(self) -> list[Tensor]:
        """``b`` and ``b_m``."""
        return [self.b, self.b_m]

    def torch_layers(self) -> list[TorchLayer]:
        """One layer of ``torch.nn.GRU``."""
        weights = self._torch_weights()
        weights["bias_hh"][2 * self.state_size :] = self.b_m.detach()
        return [TorchLayer(nn.GRU, {}, self.state_size, weights)]
