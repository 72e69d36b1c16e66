r"""How good predictions are that need no recurrent state: the numbers that a model has to beat.

Probabilities are frequencies in the training split, smoothed by :math:`a` pseudo-observations of each outcome: an
event seen :math:`k` times in :math:`n` has :math:`p = (k + a) / (n + 2a)`.
"""

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from fhx._checks import one_of, positive, positive_number
from fhx.tasks.sequences import SPLITS, Sequences, Split, Task


def majority_class(task: Task, split: Split = "test") -> float:
    """The accuracy on ``split`` of always predicting the most frequent class of the training split, in [0, 1].

    Raises:
        ValueError: the task has no classes.
    """
    _require(task, split, "class at end", "class per step")
    answer = _real(task.train, task.train.targets).bincount(minlength=task.output_size).argmax()
    part = getattr(task, split)
    return (_real(part, part.targets) == answer).double().mean().item()


def key_frequencies(task: Task, smoothing: float = 0.5) -> Float[Tensor, "keys"]:
    r"""How often each key is down in the training split: :math:`p = (k + a) / (n + 2a)`.

    It is down in :math:`k` of :math:`n` frames, and :math:`a` is the ``smoothing``.

    Raises:
        ValueError: the kind of the task is not ``bits per step``, or ``smoothing`` is not positive.
    """
    _require(task, "train", "bits per step", smoothing=smoothing)
    frames = _frames(task.train)
    return _frequency(frames, torch.ones_like(frames), smoothing)


def note_frequencies(task: Task, split: Split = "test", smoothing: float = 0.5) -> float:
    r"""Negative log-likelihood of a frame in nats when each key is down with its frequency, ``key_frequencies``.

    Args:
        task: of kind ``bits per step``.
        split: the sequences to judge on.
        smoothing: :math:`a`.

    Raises:
        ValueError: the kind of the task is not ``bits per step``, or ``smoothing`` is not positive.
    """
    _require(task, split, "bits per step", smoothing=smoothing)
    return frame_nll(key_frequencies(task, smoothing), _frames(getattr(task, split)))


def last_frame(task: Task, split: Split = "test", smoothing: float = 0.5) -> float:
    r"""Negative log-likelihood of a frame in nats when each key depends on itself in the last frame and no more.

    Two probabilities for each key, :math:`P(v_{t,i} = 1 \mid v_{t-1,i} = 1)` and
    :math:`P(v_{t,i} = 1 \mid v_{t-1,i} = 0)`, are counted on the training split. Predicting the last frame with
    certainty would cost infinitely much at the first mistake.

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


def linear_delay_r2(task: Task, steps: int = 20, split: Split = "test") -> float:
    r"""The share of the targets' variance that a linear filter of the last inputs explains, :math:`R^2 \le 1`.

    .. math:: \hat y_t = c + \sum_{i=0}^{k-1} A_i x_{t-i}, \qquad x_t = 0 \text{ for } t < 1,

    fitted by least squares on the training split, then judged on ``split``:
    :math:`R^2 = 1 - \sum \lVert y_t - \hat y_t \rVert^2 / \sum \lVert y_t - \bar y \rVert^2`. What is missing
    from 1 is beyond every linear recurrent net of that memory.

    Args:
        task: of kind ``value per step``, with floating inputs.
        steps: :math:`k`, inputs that the filter sees, the present one among them.
        split: the sequences to judge on.

    Raises:
        ValueError: the kind of the task is another, its inputs are ids, or ``steps`` < 1.
    """
    _require(task, split, "value per step")
    if task.train.inputs.ndim != 3:
        raise ValueError(f"inputs of task {task.name!r} are ids; a linear filter needs numbers")
    taps = positive("steps", steps)

    def regression(part: Sequences) -> tuple[Tensor, Tensor]:
        x = part.inputs.cpu().double()
        rows = [F.pad(x, (0, 0, 0, 0, i, 0))[: len(x)] for i in range(min(taps, len(x)))]
        rows += [torch.zeros_like(x)] * (taps - len(rows))
        past = torch.cat([*rows, torch.ones_like(x[..., :1])], -1)
        return past[part.mask.cpu()], part.targets.cpu().double()[part.mask.cpu()]

    filters = torch.linalg.lstsq(*regression(task.train), driver="gelsd").solution
    past, y = regression(getattr(task, split))
    return 1 - ((past @ filters - y).square().sum() / (y - y.mean(0)).square().sum()).item()


def frame_nll(probabilities: Float[Tensor, "*frames keys"], frames: Float[Tensor, "frames keys"]) -> float:
    r"""The negative log-likelihood of a frame in nats, summed over the keys and averaged over the frames.

    .. math:: \ell(v, p) = -\sum_{i} \bigl( v_i \ln p_i + (1 - v_i) \ln (1 - p_i) \bigr), \qquad v \in \{0, 1\}^{88}.

    This is the measure of the literature on polyphonic music (Boulanger-Lewandowski et al. 2012). A single row of
    probabilities is used for all frames.

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


def _require(task: Task, split: Split, *kinds: str, smoothing: float = 1.0) -> None:
    if task.kind not in kinds:
        raise ValueError(f"task {task.name!r} is of kind {task.kind!r}; this baseline is for {' and '.join(kinds)}")
    one_of("split", split, SPLITS)
    positive_number("smoothing", smoothing)
