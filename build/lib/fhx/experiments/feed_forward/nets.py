"""Rivals of equal size for each task: recurrent nets, windows, temporal convolutions and attention."""

from bisect import bisect_left
from collections.abc import Callable
from functools import cache

import torch
from torch import Tensor, nn

from fhx.experiments import real_data as data
from fhx.experiments.feed_forward.attention import CausalAttention
from fhx.experiments.feed_forward.causal import CausalNet, RecurrentNet, WindowNet
from fhx.experiments.feed_forward.convolution import TemporalConvolution

UNITS = {"chorales": 32, "digits": 32, "words": 64}
"""Of the LSTM whose number of parameters is the budget."""
TOLERANCE = 0.02
"""How far the parameters of a net may be from the budget, as a part of it."""
VECTOR = 64
"""Numbers that stand for a word, where a net reads it and where it predicts it."""
WINDOWS = {"chorales": (1, 2, 5, 10, 20), "digits": (8, 16, 32, 64), "words": (1, 2, 5, 10, 20)}
"""Inputs that the nets with a window see."""
TAPS = 3
"""Inputs of each convolution."""
LEVELS = {"chorales": 3, "digits": 5, "words": 4}
"""Blocks of the convolutional net; each doubles the distance of the taps."""
POSITIONS = {"chorales": 64, "digits": 64, "words": 70}
"""The most inputs that attention sees."""
LAYERS = 2
"""Of the attention net."""
HEADS = 2
"""Of each of its layers."""
MAX_WIDTH = 400
"""More than any width that is tried."""


def kinds(name: str) -> list[str]:
    """The nets that are trained on a task."""
    return ["simple", "LSTM", "TCN", "attention", *(f"window {k}" for k in WINDOWS[name])]


def sizes(name: str) -> tuple[int, int]:
    """The widths of inputs and outputs of the nets on a task; those of words are vectors."""
    return (VECTOR, VECTOR) if name in data.TEXTS else (data.task(name).input_size, data.task(name).output_size)


def net(name: str, kind: str, units: int, inner: int) -> CausalNet:
    """A new net of a kind.

    Args:
        name: the task.
        kind: "simple", "LSTM", "TCN", "attention" or "window k".
        units: its width, for attention a multiple of the number of heads.
        inner: the width within a block of "TCN" or "attention", of the second hidden layer of "window k".
    """
    inputs, outputs = sizes(name)
    widths = (inputs, units, inner, outputs)
    if kind == "TCN":
        return TemporalConvolution(*widths, taps=TAPS, levels=LEVELS[name])
    if kind == "attention":
        return CausalAttention(*widths, positions=POSITIONS[name], layers=LAYERS, heads=HEADS)
    if kind.startswith("window "):
        return WindowNet(*widths, k=int(kind.removeprefix("window ")))
    return RecurrentNet(kind, inputs, units, outputs)


def parameters(module: nn.Module) -> int:
    """How many numbers a net has."""
    return sum(p.numel() for p in module.parameters())


def budget(name: str) -> int:
    """The parameters of the LSTM that the others are as large as."""
    return _size(name, "LSTM", UNITS[name], 0)


@cache
def widths(name: str, kind: str) -> tuple[int, int]:
    """``units`` and ``inner`` of the net with as many parameters as the ``budget``, within 2 %.

    A net with one width gets the nearest. One with two gets the largest ``units`` that leave room for an ``inner`` as
    large, for attention twice as large, and the ``inner`` that fills the budget; where none does, fewer units.

    Raises:
        ValueError: there is none.
    """
    goal = budget(name)
    if kind in ("simple", "LSTM"):
        units = _largest(lambda n: _size(name, kind, n, 0) <= goal, 1)
        candidates = sorted(((n, 0) for n in (units, units + 1)), key=lambda pair: abs(_size(name, kind, *pair) - goal))
    else:
        ratio, step = (2, HEADS) if kind == "attention" else (1, 1)
        units = _largest(lambda n: _size(name, kind, n, ratio * n) <= goal, step)
        candidates = [(n, _inner(name, kind, n, goal)) for n in range(units, 0, -step)]
    for pair in candidates:
        if abs(_size(name, kind, *pair) - goal) <= TOLERANCE * goal:
            return pair
    raise ValueError(f"no net {kind!r} for {name} has {goal} parameters within {TOLERANCE:.0%}")


def _inner(name: str, kind: str, units: int, goal: int) -> int:
    """The inner width that comes nearest: the number of parameters is affine in it."""
    one, two = (_size(name, kind, units, inner) for inner in (1, 2))
    return max(1, 1 + round((goal - one) / (two - one)))


def _largest(fits: Callable[[int], bool], step: int) -> int:
    """The largest multiple of a step that fits, 0 where none does."""
    return step * bisect_left(range(1, MAX_WIDTH // step), True, key=lambda n: not fits(step * n))


def _size(name: str, kind: str, units: int, inner: int) -> int:
    with torch.random.fork_rng([]):
        return parameters(net(name, kind, units, inner))


def sequence_model(name: str, kind: str) -> CausalNet:
    """A new net for music or digits; its readout's biases are the :func:`~fhx.experiments.real_data.prior`."""
    made = net(name, kind, *widths(name, kind))
    with torch.no_grad():
        made.readout.bias.copy_(data.prior(name))
    return made


class CausalLanguageModel(nn.Module):
    """A language model: words as vectors, a net between vectors, and an adaptive softmax whose biases are the prior.

    Args:
        name: the text.
        body: the net.
    """

    def __init__(self, name: str, body: CausalNet) -> None:
        super().__init__()
        self.embed, self.body = nn.Embedding(data.TEXTS[name], VECTOR), body
        nn.init.normal_(self.embed.weight, std=0.1)
        words, cutoffs = data.TEXTS[name], list(data.CUTOFFS[name])
        self.softmax = nn.AdaptiveLogSoftmaxWithLoss(VECTOR, words, cutoffs, div_value=2.0, head_bias=True)
        with torch.no_grad():
            self.softmax.head.bias.copy_(data.head_prior(name))

    def loss(self, features: Tensor, targets: Tensor) -> Tensor:
        """Minus the log probability of each target, in nats."""
        return -self.softmax(features.flatten(0, -2), targets.flatten()).output.view_as(targets)


def language_model(name: str, kind: str) -> CausalLanguageModel:
    """A new net for words; everything but its body is the same for all kinds."""
    return CausalLanguageModel(name, net(name, kind, *widths(name, kind)))
