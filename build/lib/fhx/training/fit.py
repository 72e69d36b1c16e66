"""Training by gradient descent, several seeds at once."""

from collections.abc import Callable, Iterable, Sequence
from time import perf_counter
from typing import TypeVar

import torch
from jaxtyping import Float, Integer
from torch import Tensor, nn
from tqdm import tqdm

from fhx import device as default_device
from fhx._checks import positive, positive_number
from fhx.tasks import Task
from fhx.training.ensemble import Ensemble
from fhx.training.history import Fit, History
from fhx.training.losses import OBJECTIVES, Objective

__all__ = ["fit"]

M = TypeVar("M", bound=nn.Module)


def fit(
    make_model: Callable[[], M] | Sequence[Callable[[], M]],
    task: Task,
    *,
    seeds: Iterable[int] = range(5),
    updates: int,
    batch_size: int,
    learning_rate: float | Callable[[int], float],
    clip: float | None = 1.0,
    evaluate_every: int | None = None,
    patience: int | None = None,
    target: float | None = None,
    optimizer: Callable[..., torch.optim.Optimizer] = torch.optim.Adam,
    objective: Objective | None = None,
    progress: bool = True,
    device: torch.device | str | None = None,
) -> Fit[M]:
    r"""Train one net per seed, all seeds as one batch, and report them with their spread.

    Each seed has its own net (``make_model`` is called under that seed of torch's global generator, which is put back
    afterwards), its own minibatches (a fresh permutation of the training set at every pass) and its own gradient,
    scaled by :math:`\min(1, \text{clip} / \lVert \nabla \rVert_2)`. So a seed's result does not depend on the seeds
    beside it, up to rounding; dropout alone is drawn for all seeds together.

    The nets are evaluated on the validation set before training, every ``evaluate_every`` updates and at the end; the
    parameters with the best validation metric are kept, and only they see the test set. A seed whose loss or gradient
    is no longer finite is frozen and reported as diverged, and the others go on.

    Args:
        make_model: builds a new net, an ``nn.Module`` from (inputs, lengths) to outputs (time, batch, d_out), such as a
            :class:`fhx.dynamics.Realization`, of operations that ``torch.vmap`` can batch. Or one such function
            per seed, for nets that differ in more than the seed but not in shape, such as in the gain they start from.
        task: what to learn. Its floats are moved to the type of the net's parameters.
        seeds: one net each, all different.
        updates: number of minibatches per seed.
        batch_size: sequences in a minibatch; the whole training set where that is smaller.
        learning_rate: a number, or a function of the number of the update, 1 first.
        clip: bound on the 2-norm of a seed's gradient; None for no bound.
        evaluate_every: updates between evaluations; None for a twentieth of all updates.
        patience: a seed stops after this many evaluations in a row without a better one; None: never.
        target: a seed stops at the first evaluation whose validation metric is at least as good; None: never.
        optimizer: called as ``optimizer(parameters, lr=...)``. It must treat every number on its own, as SGD, RMSprop
            and Adam do, since each parameter holds the rows of all seeds.
        objective: how outputs are scored; None for that of ``task.kind``.
        progress: show a bar of plain text on stderr; ``TQDM_DISABLE=1`` silences it too.
        device: where to train; None for ``fhx.device()``.

    Raises:
        ValueError: for an argument out of range, repeated seeds, another number of functions than of seeds, nets of
            different shapes, or outputs of another shape than the task's.
        TypeError: ``make_model`` is a net, or builds something else than an ``nn.Module`` from inputs to outputs; or
            the task, the seeds or the optimizer are of another kind.
    """
    _check_kinds(make_model, task, seeds, optimizer)
    seeds = tuple(seeds)
    _check_seeds(seeds)
    updates, batch_size = positive("updates", updates), positive("batch_size", batch_size)
    every = max(1, updates // 20) if evaluate_every is None else evaluate_every
    positive("evaluate_every", every)
    if patience is not None:
        positive("patience", patience)
    if clip is not None:
        positive_number("clip", clip)
    if not callable(learning_rate):
        positive_number("learning_rate", learning_rate)
    rate = learning_rate if callable(learning_rate) else lambda _: learning_rate
    objective = objective or OBJECTIVES[task.kind]
    device = default_device() if device is None else torch.device(device)
    began = perf_counter()
    gpus = range(torch.cuda.device_count()) if torch.cuda.is_available() else None  # named, or many of them warn
    with torch.random.fork_rng(gpus):
        nets = Ensemble(make_model, seeds, objective, task.output_size, device)
        task = task.to(device, nets.dtype)
        history = History(nets, task.valid, max(batch_size, 256), patience, target)
        minibatches = [_Minibatches(len(task.train), batch_size, seed) for seed in seeds]
        parameters = list(nets.trained.values())
        stepper = optimizer(parameters, lr=rate(1))
        shown = tqdm(total=updates, desc=task.name, leave=False) if progress else tqdm(disable=True)
        with shown as bar:
            for update in range(1, updates + 1):
                losses = nets.losses(task.train, torch.stack([m.draw() for m in minibatches]).to(device))
                gradients = torch.autograd.grad(losses.sum(), parameters)
                history.watch(update, losses.detach(), _clip(gradients, clip))
                _step(stepper, parameters, gradients, rate(update))
                if update % every == 0 or update == updates:
                    history.evaluate(update)
                    bar.set_postfix_str(history.line(), refresh=False)
                    if not history.running.any():
                        break
                bar.update()
    return history.result(task.name, seeds, task.test, perf_counter() - began)


class _Minibatches:
    """Permutations of ``range(size)`` one after the other, cut into batches; a batch may run into the next pass."""

    def __init__(self, size: int, batch: int, seed: int) -> None:
        self.size, self.batch = size, min(batch, size)
        self.generator = torch.Generator().manual_seed(seed)
        self.rest = torch.empty(0, dtype=torch.long)

    def draw(self) -> Integer[Tensor, " batch"]:
        if len(self.rest) < self.batch:
            self.rest = torch.cat([self.rest, torch.randperm(self.size, generator=self.generator)])
        drawn, self.rest = self.rest[: self.batch], self.rest[self.batch :]
        return drawn


def _clip(gradients: tuple[Tensor, ...], bound: float | None) -> Float[Tensor, " seeds"]:
    """Scale each seed's gradient to 2-norm at most ``bound``, in place; the norms before."""
    norms = torch.stack([g.reshape(len(g), -1).square().sum(1) for g in gradients]).sum(0).sqrt()
    if bound is not None:
        scale = (bound / (norms + 1e-6)).clamp(max=1)
        for g in gradients:
            g.mul_(scale.view(-1, *[1] * (g.ndim - 1)))
    return norms


def _step(
    stepper: torch.optim.Optimizer, parameters: list[Tensor], gradients: tuple[Tensor, ...], learning_rate: float
) -> None:
    for parameter, gradient in zip(parameters, gradients, strict=True):
        parameter.grad = gradient
    for group in stepper.param_groups:
        group["lr"] = learning_rate
    stepper.step()


def _check_kinds(make_model: object, task: object, seeds: object, optimizer: object) -> None:
    """A TypeError that names what is of another kind."""
    if isinstance(make_model, nn.Module):
        raise TypeError("make_model is a net: give a function that builds a new one, such as lambda: Realization(...)")
    if not isinstance(task, Task):
        raise TypeError(f"task must be a Task with its three splits, not a {type(task).__name__}")
    if not isinstance(seeds, Iterable):
        raise TypeError(f"seeds must be several, such as range({seeds}), not {seeds!r}")
    if not callable(optimizer):
        raise TypeError(f"optimizer must be a class such as torch.optim.Adam, not {optimizer!r}")


def _check_seeds(seeds: tuple[int, ...]) -> None:
    if not seeds or len(set(seeds)) < len(seeds) or any(seed != int(seed) for seed in seeds):
        raise ValueError(f"seeds must be given, whole and all different; got {seeds}")
