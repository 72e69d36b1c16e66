r"""A trajectory that settles: all states are guessed at once, and every sweep improves the guess as a whole.

The cell has two tanh units, and its recurrent weights are those of a chaotic map, scaled by a gain. With a small gain a
run forgets, with a large one it is chaotic, and the sweeps needed rise up to one for each step.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from fhx._checks import one_of
from fhx._modules import undrawn
from fhx.cells import SimpleCell
from fhx.dynamics import affine_scan, lyapunov_spectrum, unroll
from fhx.figures.controls import Choice, Slider
from fhx.figures.explorer import Explorer
from fhx.figures.words import short_number

__all__ = ["settling_explorer", "settling_frame"]

_MASKS = {"Jacobi": torch.zeros(2, 2), "Newton": torch.ones(2, 2), "quasi-Newton": torch.eye(2)}  # of the Jacobians
_STEPS, _DRIVE, _RIGHT, _LEAST, _EDGE = 24, 0.3, 1e-10, 1e-16, 1.1
_PATTERN, _RADIUS = ((12.0, -24.0), (2.0, -4.0)), 8.0


def settling_frame(method: str, gain: float, sweep: int, seed: int = 0) -> dict[str, Any]:
    r"""The frame of the settling explorer: 24 states after a number of sweeps, beside the true run.

    The cell is :math:`h_t = \tanh(\gamma A h_{t-1} + u x_t)` with :math:`h_0 = 0`,

    .. math:: A = \frac18 \begin{pmatrix} 12 & -24 \\ 2 & -4 \end{pmatrix}, \qquad u = (1, \tfrac12),

    and normal inputs with the standard deviation 0.3. :math:`A` has the spectral radius 1. The first guess is 0
    everywhere. A sweep makes of a guess :math:`g` the states

    .. math:: h_t = f(g_{t-1}, x_t) + M_t (h_{t-1} - g_{t-1}),

    where :math:`M_t` is 0 for Jacobi, the Jacobian at :math:`g_{t-1}` for Newton, and the diagonal of that for
    quasi-Newton. A state is right if each unit is closer than :math:`10^{-10}` to the true run. Chaos, which enlarges
    roundings, can keep that from happening.

    Args:
        method: "Jacobi", "Newton" or "quasi-Newton".
        gain: :math:`\gamma`, from 0 to 8.
        sweep: how many sweeps, from 0 to 24.
        seed: of the inputs.

    Raises:
        ValueError: an unknown method, or a gain or a number of sweeps out of range.

    Source: Lim et al. (2024) for Newton, Gonzalez et al. (2024) for quasi-Newton.
    """
    one_of("method", method, _MASKS)
    if not 0 <= gain <= 8:
        raise ValueError(f"gain must lie between 0 and 8, got {gain}")
    if not 0 <= sweep <= _STEPS:
        raise ValueError(f"sweep must lie between 0 and {_STEPS}, got {sweep}")
    truth, exponent = _run(gain, seed)
    guess, errors, residuals = _sweeps(method, gain, seed)
    error, residual = errors[sweep], residuals[sweep]
    right = ((guess[sweep] - truth).abs().amax(1) < _RIGHT).nonzero()[:, 0] + 1
    return {
        "truth": _drawn(truth),
        "guess": _drawn(guess[sweep]),
        "right": right,
        "errors": [_power(value) for value in errors],
        "residuals": [_power(value) for value in residuals],
        "sweep": sweep,
        "readout": (
            f"{method}, {sweep} sweep{'s' * (sweep != 1)}: {len(right)} of {_STEPS} states right; error "
            f"{_size(error)}, residual {_size(residual)}. Exponent {f'{exponent:.2f}'.replace('-', '−')}."
        ),
    }


def _drawn(states: Float[Tensor, "time 2"]) -> list[float]:
    """The first unit, to what can be seen, and no further out than just beyond the picture."""
    return [round(value, 2) for value in states[:, 0].clamp(-_EDGE, _EDGE).tolist()]


def _cell(gain: float) -> SimpleCell:
    cell = undrawn(SimpleCell, 1, 2, dtype=torch.float64).requires_grad_(False)
    cell.W.copy_(gain / _RADIUS * torch.tensor(_PATTERN, dtype=torch.float64))
    cell.U.copy_(torch.tensor([[1.0], [0.5]]))
    cell.b.zero_()
    return cell


def _inputs(seed: int) -> Float[Tensor, "time 1"]:
    generator = torch.Generator().manual_seed(seed)
    return _DRIVE * torch.randn(_STEPS, 1, generator=generator, dtype=torch.float64)


@lru_cache(maxsize=32)
def _run(gain: float, seed: int) -> tuple[Float[Tensor, "time 2"], float]:
    """The true states and the top exponent of these steps."""
    cell, inputs = _cell(gain), _inputs(seed)[:, None]
    return unroll(cell, inputs)[:, 0], float(lyapunov_spectrum(cell, inputs, k=1))


@lru_cache(maxsize=32)
def _sweeps(method: str, gain: float, seed: int) -> tuple[Float[Tensor, "sweeps time 2"], list[float], list[float]]:
    """The guess after 0, 1, ..., 24 sweeps, its largest error and its largest residual."""
    cell, (truth, _) = _cell(gain), _run(gain, seed)
    drives, mask = cell.drive(_inputs(seed)), _MASKS[method]
    guess, found = torch.zeros_like(truth), []
    for _ in range(_STEPS + 1):
        before = torch.cat([torch.zeros_like(guess[:1]), guess[:-1]])
        stepped = cell.step(before, drives)
        found.append((guess, float((guess - truth).abs().max()), float((stepped - guess).abs().max())))
        guess = _swept(guess, stepped, mask * cell.jacobian(before, drives))
    guesses, errors, residuals = zip(*found, strict=True)
    return torch.stack(guesses), list(errors), list(residuals)


def _swept(guess: Tensor, stepped: Tensor, J: Tensor) -> Float[Tensor, "time 2"]:
    """The solution of the recurrence that is linearised at the guess."""
    change = affine_scan(J[:, None], (stepped - guess)[:, None])[:, 0]
    before = torch.cat([torch.zeros_like(change[:1]), change[:-1]])
    return stepped + (J @ before[:, :, None])[:, :, 0]


def _power(value: float) -> float | None:
    """The logarithm that is drawn, if there is one."""
    return math.log10(value) if value > _LEAST else None


def _size(value: float) -> str:
    """In words; from ten thousand on as a power of ten."""
    if value < 1e4:
        return short_number(value) if value else "0"
    return f"10{str(math.floor(math.log10(value))).translate(str.maketrans('0123456789', '⁰¹²³⁴⁵⁶⁷⁸⁹'))} or more"


def settling_explorer(name: str = "settling") -> Explorer:
    """Twenty-four states settling sweep by sweep, for three methods and gains from contraction to chaos.

    Live, every gain from the slider's ends can be set, and the seed of :func:`settling_frame` by a
    :class:`~fhx.figures.Slider` of that name.
    """
    return Explorer(
        name,
        settling_frame,
        [
            Choice("method", "Method", list(_MASKS)),
            Slider("gain", "Gain γ", [0.5, 0.9, 1.2, 1.5, 2.5, 4.0], default=1.2),
            Slider("sweep", "Sweeps", min=0, max=_STEPS, step=1, default=4),
        ],
        view="settling",
        title="Twenty-four states that settle sweep by sweep, by three methods, for gains from 0.5 to 4",
        alt=(
            "Two pictures, one below the other. Above, the first unit at each of 24 steps: the true run as a line, "
            "the guess as dots, filled where it is right to ten digits; a dot beyond the picture stands at its edge. "
            "Below, the largest error and the largest residual after every sweep, in powers of ten, with the sweep "
            "shown marked. The text tells how many states are right, the error, the residual and the exponent."
        ),
        digits=3,
    )
