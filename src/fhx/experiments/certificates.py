r"""What conditions for LSTMs and GRUs certify, and how near the gain the weighted one comes.

Random nets with PyTorch's weights and one such bias for each row, times a factor, and four inputs bounded by 1. For
each size and factor: how many of the nets each condition certifies. Then, for nets whose factor is found by bisection,
so that the weighted certificate is just below 1: the largest gain that an ascent from 50 starts finds in the norm of
the certificate, as a part of what is certified.
"""

from collections.abc import Callable
from typing import Any

import torch

from fhx.cells import GRUCell, LSTMCell
from fhx.experiments.experiment import Experiment, Point, Result
from fhx.stability import adversarial_gain, bonassi_rate, contraction_rate, gru_bounds, lstm_bounds, terzi_rate

__all__ = ["CONDITIONS", "EXPERIMENT", "INPUTS", "NETS", "UNITS", "cell", "run"]

INPUTS = 4
"""Of every net."""
NETS = 100
"""Of each size and factor, with the seeds 0, 1, ...; the attacked ones are others."""
FACTORS = (0.02, 0.05, 0.075, 0.1, 0.125, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 1.0)
"""Of PyTorch's weights."""
UNITS = {"LSTM": (4, 16, 64), "GRU": (4, 16, 64)}
"""The sizes of the nets."""
KINDS: dict[str, type[LSTMCell] | type[GRUCell]] = {"LSTM": LSTMCell, "GRU": GRUCell}
ATTACKED = {"units": (4, 16), "seeds": range(1000, 1025)}
"""The nets at the border."""
STARTS, STEPS, HALVINGS = 50, 100, 14


def _weighted(net: LSTMCell | GRUCell) -> float:
    """The rate in the best weighted max norm, or with equal weights if that is below 1 already."""
    equal = contraction_rate(net, "max")
    return equal if equal < 1 else contraction_rate(net)


Rate = Callable[[Any], float]
CONDITIONS: dict[str, dict[str, Rate]] = {
    "LSTM": {
        "paper": lambda cell: lstm_bounds(cell).four_condition_rate,
        "sum": lambda cell: lstm_bounds(cell).sum_rate,
        "rows": lambda cell: lstm_bounds(cell).rate,
        "Terzi et al.": terzi_rate,
        "weighted": _weighted,
    },
    "GRU": {
        "Bonassi et al.": bonassi_rate,
        "rows": lambda cell: gru_bounds(cell).rate,
        "weighted": _weighted,
    },
}
"""For each kind of cell its conditions, as rates: one below 1 certifies."""


def cell(kind: str, units: int, factor: float, seed: int) -> LSTMCell | GRUCell:
    """A net with PyTorch's random weights, and one such bias for each row, times a factor."""
    net = KINDS[kind](INPUTS, units, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    net.requires_grad_(False)
    for parameter in net.parameters():
        parameter.mul_(factor)
    return net


def run(point: Point) -> Result:
    """One size and factor, or one net at the border.

    Returns:
        ``certified``, a number of nets for each condition; or ``factor``, ``certified`` and ``found``, two gains.
    """
    kind, units = point["kind"], point["units"]
    if "factor" in point:
        nets = [cell(kind, units, point["factor"], seed) for seed in range(NETS)]
        return {"certified": {name: sum(rate(net) < 1 for net in nets) for name, rate in CONDITIONS[kind].items()}}
    low, high = 0.0, 2.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        certified = contraction_rate(cell(kind, units, middle, point["seed"])) < 1
        low, high = (middle, high) if certified else (low, middle)
    net = cell(kind, units, low, point["seed"])
    search = adversarial_gain(net, starts=STARTS, steps=STEPS)
    return {"factor": low, "certified": contraction_rate(net), "found": max(search.gain, search.infinitesimal)}


EXPERIMENT = Experiment(
    name="certificates",
    question="Which random LSTMs and GRUs does each condition certify, and how near the gain is the weighted one?",
    settings={"inputs": INPUTS, "nets": NETS, "starts": STARTS, "steps": STEPS},
    points=[
        {"kind": kind, "units": units, "factor": factor}
        for kind, sizes in UNITS.items()
        for units in sizes
        for factor in FACTORS
    ]
    + [
        {"kind": kind, "units": units, "seed": seed}
        for kind in KINDS
        for units in ATTACKED["units"]
        for seed in ATTACKED["seeds"]
    ],
    run=run,
    trains=False,
)
"""Every size with every factor, then the nets at the border."""
