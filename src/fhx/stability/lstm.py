r"""The LSTM as a kind of certified cell: its set, its rate in a weighted max norm on (h, c), projections, constants."""

from collections.abc import Sequence
from functools import cached_property
from math import inf
from typing import TypeVar

import torch
from jaxtyping import Float
from torch import Tensor

from fhx.cells import LSTMCell
from fhx.cells.kinds import check_inherited
from fhx.dynamics import Box
from fhx.stability.certificates import Condition, register_certificate
from fhx.stability.gates import ROUNDS, TINY, GatedCertificate, Range, arguments, gate_and_tanh, memory
from fhx.stability.lstm_bounds import LSTMBounds, lstm_bounds
from fhx.stability.lstm_constants import lstm_constants
from fhx.stability.lstm_projection import Nearest
from fhx.stability.norms import UP, exact_weights, row_sums
from fhx.stability.rows import onto_balls
from fhx.stability.smoothness import Constants, reach

Same = TypeVar("Same", bound="LSTMCertificate")


class LSTMCertificate(GatedCertificate):
    """In the max norm with weights; see :class:`~fhx.stability.LSTMBounds` for what needs none."""

    cell: LSTMCell

    @cached_property
    def _reached(self) -> tuple[Range, Range, list[Range]]:
        r"""Where runs from zero keep h and c, and the ranges of i, f, z and o there.

        From the box :math:`|h_j| \le 1` on: with the ranges of the gates in a box of h,

        .. math:: c_j \in \frac{1}{1 - F_j} \, [\min(0, p_j), \max(0, q_j)], \qquad h_j \in o_j \tanh(c_j),

        where :math:`p_j \le i_j z_j \le q_j`, and this box of h is the next one, as long as one gets smaller.
        """
        W, U, b = (weights.cpu() for weights in exact_weights(self.cell, "W", "U", "b"))
        one = torch.ones(self.cell.state_size, dtype=torch.float64)
        h, c, gates = Range(-one, one), Range(-one, one), []
        for _ in range(ROUNDS):
            i, f, z, o = arguments(W, U, b, h, self.input_bound).chunk(4)
            held = memory(f.high)
            gates = [i.sigmoid(), f.sigmoid(), z.tanh(), o.sigmoid()]
            written = gates[0].times(gates[2])
            c = Range((written.low.clamp(max=0) * held).nan_to_num(0), (written.high.clamp(min=0) * held).nan_to_num(0))
            c = Range(c.low * UP, c.high * UP)
            smaller = gates[3].times(c.tanh()).within(h)
            moved = (smaller.low - h.low).maximum(h.high - smaller.high).max()
            h = smaller
            if moved <= 1e-12:
                break
        return h, c, gates

    def row_gains(self, weights: Float[Tensor, " width"]) -> Float[Tensor, " width"]:
        r"""With :math:`\omega_{k,j} = (|W_k| w_h)_j` and C the bound of :math:`|c_j|`, number by number

        .. math::

           T_c &= \sup \bigl( i (1 - z^2)\, \omega_z + i (1 - i) |z|\, \omega_i \bigr)
             + \sup \bigl( f w_c + f (1 - f)\, C\, \omega_f \bigr), \\
           T_h &= \sup \bigl( o (1 - \tau^2)\, T_c + o (1 - o) |\tau|\, \omega_o \bigr),
             \qquad |\tau| \le \tanh C,

        over the ranges that the gates have where runs from zero stay.
        """
        _, c, (i, f, z, o) = self._reached
        w_h, w_c = weights.chunk(2)
        by_i, by_f, by_z, by_o = (self._sizes @ w_h).chunk(4)
        C = c.size.high
        by_gate = torch.where(by_f > 0, C * by_f, 0.0)
        top = f.clamp(((w_c + by_gate) / (2 * by_gate)).nan_to_num(1.0))
        kept = (top * (w_c + (1 - top) * by_gate)).nan_to_num(inf, inf) * UP
        of_c = (kept + gate_and_tanh(i, z.size, by_z, by_i)) * UP
        shown = c.tanh().size
        of_h = gate_and_tanh(o, Range(torch.zeros_like(C), shown.high), of_c, by_o)
        return torch.cat([of_h, of_c])

    def invariant_set(self) -> Box:
        r"""The box in which ``row_gains`` hold."""
        h, c, _ = self._reached
        if not c.size.high.isfinite().all():
            raise ValueError("a forget gate of the LSTMCell opens so far that its 1 / (1 - F) is beyond all floats")
        low, high = torch.cat([h.low, c.low]), torch.cat([h.high, c.high])
        return Box(low.clamp(max=-TINY), high.clamp(min=TINY))

    def _opens(self) -> float:
        return lstm_bounds(self.cell, self.input_bound).forget_bound

    def project_rows(self, rate: float, condition: Condition, forget: float) -> None:
        r"""Rows of matrices to :math:`\ell_1` balls, forget gates to caps, where they have to move least."""
        cell, bounds = self.cell, lstm_bounds(self.cell, self.input_bound)
        every_row = torch.ones_like(bounds.forget)
        rates = {
            "rows": bounds.row_rates,
            "sum": bounds.sum_rate * every_row,
            "four conditions": bounds.four_condition_rate * every_row,
        }[condition]
        open_gates = bounds.forget > forget
        wrong = (rates > rate) | (open_gates if condition == "rows" else open_gates.any())
        if not wrong.any():
            return
        allowed = rate * (1 - self.margin)
        nearest = Nearest(cell, bounds, condition, allowed, min(forget, allowed))
        F = nearest.caps()
        i, f, z, o = (radius[:, 0] for radius in nearest.radii(F[:, None]))
        new = {}
        for gate, radius in (("i", i), ("z", z), ("o", o)):
            W = getattr(cell, f"W_{gate}").double()
            new[f"W_{gate}"] = onto_balls(W, self.within(radius, W))
        new["W_f"], new["U_f"], new["b_f"] = self.closed((cell.W_f, cell.U_f, cell.b_f), f, F)
        self.replace(new, wrong)

    def constants(self: Same, others: Sequence[Same], h0_bound: float) -> Constants:
        """Each size is convex in the weights, or grows with one that is."""
        B, cells = self.input_bound, [one.cell for one in (self, *others)]
        each = [lstm_bounds(cell, B) for cell in cells]
        weights = [exact_weights(cell, "U", "U_i", "b_i", "U_z", "b_z") for cell in cells]
        inputs = torch.stack([row_sums(U).unflatten(0, (4, -1)).amax(1) for U, _, _, _, _ in weights]).amax(0)
        opening = torch.stack([B * row_sums(U_i) + b_i for _, U_i, b_i, _, _ in weights])
        candidate = torch.stack([reach(U_z, b_z, B) for _, _, _, U_z, b_z in weights])
        written = opening.amax(0).sigmoid() * candidate.amax(0).tanh()  # what the zero state's c becomes
        return lstm_constants(
            LSTMBounds.largest(each),
            input_size=self.cell.input_size,
            inputs=inputs.tolist(),
            drive_bound=min(1.0, written.max().item() * (1 + 1e-12)),
            h0_bound=h0_bound,
        )


