r"""The LSTM as a kind of certified cell: its set, rate, projections and constants, all in the max norm on (h, c)."""

from collections.abc import Sequence
from typing import TypeVar

import torch
from jaxtyping import Float
from torch import Tensor

from fhx.cells import LSTMCell
from fhx.cells.kinds import check_inherited
from fhx.dynamics import Box
from fhx.stability.certificates import Condition, register_certificate
from fhx.stability.gates import GatedCertificate
from fhx.stability.lstm_bounds import LSTMBounds, lstm_bounds
from fhx.stability.lstm_constants import lstm_constants
from fhx.stability.norms import exact_weights, row_sums
from fhx.stability.rows import onto_balls
from fhx.stability.smoothness import Constants, reach

Same = TypeVar("Same", bound="LSTMCertificate")


class LSTMCertificate(GatedCertificate):
    """See :class:`~fhx.stability.LSTMBounds`."""

    cell: LSTMCell

    def max_rate(self) -> float:
        """``LSTMBounds.rate``."""
        return lstm_bounds(self.cell, self.input_bound).rate

    def invariant_set(self) -> Box:
        r""":math:`|h|_\infty \le 1` and :math:`|c_j| \le 1 / (1 - F_j)`."""
        memory = lstm_bounds(self.cell, self.input_bound).memory
        if not memory.isfinite().all():
            raise ValueError("a forget gate of the LSTMCell opens so far that its 1 / (1 - F) is beyond all floats")
        return Box.symmetric(torch.cat([torch.ones_like(memory), memory]))

    @torch.no_grad()
    def project(self, rate: float, condition: Condition, forget: float) -> None:
        r"""Rows of matrices to :math:`\ell_1` balls, forget gates to a cap."""
        cell, bounds = self.cell, lstm_bounds(self.cell, self.input_bound)
        every_row = torch.ones_like(bounds.forget)
        rates = {
            "rows": bounds.row_rates,
            "sum": bounds.sum_rate * every_row,
            "four conditions": bounds.four_condition_rate * every_row,
        }[condition]
        wrong = rates > rate
        if not wrong.any():
            return
        opens = bounds.forget if condition == "rows" else bounds.forget.max().expand(cell.state_size)
        F = opens.clamp(max=forget)
        i, f, z, o = _radii(bounds, condition, F, rate * (1 - self.margin))
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


def _radii(bounds: LSTMBounds, condition: Condition, F: Float[Tensor, " d"], rate: float) -> Float[Tensor, "4 d"]:
    """The radii of the balls of the rows of W_i, W_f, W_z and W_o, which certify the rate where the gate opens to F."""
    left, one = rate - F, torch.ones_like(F)
    if condition == "rows":
        kept = F * bounds.w_f
        scale = (left / (kept + bounds.candidate)).clamp(max=1)
        return torch.stack([4 * scale * bounds.candidate, scale * bounds.w_f, scale * bounds.candidate, 4 * rate * one])
    if condition == "four conditions":
        return torch.stack([left, left * (1 - F), left / 4, left])
    norm = bounds.norms
    total = norm["i"] / 4 + norm["f"] / (4 * (1 - F)) + norm["z"] + norm["o"] / 4
    scale = (left / total).clamp(max=1)
    return torch.stack([scale * norm[gate] for gate in "ifzo"])


register_certificate(LSTMCell, LSTMCertificate)
