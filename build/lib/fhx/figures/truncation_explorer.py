r"""A run beside its truncation to the last k inputs, and how far they are apart beside what Lemma 1 allows.

One unit reads forty ones, forty zeros and forty random signs. The ones bring a linear cell near its largest state,
where the bound is nearly met; the zeros show what is left of them; the signs cancel.
"""

from __future__ import annotations

import math
from typing import Any

import torch

from fhx._checks import one_of
from fhx._modules import undrawn
from fhx.cells import Cell, LinearCell, SimpleCell
from fhx.dynamics import unroll
from fhx.figures.controls import Choice, Slider
from fhx.figures.explorer import Explorer
from fhx.figures.words import short_number

__all__ = ["truncation_explorer", "truncation_frame"]

_CELLS = {"linear": LinearCell, "tanh": SimpleCell}
_STRETCH, _CLOSE = 40, 0.01
_LEAST, _MOST = -12, 4  # powers of ten that the picture of the error shows


def truncation_frame(rate: float, k: int, cell: str, seed: int = 0) -> dict[str, Any]:
    r"""The frame of the truncation explorer: :math:`h_t` beside :math:`h_t^k`, and :math:`|h_t - h_t^k|` below.

    The cell is :math:`h_t = \sigma(\lambda h_{t-1} + x_t)` with one unit and :math:`h_0 = 0`. For
    :math:`\lambda < 1` the bound of Lemma 1 is :math:`\lambda^k H`, with :math:`H = 1 / (1 - \lambda)` for the linear
    cell and 1 for the tanh; for :math:`\lambda \ge 1` there is none.

    Args:
        rate: :math:`\lambda`, the recurrent weight, from 0 to 2.
        k: inputs that the truncated run reads, at least 1.
        cell: "linear" or "tanh".
        seed: of the random signs.

    Raises:
        ValueError: an unknown cell, a rate outside 0 to 2, or k that is not a positive integer.

    Source: Lemma 1 of Miller and Hardt (2019), "Stable recurrent models".
    """
    # slow to import, so only here
    from fhx.stability import constants, state_gap_bound, truncated_states, window_for_state_gap

    one_of("cell", cell, _CELLS)
    if not 0 <= rate <= 2:
        raise ValueError(f"rate must lie between 0 and 2, got {rate}")
    step, inputs = _cell(cell, rate), _inputs(seed)
    full, cut = unroll(step, inputs).flatten(), truncated_states(step, inputs, k).flatten()
    error = (full - cut).abs()
    known = constants(step)
    bound = state_gap_bound(known, k) if rate < 1 else None
    enough = window_for_state_gap(rate, known.state_bound, _CLOSE) if rate < 1 else None
    times, low, high = range(1, len(full) + 1), min(full.min(), cut.min()), max(full.max(), cut.max())
    margin = 0.05 * (high - low)
    states = [{"label": "full", "x": times, "y": full}, {"label": "truncated", "x": times, "y": cut}]
    errors = {"label": "error", "x": times, "y": [_power(value) for value in error.tolist()], "color": 2}
    allowed = {"label": "Lemma 1", "x": [0, len(full)], "y": 2 * [_power(bound)], "color": 3}
    shared = {"xlim": [0, len(full) + 1], "span": {"from": _STRETCH, "to": 2 * _STRETCH, "label": ""}}
    return {
        "below": True,
        "panels": [
            {
                "series": [{"x": times, "y": inputs.flatten(), "style": "points", "color": 5}],
                "ylabel": "input",
                "ylim": [-1.2, 1.2],
                "yticks": 3,
                "height": 56,
                **shared,
            },
            {
                "series": states,
                "ylabel": "state",
                "ylim": [low - margin, high + margin],
                "yticks": 4,
                "height": 180,
                **shared,
            },
            {
                "series": [errors, allowed],
                "xlabel": "step t",
                "ylabel": "their difference, in powers of ten",
                "ylim": [_LEAST, _MOST],
                "yticks": 4,
                "height": 180,
                **shared,
            },
        ],
        "readout": _said(k, float(error.max()), bound, enough),
    }


def _cell(kind: str, rate: float) -> Cell:
    cell = undrawn(_CELLS[kind], 1, 1, dtype=torch.float64).requires_grad_(False)
    for weight, value in ((cell.W, rate), (cell.U, 1.0), (cell.b, 0.0)):
        weight.fill_(value)
    return cell


def _inputs(seed: int) -> torch.Tensor:
    """Ones, zeros and random signs, of shape (time, 1, 1)."""
    signs = 2 * torch.randint(2, (_STRETCH,), generator=torch.Generator().manual_seed(seed)) - 1
    return torch.cat([torch.ones(_STRETCH), torch.zeros(_STRETCH), signs]).double()[:, None, None]


def _power(value: float | None) -> float | None:
    """The logarithm that is drawn, if there is one."""
    return math.log10(value) if value else None


def _said(k: int, largest: float, bound: float | None, enough: int | None) -> str:
    found = f"With the last {k} input{'s' * (k > 1)} the largest error is {short_number(largest)}"
    if bound is None:
        return f"{found}. Lemma 1 says nothing here: λ is not below 1."
    return f"{found}; Lemma 1 allows {short_number(bound)}. For an error of {_CLOSE} it asks for k = {enough}."


def truncation_explorer(name: str = "truncation") -> Explorer:
    """A run of one unit beside its truncation to the last k inputs, for rates from 0.5 to 1.05 and k from 1 to 30.

    Live, every rate and k can be set, and the seed of :func:`truncation_frame` by a
    :class:`~fhx.figures.Slider` of that name.
    """
    return Explorer(
        name,
        truncation_frame,
        [
            Slider("rate", "Recurrent weight λ", [0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 1.0, 1.05], default=0.9),
            Slider("k", "Inputs kept k", [1, 2, 4, 8, 12, 16, 20, 30], default=8),
            Choice("cell", "Cell", list(_CELLS)),
        ],
        title="A run beside its truncation to the last k inputs, and Lemma 1's bound",
        alt=(
            "Three pictures over 120 steps, one below the other: the input, forty ones, forty zeros (shaded) and forty "
            "random signs; the state of the full run and of the truncated one; and their difference in powers of ten, "
            "with Lemma 1's bound as a level line. The text below tells the largest difference and the bound."
        ),
        digits=3,
    )
