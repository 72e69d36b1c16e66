"""A batch of input sequences with their targets, and a task: three such batches and the kind of output wanted."""

from collections.abc import Iterator, Sequence
from typing import Literal, get_args

import numpy as np
import torch
from attrs import evolve, field, frozen
from torch import Tensor

from fhx.tasks.arguments import floating, texts

Kind = Literal["class at end", "value at end", "class per step", "bits per step", "value per step"]
"""The type of a task's kind: one of the strings in ``KINDS``."""

KINDS: tuple[str, ...] = get_args(Kind)
"""The kinds of task: ``"class at end"``, ``"value at end"``, ``"class per step"``, ``"bits per step"`` and ``"value per
step"``."""

Split = Literal["train", "valid", "test"]
SPLITS: tuple[Split, ...] = get_args(Split)

INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)


@frozen(eq=False)
class Sequences:
    r""":math:`N` input sequences of at most ``time`` steps, with their targets. Time comes first everywhere.

    Args:
        inputs: floating ``(time, N, d_in)``, or symbols as integer ids ``(time, N)``, to be embedded by the model.
        targets: ``(N,)``, one per sequence, or ``(time, N)`` or ``(time, N, d_out)``, one per step.
        lengths: integer ``(N,)``, the steps :math:`1 \le T_n \le` ``time`` of each sequence; None: all have ``time``.
            Beyond its length a sequence is padding, which must not be used: see ``mask``.

    Raises:
        ValueError: shapes disagree, a type is wrong, a length is out of range, or there is no sequence or no step.
    """

    inputs: Tensor
    targets: Tensor
    lengths: Tensor | None = None

    def __attrs_post_init__(self) -> None:
        x, y, lengths = self.inputs, self.targets, self.lengths
        for name, value in (("inputs", x), ("targets", y), ("lengths", lengths)):
            if not isinstance(value, Tensor) and (name != "lengths" or value is not None):
                raise ValueError(f"{name} must be a torch.Tensor, not {type(value).__name__}")
        if not (x.ndim == 3 and x.is_floating_point()) and not (x.ndim == 2 and x.dtype in INTEGERS):
            raise ValueError(
                "inputs must be floating with shape (time, N, d_in) or integer ids with shape (time, N), "
                f"not {x.dtype} with shape {tuple(x.shape)}"
            )
        if 0 in x.shape:
            raise ValueError(f"inputs of shape {tuple(x.shape)} hold no sequence, no step or no feature")
        steps, count = x.shape[:2]
        if tuple(y.shape) != (count,) and (y.ndim not in (2, 3) or tuple(y.shape[:2]) != (steps, count)):
            raise ValueError(
                f"targets of shape {tuple(y.shape)} fit neither one per sequence, ({count},), "
                f"nor one per step, ({steps}, {count}, ...), of inputs of shape {tuple(x.shape)}"
            )
        if lengths is not None:
            if tuple(lengths.shape) != (count,) or lengths.dtype not in INTEGERS:
                raise ValueError(
                    f"lengths must be integers of shape ({count},), not {lengths.dtype} of shape {tuple(lengths.shape)}"
                )
            wrong = torch.nonzero((lengths < 1) | (lengths > steps)).flatten()
            if len(wrong):
                n = int(wrong[0])
                raise ValueError(f"lengths[{n}] = {int(lengths[n])} is not between 1 and the {steps} steps of inputs")

    def __len__(self) -> int:
        """The number of sequences, :math:`N`."""
        return self.inputs.shape[1]

    @property
    def steps(self) -> int:
        """The number of time steps, padding included."""
        return self.inputs.shape[0]

    @property
    def mask(self) -> Tensor:
        """Boolean ``(time, N)``: true where a step belongs to its sequence, false in the padding."""
        if self.lengths is None:
            return torch.ones(self.inputs.shape[:2], dtype=torch.bool, device=self.inputs.device)
        return torch.arange(self.steps, device=self.inputs.device)[:, None] < self.lengths.to(self.inputs.device)

    def take(self, indices: Tensor | Sequence[int] | np.ndarray | slice) -> "Sequences":
        """The sequences with these numbers, in this order; steps beyond the longest of them are dropped.

        Raises:
            ValueError: no index is given, or one is outside ``0..N-1``.
        """
        numbers = range(len(self))[indices] if isinstance(indices, slice) else indices
        index = torch.as_tensor(list(numbers) if isinstance(numbers, range) else numbers, device=self.inputs.device)
        if index.ndim != 1 or len(index) == 0 or index.dtype not in INTEGERS:
            raise ValueError(f"indices must be a non-empty list of sequence numbers, not {numbers!r}")
        index = index.long()
        if int(index.min()) < 0 or int(index.max()) >= len(self):
            worst = int(index.min()) if int(index.min()) < 0 else int(index.max())
            raise ValueError(f"there is no sequence {worst}: they are numbered from 0 to {len(self) - 1}")
        lengths = None if self.lengths is None else self.lengths[index.to(self.lengths.device)]
        longest = self.steps if lengths is None else int(lengths.max())
        targets = self.targets[index] if self.targets.ndim == 1 else self.targets[:longest, index]
        return Sequences(self.inputs[:longest, index], targets, lengths)

    def windows(self, steps: int) -> Iterator["Sequences"]:
        """Consecutive pieces of ``steps`` steps (the last may be shorter), for a state carried from one to the next.

        Raises:
            ValueError: ``steps`` < 1, sequences of unequal length, or targets that are not one per step.
        """
        if steps < 1:
            raise ValueError(f"a window needs at least 1 step, not {steps}")
        if self.lengths is not None or self.targets.ndim == 1:
            raise ValueError("only sequences of equal length with one target per step can be cut into windows")
        pieces = zip(self.inputs.split(steps), self.targets.split(steps), strict=True)
        return (Sequences(inputs, targets) for inputs, targets in pieces)

    def to(self, device: torch.device | str | None = None, dtype: torch.dtype | None = None) -> "Sequences":
        """A copy on ``device``; ``dtype`` applies to floating tensors, never to ids, classes or lengths.

        Raises:
            ValueError: ``dtype`` is not a floating type.
        """
        dtype = None if dtype is None else floating(dtype)

        def move(tensor: Tensor) -> Tensor:
            return tensor.to(device=device, dtype=dtype if tensor.is_floating_point() else None)

        return Sequences(
            move(self.inputs), move(self.targets), None if self.lengths is None else self.lengths.to(device=device)
        )


