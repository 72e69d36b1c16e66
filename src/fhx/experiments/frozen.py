"""The control of whoever says that a cell was trained: the cell stays at its random start, the readout is trained.

The states of a frozen cell do not change while the readout is trained. So they are computed once, and training costs
nothing that grows with the length of a run.
"""

from collections.abc import Callable
from typing import TypeVar

import torch
from attrs import evolve
from jaxtyping import Float, Integer
from torch import Tensor, nn

from fhx.cells.function import as_cell
from fhx.dynamics import Realization
from fhx.tasks import Sequences, Task
from fhx.training import OBJECTIVES
from fhx.training.losses import at_end

__all__ = ["KeptStates", "freeze", "frozen"]

M = TypeVar("M", bound=nn.Module)


def freeze(net: M, part: str = "cell") -> M:
    """The net with all parameters of one part left as they started: the control of what was learned there.

    Raises:
        ValueError: no parameter belongs to the part.
    """
    frozen_ones = [p for name, p in net.named_parameters() if name.split(".")[0] == part]
    if not frozen_ones:
        raise ValueError(f"the net has no parameters in {part!r}")
    for p in frozen_ones:
        p.requires_grad_(False)
    return net


class KeptStates(nn.Module):
    """A trained readout of states that are looked up by the number of their sequence.

    Args:
        states: of all sequences.
        readout: what is trained.
    """

    states: Tensor

    def __init__(self, states: Float[Tensor, "time sequences d"], readout: nn.Module) -> None:
        super().__init__()
        self.register_buffer("states", states)
        self.readout = readout

    def forward(
        self, inputs: Integer[Tensor, "time batch"], lengths: Integer[Tensor, " batch"] | None = None
    ) -> Float[Tensor, "time batch d_out"]:
        """The outputs for the sequences whose numbers stand in ``inputs``, the same at every step."""
        return self.readout(self.states[: len(inputs), inputs[0]])


def frozen(
    make: Callable[[], Realization], task: Task, batch_size: int = 1024
) -> tuple[Callable[[], KeptStates], Task]:
    """What :func:`fhx.training.fit` takes to train the readouts of such nets alone, with the same result.

    Args:
        make: builds a net whose readout is a module.
        task: what to learn.
        batch_size: sequences that are run at a time.

    Returns:
        A function that builds such a net, runs its cell over all sequences of the task and keeps the states (at the
        sequences' ends alone, where only ends count); and the task with the numbers of sequences for inputs.
    """
    ends = OBJECTIVES[task.kind].at == "end"
    parts = {name: getattr(task, name) for name in ("train", "valid", "test")}
    starts = dict(zip(parts, (0, len(task.train), len(task.train) + len(task.valid)), strict=True))

    def numbered(name: str, part: Sequences) -> Sequences:
        ids = starts[name] + torch.arange(len(part))
        if ends:
            return Sequences(ids[None], part.targets)
        return evolve(part, inputs=ids.expand(part.steps, len(part)))

    @torch.no_grad()
    def states(net: Realization, part: Sequences, steps: int) -> Tensor:
        found = []
        for start in range(0, len(part), batch_size):
            some = part.take(slice(start, start + batch_size))
            run = as_cell(net.cell).hidden(net.states(some.inputs, some.lengths))
            last = at_end(run, some.lengths)[None]
            found.append(last if ends else nn.functional.pad(run, (0, 0, 0, 0, 0, steps - len(run))))
        return torch.cat(found, 1)

    def kept() -> KeptStates:
        net = make()
        if not isinstance(net.readout, nn.Module):
            raise TypeError("the readout of a frozen net is what is trained: give a module")
        steps = max(part.steps for part in parts.values())
        return KeptStates(torch.cat([states(net, part, steps) for part in parts.values()], 1), net.readout)

    many = sum(map(len, parts.values()))
    train, valid, test = (numbered(name, part) for name, part in parts.items())
    return kept, evolve(task, input_size=many, train=train, valid=valid, test=test)
