r"""What is certified of a cell, and the one table of the kinds of cell that something is certified of.

A kind is a subclass of :class:`Certificate` in a file of its own, with its set, its rate and, where they are known, its
projection and its constants. It is entered with

.. code-block:: python

   register_certificate(MyCell, MyCertificate)

and from then on :func:`~fhx.stability.contraction_rate`, :func:`~fhx.stability.project` and all the rest know it.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import singledispatch
from math import inf
from typing import TypeVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from fhx._checks import non_negative
from fhx.cells import Cell
from fhx.dynamics import Box
from fhx.stability.lyapunov import lyapunov_norm
from fhx.stability.norms import AnyNorm, Norm, as_norm
from fhx.stability.smoothness import Constants

Same = TypeVar("Same", bound="Certificate")


class Certificate(ABC):
    r"""What is certified of one cell for all inputs with :math:`|x|_\infty \le B_x`.

    A kind of cell has to write ``rate`` and ``invariant_set``.

    Args:
        cell: the cell, its weights as they are.
        input_bound: :math:`B_x \ge 0`.

    Attributes:
        usual_norm: the norm of its rate where none is asked for.
        everywhere: whether its rate holds for all states, and not only on its invariant set.
    """

    usual_norm: Norm = 2
    everywhere: bool = False

    def __init__(self, cell: Cell, input_bound: float = 1.0) -> None:
        self.cell, self.input_bound = cell, non_negative("input_bound", input_bound)

    @abstractmethod
    def rate(self, norm: Norm) -> float:
        """An upper bound of the one-step gain, rounded upwards; see :func:`~fhx.stability.contraction_rate`."""

    @abstractmethod
    def invariant_set(self) -> Box:
        """A box of states that no run from the cell's initial state leaves."""

    def project(self, rate: float, condition: str, forget: float) -> None:
        """Move the cell's weights, in place, to the nearest ones with this rate, for certain.

        Args:
            rate: above 0 and below 1.
            condition, forget: as for :func:`~fhx.stability.project`; a kind is free to ignore them.
        """
        raise ValueError(f"there is no projection for {self.cell}")

    def constants(self: Same, everyone: Sequence[Same], h0_bound: float) -> Constants:
        r"""Constants for the cells of all these certificates, of which this is one, and all weights between them.

        Args:
            everyone: certificates of one kind, for cells of one size and one bound of inputs.
            h0_bound: bound of :math:`|h_0|`.
        """
        raise ValueError(f"no constants are known for {self.cell}")

    def matrix(self) -> Float[Tensor, "width width"]:
        """W of a cell whose step is W h and a function of the input; no other has a Lyapunov norm."""
        raise ValueError(f'the norm "lyapunov" is for linear cells, and {self.cell} is not one')

    def length(self, norm: Norm) -> Callable[[Tensor], float]:
        """The norm of a state that ``rate(norm)`` is in."""
        if norm == "lyapunov":
            P = lyapunov_norm(self.matrix())
            return lambda v: (v @ P @ v).sqrt().item()
        return lambda v: torch.linalg.vector_norm(v, 2 if norm == 2 else inf).item()


@singledispatch
def _by_kind(cell: object, input_bound: float) -> Certificate:
    if isinstance(cell, nn.RNNBase | nn.RNNCellBase):
        raise ValueError(f"{cell} is a net of torch: fhx.cells.from_torch makes a cell of it")
    known = ", ".join(sorted(kind.__name__ for kind in _by_kind.registry if kind is not object))
    raise ValueError(f"no contraction is certified for {cell}: the kinds that have a certificate are {known}")


def certificate(cell: Cell, input_bound: float = 1.0) -> Certificate:
    r"""The certificate of a cell, by its kind.

    Args:
        cell: the cell, its weights as they are.
        input_bound: :math:`B_x \ge 0` with :math:`|x|_\infty \le B_x`.

    Raises:
        ValueError: no kind is registered that the cell is of, or the input bound is negative or not finite.
    """
    return _by_kind(cell, input_bound)


def register_certificate(kind: type[Cell], make: Callable[..., Certificate]) -> None:
    """Make a kind of cell known, with its subclasses; a subclass may have a certificate of its own.

    Args:
        kind: the class of the cells.
        make: the class of their certificates, or what else makes one of a cell and a bound of inputs.
    """
    _by_kind.register(kind, make)


def certificate_in(norm: AnyNorm | None, cell: Cell, input_bound: float) -> tuple[Certificate, Norm]:
    """A cell's certificate, and the norm that was asked for; the usual one if None."""
    found = certificate(cell, input_bound)
    return found, found.usual_norm if norm is None else as_norm(norm)
