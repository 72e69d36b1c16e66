r"""Learning a chaotic system by its time series: free runs, and runs that the truth forces back.

A residual step :math:`f(z) = a \circ z + V \tanh(W z + b) + c` of 3 numbers and 50 tanh units is to go on with the
three coordinates of the Lorenz system, standardised and seen every 0.05 units of time with noise of standard deviation
0.05. The entries of :math:`a` start at 0.95 and stay within 0.98 of zero, so that no run leaves for infinity. Every
update runs it over 120 steps, five Lyapunov times :math:`1 / \lambda`, from a seen point, and goes against the
gradient of the mean square of :math:`z_t - x_t`, :math:`z_t = f(\tilde z_{t-1})`. The kinds differ in
:math:`\tilde z_t` alone:

* "free": :math:`z_t`, which is plain back-propagation through time and the control;
* "sparse": :math:`x_t` at every :math:`\tau`-th step, :math:`\tau = \ln 2 / \lambda`, and :math:`z_t` at the others;
* "mixed" (generalised teacher forcing): :math:`(1 - \alpha) z_t + \alpha x_t`, with :math:`-\log(1 - \alpha)` the mean
  of :math:`\log \lVert J_t \rVert` along the system, so that no product of Jacobians of a net like it grows for long;
* "every step": :math:`x_t`.

All have one grid of learning rates of Adam, which fall linearly to zero, times two weight decays, the same starts, data
and batches, and gradients clipped to norm 1. The best setting is that of the best mean horizon on validation runs; a
net is judged as it was at its best validation. Its **horizon** is the time, in Lyapunov times, until a free run from a
true point is off by 0.5 (root of the mean square over the coordinates).

Source: Mikhaeil, Monfared & Durstewitz (2022) for sparse forcing; Hess, Monfared, Brenner & Durstewitz (2023) for
mixed forcing, after Doya (1992).
"""

from collections.abc import Mapping
from math import exp, log
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from fhx.dynamics import jacobians, lyapunov_spectrum, unroll
from fhx.experiments.experiment import Experiment, Point, Result
from fhx.experiments.learning_rates import RowAdam
from fhx.experiments.protocol import Ahead, Evidence, Kind, last_gains
from fhx.tasks import lorenz, lorenz_step

__all__ = ["ALPHA", "DT", "EXPERIMENT", "EXPONENT", "KINDS", "SEEDS", "TAU", "evidence", "horizons", "run", "unrolled"]

KINDS = ("free", "sparse", "mixed", "every step")
"""How the truth enters a run."""
DT = 0.05
"""Time of a step."""
EXPONENT = 0.906 * DT
"""The top Lyapunov exponent of the system, in nats per step; the result holds what was measured."""
TAU = round(log(2) / EXPONENT)
"""Steps from one forcing to the next."""
STRETCH = 0.218
"""The mean logarithm of the norm of the system's Jacobian over a step, standardised; measured in the result too."""
ALPHA = 1 - exp(-STRETCH)
"""The share of the truth in a mixture."""
SEEDS = range(5)
RATES = (3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1)
DECAYS = (0.0, 0.01)
UNITS, WINDOW, STEPS, BATCH, NOISE, OFF, MOST = 50, 120, 300, 16, 0.05, 0.5, 0.98
SIZES = (64, 40, 100)
"""Sequences for training, validation and test, of every seed its own."""
UPDATES, EVALUATIONS, GAIN = 2000, 40, 0.2

Net = list[Float[Tensor, "nets _ _"]]
"""V, W, b, c and a of nets side by side."""


def start(seeds: list[int]) -> Net:
    """Nets near the identity: small V, no c, a near 1."""
    parts: list[list[Tensor]] = []
    for seed in seeds:
        g = torch.Generator().manual_seed(seed)
        W, b = torch.randn(UNITS, 3, generator=g) / 3**0.5, torch.randn(1, UNITS, generator=g)
        parts.append([torch.randn(3, UNITS, generator=g) * 0.1 / UNITS**0.5, W, b])
    net = [torch.stack(rows) for rows in zip(*parts, strict=True)]
    n = len(seeds)
    return [*net, torch.zeros(n, 1, 3), torch.full((n, 1, 3), 0.95)]


def step(net: Net, z: Float[Tensor, "nets batch 3"]) -> Float[Tensor, "nets batch 3"]:
    """f of every net."""
    V, W, b, c, a = net
    return torch.baddbmm(c, torch.tanh(torch.baddbmm(b, z, W.mT)), V.mT).addcmul(a, z)


def unrolled(net: Net, x: Float[Tensor, "time nets batch 3"], kind: str) -> Float[Tensor, "steps nets batch 3"]:
    """:math:`z_1, z_2, \\dots`, forced by :math:`x_0, x_1, \\dots` as the kind says."""
    z, found = x[0], []
    for t in range(1, len(x)):
        z = step(net, z)
        found.append(z)
        if kind == "every step" or (kind == "sparse" and t % TAU == 0):
            z = x[t]
        elif kind == "mixed":
            z = torch.lerp(z, x[t], ALPHA)
    return torch.stack(found)


