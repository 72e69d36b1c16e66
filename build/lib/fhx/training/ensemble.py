"""The nets of all seeds as one net with stacked parameters.

A minibatch of a small recurrent net is bound by the overhead of its steps, not by arithmetic, so five seeds in one
batched call cost little more than one. Seeds never mix: every operation is batched over them, and the sum of their
losses has each seed's own gradient in its own rows.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Generic, TypeVar

import torch
from jaxtyping import Float, Integer
from torch import Tensor, nn
from torch.func import functional_call, stack_module_state, vmap

from fhx._checks import one_of
from fhx.cells import Cell
from fhx.tasks import Sequences, Task
from fhx.tasks.sequences import SPLITS, Split
from fhx.training.losses import OBJECTIVES, Objective

__all__ = ["Ensemble", "evaluate"]

M = TypeVar("M", bound=nn.Module)
Outputs = Callable[[Tensor, Tensor | None], Tensor]
Tensors = dict[str, Tensor]


class Ensemble(Generic[M]):
    """One net per seed, built by ``make_model`` under that seed of torch's global generator, all run as one.

    Args:
        make_model: builds a new net from (inputs, lengths) to outputs (time, batch, ``output_size``); or one such
            function per seed.
        seeds: one per net.
        objective: how outputs are scored.
        output_size: the width that the task asks of the outputs.
        device: where the nets run.

    Raises:
        TypeError: ``make_model`` builds something else than an ``nn.Module``.
        ValueError: there are not as many functions as seeds, or the nets share parameters, differ in shape, or have
            nothing to train.
    """

    def __init__(
        self,
        make_model: Callable[[], M] | Sequence[Callable[[], M]],
        seeds: Sequence[int],
        objective: Objective,
        output_size: int,
        device: torch.device,
    ) -> None:
        makers = [make_model] * len(seeds) if callable(make_model) else make_model
        if len(makers) != len(seeds):
            raise ValueError(f"{len(makers)} functions make_model do not fit {len(seeds)} seeds: one, or one per seed")
        self.models = [_build(make, seed).to(device) for make, seed in zip(makers, seeds, strict=True)]
        _check_alike(self.models, seeds)
        self.objective, self.output_size = objective, output_size
        self.parameters, self.buffers = stack_module_state(self.models)
        self.trained = {name: p for name, p in self.parameters.items() if p.requires_grad}
        if not self.trained:
            raise ValueError("make_model built a net without parameters to train")
        self.dtype = next(iter(self.trained.values())).dtype

    def losses(self, train: Sequences, indices: Integer[Tensor, "seeds batch"]) -> Float[Tensor, " seeds"]:
        """The loss of each seed on its own minibatch, the sequences at its row of ``indices``."""
        self.models[0].train()

        def loss(
            parameters: Tensors, buffers: Tensors, inputs: Tensor, targets: Tensor, lengths: Tensor | None
        ) -> Tensor:
            return self.objective.mean_loss(self._outputs(parameters, buffers, inputs, lengths), targets, lengths)

        minibatches = _minibatches(train, indices)
        axes = (0, 0, *(None if x is None else 0 for x in minibatches))
        return vmap(loss, axes, randomness="different")(self.parameters, self.buffers, *minibatches)

    @torch.no_grad()
    def metrics(
        self, sequences: Sequences, batch_size: int, parameters: Mapping[str, Tensor] | None = None
    ) -> Float[Tensor, " seeds"]:
        """The metric of each seed on the same sequences, with other ``parameters`` than the present ones if given."""
        self.models[0].eval()
        parameters = self.parameters if parameters is None else {**self.parameters, **parameters}

        def total(parameters: Tensors, buffers: Tensors, part: Sequences) -> tuple[Tensor, Tensor]:
            outputs = self._outputs(parameters, buffers, part.inputs, part.lengths)
            return self.objective.total(self.objective.metric, outputs, part.targets, part.lengths)

        run = vmap(total, (0, 0, None))
        sums = [torch.stack(run(parameters, self.buffers, part)) for part in _parts(sequences, batch_size)]
        value, count = torch.stack(sums).sum(0)
        return value / count

    def finite(self) -> Tensor:
        """For each seed, whether all its parameters are finite."""
        return torch.stack([p.detach().reshape(len(p), -1).isfinite().all(1) for p in self.trained.values()]).all(0)

    @torch.no_grad()
    def unstack(self, parameters: Mapping[str, Tensor]) -> tuple[M, ...]:
        """The single nets, with their rows of ``parameters``, in evaluation mode."""
        for i, model in enumerate(self.models):
            for name, parameter in model.named_parameters():
                parameter.copy_(parameters.get(name, self.parameters[name])[i])
            model.eval()
        return tuple(self.models)

    def _outputs(self, parameters: Tensors, buffers: Tensors, inputs: Tensor, lengths: Tensor | None) -> Tensor:
        outputs = functional_call(self.models[0], (parameters, buffers), (inputs, lengths))
        expected = (*inputs.shape[:2], self.output_size)
        if outputs.shape != expected:
            shape = tuple(outputs.shape)
            raise ValueError(
                f"the net's outputs have shape {shape}; the task asks for (time, batch, d_out) = {expected}"
            )
        return outputs


@torch.no_grad()
def evaluate(
    model: Outputs,
    task: Task,
    split: Split = "test",
    *,
    objective: Objective | None = None,
    batch_size: int = 256,
) -> float:
    """The metric of one net, or of any function (inputs, lengths) -> outputs, on a split of a task.

    Args:
        model: maps inputs (time, batch, d_in) and lengths (batch,) or None to outputs (time, batch, d_out). A net gets
            its inputs on the device and in the type of its parameters, and runs in the mode (training or not) it is in.
        task: a task.
        split: ``"train"``, ``"valid"`` or ``"test"``.
        objective: how outputs are scored; None for that of ``task.kind``.
        batch_size: sequences at a time.

    Raises:
        ValueError: for another split.
    """
    one_of("split", split, SPLITS)
    objective = objective or OBJECTIVES[task.kind]
    sequences = getattr(task, split)
    like = next(model.parameters(), None) if isinstance(model, nn.Module) else None
    if like is not None:
        sequences = sequences.to(like.device, like.dtype)
    value = count = 0.0
    for part in _parts(sequences, batch_size):
        total, number = objective.total(objective.metric, model(part.inputs, part.lengths), part.targets, part.lengths)
        value, count = value + float(total), count + float(number)
    return value / count


def _parts(sequences: Sequences, size: int) -> Iterator[Sequences]:
    """All sequences in order, ``size`` at a time, each part cut to its longest."""
    return (sequences.take(slice(start, start + size)) for start in range(0, len(sequences), size))


def _minibatches(sequences: Sequences, indices: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:
    """Inputs, targets and lengths at ``indices`` (seeds, batch), seeds first, all cut to the longest sequence."""
    lengths = None if sequences.lengths is None else sequences.lengths[indices]
    steps = sequences.steps if lengths is None else int(lengths.max())
    inputs = sequences.inputs[:steps, indices].movedim(1, 0)
    one_a_sequence = sequences.targets.ndim == 1
    targets = sequences.targets[indices] if one_a_sequence else sequences.targets[:steps, indices].movedim(1, 0)
    return inputs, targets, lengths


def _build(make_model: Callable[[], M], seed: int) -> M:
    torch.manual_seed(seed)
    model = make_model()
    if not isinstance(model, nn.Module):
        raise TypeError(f"make_model must build a torch.nn.Module; it returned {type(model).__name__}")
    if isinstance(model, Cell):
        raise TypeError("make_model built a cell, which has states and no outputs: give a Realization of it")
    if isinstance(model, nn.RNNBase):
        raise TypeError("make_model built a net of torch: give a Realization of the cell that from_torch makes of it")
    return model


def _check_alike(models: Sequence[nn.Module], seeds: Sequence[int]) -> None:
    if len({id(p) for model in models for p in model.parameters()}) < sum(len([*m.parameters()]) for m in models):
        raise ValueError("make_model must build a new net at every call; two seeds got the same parameters")
    first, *others = ({name: tuple(p.shape) for name, p in model.named_parameters()} for model in models)
    for shapes, seed in zip(others, seeds[1:], strict=True):
        odd = sorted(name for name in first.keys() | shapes.keys() if first.get(name) != shapes.get(name))
        if odd:
            raise ValueError(
                f"the nets of all seeds must have the same shapes; parameter {odd[0]!r} is {first.get(odd[0])} "
                f"for seed {seeds[0]} and {shapes.get(odd[0])} for seed {seed}"
            )