@torch.no_grad()
def project_within(cell: LSTMCell, bounds: LSTMBounds) -> LSTMCell:
    r"""Move an LSTM's weights, in place, to the nearest ones within fixed bounds, which form a convex set.

    It is what :func:`~fhx.stability.weight_gap_bound` asks of a projection: one set for all cells, the one that
    ``lstm_constants`` are for. :func:`project` fixes its set anew for every cell. The margins for rounding are those of
    :func:`project`.

    Args:
        cell: any LSTM of the size of the bounds.
        bounds: of the rows' sums and of what each forget gate opens to, for their ``input_bound``.

    Returns:
        The same cell.

    Raises:
        ValueError: the bounds are of another size, a weight is not finite, or the cell is not an LSTMCell, or its class
            overrides what this is about.
    """
    check_inherited(cell, LSTMCell, "these are bounds of its step")
    d = cell.state_size
    if bounds.forget.shape != (d,):
        raise ValueError(f"the bounds are of {len(bounds.forget)} units, and {cell} has {d}")
    W, U, b = exact_weights(cell, "W", "U", "b")
    found, forget = LSTMCertificate(cell, bounds.input_bound), slice(d, 2 * d)
    radii = torch.cat([bounds.w_i, bounds.w_f, bounds.w_z, bounds.w_o]).to(W.device)
    opens = bounds.forget.to(W.device)
    W_f, U_f, b_f = found.closed((W[forget], U[forget], b[forget]), radii[forget], opens)
    cell.W.copy_(onto_balls(W, found.within(radii, W)))
    cell.W[forget], cell.U[forget], cell.b[forget] = W_f.to(cell.W), U_f.to(cell.U), b_f.to(cell.b)
    return cell


register_certificate(LSTMCell, LSTMCertificate)
