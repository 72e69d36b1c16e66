r"""One-sided gradients of an expression, exactly, and their jump across a line.

A map with one hidden layer, :math:`\sum_i v_i\, \mathrm{relu}(a_i \cdot x + b_i)` plus an affine map, has creases along
the lines :math:`a_i \cdot x + b_i = 0`. Across such a line its gradient jumps by the sum of
:math:`v_i\, |a_i|\, n` over the units with that line, n its unit normal: by the same vector at every point of the line
that lies on no other. So a map whose jumps on two pieces of a line differ needs a second hidden layer.
"""

from collections.abc import Mapping

from fhx.exact.expression import Atom, Expression, units_of
from fhx.exact.numbers import Exact, Number, number
from fhx.exact.simple_rnn import ACTIVATIONS

__all__ = ["gradient_jump", "one_sided_gradient"]

Point = Mapping[str, Exact]


def one_sided_gradient(f: Expression, point: Point, direction: Point) -> dict[str, Number]:
    r"""The gradient of f just beside a point: at :math:`p + \varepsilon d` for all small :math:`\varepsilon > 0`.

    Args:
        f: an expression.
        point: p, a number for each variable of f.
        direction: d, a number for each variable; what is not named is 0.

    Returns:
        The partial derivatives, by variable.

    Raises:
        TypeError: a number is not exact.
        ValueError: a variable has no value, or the ray runs along a crease of one of f's units.
    """
    if missing := [name for name in f.variables if name not in point]:
        raise ValueError(f"the point has no {missing}")
    p = {name: number(value, f"the point's {name}") for name, value in point.items()}
    d = {name: number(direction.get(name, 0), f"the direction's {name}") for name in p}
    values: dict[Atom, Number] = dict(p.items())
    gradients: dict[Atom, dict[str, Number]] = {variable: {variable: 1} for variable in p}
    for unit in units_of([f]):
        value, slopes = unit.argument.combine(values), _combined(unit.argument, gradients)
        along = sum(slope * d[name] for name, slope in slopes.items())
        corners = ((0, 0),) if unit.activation == "relu" else ((0, 0), (1, 0))
        if (value, along) in corners and any(slopes.values()):
            raise ValueError(f"the ray from {dict(point)} runs along a crease of {unit}: it has two gradients there")
        passed = sum((value, along) > corner for corner in corners)
        values[unit] = ACTIVATIONS[unit.activation](value)
        gradients[unit] = slopes if passed == 1 else {}
    found = _combined(f, gradients)
    return {name: number(found.get(name, 0), name) for name in p}


def gradient_jump(f: Expression, point: Point, direction: Point) -> dict[str, Number]:
    r"""How the gradient jumps at a point on a crease: that just beyond, along d, less that just before, along -d.

    For :math:`f = \max(0, x_1, x_2)` the jump across :math:`x_1 = 0` is (1, 0) at (0, -1) and 0 at (0, 1), so f needs a
    second hidden layer.

    Args:
        f, point, direction: as for ``one_sided_gradient``; the direction is d.

    Raises:
        ValueError: what ``one_sided_gradient`` raises.
    """
    beyond = one_sided_gradient(f, point, direction)
    before = one_sided_gradient(f, point, {name: -number(value, name) for name, value in direction.items()})
    return {name: beyond[name] - before[name] for name in beyond}


def _combined(e: Expression, gradients: Mapping[Atom, Mapping[str, Number]]) -> dict[str, Number]:
    slopes: dict[str, Number] = {}
    for atom, c in e.terms.items():
        for name, slope in gradients[atom].items():
            slopes[name] = slopes.get(name, 0) + c * slope
    return slopes
