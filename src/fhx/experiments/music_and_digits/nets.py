"""The nets that read music or digits, by kind and size."""

from functools import cache, partial

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from fhx.experiments import real_data as data
from fhx.experiments.causal.context import with_context
from fhx.experiments.causal.convolution import TemporalConvolution
from fhx.experiments.causal.net import (
    CausalConvolution,
    CausalNet,
    FeedForwardNet,
    Inputs,
    Outputs,
    dropping,
)
from fhx.experiments.causal.rivals import LINEAR, Shape, largest_widths, rival
from fhx.experiments.forms import FORMS
from fhx.experiments.frozen import freeze
from fhx.experiments.loops import TorchLoop
from fhx.experiments.music_and_digits.tasks import IN_PIECES, problem
from fhx.experiments.variants import initialize, open_gates

__all__ = [
    "PROJECTED_ONCE",
    "THROUGHOUT",
    "LogisticNet",
    "RecurrentNet",
    "TruncatedNet",
    "kinds",
    "new_net",
    "parameters",
    "widths",
]

UNITS = {"chorales": 128, "digits": 64, **dict.fromkeys(IN_PIECES, 128)}
"""Of the LSTM whose number of parameters is the size of all."""
HORIZON = {"chorales": 64, "digits": 64, **dict.fromkeys(IN_PIECES, 128)}
"""Steps for which gates start open, and the most inputs that attention sees."""
LEVELS = {"chorales": 3, "digits": 5, **dict.fromkeys(IN_PIECES, 4)}
"""Blocks of a convolutional net of three taps."""
PUBLISHED = {
    "chorales": {"units": 150, "inner": 150, "taps": 3, "levels": 2},
    "folk tunes": {"units": 150, "inner": 150, "taps": 6, "levels": 4},
}
"""The convolutional nets of Bai et al. (2018), table 2 of their appendix."""
WINDOWS = {"chorales": (5, 20), "digits": (16, 64), **dict.fromkeys(IN_PIECES, (5, 20))}
"""Inputs that nets with a window see; logistic ones see the more."""
TRUNCATED = {"chorales": (5, 20), "digits": (5, 10, 20, 50), **dict.fromkeys(IN_PIECES, (5,))}
"""Inputs that truncated LSTMs see."""
PROJECTED_ONCE = "LSTM, projected once"
"""A free LSTM that starts under the sharpest certificate."""
DROPPED = ", dropout throughout"
"""Added to kinds with dropout of inputs and, once for a batch, of state-side weights, too (Merity et al. 2018)."""
THROUGHOUT = ("LSTM" + DROPPED, "LSTM, stable" + DROPPED)
"""Such kinds, on chorales."""


def kinds(name: str) -> list[str]:
    """The nets of one size that are trained on a problem; "frozen" is the control."""
    left_out = ("LSTM, clipped", *(() if name == "digits" else ("LSTM, F = 0.9", "LSTM, F = 0.95")))
    recurrent = [form for form in FORMS if form not in left_out]
    recurrent += [PROJECTED_ONCE, *THROUGHOUT] if name == "chorales" else []
    windows = [f"window {k}" for k in WINDOWS[name]]
    truncated = [f"LSTM, truncated {k}" for k in TRUNCATED[name]]
    return [*recurrent, "frozen", *truncated, "TCN", "attention", *LINEAR, *windows, f"logistic {max(WINDOWS[name])}"]


class RecurrentNet(CausalNet):
    """A layer that is kept stable, or not, and an affine readout; what it carries is its state.

    Args:
        form: one of ``FORMS``.
        inputs, units, outputs: widths.
        horizon: for which gates start open.
        dropout: of what the readout sees; None for none.
        throughout: whether it is of the inputs and of the state-side weights too.
    """

    receptive_field = None
    """A state may depend on all inputs."""

    def __init__(
        self,
        form: str,
        inputs: int,
        units: int,
        outputs: int,
        horizon: int,
        dropout: float | None = None,
        *,
        throughout: bool = False,
    ) -> None:
        super().__init__()
        self.form, self.dropout, self.throughout = FORMS[form], dropping(dropout), throughout
        self.cell = self.form.cell(inputs, units)
        initialize(self.cell)
        open_gates(self.cell, horizon)
        self.loop = TorchLoop(self.cell)
        self.readout = nn.Linear(units, outputs)
        self.constrain()

    def resume(self, inputs: Inputs, past: Tensor | None) -> tuple[Outputs, Tensor]:
        """Outputs, and the last states."""
        if self.throughout:
            hidden, last = self.loop(self.cell, self.dropout(inputs), past, self.dropout)
        else:
            hidden, last = self.loop(self.cell, inputs, past)
        return self.readout(self.dropout(hidden)), last

    def constrain(self) -> None:
        """Project the cell, if it is to be stable; inputs are 1 at most."""
        self.form.keep(self.cell)