@torch.no_grad()
def horizons(found: Float[Tensor, "steps *some 3"], x: Float[Tensor, "steps *some 3"]) -> Float[Tensor, " *some"]:
    """For each run, after how many Lyapunov times it is off by more than 0.5 first; all of them if it never is."""
    near = ((found - x).square().mean(-1).sqrt() <= OFF).to(x.dtype)
    return near.cumprod(0).sum(0) * EXPONENT


def free_horizon(net: Net, x: Float[Tensor, "time nets batch 3"]) -> Float[Tensor, " nets"]:
    """The mean horizon of each net."""
    with torch.no_grad():
        return horizons(unrolled(net, x, "free"), x[1:]).mean(-1)


def data(seed: int) -> list[Float[Tensor, "time sequences 3"]]:
    """Sequences for training, with noise, and for validation and test, without."""
    task = lorenz(STEPS, SIZES, seed, DT, "uvw", dtype=torch.get_default_dtype())
    train, valid, test = (torch.cat([part.inputs, part.targets[-1:]]) for part in (task.train, task.valid, task.test))
    g = torch.Generator().manual_seed(500 + seed)
    return [train + NOISE * torch.randn(train.shape, generator=g, dtype=train.dtype), valid, test]


def exponents(net: Net, x: Float[Tensor, "nets batch 3"], warmup: int = 300, steps: int = 2000) -> Tensor:
    """The top Lyapunov exponent of each net, the mean over free runs from these points."""
    with torch.no_grad():
        V, W, b, _, a = net
        v, total = torch.ones_like(x) / 3**0.5, torch.zeros(x.shape[:2])
        for t in range(warmup + steps):
            on = 1 - torch.tanh(torch.baddbmm(b, x, W.mT)) ** 2
            v = torch.bmm(on * torch.bmm(v, W.mT), V.mT).addcmul(a, v)
            x, size = step(net, x), v.norm(dim=-1)
            v = v / size[..., None]
            total += size.log() * (t >= warmup)
        return (total / steps).mean(-1)


def train(kind: str) -> Result:
    """All nets of a kind, side by side: the rows are settings times seeds."""
    settings = [(rate, decay) for rate in RATES for decay in DECAYS]
    n, rows = len(SEEDS), [(setting, seed) for setting in settings for seed in SEEDS]
    sets = [torch.stack(part, 1) for part in zip(*(data(seed) for seed in SEEDS), strict=True)]
    seen, valid, test = sets  # (time, seed, sequence, 3)
    net = [p.requires_grad_() for p in start([seed for _, seed in rows])]
    rates = [rate for (rate, _), _ in rows]
    shrink = torch.tensor([rate * decay for (rate, decay), _ in rows])[:, None, None]
    adam, g = RowAdam(net, 1.0, rates), torch.Generator().manual_seed(9)
    every = UPDATES // EVALUATIONS
    at, curve, norms, since = [0], [free_horizon(net, _tiled(valid, len(settings)))], [], []
    best, kept = curve[0].clone(), [p.detach().clone() for p in net]
    for update in range(1, UPDATES + 1):
        adam.param_groups[0]["lr"] = falling = 1 - (update - 1) / UPDATES
        offset = int(torch.randint(STEPS - WINDOW + 1, (), generator=g))
        chosen = torch.randperm(SIZES[0], generator=g)[:BATCH]
        x = _tiled(seen[offset : offset + WINDOW + 1, :, chosen], len(settings))
        loss = (unrolled(net, x, kind) - x[1:]).square().mean((0, 2, 3))
        slopes = torch.autograd.grad(loss.sum(), net)
        size = torch.cat([slope.flatten(1) for slope in slopes], 1).norm(dim=1)
        since.append(size)
        scale = (1 / size.clamp(min=1))[:, None, None]
        with torch.no_grad():
            for p, slope in zip(net, slopes, strict=True):
                p.grad = torch.where(size.isfinite()[:, None, None], slope * scale, 0.0)
                p.mul_(1 - falling * shrink)
        adam.step()
        with torch.no_grad():
            net[4].clamp_(-MOST, MOST)
        if update % every == 0:
            now = free_horizon(net, _tiled(valid, len(settings)))
            at.append(update)
            curve.append(now)
            norms.append(torch.stack(since).median(0).values)
            since = []
            for p, keep in zip(net, kept, strict=True):
                keep[now > best] = p.detach()[now > best]
            best = best.maximum(now)
    means = best.reshape(-1, n).mean(1)
    top = int(means.argmax())
    mine = slice(top * n, top * n + n)
    nets = [p[mine] for p in kept]
    found = horizons(unrolled(nets, test, "free"), test[1:])
    curves = torch.stack(curve, 1)[mine].tolist()
    return {
        "rate": settings[top][0],
        "decay": settings[top][1],
        "tried": [[*setting, mean] for setting, mean in zip(settings, means.tolist(), strict=True)],
        "test": found.mean(1).tolist(),
        "at": at,
        "valid": curves,
        "gradient": torch.stack(norms, 1)[mine].tolist(),
        "exponent": exponents(nets, test[0, :, :8]).tolist(),
        "last gain": last_gains(at, curves, True),
    }


