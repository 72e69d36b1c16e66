"""What nets side by side lose on the words of a text, window by window."""

from collections.abc import Sequence

import torch
from torch import Tensor

from fhx.experiments.language_models.net import WINDOW, LanguageModel
from fhx.experiments.language_models.reading import Reading
from fhx.experiments.language_models.side_by_side.nets import Nets, Weights
from fhx.experiments.language_models.side_by_side.windows import Windows
from fhx.tasks import Sequences

__all__ = ["Reader", "losses_together"]


class Reader:
    """Goes through a text by windows; what the nets carry on stays in the same memory while its shape is the same.

    Args:
        nets: what reads.
        part: the text.
        reading: how it is read.
        trained: whether it is read to train, so that numbers are dropped.
    """

    def __init__(self, nets: Nets, part: Windows, reading: Reading, trained: bool = False) -> None:
        self.nets, self.part, self.reading, self.trained = nets, part, reading, trained
        self.carried: list[Tensor] | None = None
        self.fixed = True
        """Whether the shape has always been the same; who looks back beyond a window carries more later."""

    def losses(self, weights: Weights, window: Tensor, start: bool) -> Tensor:
        """Of the targets of a window, (nets, time x streams); 0 for those that do not count.

        Args:
            weights: of the nets.
            window: its number, a tensor of one.
            start: whether nothing is carried from the window before.
        """
        part, how, k = self.part, self.reading.how, self.reading.k
        if how == "truncated":
            rows = window * part.window + torch.arange(1 - k, part.window, device=self.nets.device)
            words = part.words.index_select(0, rows.clamp(min=0))
            shown, _ = self.nets.read(weights, words, None, self.trained, k)
            return self.nets.losses(weights, shown[:, -1], part, window)
        rows = window * part.window + torch.arange(part.window, device=self.nets.device)
        carried = None if start or self.carried is None else [x.clone() for x in self.carried]
        pieces = []
        for words in part.words.index_select(0, rows).split(part.window if how == "full" else k):
            each, carried = self.nets.read(weights, words, None if how == "reset" else carried, self.trained)
            pieces.append(each)
        self._keep(carried or [])
        return self.nets.losses(weights, torch.cat(pieces, 1).flatten(1, 2), part, window)

    def _keep(self, carried: list[Tensor]) -> None:
        if self.carried is None or [x.shape for x in self.carried] != [x.shape for x in carried]:
            self.fixed = self.carried is None
            self.carried = [x.clone() for x in carried]
        for old, new in zip(self.carried, carried, strict=True):
            old.copy_(new)


@torch.no_grad()
def losses_together(
    made: Sequence[LanguageModel], part: Sequences, device: torch.device, k: int | None = None
) -> Tensor:
    """The loss of every word by every net, (nets, steps, streams), on the CPU; from state zero and without dropout.

    Args:
        made: the nets, of one kind and size.
        part: the text.
        device: where they run.
        k: words that the nets see; None for all that came before.
    """
    nets = Nets(made, device)
    text = Windows.of(part, WINDOW, nets.cutoffs, device)

    def found(reading: Reading) -> Tensor:
        reader = Reader(nets, text, reading)
        numbers = torch.arange(len(text), device=device).split(1)
        each = [reader.losses(nets.start, window, start=i == 0) for i, window in enumerate(numbers)]
        return torch.cat([x.unflatten(1, (WINDOW, -1)) for x in each], 1)[:, : text.steps].cpu()

    whole = found(Reading())
    return whole if k is None else torch.cat([whole[:, : k - 1], found(Reading("truncated", k))[:, k - 1 :]], 1)
