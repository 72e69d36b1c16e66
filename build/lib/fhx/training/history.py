"""What happens during training, one row per seed, and what comes out of it: a :class:`~fhx.training.Fit`."""

from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from fhx.tasks import Sequences
from fhx.training.ensemble import Ensemble
from fhx.training.losses import Objective
from fhx.training.statistics import Band, Interval, band, interval

__all__ = ["Fit", "History"]

M = TypeVar("M", bound=nn.Module)


@dataclass(frozen=True, eq=False, repr=False)
class Fit(Generic[M]):
    """The history of several seeds and what they ended with.

    A seed's result is that of its best parameters, judged by the validation metric at the evaluated updates. A stopped
    seed holds its best value in the curves; a diverged one is NaN from then on, and keeps its best parameters from
    before.

    Attributes:
        task: name of the task.
        objective: names the metric, its unit and its direction.
        seeds: (seeds,), in the order of the rows below.
        updates: (n,), after how many updates the nets were evaluated, 0 first.
        train_loss: (seeds, n), mean minibatch loss since the evaluation before; at 0 the loss of the first minibatch.
        valid: (seeds, n), metric on the validation set.
        test: (seeds,), metric of the best parameters on the test set.
        best_update: (seeds,), the update the best parameters come from.
        models: one net per seed, with its best parameters.
        diverged: seed -> update at which its loss or gradient was no longer finite.
        stopped: seed -> update at which it was stopped early, out of patience or because it reached the target.
        reached: seed -> update at which its validation metric reached the target.
        seconds: duration of the training, all seeds together.
    """

    task: str
    objective: Objective
    seeds: tuple[int, ...]
    updates: np.ndarray
    train_loss: np.ndarray
    valid: np.ndarray
    test: np.ndarray
    best_update: np.ndarray
    models: tuple[M, ...]
    diverged: dict[int, int]
    stopped: dict[int, int]
    reached: dict[int, int]
    seconds: float

    @property
    def best_valid(self) -> np.ndarray:
        """(seeds,), the validation metric of the best parameters."""
        return self.valid[self.updates == self.best_update[:, None]]

    def interval(self, level: float = 0.95) -> Interval:
        """The test metric over the seeds: its mean and Student interval."""
        return interval(self.test, level)

    def band(self, curve: Literal["valid", "train_loss"] = "valid", level: float = 0.95) -> Band:
        """A learning curve over the seeds, with an interval at each of ``updates``; diverged seeds drop out of it."""
        if curve not in ("valid", "train_loss"):
            raise ValueError(f"a fit has the curves 'valid' and 'train_loss', not {curve!r}")
        return band(getattr(self, curve), level)

    def summary(self) -> str:
        """The result in a few lines of text."""
        many = len(self.seeds) > 1 and np.isfinite(self.test).all()
        score = str(self.interval()) if many else ", ".join(f"{value:.3f}" for value in self.test)
        first, last = self.best_update.min(), self.best_update.max()
        lines = [
            f"{self.task}: test {self.objective.unit} {score}",
            f"best at update {first if first == last else f'{first} to {last}'} of {self.updates[-1]}, "
            f"{self.seconds:.1f} s for {len(self.seeds)} seed{'s' * (len(self.seeds) > 1)}",
        ]
        lines += [f"seed {seed} diverged at update {update}" for seed, update in self.diverged.items()]
        return "\n".join(lines)

    __repr__ = summary


