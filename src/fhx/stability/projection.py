r"""Making a cell a contraction: the nearest weights that a certificate holds for, and a hook that keeps them there.

The weights under which a simple or linear cell is certified at a rate form a convex set. Those of a gated cell do not,
since :math:`F (1 + w_f)` multiplies two of their functions; they do for every cap F of what a gate may open to. Then
every row is bounded by itself: rows of matrices lie in :math:`\ell_1` balls, and a gate's rows of W, U and b together
satisfy :math:`b + |w|_1 + B_x |u|_1 \le \mathrm{logit}(F)`. The nearest point is that of the best cap, which is looked
for (``fhx.stability.caps``). Inputs' and other gates' weights stay.

A map to the nearest point of a closed set is continuous where that point is the only one. If the set is not convex,
there are places where it is not.
"""

from collections.abc import Iterable
from typing import Any, get_args

from torch.nn.utils import parametrize
from torch.optim import Optimizer

from fhx._checks import non_negative, one_of
from fhx.cells import Cell
from fhx.cells.kinds import refuse_torch_net
from fhx.stability.arguments import satisfies
from fhx.stability.certificates import Condition, certificate
from fhx.stability.contraction import check_positive_rate
from fhx.stability.norms import exact

CONDITIONS: tuple[Condition, ...] = get_args(Condition)


def project(
    cell: Cell, rate: float, input_bound: float = 1.0, *, condition: Condition = "weighted", forget: float | None = None
) -> Cell:
    r"""Move a cell's weights, in place, to the nearest ones that are certified at a rate, or near them.

    A cell that is certified at the rate already, by the condition named, and whose gates open no further than
    ``forget``, is left as it is, bit for bit; so is the cell that this returns. Otherwise:

    * simple and linear cells: W to the nearest matrix in the Frobenius norm with
      :math:`\lVert W \rVert_2 \le \lambda / L_\sigma`: its singular values are clipped;
    * LSTM, "rows": to the nearest weights with ``LSTMBounds.rate`` at most :math:`\lambda`, for each unit by itself;
    * LSTM, "four conditions": to the nearest weights with ``four_condition_rate`` at most :math:`\lambda`;
    * LSTM, "sum", and GRU, "rows" (which for a GRU is what "sum" and "four conditions" are too): to the nearest weights
      of those that a cap of the forget (update) gate certifies, where the rest of the rate is split among the other
      terms in proportion to what they are now;
    * LSTM and GRU, "weighted": from the cell towards the weights that "rows" would give, no further than to where
      ``contraction_rate`` in its weighted norm is at most :math:`\lambda`. This moves no further than "rows", and takes
      longer, since it certifies the cell again and again: after every update of a training "rows" may be better.

    The search for the cap is one over a grid that is refined around its best point. The margin for rounding is a part
    of about :math:`(d + d_{in}) 2^{-49}` of the rate, and two roundings of the weights' own type.

    Args:
        cell: simple, linear, LSTM or GRU, or of another kind whose certificate has a projection.
        rate: :math:`\lambda`, above 0 and below 1.
        input_bound: :math:`B_x`, as for :func:`contraction_rate`.
        condition: "weighted", "rows", "sum" or "four conditions", for gated cells.
        forget: for gated cells, the most that the forget or update gates of the result may open, between 0 and the
            rate; None for as much as the rate allows. A cell without gates is projected as if it were not given.

    Returns:
        The same cell, with ``contraction_rate(cell, input_bound=input_bound) <= rate``.

    Raises:
        ValueError: there is no projection for the cell, its weights are parametrised, ``rate``, ``forget`` or
            ``condition`` is out of range, any parameter of the cell is not finite, or the input bound is negative or
            not finite. The cell is then as it was.

    Source: after Miller and Hardt (2019), "Stable recurrent models", whose cap is fixed; the search is derived here.
    """
    B = non_negative("input_bound", input_bound)
    rate = check_positive_rate(rate)
    one_of("condition", condition, CONDITIONS)
    if forget is not None and not satisfies(forget, lambda forget: 0 < forget < rate):
        raise ValueError(f"forget must lie between 0 and the rate {rate!r}, got {forget!r}")
    if parametrize.is_parametrized(cell):
        raise ValueError(f"weights of {cell} are parametrised: what a projection writes into them would be lost")
    found, shown = certificate(cell, B), str(cell)
    for name, weight in cell.named_parameters():
        exact(f"{name} of {shown}", weight)
    found.project(rate, condition, 1.0 if forget is None else forget)
    return cell


class Projected:
    r"""A hook for an optimiser, which projects cells after each of its steps:

    .. code-block:: python

       handle = optimizer.register_step_post_hook(Projected(cell, 0.95))

    It makes any optimiser of ``torch.optim`` projected descent. ``handle.remove()`` ends it. The cells are projected
    once at the start too.

    Args:
        cells: a cell, or several; each is projected by itself.
        rate, input_bound, condition, forget: as for :func:`project`.

    Raises:
        ValueError: there is no cell, one of them is something else, or what :func:`project` raises.
    """

    def __init__(
        self,
        cells: Cell | Iterable[Cell],
        rate: float,
        input_bound: float = 1.0,
        *,
        condition: Condition = "weighted",
        forget: float | None = None,
    ) -> None:
        self.cells = _several(cells)
        self.rate, self.input_bound, self.condition, self.forget = rate, input_bound, condition, forget
        self.project()

    def project(self) -> None:
        """Project every cell now."""
        for cell in self.cells:
            project(cell, self.rate, self.input_bound, condition=self.condition, forget=self.forget)

    def __call__(self, optimizer: Optimizer, args: Any, kwargs: Any) -> None:
        self.project()


def _several(cells: Cell | Iterable[Cell]) -> list[Cell]:
    """The cells as a list, or a ``ValueError`` if there is none or something else is among them."""
    refuse_torch_net(cells)
    if not isinstance(cells, Cell | Iterable):
        raise ValueError(f"cells must be a cell or several, got {type(cells).__name__}")
    found = [cells] if isinstance(cells, Cell) else list(cells)
    if not found:
        raise ValueError("there is no cell to project")
    for cell in found:
        refuse_torch_net(cell)
        if not isinstance(cell, Cell):
            raise ValueError(f"cells must be a cell or several, got {type(cell).__name__} among them")
    return found
