r"""Units, formulas in one hidden layer (the connectives of logic, a choice, a maximum), and vectors of expressions.

The truth values are 0 and 1, and the connectives are right for these only: ``AND(1/2, 1)`` is 1/2.

Source: Example 3.3 and (4.29) of the lecture notes.
"""

from collections.abc import Sequence
from typing import Protocol, overload

from fhx.exact.expression import Expression, Vector, as_expression, const, sum_of, unit, variable
from fhx.exact.matrix import Matrix, Rows
from fhx.exact.numbers import Activation, Exact, number

__all__ = ["AND", "NOT", "OR", "affine", "if_then_else", "maximum", "relu", "slu", "stack", "variables"]

Term = Expression | Exact
Terms = Sequence[Expression] | Sequence[Exact] | Sequence[Term]


class Layer(Protocol):
    """``relu`` or ``slu``."""

    def __call__(self, e: Term, name: str | None = None, /) -> Expression: ...


@overload
def relu(e: Term, name: str | None = None) -> Expression: ...
@overload
def relu(e: Terms, name: str | None = None) -> Vector: ...
def relu(e: Term | Terms, name: str | None = None) -> Expression | Vector:
    r"""The unit :math:`\max(e, 0)`; on a vector, one unit per entry, called ``name1``, ``name2``, ...

    Args:
        e: an expression or a vector of them.
        name: of the unit; without one it is shown as it was written.
    """
    return _layer("relu", e, name)


@overload
def slu(e: Term, name: str | None = None) -> Expression: ...
@overload
def slu(e: Terms, name: str | None = None) -> Vector: ...
def slu(e: Term | Terms, name: str | None = None) -> Expression | Vector:
    r"""The unit :math:`\min(\max(e, 0), 1)`; on a vector, one unit per entry, called ``name1``, ``name2``, ...

    Args:
        e: an expression or a vector of them.
        name: of the unit; without one it is shown as it was written.
    """
    return _layer("slu", e, name)


def AND(*es: Term, name: str | None = None, layer: Layer = relu) -> Expression:
    r""":math:`e_1 \wedge \dots \wedge e_n = \mathrm{relu}(\sum_i e_i - (n - 1))`, one unit; 1 for none.

    Args:
        es: expressions with values 0 and 1.
        name: of the unit.
        layer: ``relu`` or ``slu``, which agree here, since the argument is at most 1.
    """
    return layer(sum_of((*es, 1 - len(es))), name)


def OR(*es: Term, name: str | None = None, layer: Layer = relu) -> Expression:
    r""":math:`e_1 \vee \dots \vee e_n = 1 - \mathrm{relu}(1 - \sum_i e_i)`, by De Morgan's law one unit; 0 for none.

    The unit says that all are false.

    Args:
        es, name, layer: as for ``AND``.
    """
    return 1 - AND(*map(NOT, es), name=name, layer=layer)


def NOT(e: Term) -> Expression:
    r""":math:`\neg e = 1 - e`, no unit."""
    return 1 - as_expression(e)


@overload
def if_then_else(c: Term, t: Term, e: Term = 0) -> Expression: ...
@overload
def if_then_else(c: Term, t: Terms, e: Term | Terms = 0) -> Vector: ...
@overload
def if_then_else(c: Term, t: Term, e: Terms) -> Vector: ...
def if_then_else(c: Term, t: Term | Terms, e: Term | Terms = 0) -> Expression | Vector:
    r"""If c then t else e, :math:`\mathrm{slu}(t - 1 + c) + \mathrm{slu}(e - c)`; the second unit only if e is not 0.

    Right for :math:`c \in \{0, 1\}` and :math:`t, e \in [0, 1]`, and for no wider range: a t below 0 or above 1 becomes
    the nearest of these.

    Args:
        c: the condition.
        t: an expression, or a vector of them, for which the choice is made entry by entry.
        e: as t; 0 stands for the zero vector too.

    Raises:
        ValueError: t and e are vectors of different lengths.

    Source: (4.29) of the lecture notes, which has no "else".
    """
    sizes = [len(v) for v in (t, e) if isinstance(v, tuple | list)]
    if not sizes:
        return _choice(as_expression(c), _one(t), _one(e))
    if len(set(sizes)) > 1:
        raise ValueError(f"the vectors of a choice have {sizes[0]} and {sizes[1]} entries")
    pairs = zip(_entries(t, sizes[0]), _entries(e, sizes[0]), strict=True)
    return tuple(_choice(as_expression(c), x, y) for x, y in pairs)


def maximum(*es: Term) -> Expression:
    r""":math:`\max(x, y) = x + \mathrm{relu}(y - x)`, from left to right: n expressions nest n - 1 units.

    Args:
        es: the expressions, at least one.

    Raises:
        ValueError: there is none.
    """
    if not es:
        raise ValueError("nothing has no maximum")
    largest, *others = map(as_expression, es)
    for e in others:
        largest += relu(e - largest)
    return largest


def affine(A: Matrix | Rows, vector: Terms, b: Terms | None = None) -> Vector:
    """The vector of expressions :math:`A v + b`; no b is 0.

    Raises:
        TypeError: an entry of A is not an exact number.
        ValueError: the sizes do not fit.
    """
    A = Matrix.of(A, "A")
    b = [0] * A.rows if b is None else b
    if A.columns != len(vector) or A.rows != len(b):
        raise ValueError(f"A has the shape {A.shape}, but the vector has {len(vector)} entries and b has {len(b)}")
    v = [as_expression(e) for e in vector]
    return tuple(sum_of([*(a * v[j] for j, a in A.row(i).items()), b[i]]) for i in range(A.rows))


def stack(*vectors: Term | Terms) -> Vector:
    """One vector of all entries in order; an expression counts as a vector of one entry.

    Args:
        vectors: vectors and expressions.
    """
    return tuple(e for part in vectors for e in _entries(part))


def variables(prefix: str, n: int) -> Vector:
    r"""The vector of the variables ``prefix1``, ..., ``prefixn``.

    Args:
        prefix: what their names begin with.
        n: how many.
    """
    return tuple(variable(f"{prefix}{i}") for i in range(1, n + 1))


def _one(e: Term | Terms) -> Expression:
    """The expression; a TypeError for a vector, as for anything else that is neither an expression nor a number."""
    return e if isinstance(e, Expression) else const(number(e, "the constant"))


def _entries(e: Term | Terms, size: int = 1) -> Vector:
    """The entries of a vector; anything else ``size`` times."""
    return tuple(map(as_expression, e)) if isinstance(e, tuple | list) else (_one(e),) * size


def _choice(c: Expression, t: Expression, e: Expression) -> Expression:
    return slu(t - 1 + c) + (slu(e - c) if e != const(0) else const(0))


def _layer(activation: Activation, e: Term | Terms, name: str | None) -> Expression | Vector:
    if not isinstance(e, tuple | list):
        return unit(activation, _one(e), name)
    return tuple(unit(activation, x, name and f"{name}{i}") for i, x in enumerate(_entries(e), start=1))
