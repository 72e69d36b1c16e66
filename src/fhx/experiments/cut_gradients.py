r"""Truncated back-propagation: its bias against the window, a window chosen by the decay, and how nets train with it.

A tanh cell of 8 units whose W is 0.95 times an orthogonal matrix, projected to :math:`\lVert W \rVert \le 0.95` after
every update, with a readout :math:`r \cdot h`, is to give :math:`y = \sum_j 0.9^j x_{T-j}`, scaled to variance 1, at
the last of 60 normal inputs. "full" goes all the way back; "chosen" as far as
:func:`~fhx.stability.window_for_gradient` says for a tenth, asked again every 50 updates; "half", "quarter" and
"eighth" so much of that; "random" as far as a die says, reweighted, with the chosen window as its mean. Each has the
best of four learning rates of Adam, on other seeds. The bias is that of the untrained nets, on inputs cut to between -1
and 1 and for a pseudo-Huber loss.
"""

from statistics import mean

import torch
from jaxtyping import Float
from torch import Tensor

from fhx.cells import SimpleCell
from fhx.dynamics import unroll
from fhx.experiments.experiment import Experiment, Point, Result
from fhx.stability import (
    constants,
    gradient_bound,
    lag_gradients,
    project,
    random_cut_variance,
    window_for_gradient,
)
from fhx.stability.smoothness import LossConstants

__all__ = ["EXPERIMENT", "METHODS", "SEEDS", "bias", "cell", "lags", "run", "trained"]

METHODS = ("full", "chosen", "half", "quarter", "eighth", "random")
"""How far the gradient goes back."""
SHARES = {"half": 1 / 2, "quarter": 1 / 4, "eighth": 1 / 8}
SEEDS = range(12)
"""Of the nets that are reported."""
OTHER_SEEDS = range(20, 24)
RATES = (0.003, 0.01, 0.03, 0.1)
UNITS, STEPS, BATCH, UPDATES, RADIUS, MEMORY, TOLERANCE, EVERY = 8, 60, 20, 600, 0.95, 0.9, 0.1, 50


@torch.no_grad()
def cell(seed: int) -> SimpleCell:
    """The start: W orthogonal times 0.95, inputs' weights normal of variance a tenth, no bias."""
    generator = torch.Generator().manual_seed(seed)
    net = SimpleCell(1, UNITS, generator=generator, dtype=torch.float64)
    net.W.copy_(RADIUS * torch.linalg.qr(torch.randn(UNITS, UNITS, generator=generator, dtype=torch.float64)).Q)
    net.U.copy_(torch.randn(UNITS, 1, generator=generator, dtype=torch.float64) * 0.1**0.5)
    net.b.zero_()
    return net


def _batch(many: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Inputs and what is wanted at the end."""
    x = torch.randn(STEPS, many, 1, generator=generator, dtype=torch.float64)
    weights = MEMORY ** torch.arange(STEPS - 1, -1, -1, dtype=torch.float64)
    return x, (weights[:, None] * x[:, :, 0]).sum(0) / weights.norm()


def lags(seed: int) -> tuple[SimpleCell, Float[Tensor, "lags weights"]]:
    """An untrained net, and its gradient by lags, for a loss with L = M = 1."""
    net, generator = cell(seed), torch.Generator().manual_seed(1000 + seed)
    x, y = _batch(BATCH, generator)
    x, r = x.clamp(-1, 1), torch.ones(UNITS, dtype=torch.float64) / UNITS**0.5
    return net, lag_gradients(net, x, lambda h: ((1 + (h @ r - y) ** 2).sqrt() - 1).mean())


def _states(net: SimpleCell, x: Tensor, back: int, keep: float) -> Tensor:
    """The last state; the gradient goes back so many steps, and is divided by ``keep`` from each to the one before."""
    with torch.no_grad():
        h = unroll(net, x[: len(x) - back])[-1] if back < len(x) else net.initial_state(x.shape[1])
    for t in range(len(x) - back, len(x)):
        h = net(h if keep == 1 else h.detach() + (h - h.detach()) / keep, x[t])
    return h


def trained(method: str, rate: float, seed: int) -> tuple[float, list[int]]:
    """The loss on 2,000 new sequences after training, and the windows chosen on the way."""
    net, generator = cell(seed), torch.Generator().manual_seed(2000 + seed)
    r = (torch.ones(UNITS, dtype=torch.float64) / UNITS**0.5).requires_grad_()
    adam = torch.optim.Adam([*net.parameters(), r], lr=rate)
    back, keep, chosen = STEPS, 1.0, []
    for update in range(UPDATES):
        x, y = _batch(BATCH, generator)
        if method != "full":
            if update % EVERY == 0:
                parts = lag_gradients(net, x, lambda h: (h @ r.detach() - y).square().mean() / 2)  # noqa: B023
                chosen.append(_window(parts))
            back = max(1, round(chosen[-1] * SHARES.get(method, 1)))
            if method == "random":
                keep = 1 - 1 / max(2, back)
                dice = torch.rand((), generator=generator, dtype=torch.float64)
                back = min(STEPS, 1 + int((dice.log() / torch.tensor(keep).log()).item()))
        adam.zero_grad()
        ((_states(net, x, back, keep) @ r - y).square().mean() / 2).backward()
        adam.step()
        project(net, RADIUS)
    with torch.no_grad():
        x, y = _batch(2000, torch.Generator().manual_seed(3000 + seed))
        return (unroll(net, x)[-1] @ r - y).square().mean().item(), chosen


def _window(parts: Tensor) -> int:
    """The chosen one; all steps where the gradients do not decay."""
    try:
        return window_for_gradient(parts, TOLERANCE)
    except ValueError:
        return STEPS


def bias(seed: int) -> Result:
    """Of one untrained net, against the windows 1 to 59: ``left_out``, ``bound`` and ``variance`` (of random cuts with
    this mean window), and the ``size`` of the gradient and the window ``chosen``."""
    net, parts = lags(seed)
    known, windows = constants(net), range(1, STEPS)
    most = gradient_bound(known, LossConstants(1.0, 1.0))
    return {
        "left_out": [parts[k:].sum(0).norm().item() for k in windows],
        "bound": [known.rate**k * most for k in windows],
        "variance": [random_cut_variance(parts, 1 - 1 / k) if k > 1 else None for k in windows],
        "size": parts.sum(0).norm().item(),
        "chosen": _window(parts),
    }


def run(point: Point) -> Result:
    """The biases of all untrained nets, or all trainings of one method.

    Returns:
        For "bias" ``nets``, what :func:`bias` says of each; for a method ``rate``, ``losses``, the mean squares seed by
        seed, and ``windows``, the chosen ones.
    """
    if point["method"] == "bias":
        return {"nets": [bias(seed) for seed in SEEDS]}
    others = {rate: mean(trained(point["method"], rate, seed)[0] for seed in OTHER_SEEDS) for rate in RATES}
    best = min(others, key=lambda rate: others[rate])
    runs = [trained(point["method"], best, seed) for seed in SEEDS]
    return {"rate": best, "losses": [loss for loss, _ in runs], "windows": [chosen for _, chosen in runs]}


EXPERIMENT = Experiment(
    name="cut_gradients",
    question="How far back must a gradient go, and do nets train as well when it goes no farther?",
    settings={
        "seeds": list(SEEDS),
        "other_seeds": list(OTHER_SEEDS),
        "rates": RATES,
        "updates": UPDATES,
        "steps": STEPS,
        "tolerance": TOLERANCE,
    },
    points=[{"method": method} for method in ("bias", *METHODS)],
    run=run,
)
"""The bias of every seed's net, then the methods."""
