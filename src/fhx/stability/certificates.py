r"""What is certified of a cell, and the one table of the kinds of cell that something is certified of.

A kind is a subclass of :class:`Certificate` in a file of its own, with its set, its rate and, where they are known, its
projection and its constants. It is entered with

.. code-block:: python

   register_certificate(MyCell, MyCertificate)

and from then on :func:`~fhx.stability.contraction_rate`, :func:`~fhx.stability.project` and all the rest know it.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property, singledispatch
from math import inf
from typing import Literal, TypeVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from fhx._checks import non_negative
from fhx.cells import Cell
from fhx.cells.kinds import check_inherited, refuse_torch_net
from fhx.dynamics import Box
from fhx.stability.lyapunov import lyapunov_norm
from fhx.stability.norms import AnyNorm, Norm, as_norm
from fhx.stability.smoothness import Constants
from fhx.stability.weights import best_weights, gain_with

Same = TypeVar("Same", bound="Certificate")
Condition = Literal["weighted", "rows", "sum", "four conditions"]


class Certificate(ABC):
    r"""What is certified of one cell for all inputs with :math:`|x|_\infty \le B_x`.

    A kind of cell has to write ``invariant_set``, and ``rate`` or ``row_gains``.

    Args:
        cell: the cell, its weights as they are.
        input_bound: :math:`B_x \ge 0`.

    Attributes:
        default_norm: the norm of its rate where none is asked for.
        everywhere: whether its rate holds for all states, and not only on its invariant set.
    """

    default_norm: Norm = 2
    everywhere: bool = False

    def __init__(self, cell: Cell, input_bound: float = 1.0) -> None:
        self.cell, self.input_bound = cell, non_negative("input_bound", input_bound)

    def rate(self, norm: Norm) -> float:
        """An upper bound of the one-step gain, rounded upwards; see :func:`~fhx.stability.contraction_rate`.

        A kind that has ``row_gains`` need not write the norms "max" and "weighted".
        """
        if norm == "weighted":
            return self._best[0]
        if norm == "max":
            return gain_with(self.row_gains, torch.ones(self.cell.state_width, dtype=torch.float64))
        self.matrix()  # refuses
        raise ValueError(f"there is no rate in the norm {norm!r} for {self.cell}")

    def row_gains(self, weights: Float[Tensor, " width"]) -> Float[Tensor, " width"]:
        r"""How far each number of the next state moves where number j of the state moves by at most :math:`w_j`.

        .. math:: T(w)_i \ge \sup \sum_j \Bigl| \frac{\partial f_i}{\partial h_j} \Bigr| w_j

        over the invariant set and all inputs; monotone in w, and :math:`T(s w) = s T(w)` for :math:`s > 0`.

        Args:
            weights: :math:`w_j > 0`, in float64 on the CPU.
        """
        raise ValueError(f"no gain is known number by number for {self.cell}, which a weighted norm needs")

    @abstractmethod
    def invariant_set(self) -> Box:
        """A box of states that no run from the cell's initial state leaves."""

    def project(self, rate: float, condition: Condition, forget: float) -> None:
        """Move the cell's weights, in place, to the nearest ones with this rate, for certain.

        Args:
            rate: above 0 and below 1.
            condition, forget: as for :func:`~fhx.stability.project`; a kind is free to ignore them.
        """
        raise ValueError(f"there is no projection for {self.cell}")

    def constants(self: Same, others: Sequence[Same], h0_bound: float) -> Constants:
        r"""Constants for the cells of this certificate and of the others, and for all weights between them.

        Args:
            others: certificates of the same kind, for cells of the same size and the same bound of inputs.
            h0_bound: bound of :math:`|h_0|`.
        """
        raise ValueError(f"no constants are known for {self.cell}")

    def matrix(self) -> Float[Tensor, "width width"]:
        """W of a cell whose step is W h and a function of the input; no other has a Lyapunov norm."""
        raise ValueError(f'the norm "lyapunov" is for linear cells, and {self.cell} is not one')

    def weights(self) -> Float[Tensor, " width"]:
        """Of the weighted norm that ``rate("weighted")`` is in, in float64 on the CPU."""
        return self._best[1]

    @cached_property
    def _best(self) -> tuple[float, Float[Tensor, " width"]]:
        """The rate in the best weighted norm, and its weights."""
        return best_weights(self.row_gains, self.cell.state_width)

    def norm_function(self, norm: Norm) -> Callable[[Tensor], float]:
        """The function from a state to its norm, which ``rate(norm)`` is in."""
        if norm == "lyapunov":
            P = lyapunov_norm(self.matrix())
            return lambda v: (v @ P @ v).sqrt().item()
        if norm == "weighted":
            weights = self.weights()
            return lambda v: (v.cpu().abs() / weights).max().item()
        return lambda v: torch.linalg.vector_norm(v, 2 if norm == 2 else inf).item()


@singledispatch
def _by_kind(cell: object, input_bound: float) -> Certificate:
    refuse_torch_net(cell)
    known = ", ".join(sorted(kind.__name__ for kind in _by_kind.registry if kind is not object))
    raise ValueError(f"no contraction is certified for {cell}: the kinds that have a certificate are {known}")


def certificate(cell: Cell, input_bound: float = 1.0) -> Certificate:
    r"""The certificate of a cell, by its kind.

    Args:
        cell: the cell, its weights as they are.
        input_bound: :math:`B_x \ge 0` with :math:`|x|_\infty \le B_x`.

    Raises:
        ValueError: no kind is registered that the cell is of, the cell's class overrides what the certificate of its
            kind is about, or the input bound is negative or not finite.
    """
    check_kind(cell)
    return _by_kind(cell, input_bound)


def check_kind(cell: object) -> None:
    """Raise a ``ValueError`` if the cell's class overrides what the certificate of its kind is about."""
    kind = next(kind for kind in type(cell).__mro__ if kind in _by_kind.registry)
    if issubclass(kind, nn.Module):
        check_inherited(cell, kind, "so needs a certificate of its own: register_certificate makes one known")


def register_certificate(kind: type[Cell], make: Callable[..., Certificate]) -> None:
    """Make a kind of cell known, with its subclasses that override nothing of its step.

    Any other subclass needs a certificate of its own, and is refused until it has one.

    Args:
        kind: the class of the cells.
        make: the class of their certificates, or what else makes one of a cell and a bound of inputs.
    """
    _by_kind.register(kind, make)


def certificate_in(norm: AnyNorm | None, cell: Cell, input_bound: float) -> tuple[Certificate, Norm]:
    """A cell's certificate, and the norm that was asked for, or the certificate's ``default_norm`` if None."""
    found = certificate(cell, input_bound)
    return found, found.default_norm if norm is None else as_norm(norm)
