r"""Cells: the step :math:`f` of the recurrence :math:`h_t = f(h_{t-1}, x_t)` as a torch module.

A **cell** maps a state and an input to the next state. Its **drive** is the part of that step that reads the input
only, for most cells :math:`U x_t + b`; since it does not depend on the state it can be computed for all times at
once. Its **step** is the rest:

.. math::

   f(h, x) = \mathrm{step}(h, \mathrm{drive}(x)).

The **state** is one vector of ``state_width`` numbers. What a readout sees of it, the **hidden** part, has
``state_size`` numbers: all of the state for most cells, :math:`h` but not :math:`c` for the LSTM, the top layer for a
stack.

A step may be a net of several layers: the deep, residual, highway and deep LSTM cells. Every cell here has its
**Jacobian** :math:`\partial f / \partial h` in closed form.

A new cell is a subclass of ``AffineCell`` with a ``step``; one whose drive is not affine in the input is a subclass
of ``Cell`` with ``drive`` and ``step``. ``torch.func`` finds its Jacobian. Both methods must be pure functions of the
parameters: no branch on a tensor's value, nothing written in place, so that ``torch.func`` can run many copies of a
cell in one batch.
"""

from fhx._extras import needs

with needs("torch"):
    from fhx.cells.base import AffineCell, Cell
    from fhx.cells.deep import DeepCell
    from fhx.cells.deep_lstm import DeepLSTMCell
    from fhx.cells.diagonal import DiagonalCell, LRUCell, MinGRUCell, RGLRUCell
    from fhx.cells.gated import GRUCell, LSTMCell
    from fhx.cells.highway import HighwayCell
    from fhx.cells.init import gaussian_, orthogonal_
    from fhx.cells.residual import ResidualCell
    from fhx.cells.simple import LinearCell, SimpleCell
    from fhx.cells.size import parameter_count, width_for
    from fhx.cells.stack import Stack
    from fhx.cells.torch_nets import from_torch

__all__ = [
    "AffineCell",
    "Cell",
    "DeepCell",
    "DeepLSTMCell",
    "DiagonalCell",
    "GRUCell",
    "HighwayCell",
    "LRUCell",
    "LSTMCell",
    "LinearCell",
    "MinGRUCell",
    "RGLRUCell",
    "ResidualCell",
    "SimpleCell",
    "Stack",
    "from_torch",
    "gaussian_",
    "orthogonal_",
    "parameter_count",
    "width_for",
]
