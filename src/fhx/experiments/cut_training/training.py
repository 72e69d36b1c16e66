"""Training nets side by side on the same batches, in full or in one of three ways that are cut, and what happens."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Literal

import torch
from attrs import frozen
from torch import Tensor, nn
from torch.func import functional_call, vmap

from fhx._checks import one_of
from fhx.cells import Cell
from fhx.dynamics import unroll
from fhx.experiments import real_data as data
from fhx.experiments.cut_training.measures import evaluate
from fhx.experiments.cut_training.nets import Net
from fhx.experiments.cut_training.tasks import LEARNING_RATES, OTHER_SEEDS, batches, language_model, sequence_model
from fhx.experiments.learning_rates import best_learning_rate
from fhx.experiments.seeding import per_seed
from fhx.stability import truncated_states

How = Literal["carried", "reset", "truncated"]
"""What a cut after k steps does: see :func:`train`."""
OPTIMIZERS: dict[str, Callable[..., torch.optim.Optimizer]] = {
    "Adam": partial(torch.optim.Adam, fused=True),
    "SGD": torch.optim.SGD,
}
"""What makes an optimiser of parameters and a learning rate."""


def train(
    nets: Sequence[Net],
    batches: Iterable[data.Batch],
    rates: Sequence[float],
    *,
    updates: int,
    optimizer: Callable[..., torch.optim.Optimizer] = torch.optim.Adam,
    how: How = "carried",
    k: int | None = None,
    clip: float = data.CLIP,
) -> Iterator[int]:
    r"""Train nets side by side on the same batches, in place; yields the number of each update made.

    The rate falls linearly to zero. A net whose gradient is not finite is left as it is from then on.

    Args:
        nets: of one kind; their recurrences run as one batch.
        batches: successive windows.
        rates: one per net.
        updates: how many, at most as many as batches.
        optimizer: called as ``optimizer(parameters, lr=...)``, once per net.
        how: "carried": the state goes on from step to step and from window to window, and the gradient is cut after
            every k steps (truncated back-propagation); "reset": the state is zero at the start of a window and at
            every k-th step in it, so that an output sees from 1 to k inputs; "truncated": each output is read from
            :math:`h_t^k`, the state that the last k inputs make from zero, of a window before too.
        k: steps; None: those of the window.
        clip: bound of the 2-norm of each net's gradient.

    Raises:
        ValueError: there is no such way.
    """
    one_of("how", how, ("carried", "reset", "truncated"))
    steppers = [optimizer(net.parameters(), lr=rate) for net, rate in zip(nets, rates, strict=True)]
    alive, before = [True] * len(nets), None
    for update, batch in zip(range(1, updates + 1), batches, strict=False):
        losses, before = losses_of(nets, batch, before, how, k)
        losses.sum().backward()
        for r, (net, stepper) in enumerate(zip(nets, steppers, strict=True)):
            norm = nn.utils.clip_grad_norm_(net.parameters(), clip)
            alive[r] = alive[r] and bool(norm.isfinite())
            if alive[r]:
                stepper.param_groups[0]["lr"] = rates[r] * (1 - (update - 1) / updates)
                stepper.step()
                net.constrain()
            stepper.zero_grad()
        yield update


def losses_of(
    nets: Sequence[Net], batch: data.Batch, before: Tensor | None = None, how: How = "carried", k: int | None = None
) -> tuple[Tensor, Tensor | None]:
    """The mean loss of each net on a batch, and what the next batch has to know of this one.

    Args:
        nets: of one kind.
        batch: a window of sequences.
        before: what this function returned for the window before, None where there was none.
        how: see :func:`train`.
        k: likewise.
    """
    inputs, targets, mask, fresh = batch
    before = None if fresh else before
    k = k or len(inputs)
    if how == "truncated":  # it has to read the last inputs before the window again
        read = inputs if before is None else torch.cat([before, inputs])
        states = _run(nets, read, None, _Truncated(nets[0].cell, k))[:, -len(inputs) :]
        before = read[len(read) - (k - 1) :] if k <= len(read) else read
    else:
        states = _run(nets, inputs, before, _Pieces(nets[0].cell, k, how == "carried"))
        before = states[:, -1].detach() if how == "carried" else None
    mask = torch.ones(inputs.shape[:2]) if mask is None else mask
    hidden = nets[0].cell.hidden(states)
    sums = [(net.loss(one, targets) * mask).sum() for net, one in zip(nets, hidden, strict=True)]
    return torch.stack(sums) / mask.sum(), before


def _run(nets: Sequence[Net], inputs: Tensor, h: Tensor | None, run: nn.Module) -> Tensor:
    """The states of all nets, each on what it embeds, from its own states or from zero."""
    cells: list[Cell] = [net.cell for net in nets]
    read = torch.stack([net.embed(inputs) for net in nets])
    h = torch.zeros(len(nets), inputs.shape[1], cells[0].state_width) if h is None else h
    names = [name for name, _ in cells[0].named_parameters()]
    parameters = {f"cell.{name}": torch.stack([cell.get_parameter(name) for cell in cells]) for name in names}
    return vmap(lambda p, x, h: functional_call(run, p, (x, h)))(parameters, read, h)


class _Pieces(nn.Module):
    """A run in pieces of k steps, between which the gradient is cut and the state kept or forgotten."""

    def __init__(self, cell: Cell, k: int, carry: bool) -> None:
        super().__init__()
        self.cell, self.k, self.carry = cell, k, carry

    def forward(self, inputs: Tensor, h: Tensor) -> Tensor:
        """All states."""
        pieces = []
        for piece in inputs.split(self.k):
            pieces.append(unroll(self.cell, piece, h))
            h = pieces[-1][-1].detach() if self.carry else torch.zeros_like(h)
        return torch.cat(pieces)


class _Truncated(nn.Module):
    """The truncated model, all windows at once."""

    def __init__(self, cell: Cell, k: int) -> None:
        super().__init__()
        self.cell, self.k = cell, k

    def forward(self, inputs: Tensor, h: Tensor) -> Tensor:
        """All states."""
        return truncated_states(self.cell, inputs, self.k, h, block=len(inputs))


@frozen
class TrainingLog:
    """What training was like ``at`` some updates.

    Attributes:
        at: the updates, 0 first.
        valid: the validation metric there, a curve per net.
        weights: the recurrent matrices W of all nets there, shape (nets, rows, columns).
    """

    at: list[int]
    valid: list[list[float]]
    weights: list[Tensor]


def new_nets(name: str, kind: str, seeds: Sequence[int]) -> list[Net]:
    """Nets before training, one per seed."""
    make: Callable[[], Net] = partial(language_model if name in data.TEXTS else sequence_model, name, kind)
    return per_seed(make, seeds)


def trained(
    name: str,
    kind: str,
    seeds: Sequence[int],
    rates: Sequence[float],
    updates: int,
    optimizer: str,
    *,
    evaluations: int = data.EVALUATIONS,
    how: How = "carried",
    k: int | None = None,
    nudges: Sequence[float] = (),
) -> tuple[list[Net], TrainingLog]:
    """One net per seed and rate, trained by :func:`train`, and the log of their training; all read the same batches.

    ``nudges`` are the distances by which their recurrent weights are first moved, in random directions.
    """
    valid = part if (part := data.task(name).valid).lengths is not None else data.cut(part, data.SHOWN)
    nets = new_nets(name, kind, seeds)
    generator = torch.Generator().manual_seed(0)
    for net, nudge in zip(nets, nudges, strict=False):
        W = net.cell.get_parameter("W")
        direction = torch.randn(W.shape, generator=generator)
        W.data += nudge * direction / direction.norm()
        net.constrain()
    log = TrainingLog([], [[] for _ in seeds], [])

    def note(update: int) -> None:
        log.at.append(update)
        log.weights.append(torch.stack([net.cell.get_parameter("W").detach().clone() for net in nets]))
        for net, curve in zip(nets, log.valid, strict=True):
            curve.append(evaluate(net, valid))

    note(0)
    every = max(1, updates // evaluations)
    updates_made = train(nets, batches(name), rates, updates=updates, optimizer=OPTIMIZERS[optimizer], how=how, k=k)
    for update in updates_made:
        if update % every == 0 or update == updates:
            note(update)
    return nets, log


def chosen_learning_rate(name: str, kind: str, optimizer: str, updates: int) -> tuple[float, dict[str, float]]:
    """The rate with the lowest mean validation metric, in nats, of other seeds at the end, and that metric by rate."""
    rates, others = LEARNING_RATES[optimizer][name], OTHER_SEEDS[name]
    seeds, each = [*others] * len(rates), [rate for rate in rates for _ in others]
    _, log = trained(name, kind, seeds, each, updates, optimizer, evaluations=1)
    return best_learning_rate(rates, [curve[-1] for curve in log.valid])
