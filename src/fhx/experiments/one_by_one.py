r"""Nets trained one after another, for those that are so large that nothing is gained by training them as one batch.

A net is free to use whatever is fastest, such as torch's own loops over time, which ``torch.vmap`` cannot batch, and to
be put back where it has to be while it is trained. Such nets take minutes each, so each may be kept in the cache of the
package, and a run that was stopped goes on with the first that is not there.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from time import process_time
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from fhx._files import replacing
from fhx.experiments.comparison import Budget, Setting
from fhx.experiments.kept import file_of
from fhx.experiments.seeding import per_seed
from fhx.tasks import Sequences, Task
from fhx.tasks.files import cache_folder
from fhx.tasks.sequences import Split
from fhx.training import OBJECTIVES, Fit, Objective, evaluate

__all__ = ["Constrained", "one_by_one"]

M = TypeVar("M", bound=nn.Module)
EVERY = 25
"""Updates after which a net is put back, if it has to be; it is before every validation too."""
ARRAYS = ("updates", "train_loss", "valid", "test", "best_update")
"""What is kept of a fit of one net beside its weights, as arrays."""
OTHERS = ("diverged", "stopped", "seconds")
"""And as it is."""


@runtime_checkable
class Constrained(Protocol):
    """A net that can be put back where it has to be, such as into a set of stable ones."""

    def constrain(self) -> None:
        """Change the parameters, in place."""


def one_by_one(
    make: Callable[..., M],
    task: Task,
    settings: Sequence[Setting],
    seeds: Sequence[int],
    budget: Budget,
    objective: Objective | None = None,
    kept: Mapping[str, Any] | None = None,
) -> Fit[M]:
    """A net for each setting with its seed, as :func:`~fhx.experiments.comparison.side_by_side` would train them.

    All that is drawn for a net, its dropout too, follows its seed alone.

    Args:
        make: builds a net; where dropouts are tried, it is given one.
        task: what to learn.
        settings: rate, weight decay and, where any is tried, dropout of each net.
        seeds: likewise.
        budget: how nets are trained.
        objective: what is minimised; None for that of the task.
        kept: what tells these nets from others, as JSON can hold it, to keep each in the cache and to find it there
            again; its setting, its seed and how it is trained need not be told. None: nothing is kept.
    """
    objective = objective or OBJECTIVES[task.kind]
    fits: list[Fit[M]] = []
    for setting, seed in zip(settings, seeds, strict=True):
        how = make, task, setting, seed, budget, objective
        fits += per_seed(partial(_one, *how) if kept is None else partial(_found, kept, *how), [seed])
    longest = max((fit.updates for fit in fits), key=len)
    return Fit(
        task=task.name,
        objective=objective,
        seeds=tuple(seeds),
        updates=longest,
        train_loss=_held([fit.train_loss for fit in fits], [bool(fit.diverged) for fit in fits], len(longest)),
        valid=_held([fit.valid for fit in fits], [bool(fit.diverged) for fit in fits], len(longest), objective),
        test=np.concatenate([fit.test for fit in fits]),
        best_update=np.concatenate([fit.best_update for fit in fits]),
        models=tuple(fit.models[0] for fit in fits),
        diverged={seed: update for fit in fits for seed, update in fit.diverged.items()},
        stopped={seed: update for fit in fits for seed, update in fit.stopped.items()},
        reached={},
        seconds=sum(fit.seconds for fit in fits),
    )


def _found(
    kept: Mapping[str, Any],
    make: Callable[..., M],
    task: Task,
    setting: Setting,
    seed: int,
    budget: Budget,
    objective: Objective,
) -> Fit[M]:
    """The fit of one net from the cache; if it is not there, it is made and put there."""
    how = {name: getattr(budget, name) for name in ("updates", "batch_size", "evaluate_every", "patience", "clip")}
    sizes = [[part.steps, len(part)] for part in (task.train, task.valid, task.test)]
    what = {"sizes": sizes, "setting": setting, "seed": seed, "metric": objective.unit, "torch": torch.__version__}
    path = cache_folder() / "one_by_one" / file_of({**kept, **how, **what})
    if not path.exists():
        fit = _one(make, task, setting, seed, budget, objective)
        state = {key: getattr(fit, key) for key in OTHERS}
        state |= {key: torch.as_tensor(getattr(fit, key)) for key in ARRAYS}
        with replacing(path) as temporary:
            torch.save({"net": fit.models[0].state_dict(), **state}, temporary)
        return fit
    state = torch.load(path, weights_only=True)
    net = make(*setting[2:])
    net.load_state_dict(state["net"])
    return Fit(
        task=task.name,
        objective=objective,
        seeds=(seed,),
        models=(net.eval(),),
        reached={},
        **{key: state[key].numpy() for key in ARRAYS},
        **{key: state[key] for key in OTHERS},
    )


def _one(
    make: Callable[..., M], task: Task, setting: Setting, seed: int, budget: Budget, objective: Objective
) -> Fit[M]:
    began = process_time()
    rate, decay, *dropout = setting
    net = make(*dropout)
    stepper = torch.optim.AdamW(net.parameters(), lr=rate, weight_decay=decay, fused=True)
    batches, sign = _batches(task.train, budget.batch_size, seed), -1 if objective.higher_is_better else 1
    at, losses, seen = [0], list[float](), list[float]()
    diverged, stopped = dict[int, int](), dict[int, int]()
    valid = [_metric(net, task, "valid", objective)]
    best, best_update = _copy(net), 0
    for update in range(1, budget.updates + 1):
        loss, finite = _step(net, stepper, next(batches), objective, budget.clip)
        if not finite:
            diverged = {seed: update}
            break
        seen.append(loss)
        losses = losses or [loss]
        validated = update % budget.evaluate_every == 0 or update == budget.updates
        if isinstance(net, Constrained) and (validated or update % EVERY == 0):
            net.constrain()
        if not validated:
            continue
        at.append(update)
        losses.append(sum(seen) / len(seen))
        seen = []
        valid.append(_metric(net, task, "valid", objective))
        if sign * valid[-1] < min(sign * v for v in valid[:-1]):
            best, best_update = _copy(net), update
        elif budget.patience and update - best_update >= budget.patience * budget.evaluate_every:
            stopped = {seed: update}
            break
    net.load_state_dict(best)
    return Fit(
        task=task.name,
        objective=objective,
        seeds=(seed,),
        updates=np.array(at),
        train_loss=np.array([losses]),
        valid=np.array([valid]),
        test=np.array([_metric(net, task, "test", objective)]),
        best_update=np.array([best_update]),
        models=(net.eval(),),
        diverged=diverged,
        stopped=stopped,
        reached={},
        seconds=process_time() - began,
    )


def _batches(part: Sequences, size: int, seed: int) -> Iterator[Sequences]:
    """Batches of one permutation after another, as whole batches; endless."""
    generator = torch.Generator().manual_seed(seed)
    while True:
        for rows in torch.randperm(len(part), generator=generator).split(size):
            yield part.take(rows)


def _step(
    net: nn.Module, stepper: torch.optim.Optimizer, batch: Sequences, objective: Objective, clip: float
) -> tuple[float, bool]:
    """One update; the loss, and whether it and the gradient are finite. If not, nothing is changed."""
    stepper.zero_grad()
    loss = objective.mean_loss(net.train()(batch.inputs, batch.lengths), batch.targets, batch.lengths)
    loss.backward()
    norm = nn.utils.clip_grad_norm_(net.parameters(), clip)
    finite = bool((loss + norm).isfinite())
    if finite:
        stepper.step()
    return loss.item(), finite


def _metric(net: nn.Module, task: Task, split: Split, objective: Objective) -> float:
    with torch.no_grad():
        return evaluate(net.eval(), task, split, objective=objective)


def _copy(net: nn.Module) -> dict[str, Tensor]:
    return {name: value.clone() for name, value in net.state_dict().items()}


def _held(
    curves: Sequence[NDArray[np.float64]], diverged: Sequence[bool], steps: int, objective: Objective | None = None
) -> NDArray[np.float64]:
    """Curves of one length: a stopped net holds its best value, or without an objective its last; others have NaN."""
    rows = []
    for (curve,), lost in zip(curves, diverged, strict=True):
        best = curve[-1] if objective is None else (max if objective.higher_is_better else min)(curve)
        rows.append(np.pad(curve, (0, steps - len(curve)), constant_values=np.nan if lost else best))
    return np.stack(rows)
