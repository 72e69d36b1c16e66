r"""How large gradients are after many steps back, over many inputs, beside three predictions made before any run."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from fhx._checks import positive_number
from fhx.cells import SimpleCell, gaussian_
from fhx.dynamics import MeanField, gradient_norms
from fhx.figures.controls import Slider
from fhx.figures.explorer import Explorer

__all__ = ["gradient_explorer", "gradient_frame"]

_LONGEST, _SEQUENCES, _UNITS, _DRIVE, _BINS = 100, 300, 64, 0.3, 160
_LEAST, _MOST = -0.55, 0.85  # powers of ten per step: what the picture shows


def gradient_frame(gain: float, steps: int, seed: int = 0) -> dict[str, Any]:
    r"""The frame of the gradient explorer: histogram of :math:`\log_{10} \lVert \partial \ell/\partial h_{T-n} \rVert`.

    The net is :math:`h_t = \tanh(W h_{t-1} + U x_t)` with 64 units, :math:`W_{ij} \sim N(0, \gamma^2 / 64)`,
    :math:`U_{ij} \sim N(0, 0.3^2 / 64)` and inputs :math:`x_t \sim N(0, I)` of 64 numbers; :math:`\ell` is the
    projection of the last state on a random unit vector, so that its gradient has length 1 at the end. The predictions
    are :math:`n \log_{10} \lVert W \rVert`, :math:`n \log_{10} \rho(W)`, and :math:`n \lambda / \ln 10` with the
    exponent :math:`\lambda` of mean-field theory.

    Args:
        gain: :math:`\gamma > 0`, the standard deviation of a weight times the root of the number of units.
        steps: :math:`n`, from 1 to 100.
        seed: of the weights and inputs.

    Raises:
        ValueError: a gain that is not positive and finite, or a number of steps out of range.
    """
    positive_number("gain", gain)
    if not 1 <= steps <= _LONGEST:
        raise ValueError(f"steps must lie between 1 and {_LONGEST}, got {steps}")
    logs, norm, radius = _run(gain, seed)
    found = logs[-1 - steps]
    low, high = _LEAST * steps - 1, _MOST * steps + 1
    width = (high - low) / _BINS
    counts = torch.histc(found, _BINS, low, high)
    exponent = MeanField("tanh", gain, _DRIVE).exponent / math.log(10)
    filled = counts.nonzero()[:, 0]
    first, last = int(filled[0]), int(filled[-1])
    median = float(found.median())
    predictions = {"norm": norm, "radius": radius, "exponent": exponent}
    said = ", ".join(f"the {name} says {_number(steps * rate)}" for name, rate in predictions.items())
    return {
        "xlim": [low, high],
        "bars": {"from": low + first * width, "width": width, "counts": counts[first : last + 1].long()},
        "marks": [{"label": name, "at": steps * rate} for name, rate in predictions.items()],
        "xlabel": f"gradient {steps} step{'s' * (steps > 1)} back, in powers of ten",
        "readout": f"In powers of ten, half of the gradients are larger than {_number(median)}; {said}.",
    }


def _number(exponent: float) -> str:
    """A number with one decimal, as the axis of the picture writes it."""
    return f"{exponent:.1f}".replace("-0.0", "0.0").replace("-", "−")


@lru_cache(maxsize=64)
def _run(gain: float, seed: int) -> tuple[Float[Tensor, "time batch"], float, float]:
    """Powers of ten of the gradients by every state, and of the norm and the spectral radius."""
    generator = torch.Generator().manual_seed(seed)
    cell = SimpleCell(_UNITS, _UNITS, generator=generator, dtype=torch.float64).requires_grad_(False)
    gaussian_(cell, gain, generator=generator)
    options: dict[str, Any] = {"generator": generator, "dtype": torch.float64}
    cell.U.copy_(_DRIVE / _UNITS**0.5 * torch.randn(_UNITS, _UNITS, **options))
    inputs = torch.randn(_LONGEST + 20, _SEQUENCES, _UNITS, **options)
    end = torch.nn.functional.normalize(torch.randn(_UNITS, **options), dim=0)
    logs = gradient_norms(cell, inputs, lambda h: h @ end, log_scale=True) / math.log(10)
    norm = math.log10(torch.linalg.matrix_norm(cell.W, 2))
    return logs, norm, math.log10(torch.linalg.eigvals(cell.W).abs().max())


def gradient_explorer(name: str = "gradient-norms") -> Explorer:
    """How large gradients are after 1 to 100 steps back, for gains from 0.4 to 3, beside norm, radius and exponent.

    Live, ``gradient_frame``'s seed can be varied too:
    ``gradient_explorer().live(Slider("seed", "Seed", min=0, max=20, step=1))``.

    Args:
        name: of the explorer in the page; one of its own for each.
    """
    return Explorer(
        name,
        gradient_frame,
        [
            Slider("gain", "Gain of the weights", [0.4, 0.7, 1.0, 1.2, 1.3, 1.4, 1.5, 1.7, 2.0, 2.5, 3.0], default=1.0),
            Slider("steps", "Steps back", [1, 2, 5, 10, 20, 50, 100], default=50),
        ],
        title="Gradients of a random net over many inputs, beside three predictions",
        alt=(
            "A histogram of the size of the gradient, in powers of ten, and three vertical lines where the norm, the "
            "spectral radius and the mean-field exponent predict it. The text below says where they are."
        ),
        view="histogram",
        digits=4,
    )
