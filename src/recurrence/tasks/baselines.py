r"""What a prediction is worth that needs no recurrent state: the numbers that a model has to beat.

Probabilities are counted on the training split and smoothed by :math:`a` pretended observations of each outcome:
an event seen :math:`k` times in :math:`n` has :math:`p = (k + a) / (n + 2a)`.
"""

from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

from recurrence.tasks.sequences import Sequences, Task

Split = Literal["train", "valid", "test"]


def majority_class(task: Task, split: Split = "test") -> float:
    """The accuracy on ``split`` of always naming the most frequent class of the training split, in [0, 1].

    Raises:
        ValueError: the task has no classes.
    """
    _require(task, split, "class at end", "class per step")
    answer = _real(task.train, task.train.targets).bincount(minlength=task.output_size).argmax()
    part = getattr(task, split)
    return (_real(part, part.targets) == answer).double().mean().item()


def note_frequencies(task: Task, split: Split = "test", smoothing: float = 0.5) -> float:
    r"""Negative log-likelihood of a frame in nats when each key is down with its frequency in the training split.

    A key down in :math:`k` of :math:`n` frames has :math:`p = (k + a) / (n + 2a)`, with :math:`a` the ``smoothing``.

    Raises:
        ValueError: the kind of the task is not ``bits per step``, or ``smoothing`` is not positive.
    """
    _require(task, split, "bits per step", smoothing=smoothing)
    frames = _frames(task.train)
    part = getattr(task, split)
    return frame_nll(_frequency(frames, torch.ones_like(frames), smoothing), _frames(part))


def last_frame(task: Task, split: Split = "test", smoothing: float = 0.5) -> float:
    r"""Negative log-likelihood of a frame in nats when each key depends on itself in the last frame and no more.

    Two probabilities for each key, :math:`P(v_{t,i} = 1 \mid v_{t-1,i} = 1)` and
    :math:`P(v_{t,i} = 1 \mid v_{t-1,i} = 0)`, are counted on the training split. Naming the last frame with certainty
    would cost infinitely much at its first mistake.

    Raises:
        ValueError: the kind of the task is not ``bits per step``, its inputs are not the last frames, or ``smoothing``
            is not positive.
    """
    _require(task, split, "bits per step", smoothing=smoothing)
    if task.input_size != task.output_size:
        raise ValueError(f"inputs of {task.input_size} features are not the last frames of {task.output_size} bits")
    before, now = _frames(task.train, inputs=True), _frames(task.train)
    held, struck = _frequency(now, before, smoothing), _frequency(now, 1 - before, smoothing)
    part = getattr(task, split)
    return frame_nll(torch.where(_frames(part, inputs=True) > 0, held, struck), _frames(part))


def frame_nll(probabilities: Float[Tensor, "*frames keys"], frames: Float[Tensor, "frames keys"]) -> float:
    r"""The negative log-likelihood of a frame in nats, summed over the keys and averaged over the frames.

    .. math:: \ell(v, p) = -\sum_{i} \bigl( v_i \ln p_i + (1 - v_i) \ln (1 - p_i) \bigr), \qquad v \in \{0, 1\}^{88}.

    This is the measure of the literature on polyphonic music (Boulanger-Lewandowski et al. 2012). One row of
    probabilities serves all frames.

    Raises:
        ValueError: a probability is not strictly between 0 and 1.
    """
    if not bool(((probabilities > 0) & (probabilities < 1)).all()):
        raise ValueError("every probability must lie strictly between 0 and 1")
    likelihood = frames * probabilities.log() + (1 - frames) * (-probabilities).log1p()
    return -likelihood.sum(-1).mean().item()


def _real(part: Sequences, values: Tensor) -> Tensor:
    return values if values.ndim == 1 else values[part.mask]


def _frames(part: Sequences, inputs: bool = False) -> Tensor:
    return _real(part, part.inputs if inputs else part.targets).double()


def _frequency(frames: Tensor, where: Tensor, smoothing: float) -> Tensor:
    return ((frames * where).sum(0) + smoothing) / (where.sum(0) + 2 * smoothing)


def _require(task: Task, split: str, *kinds: str, smoothing: float = 1.0) -> None:
    if task.kind not in kinds:
        raise ValueError(f"task {task.name!r} is of kind {task.kind!r}; this baseline is for {' and '.join(kinds)}")
    if split not in ("train", "valid", "test"):
        raise ValueError(f"unknown split {split!r}; the splits are 'train', 'valid' and 'test'")
    if not smoothing > 0:
        raise ValueError(f"smoothing must be positive, not {smoothing}")
