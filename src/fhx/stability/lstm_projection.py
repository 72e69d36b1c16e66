r"""Nearest LSTMs that a condition certifies: a search over the caps of the forget gates.

With the forget gate of unit j held to :math:`F_j` and :math:`m_j \ge \max(w_{z,j}, \frac14 w_{i,j})` given, "rows"
bounds every row of weights by itself,

.. math:: |u_f|_1 \le (r - F_j - m_j) / F_j, \quad |u_z|_1 \le m_j, \quad |u_i|_1 \le 4 m_j, \quad |u_o|_1 \le 4 r .

The squared distance is convex in :math:`m_j`, and where it is least the derivatives of its parts cancel. The "four
conditions" bound the rows once F is given; "sum" does with the rest of the rate split in proportion to what the terms
are now.
"""

from functools import cached_property

import torch
from attrs import frozen
from jaxtyping import Float
from torch import Tensor

from fhx.cells import LSTMCell
from fhx.stability.caps import least
from fhx.stability.certificates import Condition
from fhx.stability.gates import Rows, gate_logits
from fhx.stability.lstm_bounds import LSTMBounds
from fhx.stability.rows import Gates, Levels, squared_shift

HALVINGS = 30
"""Of the interval in which m is."""


@frozen(slots=False)
class Nearest:
    """The bounds of rows that hold for the nearest LSTM, of all caps of the forget gates.

    Args:
        cell: the LSTM.
        bounds: its own.
        condition: what is to certify it.
        rate: r, below 1.
        cap: the most that a forget gate may open to, at most r.
    """

    cell: LSTMCell
    bounds: LSTMBounds
    condition: Condition
    rate: float
    cap: float

    @cached_property
    def _forget(self) -> Rows:
        cell = self.cell
        return cell.W_f.double(), cell.U_f.double(), cell.b_f.double()

    @cached_property
    def _gates(self) -> Gates:
        return Gates.of(*self._forget, self.bounds.input_bound)

    @cached_property
    def _sizes(self) -> dict[str, Float[Tensor, "d d"]]:
        return {name: getattr(self.cell, f"W_{name}").double().abs() for name in "izo"}

    @cached_property
    def _levels(self) -> dict[str, Levels]:
        return {name: Levels.of(sizes) for name, sizes in self._sizes.items()}

    def caps(self) -> Float[Tensor, " d"]:
        """What each forget gate may open to."""
        arguments = gate_logits(*self._forget, self.bounds.input_bound)
        highest = arguments.clamp(max=torch.tensor(self.cap, dtype=torch.float64).logit().item())
        if self.condition == "rows":
            return least(self._squared_distance, self._gates, highest).sigmoid()
        common = least(self._squared_distance, self._gates, highest.max()[None]).sigmoid()
        return common.expand(self.cell.state_size)

    def radii(self, F: Float[Tensor, "rows m"]) -> tuple[Float[Tensor, "d m"], ...]:
        """Of the balls of the rows of W_i, W_f, W_z and W_o, for m caps."""
        left, shape = (self.rate - F).clamp(min=0), (self.cell.state_size, F.shape[1])
        if self.condition == "rows":
            m = self._candidates(F)
            return 4 * m, (left - m).clamp(min=0) / F, m, torch.full_like(m, 4 * self.rate)
        if self.condition == "four conditions":
            return left.expand(shape), (left * (1 - F)).expand(shape), (left / 4).expand(shape), left.expand(shape)
        norm = self.bounds.norms
        total = norm["i"] / 4 + norm["f"] / (4 * (1 - F)) + norm["z"] + norm["o"] / 4
        scale = (left / total).nan_to_num(1.0, 1.0).clamp(max=1)
        return tuple((scale * norm[gate]).expand(shape) for gate in "ifzo")

    def _squared_distance(self, arguments: Float[Tensor, "rows m"]) -> Float[Tensor, "rows m"]:
        i, f, z, o = self.radii(arguments.sigmoid())
        moved = self._gates.squared_distance(f, arguments.expand(f.shape))
        for name, radius in (("i", i), ("z", z), ("o", o)):
            moved = moved + squared_shift(self._sizes[name], self._levels[name].at(radius))
        return moved if self.condition == "rows" else moved.sum(0, keepdim=True)

    def _candidates(self, F: Float[Tensor, "d m"]) -> Float[Tensor, "d m"]:
        """m, by halving: a larger one frees W_i and W_z, and leaves less for W_f."""
        low = torch.zeros_like(F)
        high = (self.rate - F).minimum(self.bounds.candidate[:, None]).clamp(min=0)
        limit = F.logit()
        for _ in range(HALVINGS):
            m = (low + high) / 2
            ball, nu = self._gates.levels((self.rate - F - m).clamp(min=0) / F, limit)
            freed = self._levels["z"].at(m) + 4 * self._levels["i"].at(4 * m)
            more = F * freed > (ball - nu).clamp(min=0)
            low, high = torch.where(more, m, low), torch.where(more, high, m)
        return low
