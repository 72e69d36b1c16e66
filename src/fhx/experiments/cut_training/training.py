"""Training nets side by side on the same batches, in full or with the state or the gradient cut, and what happens."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

import torch
from attrs import frozen
from torch import Tensor, nn
from torch.func import functional_call, vmap

from fhx.cells import Cell
from fhx.dynamics import unroll
from fhx.experiments import real_data as data
from fhx.experiments.cut_training.measures import evaluate
from fhx.experiments.cut_training.nets import Net
from fhx.experiments.cut_training.tasks import LEARNING_RATES, OTHER_SEEDS, batches, language_model, sequence_model
from fhx.experiments.learning_rates import best_learning_rate
from fhx.experiments.seeding import per_seed

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
    k: int | None = None,
    carry: bool = True,
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
        k: after k steps, the gradient is cut; None: at the end of a window only.
        carry: whether the state goes on after such a cut and after a window (truncated back-propagation). If not, it
            is set to zero there, and the net is a truncated model, which sees at most k steps.
        clip: bound of the 2-norm of each net's gradient.
    """
    steppers = [optimizer(net.parameters(), lr=rate) for net, rate in zip(nets, rates, strict=True)]
    alive, h = [True] * len(nets), torch.empty(0)
    for update, (inputs, targets, mask, fresh) in zip(range(1, updates + 1), batches, strict=False):
        if fresh or not carry:
            h = torch.zeros(len(nets), inputs.shape[1], nets[0].cell.state_width)
        hidden, h = _run([net.cell for net in nets], torch.stack([net.embed(inputs) for net in nets]), h, k, carry)
        mask = torch.ones(inputs.shape[:2]) if mask is None else mask
        losses = [(net.loss(states, targets) * mask).sum() for net, states in zip(nets, hidden, strict=True)]
        (torch.stack(losses).sum() / mask.sum()).backward()
        for r, (net, stepper) in enumerate(zip(nets, steppers, strict=True)):
            norm = nn.utils.clip_grad_norm_(net.parameters(), clip)
            alive[r] = alive[r] and bool(norm.isfinite())
            if alive[r]:
                stepper.param_groups[0]["lr"] = rates[r] * (1 - (update - 1) / updates)
                stepper.step()
                net.constrain()
            stepper.zero_grad()
        yield update


def _run(cells: Sequence[Cell], inputs: Tensor, h: Tensor, k: int | None, carry: bool) -> tuple[Tensor, Tensor]:
    """The hidden states of all cells, each on its own inputs from its own states, and their last states, detached."""
    steps = inputs.shape[1]
    pieces = _Pieces(cells[0], k or steps, carry)
    parameters = {f"cell.{name}": torch.stack([cell.get_parameter(name) for cell in cells]) for name in _names(cells)}
    states = vmap(lambda p, x, h: functional_call(pieces, p, (x, h)))(parameters, inputs, h)
    return cells[0].hidden(states), states[:, -1].detach()


def _names(cells: Sequence[Cell]) -> list[str]:
    return [name for name, _ in cells[0].named_parameters()]


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


def trained(
    name: str,
    kind: str,
    seeds: Sequence[int],
    rates: Sequence[float],
    updates: int,
    optimizer: str,
    *,
    evaluations: int = data.EVALUATIONS,
    k: int | None = None,
    carry: bool = True,
) -> tuple[list[Net], TrainingLog]:
    """One net per seed and rate, trained by :func:`train`, and the log of their training; all read the same batches."""
    valid = part if (part := data.task(name).valid).lengths is not None else data.cut(part, data.SHOWN)
    nets: list[Net] = per_seed(partial(language_model if name in data.TEXTS else sequence_model, name, kind), seeds)
    log = TrainingLog([], [[] for _ in seeds], [])

    def note(update: int) -> None:
        log.at.append(update)
        log.weights.append(torch.stack([net.cell.get_parameter("W").detach().clone() for net in nets]))
        for net, curve in zip(nets, log.valid, strict=True):
            curve.append(evaluate(net, valid))

    note(0)
    every = max(1, updates // evaluations)
    updates_made = train(nets, batches(name), rates, updates=updates, optimizer=OPTIMIZERS[optimizer], k=k, carry=carry)
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
