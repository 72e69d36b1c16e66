r"""Units, formulas in one hidden layer (the connectives of logic, a choice, a maximum), and vectors of expressions.

The truth values are 0 and 1, and the connectives are right for these only: ``AND(1/2, 1)`` is 1/2.

Source: Example 3.3 and (4.29) of the lecture notes.
"""

from collections.abc import Callable, Sequence
from typing import Any, overload

from fhx.exact.expression import Expression, Vector, as_expression, total, unit, variable
from fhx.exact.matrix import Matrix
from fhx.exact.numbers import Number

__all__ = ["AND", "NOT", "OR", "affine", "if_then_else", "maximum", "relu", "slu", "stack", "variables"]


@overload
def relu(e: Expression | Number, name: str | None = None) -> Expression: ...
@overload
def relu(e: Sequence[Expression | Number], name: str | None = None) -> Vector: ...
def relu(e: Any, name: str | None = None) -> Any:
    r"""The unit :math:`\max(e, 0)`; on a vector, one unit to an entry, called ``name1``, ``name2``, ..."""
    return _layer("relu", e, name)


@overload
def slu(e: Expression | Number, name: str | None = None) -> Expression: ...
@overload
def slu(e: Sequence[Expression | Number], name: str | None = None) -> Vector: ...
def slu(e: Any, name: str | None = None) -> Any:
    r"""The unit :math:`\min(\max(e, 0), 1)`; on a vector, one unit to an entry, called ``name1``, ``name2``, ..."""
    return _layer("slu", e, name)


def AND(
    *es: Expression | Number, name: str | None = None, layer: Callable[[Expression, str | None], Expression] = relu
) -> Expression:
    r""":math:`e_1 \wedge \dots \wedge e_n = \mathrm{relu}(\sum_i e_i - (n - 1))`, one unit; 1 for none.

    Args:
        es: expressions with values 0 and 1.
        name: of the unit.
        layer: ``relu`` or ``slu``, which agree here, since the argument is at most 1.
    """
    return layer(total((*es, 1 - len(es))), name)


def OR(
    *es: Expression | Number, name: str | None = None, layer: Callable[[Expression, str | None], Expression] = relu
) -> Expression:
    r""":math:`e_1 \vee \dots \vee e_n = 1 - \mathrm{relu}(1 - \sum_i e_i)`, by De Morgan's law one unit; 0 for none.

    The arguments are those of ``AND``; the unit says that all are false.
    """
    return 1 - AND(*map(NOT, es), name=name, layer=layer)


def NOT(e: Expression | Number) -> Expression:
    r""":math:`\neg e = 1 - e`, no unit."""
    return 1 - as_expression(e)


def if_then_else(c: Expression | Number, t: Any, e: Any = 0) -> Any:
    r"""If c then t else e, :math:`\mathrm{slu}(t - 1 + c) + \mathrm{slu}(e - c)`; the second unit only if e is not 0.

    Right for :math:`c \in \{0, 1\}` and :math:`t, e \in [0, 1]`, and for no wider range: of a t below 0 or above 1 the
    unit keeps the nearest of these.

    Args:
        c: the condition.
        t: an expression, or a vector of them, for which the choice is made entry by entry.
        e: as t; 0 stands for the zero vector too.

    Raises:
        ValueError: t and e are vectors of different lengths.

    Source: (4.29) of the lecture notes, which has no "else".
    """
    if isinstance(t, tuple | list) or isinstance(e, tuple | list):
        size = len(t if isinstance(t, tuple | list) else e)
        ts, es = (v if isinstance(v, tuple | list) else [v] * size for v in (t, e))
        if len(ts) != len(es):
            raise ValueError(f"the vectors of a choice have {len(ts)} and {len(es)} entries")
        return tuple(if_then_else(c, x, y) for x, y in zip(ts, es, strict=True))
    c, t, e = as_expression(c), as_expression(t), as_expression(e)
    otherwise = slu(e - c) if e != as_expression(0) else as_expression(0)
    return slu(t - 1 + c) + otherwise


def maximum(*es: Expression | Number) -> Expression:
    r""":math:`\max(x, y) = x + \mathrm{relu}(y - x)`, from left to right: n expressions nest n - 1 units.

    Raises:
        ValueError: there is none.
    """
    if not es:
        raise ValueError("nothing has no maximum")
    largest, *others = map(as_expression, es)
    for e in others:
        largest += relu(e - largest)
    return largest


def affine(
    A: Matrix | Sequence[Sequence[Number]],
    vector: Sequence[Expression | Number],
    b: Sequence[Expression | Number] | None = None,
) -> Vector:
    """The vector of expressions :math:`A v + b`; no b is 0.

    Raises:
        TypeError: an entry of A is no exact number.
        ValueError: the sizes do not fit.
    """
    A = Matrix.of(A, "A")
    b = [0] * A.rows if b is None else b
    if A.columns != len(vector) or A.rows != len(b):
        raise ValueError(f"A has the shape {A.shape}, but the vector has {len(vector)} entries and b has {len(b)}")
    v = [as_expression(e) for e in vector]
    return tuple(total([*(a * v[j] for j, a in A.row(i).items()), b[i]]) for i in range(A.rows))


def stack(*vectors: Sequence[Expression | Number] | Expression | Number) -> Vector:
    """One vector of all entries in order; an expression counts as a vector of one entry."""
    parts = [part if isinstance(part, tuple | list) else (part,) for part in vectors]
    return tuple(as_expression(e) for part in parts for e in part)


def variables(prefix: str, n: int) -> Vector:
    r"""The vector of the variables ``prefix1``, ..., ``prefixn``."""
    return tuple(variable(f"{prefix}{i}") for i in range(1, n + 1))


def _layer(activation: str, e: Any, name: str | None) -> Any:
    if not isinstance(e, tuple | list):
        return unit(activation, as_expression(e), name)
    return tuple(unit(activation, as_expression(x), name and f"{name}{i}") for i, x in enumerate(e, start=1))
