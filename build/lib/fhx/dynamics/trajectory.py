r"""A run as one unknown: the fixed point of the map that steps every state of a trajectory at once.

The trajectory :math:`H = (h_1, \dots, h_T)` of a run from :math:`h_0` is the only fixed point of
:math:`F(H)_t = f(h_{t-1}, x_t)`. Its derivative is :math:`N`, which has the Jacobians :math:`J_2, \dots, J_T` below
the diagonal and zeros elsewhere. So :math:`(I - N)\, e = u` is the affine recurrence :math:`e_t = J_t e_{t-1} + u_t`,
which a scan solves, and :math:`(I - N)^\top l = g` is the same one in reverse.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float, Shaped
from torch import Tensor

from fhx.cells import Cell
from fhx.cells.function import Step, as_cell
from fhx.dynamics.jacobians import real_start, spans
from fhx.dynamics.scan import scan


@dataclass(frozen=True)
class TrajectoryMap:
    """The map :math:`F` of one run: a step, the drives of all times (a function's inputs), and :math:`h_0`.

    Jacobians are made for some times at once, and never for all where they would not fit.
    """

    cell: Cell
    drives: Shaped[Tensor, "time batch drive"]
    h0: Float[Tensor, "batch width"]

    @classmethod
    def of(cls, cell: Step, inputs: Tensor, h0: Tensor | None) -> "TrajectoryMap":
        """What is checked as by ``unroll``."""
        cell = as_cell(cell)
        start = real_start(cell, inputs, h0)
        return cls(cell, cell.drive(inputs), start)

    def detached(self) -> "TrajectoryMap":
        """The same numbers, through which no gradient flows."""
        return TrajectoryMap(self.cell, self.drives.detach(), self.h0.detach())

    def zeros(self) -> Float[Tensor, "time batch width"]:
        """The trajectory of zeros."""
        return self.h0.new_zeros(len(self.drives), *self.h0.shape)

    def before(self, states: Float[Tensor, "time batch width"]) -> Float[Tensor, "time batch width"]:
        """:math:`h_0, ..., h_{T-1}`."""
        return torch.cat([self.h0[None], states[:-1]])[: len(states)]

    def image(self, states: Float[Tensor, "time batch width"]) -> Float[Tensor, "time batch width"]:
        """:math:`F(H)`: all states step at once, as one batch."""
        return self.cell.step(self.before(states).flatten(0, 1), self.drives.flatten(0, 1)).view_as(states)

    @torch.no_grad()
    def carried(
        self,
        states: Float[Tensor, "time batch width"],
        source: Float[Tensor, "time batch width"],
        scale: float = 1.0,
        diagonal: bool = False,
    ) -> Float[Tensor, "time batch width"]:
        r"""What arrives of a source from earlier times, :math:`w_t = s J_t (w_{t-1} + u_{t-1})`, :math:`w_1 = 0`.

        :math:`u + w` solves :math:`(I - s N)\, e = u`.
        """
        carry, pieces = torch.zeros_like(self.h0), []
        earlier = torch.cat([carry[None], source[:-1]])
        for now, matrices in self._jacobians(states):
            if diagonal:
                matrices = matrices.diagonal(dim1=-2, dim2=-1)
            if scale != 1:
                matrices = scale * matrices
            pieces.append(scan(matrices, times(matrices, earlier[now]), carry))
            carry = pieces[-1][-1]
        return torch.cat(pieces)

    @torch.no_grad()
    def pulled_back(
        self, states: Float[Tensor, "time batch width"], gradient: Float[Tensor, "time batch width"]
    ) -> Float[Tensor, "time batch width"]:
        r"""The solution of :math:`(I - N)^\top l = g`, that is :math:`l_t = g_t + J_{t+1}^\top l_{t+1}`."""
        carry, pieces = torch.zeros_like(self.h0), []
        for now, matrices in self._jacobians(states, backwards=True):
            pieces.append(scan(matrices.mT, times(matrices.mT, gradient[now]), carry, reverse=True))
            carry = pieces[-1][0]
        arriving = torch.cat(pieces[::-1])
        return gradient + torch.cat([arriving[1:], torch.zeros_like(arriving[:1])])

    def _jacobians(self, states: Tensor, backwards: bool = False) -> Iterator[tuple[slice, Tensor]]:
        """The Jacobians of successive times, and which times they are."""
        before, pieces = self.before(states), spans(self.h0, len(states))
        for now in reversed(pieces) if backwards else pieces:
            yield now, self.cell.jacobian(before[now], self.drives[now])


class Attached(torch.autograd.Function):
    r"""The states, as a function of :math:`F` at the states: its derivative is :math:`(I - N)^{-1}`.

    What makes :math:`F` depend on parameters, inputs and :math:`h_0` is autograd's business.
    """

    @staticmethod
    def forward(ctx: Any, image: Tensor, states: Tensor, problem: TrajectoryMap, converged: bool) -> Tensor:
        ctx.save_for_backward(states)
        ctx.problem, ctx.converged = problem, converged
        return states.clone()

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        if not ctx.converged:
            raise RuntimeError(
                "no gradient flows through a parallel_unroll that has not converged: its states are not those of the "
                "run; give it more sweeps or a larger tolerance, or use unroll"
            )
        (states,) = ctx.saved_tensors
        return ctx.problem.pulled_back(states, gradient), None, None, None


def times(matrices: Tensor, vectors: Tensor) -> Tensor:
    """Each matrix, or diagonal, times its vector."""
    return matrices * vectors if matrices.ndim == vectors.ndim else (matrices @ vectors[..., None])[..., 0]
