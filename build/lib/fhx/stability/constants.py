r"""Constants of a step :math:`f_\theta(h, x)`: how much it and its derivatives change with state, input and weights."""

from fhx._checks import non_negative
from fhx.cells import Cell
from fhx.stability.certificates import certificate
from fhx.stability.smoothness import Constants


def constants(*cells: Cell, input_bound: float = 1.0, h0_bound: float = 0.0) -> Constants:
    r"""Constants that hold for every given cell and for all weights between them.

    Simple and linear cells are measured in the 2-norm, LSTMs in the max norm on :math:`(h, c)`.

    Args:
        cells: of one kind and size, at least one.
        input_bound: :math:`B_x` with :math:`|x_t|_\infty \le B_x`.
        h0_bound: bound of :math:`|h_0|`, at most 1 for an LSTM.

    Raises:
        ValueError: no cell, cells of several kinds or sizes, a kind or activation whose second derivatives are not
            bounded here, a weight that is not finite, or bounds that are negative or not finite.
    """
    B = non_negative("input_bound", input_bound)
    if not cells:
        raise ValueError("constants need at least one cell")
    if len({(repr(cell), type(cell)) for cell in cells}) > 1:
        raise ValueError(f"constants need cells of one kind and size, got {', '.join(map(repr, cells))}")
    first, *others = (certificate(cell, B) for cell in cells)
    return first.constants(others, h0_bound)
