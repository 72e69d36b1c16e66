r"""Piecewise linear expressions: affine combinations of variables and of units, :math:`\sigma(\text{expression})`.

.. math::

   e = c + \sum_i c_i a_i, \qquad a_i \text{ a variable, or a unit } \mathrm{relu}(e_i) \text{ or } \mathrm{slu}(e_i).

All numbers are exact. Expressions are immutable and compared by what is written: two sums with the same terms are
equal, and two units with the same activation and equal arguments are one unit, whatever their names. Expressions that
are written differently may still be the same function.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from fhx.exact.numbers import Number, number
from fhx.exact.simple_rnn import ACTIVATIONS

__all__ = ["Expression", "Unit", "Vector", "as_expression", "const", "total", "unit", "units_of", "variable"]

Vector = tuple["Expression", ...]
SHOWN_TERMS, SHOWN_LAYERS = 8, 3


class Unit:
    r"""The atom :math:`\sigma(\text{argument})`; :func:`fhx.exact.relu` and ``slu`` make it.

    Attributes:
        activation: "relu" or "slu".
        argument: an ``Expression`` that is no constant.
        name: what figures and errors call it, or None. It has no part in equality.
        depth: how many hidden layers deep it lies: 1 more than its argument needs.
    """

    __slots__ = ("_hash", "activation", "argument", "depth", "name")

    def __init__(self, activation: str, argument: Expression, name: str | None = None) -> None:
        fields = (activation, argument, name, 1 + argument.depth, hash((activation, argument)))
        for field, value in zip(("activation", "argument", "name", "depth", "_hash"), fields, strict=True):
            object.__setattr__(self, field, value)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("a unit is immutable")

    def __reduce__(self) -> tuple[Any, ...]:
        return Unit, (self.activation, self.argument, self.name)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        """Equal arguments become one object, so that nested units are compared once and not once for every path."""
        if self is other:
            return True
        if not isinstance(other, Unit) or self._hash != other._hash or self.activation != other.activation:
            return False
        if self.argument is other.argument or self.argument == other.argument:
            object.__setattr__(other, "argument", self.argument)
            return True
        return False

    def written(self, layers: int = SHOWN_LAYERS) -> str:
        """Its name if it has one; else as it was written, but for what lies more than so many layers deep."""
        return self.name or f"{self.activation}({self.argument.written(layers - 1) if layers else '...'})"

    def __str__(self) -> str:
        return self.written()

    def __repr__(self) -> str:
        return f"Unit({self})"


Atom = str | Unit


class Expression:
    """An affine combination of atoms; made by ``variable``, ``const``, sums, multiples, and units of these.

    Attributes:
        terms: read-only, ``{atom: nonzero number}``; an atom is a variable's name or a ``Unit``.
        constant: a number.
    """

    __slots__ = ("_hash", "constant", "terms")

    terms: Mapping[Atom, Number]
    constant: Number

    def __init__(self, terms: Mapping[Atom, Number], constant: Number = 0) -> None:
        """Raises a TypeError for an atom that is neither a name nor a unit, or a number that is not exact."""
        for atom in terms:
            if not isinstance(atom, Atom):
                raise TypeError(f"an atom is the name of a variable or a unit, not the {type(atom).__name__} {atom!r}")
        kept = {a: c if type(c) is int else number(c, f"the coefficient of {a}") for a, c in terms.items()}
        self._fill({atom: c for atom, c in kept.items() if c}, number(constant, "the constant"))

    def _fill(self, terms: dict[Atom, Number], constant: Number) -> Expression:
        object.__setattr__(self, "terms", MappingProxyType(terms))
        object.__setattr__(self, "constant", constant)
        object.__setattr__(self, "_hash", None)
        return self

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("an expression is immutable")

    def __reduce__(self) -> tuple[Any, ...]:
        return Expression, (dict(self.terms), self.constant)

    def __hash__(self) -> int:
        if self._hash is None:
            object.__setattr__(self, "_hash", hash((frozenset(self.terms.items()), self.constant)))
        return self._hash

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Expression):
            return NotImplemented
        return self is other or (self.constant == other.constant and self.terms == other.terms)

    @property
    def depth(self) -> int:
        """How many hidden layers it needs as it is written; 0 if it is affine in the variables."""
        return max((atom.depth for atom in self.terms if isinstance(atom, Unit)), default=0)

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables that occur in it, those inside of units last, each once."""
        inside = (name for unit in units_of([self]) for name in unit.argument.terms)
        return tuple(dict.fromkeys(atom for atom in (*self.terms, *inside) if isinstance(atom, str)))

    def evaluate(self, values: Mapping[str, Number]) -> Number:
        """Its value, straight from the definition.

        Args:
            values: of its variables, and perhaps of others.

        Raises:
            TypeError: a value is no exact number.
            ValueError: a variable has no value.
        """
        known: dict[Atom, Number] = {name: number(value, name) for name, value in values.items()}
        if missing := [name for name in self.variables if name not in known]:
            raise ValueError(f"{self} has no value, since its variables {missing} have none")
        for unit in units_of([self]):
            known[unit] = ACTIVATIONS[unit.activation](unit.argument.combine(known))
        return number(self.combine(known), "the value")

    def combine(self, known: Mapping[Atom, Number]) -> Number:
        """The sum of its terms, where the values of all its atoms are known, those of units too."""
        return sum((c * known[atom] for atom, c in self.terms.items()), self.constant)

    def substitute(self, values: Mapping[str, Expression | Number]) -> Expression:
        """The expression with variables replaced, inside of units too; variables that are not named stay."""
        known: dict[Atom, Expression] = {name: as_expression(value) for name, value in values.items()}
        for old in units_of([self]):
            known[old] = unit(old.activation, old.argument.replace(known), old.name)
        return self.replace(known)

    def replace(self, known: Mapping[Atom, Expression]) -> Expression:
        """The sum with some of its atoms replaced; what is inside of the units that stay is not touched."""
        terms: dict[Atom, Number] = {}
        constant = self.constant
        for atom, coefficient in self.terms.items():
            if atom not in known:
                terms[atom] = terms.get(atom, 0) + coefficient
                continue
            constant += coefficient * known[atom].constant
            for part, factor in known[atom].terms.items():
                terms[part] = terms.get(part, 0) + coefficient * factor
        return _expression(terms, constant)

    def __add__(self, other: Any) -> Expression:
        return total((self, other))

    __radd__ = __add__

    def __neg__(self) -> Expression:
        return self * -1

    def __sub__(self, other: Any) -> Expression:
        return total((self, -as_expression(other)))

    def __rsub__(self, other: Any) -> Expression:
        return -self + other

    def __mul__(self, factor: Any) -> Expression:
        if isinstance(factor, Expression):
            if factor.terms and self.terms:
                raise TypeError(f"the product of ({self}) and ({factor}) is not piecewise linear")
            return self * factor.constant if self.terms else factor * self.constant
        k = number(factor, "a factor")
        return _expression({atom: k * c for atom, c in self.terms.items()}, k * self.constant)

    __rmul__ = __mul__

    def __truediv__(self, divisor: Any) -> Expression:
        return self * (1 / Fraction(number(divisor, "a divisor")))

    def written(self, layers: int = SHOWN_LAYERS) -> str:
        """As it was written, but for units more than so many layers deep and terms after the first eight."""
        signed = [
            ("-" if c < 0 else "+", str(abs(c)), atom if isinstance(atom, str) else atom.written(layers))
            for atom, c in list(self.terms.items())[:SHOWN_TERMS]
        ]
        pieces = [f"{sign} {'' if size == '1' else size + ' '}{atom}" for sign, size, atom in signed]
        if (more := len(self.terms) - SHOWN_TERMS) > 0:
            pieces.append(f"+ ... ({more} more terms)")
        if self.constant or not pieces:
            pieces.append(f"{'-' if self.constant < 0 else '+'} {abs(self.constant)}")
        text = " ".join(pieces)
        return text[2:] if text[0] == "+" else f"-{text[2:]}"

    def __str__(self) -> str:
        return self.written()

    def __repr__(self) -> str:
        return f"Expression({self})"


