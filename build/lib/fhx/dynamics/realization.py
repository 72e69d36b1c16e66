"""A realisation: a step, a readout and an initial state, which together make a map from input to output sequences."""

from collections.abc import Callable

from jaxtyping import Integer, Shaped
from torch import Tensor, nn

from fhx.cells.function import Step, as_cell
from fhx.dynamics.unrolling import unroll


class Realization(nn.Module):
    r"""The triple :math:`(f, g, h_0)` and the input/output map that it realises:

    .. math:: h_t = f(h_{t-1}, x_t), \qquad y_t = g(h_t), \qquad t = 1, \dots, T.

    Different triples, of different dimension too, may realise one map.

    Args:
        cell: :math:`f`, a cell or any function ``f(h, x)``; a function needs ``h0``.
        readout: :math:`g`, a module or any function of the hidden part of the states ``(time, batch, d)``, or of a
            function's whole states.
        h0: :math:`h_0`, shape ``(state_width,)``, the same for every sequence. None: zeros. A tensor is kept as a
            buffer: it is stored and moved with the module, and not trained. An ``nn.Parameter`` is trained.

    Raises:
        ValueError: ``h0`` is not one state of the cell, or is missing for a function; or a linear readout does not
            have its width.
    """

    def __init__(
        self,
        cell: Step,
        readout: Callable[[Tensor], Tensor],
        h0: Shaped[Tensor, " width"] | None = None,
    ) -> None:
        super().__init__()
        step = as_cell(cell)
        if h0 is None:
            h0 = step.initial_state()
        elif h0.ndim != 1:
            raise ValueError(f"h0 must be one state, shape (width,), got {tuple(h0.shape)}")
        step.check_state(h0)
        width = step.hidden(h0).shape[-1]
        if isinstance(readout, nn.Linear) and readout.in_features not in (0, width):  # 0 of a lazy one
            raise ValueError(f"the readout reads {readout.in_features} numbers, but a state shows it {width}")
        self.cell = cell
        self.readout = readout
        if isinstance(h0, nn.Parameter):
            self.h0 = h0
        else:
            self.register_buffer("h0", h0)

    def states(
        self, inputs: Shaped[Tensor, "time batch d_in"], lengths: Integer[Tensor, " batch"] | None = None
    ) -> Shaped[Tensor, "time batch width"]:
        """The states :math:`h_1, ..., h_T`, by ``unroll``."""
        return unroll(self.cell, inputs, self.h0, lengths)

    def forward(
        self, inputs: Shaped[Tensor, "time batch d_in"], lengths: Integer[Tensor, " batch"] | None = None
    ) -> Shaped[Tensor, "time batch *output"]:
        """The outputs :math:`y_1, ..., y_T`; after a sequence's end its last output is repeated."""
        states = self.states(inputs, lengths)
        return self.readout(as_cell(self.cell).hidden(states))