def _tiled(x: Float[Tensor, "time seeds batch 3"], settings: int) -> Float[Tensor, "time nets batch 3"]:
    return x.repeat(1, settings, 1, 1)


def flow(h: Float[Tensor, "*batch 3"], x: Tensor | None = None) -> Float[Tensor, "*batch 3"]:
    """The system over one step of the nets."""
    for _ in range(5):
        h = lorenz_step(h, dt=DT / 5)
    return h


def beside() -> Result:
    """What the nets are compared with, and the exponent and the stretch from which the rules come."""
    last, affine = [], []
    for seed in SEEDS:
        train, _, test = data(seed)
        pairs = torch.cat([train, torch.ones_like(train[..., :1])], -1)
        A = torch.linalg.lstsq(pairs[:-1].flatten(0, 1), train[1:].flatten(0, 1)).solution
        last.append(horizons(test[:1].expand_as(test[1:]), test[1:]).mean().item())
        z, found = test[0], []
        for _ in range(STEPS):
            z = z @ A[:3] + A[3]
            found.append(z)
        affine.append(horizons(torch.stack(found), test[1:]).mean().item())
    begin = torch.tensor([1.0, 1.0, 20.0], dtype=torch.float64) + torch.arange(8, dtype=torch.float64)[:, None]
    settled = unroll(flow, torch.zeros(400, 8, 1, dtype=torch.float64), begin)[-1]
    nothing = torch.zeros(4000, 8, 1, dtype=torch.float64)
    J, spread = jacobians(flow, nothing, settled), unroll(flow, nothing, settled).std((0, 1))
    return {
        "last value": last,
        "affine map": affine,
        "exponent": lyapunov_spectrum(flow, nothing, k=1, h0=settled).mean().item(),
        "stretch": torch.linalg.matrix_norm(J * spread / spread[:, None], 2).log().mean().item(),
    }


def run(point: Point) -> Result:
    """Train the nets of a kind, or compute what stands beside them.

    Returns:
        For a kind the chosen ``rate`` and ``decay``; what was ``tried``, as rate, decay and mean best validation
        horizon; and, seed by seed, ``test`` horizons in Lyapunov times, ``valid`` horizons at the updates ``at``,
        ``gradient``, the median norm before clipping between two validations, and the top ``exponent`` in nats per
        step. For "beside" the horizons of the ``last value`` and of the ``affine
        map`` by seed, and the system's ``exponent`` and ``stretch``.
    """
    return beside() if point["kind"] == "beside" else train(point["kind"])


STATEMENTS = (
    Ahead("sparse", "free"),
    Ahead("mixed", "free"),
    Ahead("sparse", "every step"),
    Ahead("mixed", "every step"),
)
"""What is judged."""


def evidence(stored: Mapping[str, Any]) -> dict[str, Evidence]:
    """What the stored runs say; nets that nothing forces are the control."""
    results = {entry["point"]["kind"]: entry["result"] for entry in stored["points"]}
    plain = results.pop("beside")
    kinds = {
        name: Kind(
            scores=found["test"],
            at=found["at"],
            valid=found["valid"],
            rate=found["rate"],
            rates=RATES,
            settings=len(found["tried"]),
            regularizers=frozenset({"weight decay"}),
            recommended_start=True,  # near the identity, as for residual steps
            item_error=0.0,  # each seed has test runs of its own
        )
        for name, found in results.items()
    }
    baselines = {name: sum(plain[name]) / len(plain[name]) for name in ("last value", "affine map")}
    return {
        "lorenz": Evidence(
            kinds=kinds,
            higher_is_better=True,
            control="free",
            baselines=baselines,
            statements=STATEMENTS,
            shown=len(STATEMENTS),
            gain=GAIN,
        )
    }


EXPERIMENT = Experiment(
    name="chaos",
    question="Does a net learn a chaotic system better when the truth forces it back on the way?",
    settings={
        "seeds": list(SEEDS),
        "rates": RATES,
        "decays": DECAYS,
        "updates": UPDATES,
        "steps": WINDOW,
        "noise": NOISE,
        "tau": TAU,
        "alpha": ALPHA,
    },
    points=[{"kind": kind} for kind in ("beside", *KINDS)],
    run=run,
    evidence=evidence,
)
"""What stands beside the nets, then the kinds."""
