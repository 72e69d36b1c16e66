r"""What the recurrent gain does to a simple net: the state after one input pulse.

The net is :math:`h_t = \tanh(\gamma W h_{t-1} + U x_t)` with a random :math:`W` of spectral radius 1, so that the gain
:math:`\gamma` is the spectral radius of its recurrent matrix. Linearised at zero, :math:`\gamma < 1` forgets and
:math:`\gamma > 1` does not; what the net does instead of forgetting is for the picture to show.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from fhx._modules import undrawn
from fhx.cells import SimpleCell
from fhx.dynamics import unroll
from fhx.figures.controls import Slider
from fhx.figures.explorer import Explorer
from fhx.figures.words import short_number

__all__ = ["gain_explorer", "gain_frame", "regime"]

_STEPS, _SHOWN, _PULSE, _APART = 1000, 80, 5, 1e-6
_LONGEST_PERIOD, _WINDOW = 100, 200


def gain_frame(gain: float, seed: int = 264, state_size: int = 12) -> dict[str, Any]:
    r"""The frame of the gain explorer: two runs of 1000 steps, started :math:`10^{-6}` apart, under the same pulse.

    Args:
        gain: :math:`\gamma \ge 0`, the spectral radius of the recurrent matrix.
        seed: of :math:`W` and :math:`U`, drawn from the standard normal distribution before :math:`W` is scaled.
        state_size: number of units, at least 3.

    Raises:
        ValueError: a gain below 0 or not finite, fewer than 3 units.
    """
    if not (math.isfinite(gain) and gain >= 0):
        raise ValueError(f"gain must be a finite number >= 0, got {gain}")
    if state_size < 3:
        raise ValueError(f"state_size must be at least 3, since three units are drawn, got {state_size}")
    generator = torch.Generator().manual_seed(seed)
    W, U = (torch.randn(state_size, n, generator=generator, dtype=torch.float64) for n in (state_size, 1))
    cell = undrawn(SimpleCell, 1, state_size, dtype=torch.float64)
    with torch.no_grad():
        cell.W.copy_(gain * W / torch.linalg.eigvals(W).abs().max())
        cell.U.copy_(U)
        cell.b.zero_()
        inputs = torch.zeros(_STEPS, 2, 1, dtype=torch.float64)
        inputs[:_PULSE] = 1.0
        h0 = torch.zeros(2, state_size, dtype=torch.float64)
        h0[1, 0] = _APART
        runs = unroll(cell, inputs, h0)
    states, steps = runs[:, 0], range(1, _SHOWN + 1)
    limits = {"ylim": [-1.05, 1.05]}
    units = [{"label": f"unit {k + 1}", "x": steps, "y": states[:_SHOWN, k]} for k in range(3)]
    late = states[-_WINDOW:]
    return {
        "panels": [
            {
                "title": f"three of {state_size} units, first {_SHOWN} steps",
                "series": units,
                "xlabel": "step t",
                "ylabel": "state",
                "xlim": [0, _SHOWN],
                **limits,
                "span": {"from": 0, "to": _PULSE, "label": "input"},
            },
            {
                "title": f"unit 2 against unit 1, steps {_STEPS - _WINDOW + 1} to {_STEPS}",
                "series": [{"x": late[:, 0], "y": late[:, 1], "style": "points"}],
                "xlabel": "unit 1",
                "ylabel": "unit 2",
                "xlim": [-1.05, 1.05],
                **limits,
                "square": True,
            },
        ],
        "readout": f"Gain {gain:.3g}: {regime(states, runs[:, 1])}",
    }


def regime(states: Float[Tensor, "time d"], other: Float[Tensor, "time d"]) -> str:
    r"""What a run does in the long term, in words and numbers.

    The last 200 steps decide, in this order. The pulse dies out when the state stays below :math:`10^{-3}` there, or
    when its largest norm fell by a tenth or more from every 200 steps to the next. The state is at a fixed point when
    it moves less than :math:`10^{-6}` a step, and in a cycle when it comes within :math:`10^{-6}` of where it was
    :math:`p \le 100` steps before. Else it wanders: irregularly when the other run has moved a thousand times further
    away than the :math:`10^{-6}` it was started from. What looks irregular for this long may be a long transient.

    Args:
        states: one run, at least 400 steps.
        other: a run under the same input, started :math:`10^{-6}` apart.

    Raises:
        ValueError: fewer than 400 steps, or runs of two shapes.
    """
    if len(states) < 2 * _WINDOW or states.shape != other.shape:
        shapes = tuple(states.shape), tuple(other.shape)
        raise ValueError(f"a regime is read off two runs of one shape and at least {2 * _WINDOW} steps, got {shapes}")
    peaks = torch.stack([part.max() for part in states.norm(dim=1).flip(0).split(_WINDOW)])  # the latest first
    last = short_number(float(states[-1].norm()))
    if peaks[0] < 1e-3:
        return f"the pulse dies out; after {len(states)} steps the state has length {last}."
    if (peaks[:-1] <= 0.9 * peaks[1:]).all():
        return f"the pulse dies out, but slowly; after {len(states)} steps the state still has length {last}."
    late = states[-_WINDOW:]
    for period in range(1, _LONGEST_PERIOD + 1):
        if (late[period:] - late[:-period]).norm(dim=1).max() < 1e-6:
            if period == 1:
                return f"the state settles at a fixed point of length {last}, not at zero."
            return f"the state falls into a cycle that repeats every {period} steps."
    apart = float((late - other[-_WINDOW:]).norm(dim=1).max())
    ends = f"two runs started 10⁻⁶ apart come to lie up to {short_number(apart)} apart."
    if apart >= 1e3 * _APART:
        return f"the state wanders irregularly; {ends}"
    return f"the state oscillates and never quite repeats, yet predictably; {ends}"


def gain_explorer(name: str = "recurrent-gain") -> Explorer:
    """The state of a twelve-unit net after a pulse, under a slider for the recurrent gain from 0 to 3.

    Live, ``gain_frame``'s other parameters can be varied too, for instance
    ``gain_explorer().live(Slider("seed", "Seed", min=0, max=300, step=1, default=264))``.

    Args:
        name: of the explorer in the page; one of its own for each.
    """
    return Explorer(
        name,
        gain_frame,
        [Slider("gain", "Recurrent gain γ", min=0.0, max=3.0, step=0.1, default=0.9)],
        title="State of a simple net after one input pulse, for a recurrent gain from 0 to 3",
        alt=(
            "Three units over the first eighty steps, the input pulse shaded; and the first unit against the second "
            "late in the run. The text below says what the net does at this gain."
        ),
        digits=3,
    )
