r"""Making a cell a contraction: the nearest weights that a certificate holds for, and a hook that keeps them there.

The weights under which a simple or linear cell is certified at a rate form a convex set. Those of a gated cell do not,
since :math:`F (1 + w_f)` multiplies two of their functions; they do once F and the split of what is left of the rate
are fixed. Then every row is bounded by itself: rows of matrices lie in :math:`\ell_1` balls, and a gate's rows of W, U
and b together satisfy :math:`b + |w|_1 + B_x |u|_1 \le \mathrm{logit}(F)`. Inputs' and other gates' weights stay.
"""

from collections.abc import Iterable
from math import sqrt
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.optim import Optimizer

from fhx._checks import non_negative
from fhx.cells import Cell, GRUCell, LinearCell, LSTMCell, SimpleCell
from fhx.stability.contraction import contraction_rate
from fhx.stability.gru import beta, gru_bounds
from fhx.stability.lstm import LSTMBounds, lstm_bounds
from fhx.stability.norms import EPS
from fhx.stability.plain import layers, slope
from fhx.stability.rows import onto_balls, onto_gates

CONDITIONS = ("rows", "sum", "paper")


@torch.no_grad()
def project(
    cell: Cell, rate: float, input_bound: float = 1.0, *, condition: str = "rows", forget: float | None = None
) -> Cell:
    r"""Move a cell's weights, in place, to the nearest ones that are certified at a rate.

    A cell that is certified at the rate already, by the condition named, is left as it is, bit for bit; so is the cell
    that this returns. Otherwise:

    * simple and linear cells: W to the nearest matrix in the Frobenius norm with
      :math:`\lVert W \rVert_2 \le \lambda / L_\rho`: its singular values are clipped;
    * LSTM and GRU: to the nearest weights in a convex set, which is fixed by a cap of the forget (update) gate and by a
      split of the rest of the rate. The cap is what the gate opens to now, if that is less than ``forget``. The split
      of "rows" and "sum" is in proportion to what the terms are now; a row that meets "rows" is left as it is.

    The margin for rounding is a part of about :math:`(d + d_{in}) 2^{-49}` of the rate, and two roundings of the
    weights' own type.

    Args:
        cell: simple, linear, LSTM or GRU.
        rate: :math:`\lambda`, above 0 and below 1.
        input_bound: :math:`B_x`, as for :func:`contraction_rate`.
        condition: for LSTMs: "rows" is ``LSTMBounds.rate``, "sum" ``sum_rate``, "paper" ``paper_rate``, whose
            split is in four equal parts.
        forget: the most that the gate may open, between 0 and the rate; half the rate if None.

    Returns:
        The same cell, with ``contraction_rate(cell, input_bound=input_bound) <= rate``.

    Raises:
        ValueError: there is no projection for the cell, ``rate``, ``forget`` or ``condition`` is out of range, a weight
            is not finite, or the input bound is negative or not finite.

    Source: after Miller and Hardt (2019), "Stable recurrent models".
    """
    B = non_negative("input_bound", input_bound)
    if not 0 < rate < 1:
        raise ValueError(f"a contraction needs a rate above 0 and below 1, got {rate!r}")
    if condition not in CONDITIONS:
        raise ValueError(f"condition must be one of {', '.join(map(repr, CONDITIONS))}, got {condition!r}")
    cap = rate / 2 if forget is None else forget
    if not 0 < cap < rate:
        raise ValueError(f"forget must lie between 0 and the rate {rate!r}, got {forget!r}")
    if isinstance(cell, LSTMCell):
        _project_lstm(cell, rate, B, condition, cap)
    elif isinstance(cell, GRUCell):
        _project_gru(cell, rate, B, cap)
    elif isinstance(cell, SimpleCell | LinearCell):
        _project_plain(cell, rate)
    else:
        raise ValueError(f"there is no projection for {cell}: only simple, linear, LSTM and GRU cells have one")
    return cell


class Projected:
    r"""A hook for an optimiser, which projects cells after each of its steps:

    .. code-block:: python

       handle = optimiser.register_step_post_hook(Projected(cell, 0.95))

    It makes any optimiser of ``torch.optim`` projected descent. ``handle.remove()`` ends it. The cells are projected
    once at the start too.

    Args:
        cells: a cell, or several; each is projected by itself.
        rate, input_bound, options: as for :func:`project`.

    Raises:
        ValueError: what :func:`project` raises.
    """

    def __init__(self, cells: Cell | Iterable[Cell], rate: float, input_bound: float = 1.0, **options: Any) -> None:
        self.cells = [cells] if isinstance(cells, Cell) else list(cells)
        self.rate, self.input_bound, self.options = rate, input_bound, options
        self.project()

    def project(self) -> None:
        """Project every cell now."""
        for cell in self.cells:
            project(cell, self.rate, self.input_bound, **self.options)

    def __call__(self, optimiser: Optimizer, args: Any, kwargs: Any) -> None:
        self.project()