class History(Generic[M]):
    """Curves, best parameters, and who is still running; one row per seed.

    Args:
        nets: the nets, evaluated at once for update 0.
        valid: the validation set.
        batch_size: sequences at a time in an evaluation.
        patience: evaluations in a row without a better one after which a seed stops; None: never.
        target: a validation metric at which a seed stops; None: never.
    """

    def __init__(
        self, nets: Ensemble[M], valid: Sequences, batch_size: int, patience: int | None, target: float | None = None
    ) -> None:
        self.nets, self.valid, self.batch_size, self.patience = nets, valid, batch_size, patience
        self.target = target
        self.best = nets.metrics(valid, batch_size)
        self.kept = {name: p.detach().clone() for name, p in nets.trained.items()}
        self.running = self.best.isfinite()
        self.best_update = self.misses = torch.zeros_like(self.best, dtype=torch.long)
        self.stopped = self.reached = self.best_update - 1
        self.diverged = torch.where(self.running, -1, 0)
        self.loss_sum, self.loss_count = torch.zeros_like(self.best), 0
        self.updates: list[int] = [0]
        self.valid_curve: list[Tensor] = [self.best]
        self.loss_curve: list[Tensor] = []

    def watch(self, update: int, losses: Tensor, norms: Tensor) -> None:
        """Note the losses of an update and freeze the seeds where they are not finite; this does not wait for a GPU."""
        if not self.loss_curve:
            self.loss_curve.append(losses)
        self._freeze(update, losses.isfinite() & norms.isfinite())
        self.loss_sum, self.loss_count = self.loss_sum + losses, self.loss_count + 1

    def evaluate(self, update: int) -> None:
        """Evaluate the seeds, keep the parameters of those that got better, stop those out of patience."""
        metric = self.nets.metrics(self.valid, self.batch_size)
        self._freeze(update, metric.isfinite() & self.nets.finite())
        higher = self.nets.objective.higher_is_better
        better = self.running & (metric > self.best if higher else metric < self.best)
        self.best = torch.where(better, metric, self.best)
        self.best_update = torch.where(better, update, self.best_update)
        for name, p in self.nets.trained.items():
            self.kept[name] = torch.where(better.view(-1, *[1] * (p.ndim - 1)), p.detach(), self.kept[name])
        stopped, diverged = self.stopped >= 0, self.diverged >= 0
        loss = torch.where(stopped, self.loss_curve[-1], self.loss_sum / self.loss_count)
        self.loss_curve.append(loss.masked_fill(diverged, torch.nan))
        self.valid_curve.append(torch.where(stopped, self.best, metric).masked_fill(diverged, torch.nan))
        self.loss_sum, self.loss_count = torch.zeros_like(metric), 0
        self.updates.append(update)
        self.misses = torch.where(better, 0, self.misses + 1)
        if self.patience is not None:
            out = self.running & (self.misses >= self.patience)
            self.stopped = torch.where(out, update, self.stopped)
            self.running = self.running & ~out
        if self.target is not None:
            there = self.running & (metric >= self.target if higher else metric <= self.target)
            self.stopped = torch.where(there, update, self.stopped)
            self.reached = torch.where(there, update, self.reached)
            self.running = self.running & ~there

    def _freeze(self, update: int, finite: Tensor) -> None:
        self.diverged = torch.where(self.running & ~finite, update, self.diverged)
        self.running = self.running & finite

    def line(self) -> str:
        """The present state in a few words."""
        unit, best = self.nets.objective.unit, float(self.best.nanmean())
        return f"best valid {unit} {best:.3f}, {int(self.running.sum())} of {len(self.best)} running"

    def result(self, task: str, seeds: tuple[int, ...], test: Sequences, seconds: float) -> Fit[M]:
        """The whole as a :class:`Fit`; only the best parameters see ``test``."""

        def rows(curve: list[Tensor]) -> np.ndarray:
            return torch.stack(curve, 1).double().cpu().numpy()

        def when(updates: Tensor) -> dict[int, int]:
            return {seed: update for seed, update in zip(seeds, updates.tolist(), strict=True) if update >= 0}

        return Fit(
            task=task,
            objective=self.nets.objective,
            seeds=seeds,
            updates=np.array(self.updates),
            train_loss=rows(self.loss_curve),
            valid=rows(self.valid_curve),
            test=self.nets.metrics(test, self.batch_size, self.kept).double().cpu().numpy(),
            best_update=self.best_update.cpu().numpy(),
            models=self.nets.unstack(self.kept),
            diverged=when(self.diverged),
            stopped=when(self.stopped),
            reached=when(self.reached),
            seconds=seconds,
        )
