r"""Linear recurrences, their memory kernels, and the linear part of a net at a point where it rests."""

from dataclasses import dataclass
from functools import partial

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.func import jacrev

from fhx._checks import positive
from fhx._modules import undrawn
from fhx.cells import Cell, LinearCell
from fhx.dynamics import Realization


@dataclass(frozen=True, eq=False)
class LinearRecurrence:
    r"""The recurrence :math:`h_t = W h_{t-1} + U x_t, \; y_t = C h_t, \; h_0 = 0`.

    Args:
        W: :math:`(m, m)`, for m units.
        U: :math:`(m, d_{in})`.
        C: :math:`(d_{out}, m)`.

    Raises:
        ValueError: the sizes do not fit.
    """

    W: Float[Tensor, "m m"]
    U: Float[Tensor, "m input"]
    C: Float[Tensor, "output m"]

    def __post_init__(self) -> None:
        shapes = [tuple(matrix.shape) for matrix in (self.W, self.U, self.C)]
        if any(len(shape) != 2 for shape in shapes) or {*shapes[0], shapes[1][0], shapes[2][1]} != {shapes[0][0]}:
            raise ValueError(f"W must be m x m, U m x d_in and C d_out x m, got {', '.join(map(str, shapes))}")

    @property
    def units(self) -> int:
        """m."""
        return len(self.W)

    def kernel(self, steps: int) -> Float[Tensor, "steps output input"]:
        r"""The answer to an impulse, :math:`\rho(t) = C W^t U` for t = 0, ..., steps - 1.

        It is the whole map, since :math:`y_t = \sum_{s=0}^{t-1} \rho(s)\, x_{t-s}`.

        Raises:
            ValueError: ``steps`` is not a positive integer.
        """
        rows = [self.U]
        for _ in range(positive("steps", steps) - 1):
            rows.append(self.W @ rows[-1])
        return self.C @ torch.stack(rows)

    @torch.no_grad()
    def realization(self) -> Realization:
        """The same map, as a ``LinearCell`` with a readout."""
        empty = partial(undrawn, dtype=self.W.dtype, device=self.W.device)
        cell = empty(LinearCell, self.U.shape[1], self.units)
        readout = empty(nn.Linear, self.units, len(self.C), bias=False)
        for parameter, value in ((cell.W, self.W), (cell.U, self.U), (readout.weight, self.C)):
            parameter.copy_(value)
        cell.b.zero_()
        return Realization(cell, readout)


@torch.no_grad()
def rest_point(
    cell: Cell,
    x: Float[Tensor, " input"] | None = None,
    guess: Float[Tensor, " width"] | None = None,
    max_iterations: int = 100,
) -> Float[Tensor, " width"]:
    r"""A state that a constant input leaves as it is, :math:`h = f(h, x)`, by Newton's method.

    Args:
        cell: f.
        x: the input, zeros if None.
        guess: where the search starts; None: the state that the cell comes to in 100 steps from zeros.
        max_iterations: the most steps of the method.

    Raises:
        ValueError: none was found from there, to the square root of the rounding unit.
    """
    zeros = cell.initial_state()
    x = zeros.new_zeros(cell.input_size) if x is None else x
    if guess is None:
        guess = zeros
        for _ in range(100):
            guess = cell(guess, x)
    h, drive = guess, cell.drive(x)
    tolerance = torch.finfo(h.dtype).eps ** 0.5
    for _ in range(positive("max_iterations", max_iterations)):
        off = cell(h, x) - h
        step, failed = torch.linalg.solve_ex(
            torch.eye(len(h), dtype=h.dtype, device=h.device) - cell.jacobian(h, drive), off
        )
        if failed or not step.isfinite().all():
            break
        h = h + step
        if step.norm() <= tolerance * (1 + h.norm()) and (cell(h, x) - h).norm() <= tolerance * (1 + h.norm()):
            return h
    raise ValueError("no rest point was found: try another guess, or a longer warm-up before it")


@torch.no_grad()
def linear_part(
    net: Realization, at: Float[Tensor, " width"] | None = None, x: Float[Tensor, " input"] | None = None
) -> LinearRecurrence:
    r"""The linear recurrence that a net is near a rest point :math:`h^* = f(h^*, x)`.

    .. math:: W = \frac{\partial f}{\partial h}, \quad U = \frac{\partial f}{\partial x}, \quad
       C = \frac{\partial g}{\partial h} \quad \text{at } (h^*, x).

    For inputs near x and a run started from :math:`h^*`, the outputs are :math:`g(h^*)` plus what the linear recurrence
    makes of the inputs' deviations from x, up to terms of second order.

    Args:
        net: a cell with a readout that maps the hidden part of a state to a vector.
        at: :math:`h^*`; ``rest_point(net.cell, x)`` if None.
        x: zeros if None.

    Raises:
        ValueError: what ``rest_point`` raises, or the net has a plain function for a cell.
    """
    cell = net.cell
    if not isinstance(cell, Cell):
        raise ValueError("a linear part needs a cell, not a plain function f(h, x)")
    h = rest_point(cell, x) if at is None else at
    x = h.new_zeros(cell.input_size) if x is None else x
    C = jacrev(lambda state: net.readout(cell.hidden(state)))(h)
    W, U = cell.jacobian(h, cell.drive(x)), cell.input_jacobian(h, x)
    return LinearRecurrence(*(matrix.detach() for matrix in (W, U, C)))


def memory_kernel(
    net: Realization, steps: int, at: Float[Tensor, " width"] | None = None, x: Float[Tensor, " input"] | None = None
) -> Float[Tensor, "steps output input"]:
    r"""What is left of a small impulse after t steps, :math:`\rho(t) = C W^t U`: the kernel of the ``linear_part``.

    For a linear cell it is the whole map.

    Args:
        net, at, x: as for ``linear_part``.
        steps: how many t, from 0.

    Raises:
        ValueError: what ``linear_part`` raises, or ``steps`` is not a positive integer.
    """
    return linear_part(net, at, x).kernel(steps)
