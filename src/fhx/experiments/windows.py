r"""How long a window five certificates ask for, and how long it has to be.

Random tanh cells of 8 units with :math:`\lVert W \rVert \le \lambda` read noise. The window is the smallest k with
:math:`|h_t - h_t^k|_2 \le 10^{-3}`: certified for all inputs by the rate in the 2-norm, in the best weighted max norm
and in the norm of the slope-restricted inequality; certified along the data, for every past, by a tube in that norm;
guessed by the Lyapunov exponent; and found. P and T of the inequality are stored: certifying them needs no solver.
"""

from math import ceil, log

import torch
from jaxtyping import Float
from torch import Tensor

from fhx.cells import SimpleCell
from fhx.dynamics import lyapunov_spectrum, unroll
from fhx.experiments.experiment import Experiment, Point, Result
from fhx.stability import (
    best_slope_norm,
    constants,
    contraction_certificate,
    largest_norm,
    project,
    reachable,
    slope_restricted_gain,
    truncated_states,
    tube,
    window_for_state_gap,
)

__all__ = ["EPS", "EXPERIMENT", "RATES", "SEEDS", "cell", "certified", "noise", "run", "tube_window"]

RATES = (0.5, 0.7, 0.9, 0.95)
"""Bounds of the 2-norm of W."""
SEEDS = range(16)
"""Of the cells, and with 100 added of the inputs."""
EPS = 1e-3
"""How near the states have to be."""
UNITS, INPUTS, STEPS, LONGEST = 8, 2, 100, 80


@torch.no_grad()
def cell(rate: float, seed: int) -> SimpleCell:
    r"""Normal weights and biases of variance :math:`\frac18`, and W projected to the rate."""
    generator = torch.Generator().manual_seed(seed)
    net = SimpleCell(INPUTS, UNITS, generator=generator, dtype=torch.float64)
    for weight in net.parameters():
        weight.copy_(torch.randn(weight.shape, generator=generator, dtype=torch.float64) / UNITS**0.5)
    project(net, rate)
    return net.requires_grad_(False)


def noise(seed: int) -> Float[Tensor, "time batch d_in"]:
    """Inputs uniform between -1 and 1."""
    generator = torch.Generator().manual_seed(100 + seed)
    return 2 * torch.rand(STEPS, 1, INPUTS, generator=generator, dtype=torch.float64) - 1


def certified(net: SimpleCell, P: Float[Tensor, "d d"], T: Float[Tensor, " d"]) -> dict[str, int | None]:
    """The windows that three rates certify for all inputs, by the names of their norms; None where a rate is not below
    1. A distance in another norm is turned into the 2-norm, and the largest state is measured in that norm."""
    K, weighted, rate = reachable(net), contraction_certificate(net), slope_restricted_gain(net.W, P, T)
    w, two = weighted.weights, constants(net)
    stretch = 1 / torch.linalg.eigvalsh(P)[0].sqrt().item()
    sizes = {
        "2": (two.rate, min(two.state_bound, K.norm().item())),
        "weighted": (weighted.rate, (K / w).max().item() * w.norm().item()),
        "inequality": (rate, largest_norm(P, K) * stretch),
    }
    return {name: window_for_state_gap(*pair, EPS) if pair[0] < 1 else None for name, pair in sizes.items()}


def tube_window(
    net: SimpleCell, x: Float[Tensor, "time batch d_in"], P: Float[Tensor, "d d"], gain: float, longest: int = LONGEST
) -> int | None:
    """The smallest k for which the tubes along all windows of k inputs end within ``EPS``, at most ``longest``."""
    steps = min(10, longest)
    starts = torch.cat([x[:, 0], x.new_zeros(longest, x.shape[-1])]).unfold(0, longest, 1)[: len(x)].permute(2, 0, 1)
    while True:
        radii = tube(net, starts[:steps], P, gain)
        for k in range(1, min(steps, len(x)) + 1):
            if radii[k, : len(x) - k + 1].max() <= EPS:
                return k
        if steps == longest:
            return None
        steps = min(2 * steps, longest)


def run(point: Point) -> Result:
    """All windows of one net.

    Returns:
        ``2``, ``weighted``, ``inequality``, ``tube``, ``guess`` and ``found``, numbers of inputs; ``exponent``; and
        ``rate``, ``P`` and ``T`` of the inequality.
    """
    net, x = cell(**point), noise(point["seed"])
    _, P, T = best_slope_norm(net.W)
    P, T = (torch.tensor([float(f"{v:.6g}") for v in M.flatten()], dtype=torch.float64).view(M.shape) for M in (P, T))
    rate = slope_restricted_gain(net.W, P, T)
    top = lyapunov_spectrum(net, x, 1, warmup=20).item()
    full = unroll(net, x)
    gaps = ((full - truncated_states(net, x, k)).norm(dim=-1).max().item() for k in range(1, STEPS))
    found = next(k for k, gap in enumerate(gaps, 1) if gap <= EPS)
    windows = certified(net, P, T) | {"tube": tube_window(net, x, P, rate), "guess": ceil(log(1 / EPS) / -top)}
    return {**windows, "found": found, "exponent": top, "rate": rate, "P": P.tolist(), "T": T.tolist()}


EXPERIMENT = Experiment(
    name="windows",
    question="How much longer than the window that is enough are the windows that certificates ask for?",
    settings={"rates": RATES, "seeds": list(SEEDS), "eps": EPS, "steps": STEPS, "units": UNITS},
    points=[{"rate": rate, "seed": seed} for rate in RATES for seed in SEEDS],
    run=run,
    trains=False,
)
"""Every rate with every seed."""
