"""Learning rates: several tried in one batch, and the best of them by seeds that are not reported."""

from collections.abc import Callable, Iterable, Sequence

import torch
from torch import Tensor

__all__ = ["RowAdam", "best_learning_rate"]


class RowAdam(torch.optim.Adam):
    """Adam with a learning rate of its own for every row of every parameter.

    Args:
        parameters: tensors of as many rows as there are rates.
        lr: a factor of all rates.
        rates: of the rows.
    """

    def __init__(self, parameters: Iterable[Tensor], lr: float, rates: Sequence[float]) -> None:
        super().__init__(parameters, lr=lr)
        self.rates = rates

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> float | None:  # type: ignore[override]  # torch overloads it
        """One update. Adam's is proportional to its rate, so a row goes its share of the way."""
        rows = [p for group in self.param_groups for p in group["params"]]
        before = [p.clone() for p in rows]
        loss = super().step(closure)
        for p, old in zip(rows, before, strict=True):
            p.copy_(torch.lerp(old, p, p.new_tensor(self.rates).view(-1, *[1] * (p.ndim - 1))))
        return loss


def best_learning_rate(
    rates: Sequence[float], values: Sequence[float], higher: bool = False
) -> tuple[float, dict[str, float]]:
    """The rate with the best mean value, of two the smaller one; and the means by rate.

    Args:
        rates: what was tried.
        values: equally many for each rate, rate by rate; a rate with a NaN among them comes last.
        higher: whether a higher value is better.
    """
    each, sign = len(values) // len(rates), -1 if higher else 1
    means = {rate: sum(values[i * each : (i + 1) * each]) / each for i, rate in enumerate(rates)}
    rate = min(rates, key=lambda rate: (means[rate] != means[rate], sign * means[rate], rate))
    return rate, {str(rate): mean for rate, mean in means.items()}