def _project_plain(cell: SimpleCell | LinearCell, rate: float) -> None:
    if contraction_rate(cell) <= rate:
        return
    (W,) = layers(cell)
    left, values, right = torch.linalg.svd(W)
    n = len(W)
    margin = 4 * (n + 16) * EPS + sqrt(n) * torch.finfo(cell.W.dtype).eps
    kept = values.clamp(max=rate / slope(cell) * (1 - margin))
    cell.W.copy_((left * kept) @ right)


def _project_lstm(cell: LSTMCell, rate: float, input_bound: float, condition: str, cap: float) -> None:
    bounds, margin = lstm_bounds(cell, input_bound), _margin(cell)
    rates = {"rows": bounds.row_rates, "sum": bounds.sum_rate, "paper": bounds.paper_rate}[condition]
    wrong = torch.as_tensor(rates, device=cell.W.device).expand(cell.state_size) > rate
    if not wrong.any():
        return
    opens = bounds.forget if condition == "rows" else bounds.forget.max().expand(cell.state_size)
    F = opens.clamp(max=cap)
    radii = _radii(bounds, condition, F, rate * (1 - margin))
    new = {}
    for gate, radius in zip("izo", radii[[0, 2, 3]], strict=True):
        W = getattr(cell, f"W_{gate}").double()
        new[f"W_{gate}"] = onto_balls(W, _within(radius, W, margin))
    new |= _closed(cell, "f", input_bound, radii[1], F, margin)
    for name, value in new.items():
        old = getattr(cell, name)
        old.copy_(torch.where(wrong.reshape(-1, *[1] * (old.ndim - 1)), value, old))


def _radii(bounds: LSTMBounds, condition: str, F: Float[Tensor, " d"], rate: float) -> Float[Tensor, "4 d"]:
    """The radii of the balls of the rows of W_i, W_f, W_z and W_o, which certify the rate where the gate opens to F."""
    left, one = rate - F, torch.ones_like(F)
    if condition == "rows":
        kept = F * bounds.w_f
        scale = (left / (kept + bounds.candidate)).clamp(max=1)
        return torch.stack([4 * scale * bounds.candidate, scale * bounds.w_f, scale * bounds.candidate, 4 * rate * one])
    if condition == "paper":
        return torch.stack([left, left * (1 - F), left / 4, left])
    norm = bounds.norms
    total = norm["i"] / 4 + norm["f"] / (4 * (1 - F)) + norm["z"] + norm["o"] / 4
    scale = (left / total).clamp(max=1)
    return torch.stack([scale * norm[gate] for gate in "ifzo"])


def _project_gru(cell: GRUCell, rate: float, input_bound: float, cap: float) -> None:
    bounds, margin = gru_bounds(cell, input_bound), _margin(cell)
    wrong = bounds.row_rates > rate
    if not wrong.any():
        return
    Z = bounds.update.clamp(max=cap)
    allowed = (rate * (1 - margin) - Z) / (1 - Z)
    scale = (allowed / beta(Z * bounds.w_z, bounds.candidate)).clamp(max=1)
    limit = scale * bounds.b_m * (1 - margin)
    W = cell.W_n.double()
    new = {
        "W_n": onto_balls(W, _within(scale * bounds.w_n, W, margin)),
        "b_m": cell.b_m.double().clamp(-limit, limit),
        **_closed(cell, "z", input_bound, scale * bounds.w_z, Z, margin),
    }
    for name, value in new.items():
        old = getattr(cell, name)
        old.copy_(torch.where(wrong.reshape(-1, *[1] * (old.ndim - 1)), value, old))


def _closed(
    cell: LSTMCell | GRUCell, gate: str, input_bound: float, radius: Tensor, opens: Tensor, margin: float
) -> dict[str, Tensor]:
    """The rows of a gate that opens to no more than ``opens``."""
    W, U, b = (getattr(cell, f"{name}_{gate}").double() for name in "WUb")
    limit = opens.clamp(min=1e-300).logit()
    size = limit.abs() + b.abs() + W.abs().sum(-1) + input_bound * U.abs().sum(-1)
    W, U, b = onto_gates(W, U, b, input_bound, _within(radius, W, margin), limit - margin * size)
    return {f"W_{gate}": W, f"U_{gate}": U, f"b_{gate}": b}


def _within(radius: Float[Tensor, " d"], W: Float[Tensor, "d n"], margin: float) -> Float[Tensor, " d"]:
    """A smaller radius: a number that is subtracted from a row's weights leaves rounding errors of their size."""
    return (radius - margin * (radius + W.abs().sum(-1))).clamp(min=0)


def _margin(cell: LSTMCell | GRUCell) -> float:
    """What rounding can add to a bound, as a part of it: of sums in float64, and of the weights to their own type."""
    return 8 * (cell.state_size + cell.input_size + 16) * EPS + 2 * torch.finfo(cell.W.dtype).eps
