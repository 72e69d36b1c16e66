r"""The nets that are to stay stable, what keeps them so, and what is measured on them."""

from collections.abc import Callable, Iterable, Sequence
from math import isfinite

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from fhx.cells import SimpleCell
from fhx.dynamics import lyapunov_spectrum
from fhx.experiments import real_data as data
from fhx.experiments.delay_line import Window
from fhx.experiments.learning_rates import RowAdam
from fhx.experiments.variants import initialize
from fhx.stability import contraction_rate, project
from fhx.stability.construction import (
    CachedRealization,
    best_diagonal_norm,
    contracting,
    contracting_norm,
    diagonal_rate,
)

MU = {"penalty": 1.0, "strong penalty": 10.0}
"""The strengths of the penalty."""
KINDS = ("free", "projected", "constructed", "constructed, P = I", *MU, "without recurrence", "frozen", "window")
"""The nets that are trained."""
UNLIMITED = ("free", "without recurrence", "frozen", "window")
"""Those of them without a rate of contraction."""
UNITS = 32
"""Of the cells."""
RUNS = {"folk tunes": (100, 50), "digits": (64, 50)}
"""Length and largest number of the runs for exponents."""
WINDOW = {"folk tunes": 8, "digits": 64}
"""The inputs that the affine net sees."""


class SimpleNet(CachedRealization):
    """A simple cell and an affine readout."""

    cell: SimpleCell


Net = SimpleNet | Window
"""What is trained."""


@torch.no_grad()
def make(name: str, kind: str, rate: float | None) -> Net:
    """A new net for a task; the biases of its readout are the task's ``prior``.

    Args:
        name: of the task.
        kind: one of ``KINDS``.
        rate: of the contraction; None for a kind without one.
    """
    problem, units = data.task(name), UNITS
    if kind == "window":
        window = Window(problem.input_size, problem.output_size, WINDOW[name])
        window.readout.bias.copy_(data.prior(name))
        return window
    cell = SimpleCell(problem.input_size, units)
    initialize(cell)
    readout = nn.Linear(units, problem.output_size)
    readout.bias.copy_(data.prior(name))
    if kind == "projected":
        project(cell, rate or 0)
    elif kind.startswith("constructed"):
        contracting(cell, rate or 0, diagonal=kind == "constructed")
    elif kind == "without recurrence":
        cell.W.zero_().requires_grad_(False)
    elif kind == "frozen":
        cell.W.requires_grad_(False)
    return SimpleNet(cell, readout)


class KeptRows(RowAdam):
    r"""Adam on nets with stacked parameters, whose W are projected after every update, or penalised before it.

    Args:
        parameters: those of ``like`` that are trained, in its order, with one row per net.
        lr: a factor of all rates.
        rates: of the rows.
        like: a net of this kind.
        rate: what W is kept at.
        mu: strength of the penalty; None for the projection.
    """

    def __init__(
        self, parameters: Iterable[Tensor], lr: float, rates: Sequence[float], like: Net, rate: float, mu: float | None
    ) -> None:
        super().__init__(parameters, lr, rates)
        self.like, self.rate, self.mu = like, rate, mu
        self.stacked: list[Tensor] = [p for group in self.param_groups for p in group["params"]]
        names = [name for name, p in like.named_parameters() if p.requires_grad]
        self.W = self.stacked[names.index("cell.W")]

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> float | None:  # type: ignore[override]  # torch overloads it
        """One update of all rows."""
        if self.mu is not None:
            self._penalise(self.mu)
        loss = super().step(closure)
        if self.mu is None and isinstance(self.like, SimpleNet):
            cell = self.like.cell
            for W in self.W:
                if W.isfinite().all():
                    cell.W.copy_(W)
                    W.copy_(project(cell, self.rate).W)
        return loss

    def _penalise(self, mu: float) -> None:
        if self.W.grad is None or not self.W.isfinite().all():
            return
        left, values, right = torch.linalg.svd(self.W)
        slope = 2 * mu * (values[:, 0] - self.rate).clamp(min=0)
        self.W.grad += slope[:, None, None] * left[:, :, :1] @ right[:, :1]
        gradients = [p.grad for p in self.stacked if p.grad is not None]
        norms = torch.stack([g.flatten(1).square().sum(1) for g in gradients]).sum(0).sqrt()
        for g in gradients:
            g *= (data.CLIP / norms.clamp(min=data.CLIP)).view(-1, *[1] * (g.ndim - 1))


@torch.no_grad()
def measured(net: SimpleNet, name: str) -> dict[str, float | None]:
    r"""Bounds of the one-step gain, and what W is like.

    Returns:
        ``2-norm`` and ``weighted``, of :func:`contraction_rate`; ``own``, in :math:`|h|_P` of the construction;
        ``diagonal``, in the best :math:`|h|_P` found; the ``spread`` of the own P, its largest number by its smallest;
        the spectral ``radius``; and the top Lyapunov ``exponent`` along the first test sequences, None for minus
        infinity.
    """
    cell, (steps, many) = net.cell, RUNS[name]
    part, P = data.task(name).test, contracting_norm(net.cell)
    W = cell.W.detach().double()
    runs = part.inputs[:steps, torch.nonzero(part.mask[steps - 1]).flatten()[:many]]
    with parametrize.cached():
        top = lyapunov_spectrum(cell, runs, k=1, warmup=steps // 10).mean().item()
    return {
        "2-norm": contraction_rate(cell),
        "weighted": contraction_rate(cell, "weighted"),
        "own": diagonal_rate(cell),
        "diagonal": diagonal_rate(cell, best_diagonal_norm(W)),
        "spread": (P.max() / P.min()).item(),
        "radius": torch.linalg.eigvals(W).abs().max().item(),
        "exponent": top if isfinite(top) else None,
    }