class TruncatedNet(FeedForwardNet):
    r"""The truncated model of a free recurrent net: an output is read from :math:`h_t^k`, the state that the last k
    inputs make from zero.

    Args:
        net: the recurrent net.
        k: inputs seen, its receptive field.
        at_end: whether the last output is all that is asked for; the others are then zero.
    """

    def __init__(self, net: RecurrentNet, k: int, *, at_end: bool = False) -> None:
        super().__init__()
        self.net, self.receptive_field, self.at_end = net, k, at_end
        self.readout = net.readout

    def outputs(self, inputs: Inputs) -> Outputs:
        """The outputs; near the start they see as many inputs as there are."""
        if self.at_end:
            return F.pad(self.net(inputs[-self.receptive_field :])[-1:], (0, 0, 0, 0, len(inputs) - 1, 0))
        return with_context(self.net, inputs, self.receptive_field)


class LogisticNet(FeedForwardNet):
    """An affine map of the last k inputs: logistic regression.

    Args:
        inputs, outputs: widths.
        k: inputs seen, its receptive field.
        dropout: of the inputs; None for none.
    """

    def __init__(self, inputs: int, outputs: int, k: int, dropout: float | None = None) -> None:
        super().__init__()
        self.receptive_field, self.dropout = k, dropping(dropout)
        self.readout = CausalConvolution(inputs, outputs, k)
        nn.init.zeros_(self.readout.weight)

    def outputs(self, inputs: Float[Tensor, "time batch d_in"]) -> Outputs:
        """The outputs; inputs before the start are zero."""
        return self.readout(self.dropout(inputs))


def new_net(name: str, kind: str, size: str, dropout: float | None = None) -> CausalNet:
    """A new net; its outputs start at the frequencies of the training split."""
    is_published = (kind, size) == ("TCN", "published")
    made = _published(name, dropout) if is_published else _net(name, kind, dropout, *widths(name, kind, size))
    with torch.no_grad():
        made.readout.bias.copy_(data.prior_of(problem(name)))
    return made


def parameters(net: nn.Module) -> int:
    """How many numbers are trained."""
    return sum(p.numel() for p in net.parameters() if p.requires_grad)


@cache
def widths(name: str, kind: str, size: str) -> tuple[int, int]:
    """The units, and the units within blocks, of the net that is nearest to a size from below.

    "equal" is the size of the LSTM, "quarter" a quarter of it, and "published" that of the convolutional net that was
    published. A frozen net is as wide as the LSTM, and a logistic one has no width.
    """
    if kind.startswith("logistic"):
        return 0, 0
    if kind == "frozen" or "," in kind:  # what is kept stable, or sees less, is as wide as what is free
        return widths(name, "LSTM" if kind == "frozen" else kind.split(",")[0], size)
    if size == "published":
        goal = float(parameters(_published(name, None)))
    else:
        goal = _size(name, "LSTM", UNITS[name], 0) / {"equal": 1, "quarter": 4}[size]
    return largest_widths(kind, partial(_size, name, kind), goal)


def _net(name: str, kind: str, dropout: float | None, units: int, inner: int) -> CausalNet:
    task = problem(name)
    inputs, outputs, horizon = task.input_size, task.output_size, HORIZON[name]
    if kind in FORMS:
        return RecurrentNet(kind, inputs, units, outputs, horizon, dropout)
    if kind == PROJECTED_ONCE:
        net = RecurrentNet("LSTM", inputs, units, outputs, horizon, dropout)
        FORMS["LSTM, stable"].keep(net.cell)
        return net
    if kind in THROUGHOUT:
        form = kind.removesuffix(DROPPED)
        return RecurrentNet(form, inputs, units, outputs, horizon, dropout, throughout=True)
    if kind == "frozen":
        return freeze(RecurrentNet("LSTM", inputs, units, outputs, horizon, dropout))
    if kind.startswith("LSTM, truncated "):
        net = RecurrentNet("LSTM", inputs, units, outputs, horizon, dropout)
        return TruncatedNet(net, int(kind.split()[-1]), at_end=task.kind == "class at end")
    if kind.startswith("logistic "):
        return LogisticNet(inputs, outputs, int(kind.removeprefix("logistic ")), dropout)
    shape = Shape(levels=LEVELS[name], positions=horizon)
    return rival(kind, inputs, units, inner, outputs, shape, dropout)


def _published(name: str, dropout: float | None) -> CausalNet:
    task = problem(name)
    return TemporalConvolution(inputs=task.input_size, outputs=task.output_size, dropout=dropout, **PUBLISHED[name])


def _size(name: str, kind: str, units: int, inner: int) -> int:
    with torch.random.fork_rng([]):
        return parameters(_net(name, kind, None, units, inner))
