r"""What a net is trained to do, by the kind of its task.

An :class:`~fhx.training.Objective` says where the outputs :math:`y_t` are read (at a sequence's end, or at every
step), the loss whose gradient is followed and the metric that is reported. Both are written for single outputs and know
nothing of padding: :meth:`~fhx.training.Objective.total` reads the real steps only. Another objective than these
is passed to ``fit``.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import torch
from jaxtyping import Bool, Float, Integer, Shaped
from torch import Tensor
from torch.nn import functional as F

__all__ = ["OBJECTIVES", "Objective", "at_end", "real_steps"]

Score = Callable[[Tensor, Tensor], Tensor]


@dataclass(frozen=True)
class Objective:
    """What is minimised and what is reported.

    Attributes:
        kind: the ``task.kind`` it belongs to.
        at: ``"end"`` reads a sequence's output after its last input, ``"step"`` after every input.
        loss: maps outputs (..., d_out) and targets to one value for each output (...); smaller is better.
        metric: the same for the reported number.
        unit: of the metric, for axes and tables.
        higher_is_better: the direction of the metric.
    """

    kind: str
    at: Literal["end", "step"]
    loss: Score
    metric: Score
    unit: str
    higher_is_better: bool

    def total(
        self,
        score: Score,
        outputs: Float[Tensor, "time batch d_out"],
        targets: Shaped[Tensor, "..."],
        lengths: Integer[Tensor, " batch"] | None = None,
    ) -> tuple[Float[Tensor, ""], Float[Tensor, ""]]:
        """The sum of ``score`` over what counts, sequences at their end or real steps, and how many these are."""
        if self.at == "end":
            outputs = at_end(outputs, lengths)
        values = score(outputs, targets)
        if self.at == "end" or lengths is None:
            return values.sum(), torch.ones_like(values).sum()
        real = real_steps(lengths, len(outputs))
        return torch.where(real, values, 0).sum(), real.sum().to(values.dtype)

    def by_loss(self, unit: str) -> "Objective":
        """The same with the loss for what is reported, in this unit."""
        return replace(self, metric=self.loss, unit=unit, higher_is_better=False)

    def mean_loss(self, outputs: Tensor, targets: Tensor, lengths: Tensor | None = None) -> Float[Tensor, ""]:
        """The mean loss over sequences, or over real steps: what is differentiated."""
        total, count = self.total(self.loss, outputs, targets, lengths)
        return total / count


def at_end(
    outputs: Shaped[Tensor, "time batch d"], lengths: Integer[Tensor, " batch"] | None = None
) -> Shaped[Tensor, "batch d"]:
    r"""Each sequence's output after its own last input, :math:`y_{T_n}`; without lengths the last row."""
    if lengths is None:
        return outputs[-1]
    last = (lengths.long() - 1).view(1, -1, 1).expand(1, -1, outputs.shape[-1])
    return outputs.gather(0, last).squeeze(0)


def real_steps(lengths: Integer[Tensor, " batch"], time: int) -> Bool[Tensor, "time batch"]:
    """True where a step belongs to its sequence, false in the padding behind its end."""
    return torch.arange(time, device=lengths.device)[:, None] < lengths


def _cross_entropy(outputs: Tensor, targets: Tensor) -> Tensor:
    """Minus the log probability of the target class, in nats, under the softmax of ``outputs``."""
    return F.cross_entropy(outputs.movedim(-1, 1), targets, reduction="none")


def _correct(outputs: Tensor, targets: Tensor) -> Tensor:
    return (outputs.argmax(-1) == targets).to(outputs.dtype)


def _bernoulli(outputs: Tensor, targets: Tensor) -> Tensor:
    """Negative log-likelihood in nats of independent bits with logits ``outputs``, summed over the bits of a frame."""
    return F.binary_cross_entropy_with_logits(outputs, targets, reduction="none").sum(-1)


def _square(outputs: Tensor, targets: Tensor) -> Tensor:
    return (outputs - targets).square().mean(-1)


def _square_at_end(outputs: Tensor, targets: Tensor) -> Tensor:
    return (outputs.squeeze(-1) - targets).square()


OBJECTIVES: dict[str, Objective] = {
    objective.kind: objective
    for objective in (
        Objective("class at end", "end", _cross_entropy, _correct, "accuracy", higher_is_better=True),
        Objective("value at end", "end", _square_at_end, _square_at_end, "mean squared error", higher_is_better=False),
        Objective("class per step", "step", _cross_entropy, _correct, "accuracy", higher_is_better=True),
        Objective("bits per step", "step", _bernoulli, _bernoulli, "nats per frame", higher_is_better=False),
        Objective("value per step", "step", _square, _square, "mean squared error", higher_is_better=False),
    )
}
"""The objectives by kind of task."""
