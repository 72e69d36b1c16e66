"""A text on a device in windows of the same shape: words, and which of them belong to which group of rare ones."""

from collections.abc import Sequence
from itertools import pairwise

import torch
from attrs import frozen
from torch import Tensor

from fhx.tasks import Sequences

__all__ = ["Group", "Windows"]


@frozen(eq=False)
class Group:
    """The targets of each window that belong to one group of rare words, as many places in each window as in another.

    Attributes:
        places: (windows, most), in the flattened window.
        words: (windows, most), the number within the group.
        counts: (windows, most), 1.0 for a target and 0.0 for a place that is filled up.
    """

    places: Tensor
    words: Tensor
    counts: Tensor


@frozen(eq=False)
class Windows:
    """All windows of a text, the last one filled up with words that do not count.

    Attributes:
        words: (steps, streams), what is read, filled up too.
        heads: (windows, time x streams), what the frequent softmax is asked for: a frequent word or a group.
        counts: (windows, time x streams), 1.0 for a target and 0.0 for one that is filled up.
        groups: of rare words.
        steps: of the text.
        window: time of each window.
    """

    words: Tensor
    heads: Tensor
    counts: Tensor
    groups: list[Group]
    steps: int
    window: int

    def __len__(self) -> int:
        return len(self.heads)

    @classmethod
    def of(
        cls, part: Sequences, window: int, cutoffs: Sequence[int], device: torch.device, unseen: int = 0
    ) -> "Windows":
        """From a part of a text; its first ``unseen`` targets in each stream do not count."""
        steps, streams = part.inputs.shape
        many = -(-steps // window)
        short = many * window - steps
        words, targets = (torch.nn.functional.pad(x, (0, 0, 0, short)) for x in (part.inputs, part.targets))
        counts = torch.zeros(many * window, streams)
        counts[unseen:steps] = 1.0
        targets, counts = (x.unflatten(0, (many, window)).flatten(1) for x in (targets, counts))
        heads, groups = targets.clone(), []
        edges = [*cutoffs, torch.iinfo(torch.long).max]
        for k, (low, high) in enumerate(pairwise(edges)):
            member = (targets >= low) & (targets < high) & (counts > 0)
            heads[(targets >= low) & (targets < high)] = edges[0] + k
            most = max(1, int(member.sum(1).max()))
            places = member.int().argsort(stable=True, dim=1, descending=True)[:, :most]
            there = member.gather(1, places)
            found = torch.where(there, targets.gather(1, places) - low, 0)
            groups.append(Group(*(x.to(device) for x in (places, found, there.float()))))
        words, heads, counts = (x.to(device) for x in (words, heads, counts))
        return cls(words, heads, counts, groups, steps, window)