@frozen(eq=False)
class Task:
    r"""Training, validation and test sequences, and what a model has to say about them.

    Sequence :math:`n` is ``inputs[:T, n]``; what the output :math:`y_t` is compared with depends on the kind:

    - ``class at end``: targets ``(N,)`` are class numbers; one score for each class, read at the last step;
    - ``value at end``: targets ``(N,)`` are real, ``d_out`` = 1; one number, read at the last step;
    - ``class per step``: targets ``(time, N)`` are class numbers; one score for each class at every step;
    - ``bits per step``: targets ``(time, N, d_out)`` lie in [0, 1]; one logit for each bit at every step;
    - ``value per step``: targets ``(time, N, d_out)`` are real; one number for each at every step.

    Args:
        name: what the task is called in tables and figures.
        train: sequences to learn from.
        valid: sequences to choose by (early stopping, settings).
        test: sequences to report on.
        input_size: features of one input, ``d_in``; for integer ids the size of the vocabulary.
        output_size: how many numbers a model outputs at one step: classes, bits or values.
        kind: one of the five above.
        labels: names of the outputs in order (classes, notes, words), or empty.

    Raises:
        ValueError: the kind is unknown, or some split does not fit the sizes or the kind; it names the split.
    """

    name: str
    train: Sequences
    valid: Sequences
    test: Sequences
    input_size: int
    output_size: int
    kind: Kind
    labels: tuple[str, ...] = field(default=(), converter=texts)

    def __attrs_post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"unknown kind {self.kind!r} of task; the kinds are {', '.join(map(repr, KINDS))}")
        for size in ("input_size", "output_size"):
            if getattr(self, size) < 1:
                raise ValueError(f"{size} must be at least 1, not {getattr(self, size)}")
        if self.labels and len(self.labels) != self.output_size:
            raise ValueError(f"{len(self.labels)} labels do not name {self.output_size} outputs")
        for split in SPLITS:
            if fault := self._fault(getattr(self, split)):
                raise ValueError(f"the {split} sequences of task {self.name!r} do not fit it: {fault}")

    def _fault(self, part: Sequences) -> str | None:
        x, y, size = part.inputs, part.targets, self.output_size
        if x.ndim == 3 and x.shape[2] != self.input_size:
            return f"inputs have {x.shape[2]} features, input_size is {self.input_size}"
        if x.ndim == 2 and not _within(x, 0, self.input_size - 1):
            return f"some input id is not in 0..{self.input_size - 1}"
        if self.kind.startswith("class"):
            where, ndim = ("sequence", 1) if self.kind == "class at end" else ("step", 2)
            if y.ndim != ndim or y.dtype != torch.int64:
                return f"kind {self.kind!r} needs class numbers (int64), one per {where}"
            return None if _within(y, 0, size - 1) else f"some target class is not in 0..{size - 1}"
        if self.kind == "value at end":
            fits = y.ndim == 1 and size == 1 and y.is_floating_point()
            return None if fits else f"kind {self.kind!r} needs floating targets (N,) and one output, not {size}"
        if y.ndim != 3 or y.shape[2] != size or not y.is_floating_point():
            return f"kind {self.kind!r} needs floating targets (time, N, {size}), not {y.dtype} {tuple(y.shape)}"
        if self.kind == "bits per step" and not _within(y, 0.0, 1.0):
            return "some target bit is not between 0 and 1"
        return None

    def to(self, device: torch.device | str | None = None, dtype: torch.dtype | None = None) -> "Task":
        """The task with its three splits moved as by ``Sequences.to``."""
        train, valid, test = (part.to(device, dtype) for part in (self.train, self.valid, self.test))
        return evolve(self, train=train, valid=valid, test=test)


def _within(values: Tensor, low: float, high: float) -> bool:
    least, greatest = values.aminmax()
    return bool(least >= low) and bool(greatest <= high)
