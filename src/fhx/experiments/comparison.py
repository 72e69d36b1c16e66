r"""Kinds of nets trained alike: one grid of settings for all, chosen by other seeds, with all that a verdict needs.

Every kind is trained by Adam with decoupled weight decay, at each learning rate :math:`\eta` with each decay
:math:`\mu` of a grid,

.. math:: \theta \leftarrow (1 - \eta \mu)\, \theta - \eta\, \mathrm{Adam}(g),

and at each rate with each dropout, if any is tried, without decay, by seeds that are not reported. The setting with the
best mean of their best validation metrics is then trained by the reported seeds. Rates are constant, so that a flat end
of a curve is not the work of a rate that falls to zero. All nets of a grid are one batch, and so are all reported
seeds, unless they are trained by :mod:`fhx.experiments.one_by_one`.

What is stored is what :mod:`fhx.experiments.protocol` asks for: scores and validation curves by seed, the grid with
what each setting reached, and the error that the choice of test items gives a mean score.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import nan
from typing import Any, TypeVar

import torch
from attrs import asdict, evolve, field, frozen
from torch import Tensor, nn

from fhx.experiments.experiment import Result
from fhx.experiments.items import Items
from fhx.experiments.learning_rates import RowAdam
from fhx.experiments.protocol import Kind
from fhx.tasks import Sequences, Task
from fhx.training import OBJECTIVES, Fit, Objective, fit
from fhx.training.losses import at_end, real_steps

__all__ = ["Budget", "Setting", "compare", "item_error", "item_scores", "kind", "kind_by_rate", "side_by_side"]

M = TypeVar("M", bound=nn.Module)
Setting = tuple[float, ...]
"""A learning rate, a weight decay and, where dropouts are tried, a dropout."""
SETTING = ("rate", "decay", "dropout")
"""Their names in a result."""
DIGITS = 5
"""Significant digits of a stored curve."""


@frozen(kw_only=True)
class Budget:
    """How all kinds of a comparison are trained.

    Attributes:
        rates: learning rates that are tried.
        decays: weight decays that are tried with each of them.
        dropouts: dropouts that are tried with each of them, without weight decay.
        seeds: of the nets that are reported.
        others: of the nets that the setting is chosen by.
        updates: of every net.
        batch_size: sequences of an update.
        evaluations: how often a net is validated.
        clip: bound on the 2-norm of a gradient.
        patience: validations in a row without a better one after which a net is stopped; None: it never is.
        reported: what of this is different for the nets that are reported, such as more updates.
    """

    rates: Sequence[float]
    decays: Sequence[float]
    seeds: Sequence[int]
    others: Sequence[int]
    updates: int
    batch_size: int
    evaluations: int = 40
    clip: float = 1.0
    dropouts: Sequence[float] = ()
    patience: int | None = None
    reported: Mapping[str, Any] = field(factory=dict)

    @property
    def evaluate_every(self) -> int:
        """Updates between two validations."""
        return max(1, self.updates // self.evaluations)

    @property
    def settings(self) -> list[Setting]:
        """A rate and a decay, and where dropouts are tried a dropout, rate by rate."""
        if not self.dropouts:
            return [(rate, decay) for rate in self.rates for decay in self.decays]
        ways = [*((decay, 0.0) for decay in self.decays), *((0.0, dropout) for dropout in self.dropouts)]
        return [(rate, *way) for rate in self.rates for way in ways]

    @property
    def as_json(self) -> dict[str, Any]:
        """What a result file says of it."""
        return {
            "rates": list(self.rates),
            "weight decays": list(self.decays),
            "seeds": list(self.seeds),
            "seeds of the settings": list(self.others),
            "updates": self.updates,
            "batch_size": self.batch_size,
            "evaluations": self.evaluations,
            "clip": self.clip,
            **({"dropouts": list(self.dropouts)} if self.dropouts else {}),
            **({"patience": self.patience} if self.patience else {}),
            **({"reported": dict(self.reported)} if self.reported else {}),
        }


class DecayedRows(RowAdam):
    """Adam with a learning rate and a decoupled weight decay of its own for every row of every parameter.

    Args:
        parameters: tensors of as many rows as there are rates.
        lr: a factor of all rates.
        rates, decays: of the rows.
    """

    def __init__(
        self, parameters: Iterable[Tensor], lr: float, rates: Sequence[float], decays: Sequence[float]
    ) -> None:
        super().__init__(parameters, lr, rates)
        self.decays = decays

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> float | None:  # type: ignore[override]  # torch overloads it
        """One update. The decay is that of the parameters before it."""
        (group,) = self.param_groups
        shrunk = [group["lr"] * rate * decay for rate, decay in zip(self.rates, self.decays, strict=True)]
        before = [p.clone() for p in group["params"]]
        loss = super().step(closure)
        for p, old in zip(group["params"], before, strict=True):
            p.sub_(old * p.new_tensor(shrunk).view(-1, *[1] * (p.ndim - 1)))
        return loss


def side_by_side(
    make: Callable[..., M],
    task: Task,
    settings: Sequence[Setting],
    seeds: Sequence[int],
    budget: Budget,
    objective: Objective | None = None,
) -> Fit[M]:
    """A net for each setting with its seed, all as one batch, without dropout."""
    return fit(
        make,
        task,
        seeds=seeds,
        updates=budget.updates,
        batch_size=budget.batch_size,
        learning_rate=1.0,
        clip=budget.clip,
        evaluate_every=budget.evaluate_every,
        patience=budget.patience,
        optimizer=lambda parameters, lr: DecayedRows(parameters, lr, *zip(*settings, strict=True)),
        objective=objective,
        progress=False,
    )


def compare(
    make: Callable[..., M],
    task: Task,
    budget: Budget,
    objective: Objective | None = None,
    trained: Callable[..., Fit[M]] = side_by_side,
    keep_items: bool = False,
) -> tuple[Fit[M], Result]:
    """Choose the setting of one kind by the other seeds, train the reported ones, and write down what was seen.

    Args:
        make: builds a net of this kind; where dropouts are tried, it is given one.
        task: what to learn.
        budget: how; the same for all kinds.
        objective: what is minimised and reported; None for that of the task.
        trained: trains all nets of a list of settings and seeds.
        keep_items: whether to keep what was scored on each test sequence, so that kinds can be compared on each.

    Returns:
        The nets of the reported seeds, and of them as JSON can hold it, with a number per seed: ``test``, ``valid`` and
        ``train``, curves at the updates ``at``, ``best update`` and ``diverged``, an update or None; the ``rate``, the
        weight ``decay`` and, where any is tried, the ``dropout``; ``settings``, lists of these and of the mean best
        validation metric of the other seeds, None if one diverged before the first; ``item error``, and where they are
        kept ``items``, their sums and counts; ``parameters``, those trained, and ``seconds``.
    """
    objective = objective or OBJECTIVES[task.kind]
    tried, others = budget.settings, budget.others
    all_tried = [setting for setting in tried for _ in others]
    seeds = [1000 * i + seed for i in range(len(tried)) for seed in others]
    tuned = trained(make, task, all_tried, seeds, budget, objective)
    sign = -1 if objective.higher_is_better else 1
    means = tuned.best_valid.reshape(len(tried), len(others)).mean(1).tolist()
    best = min(range(len(tried)), key=lambda i: (means[i] != means[i], sign * means[i], tried[i]))
    last = trained(
        make, task, [tried[best]] * len(budget.seeds), budget.seeds, evolve(budget, **budget.reported), objective
    )
    net, items = last.models[0], item_scores(last.models, task.test, objective)
    result = {
        "test": last.test.tolist(),
        "at": last.updates.tolist(),
        "valid": rounded(last.valid.tolist()),
        "train": rounded(last.train_loss.tolist()),
        "best update": last.best_update.tolist(),
        "diverged": [last.diverged.get(seed) for seed in last.seeds],
        **dict(zip(SETTING, tried[best], strict=False)),
        "settings": [[*each, mean if mean == mean else None] for each, mean in zip(tried, means, strict=True)],
        "item error": items.error,
        **({"items": asdict(items)} if keep_items else {}),
        "parameters": sum(p.numel() for p in net.parameters() if p.requires_grad),
        "seconds": tuned.seconds + last.seconds,
    }
    return last, result


@torch.no_grad()
def item_scores(nets: Sequence[nn.Module], part: Sequences, objective: Objective) -> Items:
    """What some nets score on each sequence, on average.

    Raises:
        ValueError: there are no nets.
    """
    if not nets:
        raise ValueError("there are no nets to score")
    sums, counts = [], torch.ones(len(part), dtype=torch.float64)
    for net in nets:
        outputs = net(part.inputs, part.lengths)
        if objective.at == "end":
            sums.append(objective.metric(at_end(outputs, part.lengths), part.targets).double())
            continue
        values = objective.metric(outputs, part.targets).double()
        if part.lengths is not None:
            values = torch.where(real_steps(part.lengths, len(values)), values, 0)
            counts = part.lengths.double()
        else:
            counts = torch.full_like(counts, len(values))
        sums.append(values.sum(0))
    return Items(torch.stack(sums).mean(0).tolist(), counts.tolist())


def item_error(nets: Sequence[nn.Module], part: Sequences, objective: Objective) -> float:
    """The standard error that the choice of the test sequences gives the mean score of some nets."""
    return item_scores(nets, part, objective).error


def kind(result: Mapping[str, Any], *, recommended_start: bool = True) -> Kind:
    """What the protocol asks of a kind, from the stored result of :func:`compare`.

    Of a rate that was tried with several decays or dropouts the best counts.
    """
    settings = result["settings"]
    rates, names = sorted({rate for rate, *_ in settings}), [name for name in SETTING if name in result]
    chosen = next(mean for *setting, mean in settings if setting == [result[name] for name in names])
    others = [mean for *_, mean in settings if mean is not None]
    best = max if chosen == max(others) else min
    reached = {rate: [mean for r, *_, mean in settings if r == rate and mean is not None] for rate in rates}
    tuned = {"weight decay" if name == "decay" else name: k for k, name in enumerate(names) if k}
    return Kind(
        scores=result["test"],
        at=result["at"],
        valid=[[nan if v is None else v for v in curve] for curve in result["valid"]],
        rate=result["rate"],
        rates=rates,
        tried={rate: best(means) for rate, means in reached.items() if means},
        settings=len(settings),
        regularizers=frozenset(name for name, k in tuned.items() if any(setting[k] for setting in settings)),
        recommended_start=recommended_start,
        item_error=result["item error"],
        items=Items(**result["items"]) if "items" in result else None,
    )


def kind_by_rate(
    result: Mapping[str, Any],
    scores: Sequence[float] | None = None,
    *,
    recommended_start: bool = True,
    item_error: float | None = None,
) -> Kind:
    """The same from a result whose nets were tuned by the learning rate alone, without regularisation.

    Args:
        result: has ``rate`` and the validation value by ``rates``; where ``at`` is missing, no curve was kept.
        scores: by seed; None for its ``test``.
        recommended_start, item_error: of :class:`~fhx.experiments.protocol.Kind`.
    """
    scores = result["test"] if scores is None else scores
    at = result.get("at", [])
    return Kind(
        scores=scores,
        at=at,
        valid=[[nan if v is None else v for v in curve] for curve in result["valid"]] if at else [[] for _ in scores],
        rate=result["rate"],
        rates=[float(rate) for rate in result["rates"]],
        settings=len(result["rates"]),
        regularizers=frozenset(),
        recommended_start=recommended_start,
        item_error=item_error,
        tried={float(rate): value for rate, value in result["rates"].items() if value == value},
    )


def rounded(curves: Sequence[Sequence[float]]) -> list[list[float | None]]:
    """Curves with as many digits as are looked at; None where a value is not finite."""
    return [[float(f"{v:.{DIGITS}g}") if abs(v) < float("inf") else None for v in curve] for curve in curves]