def variable(name: str) -> Expression:
    """The variable of that name; a TypeError if it is no string."""
    if not isinstance(name, str):
        raise TypeError(f"the name of a variable is a string, not the {type(name).__name__} {name!r}")
    return _expression({name: 1}, 0)


def const(k: Number) -> Expression:
    """A constant; a TypeError if it is no exact number."""
    return _expression({}, number(k, "the constant"))


def as_expression(value: Expression | Number) -> Expression:
    """An expression as it is, and an exact number as a constant; a TypeError for anything else."""
    return value if isinstance(value, Expression) else const(value)


def total(expressions: Iterable[Expression | Number]) -> Expression:
    """Their sum, in time linear in the number of terms; 0 for none."""
    terms: dict[Atom, Number] = {}
    constant: Number = 0
    for e in map(as_expression, expressions):
        constant += e.constant
        for atom, coefficient in e.terms.items():
            terms[atom] = terms.get(atom, 0) + coefficient
    return _expression(terms, constant)


def unit(activation: str, argument: Expression, name: str | None = None) -> Expression:
    """One unit; that of a constant is a constant."""
    if not argument.terms:
        return const(ACTIVATIONS[activation](argument.constant))
    return _expression({Unit(activation, argument, name): 1}, 0)


def units_of(expressions: Iterable[Expression]) -> list[Unit]:
    """All units that occur, each once, shallow ones first and then in the order of first occurrence."""
    found: dict[Unit, None] = {}
    for e in expressions:
        waiting = [e]
        while waiting:
            fresh = [atom for atom in waiting.pop().terms if isinstance(atom, Unit) and atom not in found]
            found.update(dict.fromkeys(fresh))
            waiting += (unit.argument for unit in reversed(fresh) if unit.depth > 1)
    return sorted(found, key=lambda unit: unit.depth)


def _expression(terms: dict[Atom, Number], constant: Number) -> Expression:
    """An expression of terms that are known to be right but may be zero."""
    if 0 in terms.values():
        terms = {atom: c for atom, c in terms.items() if c}
    return Expression.__new__(Expression)._fill(terms, constant)
