r"""Four ways to keep a simple cell a contraction while it is trained, and what each of them costs.

On folk tunes (the first 128 frames of each) and on digits by the pixel, nets of one simple cell of 32 units and an
affine readout are trained by Adam: "free"; "projected", W brought back to :math:`\lVert W \rVert_2 \le \lambda` after
every update; "constructed", W a function of free numbers by which the step contracts in :math:`|h|_P`, with P a trained
diagonal or, in "constructed, P = I", fixed (see :mod:`fhx.stability.construction`); and with a "penalty"
:math:`\mu \max(0, \lVert W \rVert_2 - \lambda)^2` of two strengths. Beside them stand nets "without recurrence", W = 0;
nets with W "frozen" at its random orthogonal start; an affine readout of a "window" of the last inputs (8 frames, or
all pixels, which is logistic regression); and the constant and the per-key Markov prediction.

All nets of a task have one architecture, one start for each seed, the same minibatches and the same clip. W starts
orthogonal, or as what its kind makes of that: a constructed one at :math:`\lambda (1 - 2^{-10})` times it. Learning
rates fall linearly to zero; where they start is chosen for each kind by two other seeds after as many updates, from one
grid, which is extended while its best is at an edge. Nets are judged as they were at their best validation metric.

The gradient of the penalty is added to the clipped one of the loss, and the sum is clipped again.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from time import perf_counter
from typing import Any

import torch
from torch import Tensor

from fhx.experiments import real_data as data
from fhx.experiments.comparison import kind_by_rate
from fhx.experiments.experiment import Experiment, Point, Result
from fhx.experiments.learning_rates import RowAdam, best_learning_rate
from fhx.experiments.protocol import Ahead, Evidence, last_gains
from fhx.experiments.staying_stable.nets import (
    KINDS,
    MU,
    UNITS,
    UNLIMITED,
    WINDOW,
    KeptRows,
    Net,
    SimpleNet,
    make,
    measured,
)
from fhx.tasks import last_frame, majority_class, note_frequencies
from fhx.training import OBJECTIVES, Fit, fit

__all__ = ["BUDGETS", "EXPERIMENT", "GAINS", "KINDS", "RATES", "TASKS", "evidence", "make", "run"]

TASKS = ("folk tunes", "digits")
"""The problems, of :mod:`fhx.experiments.real_data`."""
RATES = (0.99, 0.9)
"""What the stable nets contract by."""
BUDGETS = {"folk tunes": {"updates": 1200, "batch_size": 16}, "digits": {"updates": 3600, "batch_size": 32}}
"""How long and on what batches the nets are trained."""
LEARNING_RATES = {"folk tunes": (0.005, 0.015, 0.045, 0.135), "digits": (0.001, 0.003, 0.009, 0.027, 0.081)}
"""The grid at first."""
STEP, EXTENSIONS = 3.0, 3
"""By what factor the grid is extended, and how often at most."""
SEEDS = range(5)
"""Of the nets that are reported."""
OTHER_SEEDS = range(5, 7)
"""Of the nets that the learning rate is chosen by."""
EVALUATIONS = 20
"""How often a net is evaluated while it is trained."""
GAINS = {"folk tunes": 0.01, "digits": 0.01}
"""What the last tenth of the updates may add to the best validation metric of a net that counts as settled."""
TIMED = {"updates": 60, "rounds": 3}
"""How long an update takes is the median over these updates, in the best of these rounds."""


def fitted(
    name: str,
    kind: str,
    rate: float | None,
    seeds: Sequence[int],
    rates: Sequence[float],
    updates: int,
    stamps: list[float] | None = None,
) -> Fit[Net]:
    """Train a net for each seed at its learning rate, all as one batch; ``stamps`` gets the time of each update."""
    new = partial(make, name, kind, rate)

    def optimizer(parameters: Iterable[Tensor], lr: float) -> RowAdam:
        if kind == "projected" or kind in MU:
            return KeptRows(parameters, lr, rates, new(), rate or 0, MU.get(kind))
        return RowAdam(parameters, lr, rates)

    def falling(update: int) -> float:
        if stamps is not None:
            stamps.append(perf_counter())
        return 1 - (update - 1) / updates

    return fit(
        new,
        data.task(name),
        seeds=seeds,
        learning_rate=falling,
        clip=data.CLIP,
        evaluate_every=max(1, updates // EVALUATIONS),
        optimizer=optimizer,
        updates=updates,
        batch_size=BUDGETS[name]["batch_size"],
        progress=False,
    )


def chosen(name: str, kind: str, rate: float | None, updates: int) -> tuple[float, dict[str, float], bool]:
    """The best learning rate by the other seeds, the mean validation metric by rate, and whether the best is inside."""
    higher, tried, values = OBJECTIVES[data.task(name).kind].higher_is_better, [*LEARNING_RATES[name]], []
    new = tried
    for _ in range(EXTENSIONS + 1):
        seeds = [1000 * i + s for i in range(len(new)) for s in OTHER_SEEDS]
        values += fitted(name, kind, rate, seeds, [r for r in new for _ in OTHER_SEEDS], updates).best_valid.tolist()
        tried = tried if new is tried else tried + new
        best, means = best_learning_rate(tried, values, higher)
        if min(tried) < best < max(tried):
            break
        new = [best / STEP if best == min(tried) else best * STEP]
    return best, means, min(tried) < best < max(tried)


def train(name: str, kind: str, rate: float | None) -> Result:
    """Choose a learning rate, train the seeds and measure them."""
    updates, higher = BUDGETS[name]["updates"], OBJECTIVES[data.task(name).kind].higher_is_better
    best, means, inside = chosen(name, kind, rate, updates)
    stamps: list[float] = []
    last = fitted(name, kind, rate, SEEDS, [best] * len(SEEDS), updates, stamps)
    nets = [net for net in last.models if isinstance(net, SimpleNet)]
    return {
        "test": last.test.tolist(),
        "at": last.updates.tolist(),
        "valid": last.valid.tolist(),
        "train": last.train_loss.tolist(),
        "best update": last.best_update.tolist(),
        "last gain": last_gains(last.updates.tolist(), last.valid.tolist(), higher),
        "diverged": [last.diverged.get(seed) for seed in last.seeds],
        "rate": best,
        "rates": means,
        "inside": inside,
        "parameters": sum(p.numel() for p in last.models[0].parameters() if p.requires_grad),
        "certificate": [measured(net, name) for net in nets],
        "seconds": last.seconds,
    }


def seconds(name: str) -> dict[str, float]:
    """How long an update of all seeds takes, by kind, at the first rate; kinds take turns, on one thread."""
    updates, found = TIMED["updates"], {kind: float("inf") for kind in KINDS}
    for _ in range(TIMED["rounds"]):
        for kind in KINDS:
            stamps: list[float] = []
            fitted(name, kind, None if kind in UNLIMITED else RATES[0], SEEDS, [0.01] * len(SEEDS), updates, stamps)
            each = torch.tensor(stamps, dtype=torch.float64).diff()
            found[kind] = min(found[kind], each.median().item())
    return found


def run(point: Point) -> Result:
    """Train the nets of a point, or compute what stands beside them.

    Returns:
        For "train": with an entry per seed ``test``, ``valid`` and ``train``, curves at the updates ``at``, ``best
        update``, ``last gain`` (of the protocol), ``diverged`` and, of nets with a cell, ``certificate``: bounds
        of the one-step gain in the ``2-norm``, the ``weighted`` max norm, the construction's ``own`` norm and the best
        ``diagonal`` one, the ``spread`` of P, the spectral ``radius`` and the Lyapunov ``exponent``; the learning
        ``rate``, the mean validation metric by ``rates``, and whether the best is ``inside``; ``parameters`` and
        ``seconds``. For "seconds": those of an update of five nets, by kind. For "baselines": the metric by name.
    """
    name = point["task"]
    if point["part"] == "train":
        return train(name, point["cell"], point["rate"])
    if point["part"] == "seconds":
        return seconds(name)
    problem = data.task(name)
    if problem.kind == "bits per step":
        return {"constant": note_frequencies(problem), "per-key Markov": last_frame(problem)}
    return {"constant": majority_class(problem)}


STATEMENTS = (
    Ahead("free", "projected, 0.9"),
    Ahead("constructed, 0.9", "projected, 0.9"),
    Ahead("projected, 0.99", "constructed, 0.99"),
    Ahead("penalty, 0.99", "free"),
)
"""What is judged on either task."""


def evidence(stored: Mapping[str, Any]) -> dict[str, Evidence]:
    """What the stored runs say of each task; nets without recurrence are the control."""
    found: dict[str, Evidence] = {}
    for name in TASKS:
        entries = [e for e in stored["points"] if e["point"]["task"] == name]
        (beside,) = (e["result"] for e in entries if e["point"]["part"] == "baselines")
        trained = [e for e in entries if e["point"]["part"] == "train"]
        kinds = {_label(e["point"]["cell"], e["point"]["rate"]): kind_by_rate(e["result"]) for e in trained}
        found[name] = Evidence(
            kinds=kinds,
            higher_is_better=name == "digits",
            control="without recurrence",
            baselines=beside,
            statements=STATEMENTS,
            shown=len(STATEMENTS),
            gain=GAINS[name],
        )
    return found


def _label(cell: str, rate: float | None) -> str:
    return cell if rate is None else f"{cell}, {rate}"


def _points() -> list[Point]:
    """All kinds at the first rate, on both tasks; then the kinds that have another rate at the next one."""

    def trained(name: str, rate: float, kinds: Iterable[str]) -> list[Point]:
        each = [(kind, None if kind in UNLIMITED else rate) for kind in kinds]
        return [{"part": "train", "task": name, "cell": kind, "rate": one} for kind, one in each]

    stable = [kind for kind in KINDS if kind not in UNLIMITED]
    return [
        *[{"part": "baselines", "task": name} for name in TASKS],
        *[point for name in TASKS for point in trained(name, RATES[0], KINDS)],
        *[point for name in TASKS for point in trained(name, RATES[1], stable)],
        *[{"part": "seconds", "task": name} for name in TASKS],
    ]


EXPERIMENT = Experiment(
    name="staying_stable",
    question="What does it cost to keep a net stable by a projection, by construction or by a penalty?",
    settings={
        "seeds": list(SEEDS),
        "seeds of the rates": list(OTHER_SEEDS),
        "rates": LEARNING_RATES,
        "extension": {"step": STEP, "times": EXTENSIONS},
        "units": dict.fromkeys(TASKS, UNITS),
        "budgets": BUDGETS,
        "contraction rates": RATES,
        "penalties": MU,
        "window": WINDOW,
        "evaluations": EVALUATIONS,
        "gains of settled nets": GAINS,
        "clip": data.CLIP,
        "frames": data.FRAMES,
        "timed": TIMED,
    },
    points=_points(),
    run=run,
    evidence=evidence,
)
