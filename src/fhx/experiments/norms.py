r"""How near the gain the certificates of a tanh cell come, norm by norm.

For random matrices W the best certified gain in the 2-norm, the max norm, the best weighted max norm, the best diagonal
quadratic norm, and the quadratic norm of the slope-restricted inequality, beside a lower bound of the gain in *every*
norm for the worst bias. The matrices P and T of the last two are stored, so that their gains can be certified again
without the solver that found them.
"""

import torch

from fhx.cells import SimpleCell
from fhx.experiments.experiment import Experiment, Point, Result
from fhx.stability import best_slope_norm, contraction_rate, gain_of_every_norm

__all__ = ["EXPERIMENT", "SEEDS", "UNITS", "cell", "run"]

UNITS = (4, 8)
"""How many units the nets have."""
SEEDS = range(24)
"""Of the random matrices."""


def cell(units: int, seed: int) -> SimpleCell:
    r"""A tanh cell with independent normal weights of variance :math:`1 / n` in W."""
    net = SimpleCell(1, units, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).requires_grad_(False)
    generator = torch.Generator().manual_seed(seed)
    net.W.copy_(torch.randn(units, units, generator=generator, dtype=torch.float64) / units**0.5)
    return net


def run(point: Point) -> Result:
    """All certificates of one net.

    Returns:
        ``lower``, ``2``, ``max``, ``weighted``, ``diagonal`` and ``inequality``, and for the last two ``P`` and ``T``.
    """
    net = cell(point["units"], point["seed"])
    found: Result = {"lower": gain_of_every_norm(net.W)}
    for norm in (2, "max", "weighted"):
        found[str(norm)] = contraction_rate(net, norm)
    for name, diagonal in (("diagonal", True), ("inequality", False)):
        rate, P, T = best_slope_norm(net.W, diagonal)
        found[name] = rate
        found[f"{name} P"], found[f"{name} T"] = P.tolist(), T.tolist()
    return found


EXPERIMENT = Experiment(
    name="norms",
    question="How near its gain in the best norm is a tanh cell certified in each of five norms?",
    settings={"units": UNITS, "seeds": list(SEEDS)},
    points=[{"units": units, "seed": seed} for units in UNITS for seed in SEEDS],
    run=run,
    trains=False,
)
"""Every number of units with every seed."""
