r"""Nets from input to output sequences whose :math:`y_t` depends on :math:`x_1, \dots, x_t` only.

A recurrent one carries its state from one piece of a sequence to the next, a feed-forward one its last inputs: as many
as its receptive field R has before the present one. So both can be trained and run piece by piece.
"""

import torch
from jaxtyping import Float, Integer
from torch import Tensor, nn
from torch.nn import functional as F

Inputs = Float[Tensor, "time batch d_in"]
"""What a net reads, time first."""
Outputs = Float[Tensor, "time batch d_out"]
"""What it answers, time first."""


class CausalNet(nn.Module):
    r"""A causal map that can go on where it stopped.

    Attributes:
        receptive_field: R, the largest number of inputs that an output depends on, the present one among them; None
            where there is no largest one.
        longest: the most inputs that it takes at once; None for any number. A feed-forward net reads a longer piece in
            pieces of half that length, each with as much of its past as there is room for.
        readout: its last, affine map.
    """

    receptive_field: int | None
    longest: int | None = None
    readout: nn.Linear

    def forward(self, inputs: Inputs, lengths: Integer[Tensor, " batch"] | None = None) -> Outputs:
        """The outputs of whole sequences; after a sequence's end they mean nothing."""
        return self.resume(inputs, None)[0]

    def resume(self, inputs: Inputs, past: Tensor | None) -> tuple[Outputs, Tensor]:
        """The outputs of a piece, and what the next piece has to know; ``past`` is that of the piece before."""
        raise NotImplementedError


def dropped(x: Tensor, kept: float | Tensor, generator: torch.Generator) -> Tensor:
    """Some numbers set to zero, and the others scaled, so that their mean stays; ``kept`` is the part that is not."""
    return x * ((torch.empty_like(x).uniform_(generator=generator) < kept) / kept)


class Dropout(nn.Dropout):
    """Dropout whose numbers may be chosen by a generator of its own.

    Attributes:
        generator: what chooses them in training; None for torch's.
    """

    generator: torch.Generator | None = None

    def forward(self, input: Tensor) -> Tensor:
        """Some numbers set to zero in training, and the others scaled, so that their mean stays."""
        if not self.training:
            return input
        if self.generator is None:
            return super().forward(input)
        return dropped(input, 1 - self.p, self.generator)


def dropping(p: float | None) -> nn.Module:
    """Dropout of this part of the numbers; None for none."""
    return nn.Identity() if p is None else Dropout(p)


class FeedForwardNet(CausalNet):
    """A net without a state; what it carries is its last R - 1 inputs. Subclasses define ``outputs``."""

    receptive_field: int
    """R: an output depends on the last R inputs."""

    def outputs(self, inputs: Inputs) -> Outputs:
        """The outputs of a sequence from its start."""
        raise NotImplementedError

    def resume(self, inputs: Inputs, past: Tensor | None) -> tuple[Outputs, Tensor]:
        """Outputs, and the last inputs."""
        if self.longest is None or len(inputs) <= self.longest:
            return self._piece(inputs, past)
        first, *rest = inputs.split(self.longest // 2)
        y, past = self._piece(first, past)
        found = [y]
        for piece in rest:
            y, past = self._piece(piece, past)
            found.append(y)
        return torch.cat(found), past

    def _piece(self, inputs: Inputs, past: Tensor | None) -> tuple[Outputs, Tensor]:
        x = inputs if past is None else torch.cat([past, inputs])
        kept = x if self.longest is None else x[-self.longest :]
        return self.outputs(kept)[-len(inputs) :], x[max(0, len(x) - self.receptive_field + 1) :]


class CausalConvolution(nn.Linear):
    r"""An affine map of delayed inputs, zero before the start:

    .. math:: y_t = b + \sum_{i=0}^{m-1} A_i\, x_{t - i s}, \qquad x_t = 0 \text{ for } t < 1,

    with m taps and dilation s. It is initialized with normal entries of variance 2 over the number of terms, and b = 0.

    Args:
        inputs, outputs: widths.
        taps: m.
        dilation: s.
    """

    def __init__(self, inputs: int, outputs: int, taps: int, dilation: int = 1) -> None:
        super().__init__(taps * inputs, outputs)
        self.delays = [i * dilation for i in range(taps)]
        nn.init.kaiming_normal_(self.weight, nonlinearity="relu")
        nn.init.zeros_(self.bias)

    def forward(self, inputs: Inputs) -> Outputs:
        """As many outputs as inputs."""
        now, *before = (F.linear(inputs, A) for A in self.weight.chunk(len(self.delays), 1))
        for delay, late in zip(self.delays[1:], before, strict=True):
            now = now + F.pad(late, (0, 0, 0, 0, delay, 0))[: len(inputs)]
        return now + self.bias


class WindowNet(FeedForwardNet):
    r"""A net of two hidden layers of the last k inputs, as a k-gram model is a table of them (Bengio et al. 2003):

    .. math:: y_t = C \operatorname{relu}(B \operatorname{relu}(b + A_0 x_t + \dots + A_{k-1} x_{t-k+1}) + c) + d.

    Args:
        inputs, units, inner, outputs: widths; ``units`` of the first hidden layer, ``inner`` of the second.
        k: inputs seen, its receptive field.
        dropout: after each hidden layer; None for none.
    """

    def __init__(self, inputs: int, units: int, inner: int, outputs: int, k: int, dropout: float | None = None) -> None:
        super().__init__()
        self.dropout = dropping(dropout)
        self.receptive_field = k
        self.window, self.hidden = CausalConvolution(inputs, units, k), CausalConvolution(units, inner, 1)
        self.readout = nn.Linear(inner, outputs)

    def outputs(self, inputs: Inputs) -> Outputs:
        """The outputs; inputs before the start are zero."""
        return self.readout(self.dropout(F.relu(self.hidden(self.dropout(F.relu(self.window(inputs)))))))
