"""How many parameters a cell has, by formula, and how wide a cell a budget of parameters allows."""

from collections.abc import Callable, Mapping
from itertools import pairwise

from torch import nn

from fhx._checks import positive
from fhx.cells.activations import Activation
from fhx.cells.base import Cell
from fhx.cells.deep import DeepCell
from fhx.cells.deep_lstm import DeepLSTMCell
from fhx.cells.gated import GRUCell, LSTMCell
from fhx.cells.highway import HighwayCell
from fhx.cells.residual import ResidualCell
from fhx.cells.simple import LinearCell, SimpleCell
from fhx.cells.stack import Stack


def parameter_count(cell_type: type[Cell], input_size: int, state_size: int, **options: object) -> int:
    r"""The number of parameters of ``cell_type(input_size, state_size, **options)``, without building it.

    With :math:`n` = ``input_size`` and :math:`d` = ``state_size``, an affine cell of :math:`k` blocks of rows has
    :math:`k d (d + n + 1)` (the GRU :math:`d` more), and a layer of :math:`r` rows that reads :math:`m` numbers adds
    :math:`r (m + 1)`.

    Args:
        cell_type: a cell of this package, or ``Stack`` for ``depth`` cells of one type and size on top of one another.
        input_size: :math:`n`.
        state_size: :math:`d`, of a stack that of every layer.
        options: as for the cell; for ``Stack``, ``depth``, ``layer`` (a cell type) and ``layer_options``.

    Raises:
        ValueError: a size is not a positive integer, or there is no formula for the type.
        TypeError: an option that the cell does not have, or a missing one.
    """
    n, d = positive("input_size", input_size), positive("state_size", state_size)
    formula = FORMULAS.get(cell_type)
    if formula is None:
        names = ", ".join(sorted(kind.__name__ for kind in FORMULAS))
        raise ValueError(f"there is a formula for {names}, but none for {cell_type!r}")
    for free in ("generator", "dtype", "device"):
        options.pop(free, None)
    return formula(n, d, **options)


def width_for(budget: int, cell_type: type[Cell], input_size: int, **options: object) -> int:
    """The largest ``state_size`` with at most ``budget`` parameters.

    Args:
        budget: a number of parameters.
        cell_type, input_size, options: as for ``parameter_count``.

    Raises:
        ValueError: even ``state_size`` 1 has more parameters, or what ``parameter_count`` raises.
        TypeError: see ``parameter_count``.
    """
    budget = positive("budget", budget)

    def fits(d: int) -> bool:
        return parameter_count(cell_type, input_size, d, **options) <= budget

    if not fits(1):
        least = parameter_count(cell_type, input_size, 1, **options)
        raise ValueError(f"{cell_type.__name__} has at least {least} parameters, more than the budget of {budget}")
    low, high = 1, 2
    while fits(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def _activation(activation: str | Activation) -> int:
    """The parameters of an activation that is a module."""
    return sum(p.numel() for p in activation.parameters()) if isinstance(activation, nn.Module) else 0


def _affine(blocks: int) -> Callable[[int, int], int]:
    return lambda n, d: blocks * d * (d + n + 1)


def _simple(n: int, d: int, activation: str | Activation = "tanh") -> int:
    return d * (d + n + 1) + _activation(activation)


def _gru(n: int, d: int) -> int:
    return 3 * d * (d + n + 1) + d


def _deep(
    n: int,
    d: int,
    depth: int,
    width: int | None = None,
    activation: str | Activation = "tanh",
    normalized: bool = False,
) -> int:
    w = d if width is None else positive("width", width)
    rows = [*[w] * (positive("depth", depth) - 1), d]
    upper = sum(r * (m + 1) for m, r in pairwise(rows))
    return rows[0] * (d + n + 1) + upper + 2 * sum(rows) * bool(normalized) + _activation(activation)


def _residual(n: int, d: int, depth: int, scale: float = 1.0, activation: str | Activation = "tanh") -> int:
    return d * n + positive("depth", depth) * d * (d + 1) + _activation(activation)


def _highway(n: int, d: int, depth: int, carry_bias: float = 2.0) -> int:
    return 2 * (d * n + positive("depth", depth) * d * (d + 1))


def _deep_lstm(n: int, d: int, depth: int) -> int:
    below = positive("depth", depth) - 1
    return (d if below else 4 * d) * n + (below + 4) * d * (d + 1)


def _stack(n: int, d: int, depth: int, layer: type[Cell], layer_options: Mapping[str, object] | None = None) -> int:
    first, other = (parameter_count(layer, m, d, **(layer_options or {})) for m in (n, d))
    return first + (positive("depth", depth) - 1) * other


FORMULAS: dict[type[Cell], Callable[..., int]] = {
    SimpleCell: _simple,
    LinearCell: _affine(1),
    LSTMCell: _affine(4),
    GRUCell: _gru,
    DeepCell: _deep,
    ResidualCell: _residual,
    HighwayCell: _highway,
    DeepLSTMCell: _deep_lstm,
    Stack: _stack,
}
