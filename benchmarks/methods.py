r"""The methods for all T states of a run, each prepared so that one call runs it.

The nets are a tanh cell with :math:`W = \lambda Q`, Q orthogonal, which contracts at the rate :math:`\lambda`; a linear
cell with such a W, and one with the diagonal :math:`\pm\lambda`; and an LSTM of torch. The inputs are weak noise: the
weaker they are, the nearer the tanh cell comes to its rate.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import NamedTuple

import torch
from torch import Tensor, nn

from fhx.cells import Cell, LinearCell, SimpleCell
from fhx.dynamics import linear_states, parallel_unroll, unroll
from fhx.stability import truncated_states

NOISE = 0.1
EPS = 1e-6  # how exact windows and fixed points are
SAMPLES = 1024  # runs whose forgetting is watched to find a window's length
# What is held at once, measured and rounded up: bytes per step, numbers per number of the states, and numbers per
# number that a method works on piece by piece, of which there are at most PIECE.
SWEEPS = {"states": (0, 20, 4), "gradient": (0, 24, 4)}
KEPT = {
    "torch.nn.RNN": {"states": (1200, 4, 0), "gradient": (6000, 8, 0)},
    "torch.nn.LSTM": {"states": (1200, 8, 0), "gradient": (18_000, 16, 0)},
    "unroll": {"states": (1300, 4, 0), "gradient": (6000, 8, 0)},
    "truncation": {"states": (0, 8, 6), "gradient": (0, 10, 160)},
    "jacobi": SWEEPS,
    "newton": SWEEPS,
    "quasi-newton": SWEEPS,
    "scan": {"states": (0, 6, 0), "gradient": (0, 14, 0)},
}
PIECE = {"windows": 2**19, "Jacobians": 2**22}
FLOOR = 2**25


@dataclass(frozen=True)
class Case:
    """One case of the grid; ``what`` is "states" or "gradient", and ``rate`` is None where time depends on none."""

    net: str
    method: str
    what: str
    T: int
    D: int
    batch: int
    rate: float | None
    dtype: str = "float64"

    def memory(self) -> int:
        """Bytes that it is expected to need at most."""
        step, each, piecewise = KEPT[self.method][self.what]
        states = self.T * self.batch * self.D
        piece = (
            min(states, PIECE["windows"]) if self.method == "truncation" else min(states * self.D, PIECE["Jacobians"])
        )
        numbers = each * states + piecewise * piece
        return FLOOR + step * self.T + numbers * getattr(torch, self.dtype).itemsize


class Outcome(NamedTuple):
    """What a call leaves: the states or the gradient to the recurrent weights, and how an iteration ended."""

    tensor: Tensor
    sweeps: int | None = None
    converged: bool | None = None


Run = Callable[[], Outcome]


def prepare(case: Case, seed: int, device: torch.device) -> Run:
    """A function that runs a case. The net, its inputs and what a method prepares once per net are made here."""
    generator = torch.Generator().manual_seed(seed)
    cell = make_net(case.net, case.D, case.rate or 0.9, generator).to(device, getattr(torch, case.dtype))
    inputs = noise(cell, case.T, case.batch, generator)
    states, weights = _states(case.method, cell, inputs, seed)
    if case.what == "states":
        return torch.no_grad()(states)

    def gradient() -> Outcome:
        outcome = states()
        slope = torch.autograd.grad(outcome.tensor.square().mean(), weights)[0]
        return outcome._replace(tensor=slope.diagonal() if case.net == "diagonal" else slope)

    return gradient


def make_net(kind: str, width: int, rate: float, generator: torch.Generator) -> nn.Module:
    """A net of the grid in float64: "tanh", "linear", "diagonal" or "LSTM"."""
    options = {"generator": generator, "dtype": torch.float64}
    if kind == "LSTM":
        lstm = nn.LSTM(1, width, dtype=torch.float64)
        for weights in lstm.parameters():
            nn.init.uniform_(weights, -(width**-0.5), width**-0.5, generator=generator)
        return lstm
    cell = {"tanh": SimpleCell, "linear": LinearCell, "diagonal": LinearCell}[kind](1, width, **options)
    drawn = torch.randn(width, width + 1, **options)
    W = torch.diag(drawn[:, 0].sign()) if kind == "diagonal" else torch.linalg.qr(drawn[:, 1:])[0]
    with torch.no_grad():
        cell.W.copy_(rate * W)
        cell.U.copy_(drawn[:, :1])
        cell.b.zero_()
    return cell


def noise(net: nn.Module, time: int, batch: int, generator: torch.Generator) -> Tensor:
    """Inputs ``(time, batch, 1)`` like the net's weights; made in place, since a peak is measured later."""
    like = next(net.parameters())
    return torch.randn(time, batch, 1, generator=generator, dtype=like.dtype).mul_(NOISE).to(like.device)


def window(cell: Cell, generator: torch.Generator) -> int:
    """How many inputs determine a state up to ``EPS``: as many as it takes until runs that the noise has driven for 100
    steps, and runs from zero under the same inputs, are nowhere farther apart.
    """
    driven, blank = torch.zeros(2, SAMPLES, cell.state_width, dtype=cell.W.dtype, device=cell.W.device)
    with torch.no_grad():
        for step in count(-100):
            drive = cell.drive(noise(cell, 1, SAMPLES, generator)[0])
            driven = cell.step(driven, drive)
            if step >= 0:
                blank = cell.step(blank, drive)
                if (driven - blank).abs().max() <= EPS:
                    return step + 1


def _states(method: str, cell: nn.Module, inputs: Tensor, seed: int) -> tuple[Run, Tensor]:
    """The states by a method, and the recurrent weights that they depend on."""
    if method in ("torch.nn.RNN", "torch.nn.LSTM"):
        net = cell if method == "torch.nn.LSTM" else cell.to_torch()
        return lambda: Outcome(net(inputs)[0]), net.weight_hh_l0
    if method == "unroll":
        return lambda: Outcome(unroll(cell, inputs)), cell.W
    if method == "truncation":
        k = window(cell, torch.Generator().manual_seed(seed + 1))
        return lambda: Outcome(truncated_states(cell, inputs, k), k), cell.W
    if method == "scan":
        return lambda: Outcome(linear_states(cell, inputs)), cell.W

    def fixed_point() -> Outcome:
        run = parallel_unroll(cell, inputs, method=method, tolerance=EPS)
        return Outcome(run.states, run.sweeps, run.converged)

    return fixed_point, cell.W
