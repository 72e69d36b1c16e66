r"""The temporal convolutional network of Bai et al. (2018): residual blocks of dilated causal convolutions."""

from torch import Tensor, nn
from torch.nn import functional as F

from fhx.experiments.causal.net import CausalConvolution, FeedForwardNet, dropping


class ResidualBlock(nn.Module):
    r"""Two causal convolutions of the same dilation, and a way around them:

    .. math:: \operatorname{relu}\bigl(\operatorname{relu}(\mathrm{conv}_2 \operatorname{relu}(\mathrm{conv}_1 x)) +
       R x\bigr),

    where R is a matrix if the widths of x and of the result differ, else the identity. Dropout follows either inner
    relu.

    Args:
        inputs, inner, outputs: widths; ``inner`` between the convolutions.
        taps: of each convolution.
        dilation: of each convolution.
        dropout: a rate; None for none.
    """

    def __init__(
        self, inputs: int, inner: int, outputs: int, taps: int, dilation: int, dropout: float | None = None
    ) -> None:
        super().__init__()
        self.dropout = dropping(dropout)
        self.first = CausalConvolution(inputs, inner, taps, dilation)
        self.second = CausalConvolution(inner, outputs, taps, dilation)
        self.around = nn.Identity() if inputs == outputs else nn.Linear(inputs, outputs)

    def forward(self, inputs: Tensor) -> Tensor:
        """From (time, batch, inputs) to (time, batch, outputs)."""
        return F.relu(self._inside(inputs) + self.around(inputs))

    def _inside(self, inputs: Tensor) -> Tensor:
        first = self.dropout(F.relu(self.first(inputs)))
        return self.dropout(F.relu(self.second(first)))


class TemporalConvolution(FeedForwardNet):
    r"""Residual blocks of dilations :math:`1, 2, 4, \dots`, and an affine readout.

    Its receptive field is :math:`R = 1 + 2 (m - 1)(2^n - 1)` for n blocks of m taps. The paper's weight normalisation
    is left out.

    Args:
        inputs, units, inner, outputs: widths; ``units`` between blocks, ``inner`` within them.
        taps: m.
        levels: n.
        dropout: a rate; None for none.

    Source: Bai, Kolter and Koltun (2018), section 3.
    """

    def __init__(
        self, inputs: int, units: int, inner: int, outputs: int, taps: int, levels: int, dropout: float | None = None
    ) -> None:
        super().__init__()
        self.receptive_field = 1 + 2 * (taps - 1) * (2**levels - 1)
        widths = [inputs] + [units] * levels
        self.blocks = nn.Sequential(
            *(ResidualBlock(widths[i], inner, units, taps, 2**i, dropout) for i in range(levels))
        )
        self.readout = nn.Linear(units, outputs)

    def outputs(self, inputs: Tensor) -> Tensor:
        """The outputs; what the convolutions read before the start is zero."""
        return self.readout(self.blocks(inputs))
