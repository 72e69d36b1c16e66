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
from functools import cached_property
from types import MappingProxyType
from weakref import WeakValueDictionary

from attrs import field, frozen

from fhx.exact.numbers import Activation, Exact, Number, number
from fhx.exact.simple_rnn import ACTIVATIONS

__all__ = ["Expression", "Unit", "Vector", "as_expression", "const", "sum_of", "unit", "units_of", "variable"]

SHOWN_TERMS, SHOWN_LAYERS = 8, 3


class _Form:
    """What a unit computes, whatever it is called: equal units have one form, so that comparing them is quick."""

    __slots__ = ("__weakref__", "inside")

    def __init__(self, inside: tuple[_Form, ...]) -> None:
        self.inside = inside  # kept alive, since their ids are in the key of this form


_FORMS: WeakValueDictionary[tuple[object, ...], _Form] = WeakValueDictionary()


@frozen(eq=False, repr=False)
class Unit:
    r"""The atom :math:`\sigma(\text{argument})`; :func:`fhx.exact.relu` and ``slu`` make it.

    Attributes:
        activation: "relu" or "slu".
        argument: an ``Expression`` that is not a constant.
        name: what figures and errors call it, or None. It has no part in equality.
        depth: how many hidden layers deep it lies: 1 more than its argument needs.
    """

    activation: Activation
    argument: Expression
    name: str | None = None
    depth: int = field(init=False)

    @depth.default
    def _one_deeper(self) -> int:
        return 1 + self.argument.depth

    @cached_property
    def _form(self) -> _Form:
        forms = {atom: atom._form for atom in self.argument.terms if isinstance(atom, Unit)}
        terms = frozenset(
            (id(forms[atom]) if isinstance(atom, Unit) else atom, c) for atom, c in self.argument.terms.items()
        )
        key = self.activation, terms, self.argument.constant
        form = _FORMS.get(key)
        if form is None:
            form = _FORMS[key] = _Form(tuple(forms.values()))
        return form

    def __hash__(self) -> int:
        return hash(self._form)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Unit) and self._form is other._form)

    def to_text(self, layers: int = SHOWN_LAYERS) -> str:
        """Its name if it has one; else as it was written, but for what lies more than ``layers`` layers deep."""
        return self.name or f"{self.activation}({self.argument.to_text(layers - 1) if layers else '...'})"

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return f"Unit({self})"


Atom = str | Unit
Terms = Mapping[Atom, Exact] | Mapping[str, Exact] | Mapping[Unit, Exact]


def _checked(terms: Terms) -> dict[Atom, Number]:
    """The terms that are not 0."""
    kept: dict[Atom, Number] = {}
    for atom, c in terms.items():
        if not isinstance(atom, Atom):
            raise TypeError(f"an atom is the name of a variable or a unit, not the {type(atom).__name__} {atom!r}")
        if exact := c if type(c) is int else number(c, f"the coefficient of {atom}"):
            kept[atom] = exact
    return kept


def _constant(value: Exact) -> Number:
    return number(value, "the constant")


@frozen(eq=False, repr=False)
class Expression:
    """An affine combination of atoms; made by ``variable``, ``const``, sums, multiples, and units of these.

    Args:
        terms: ``{atom: number}``, stored read-only without zeros; an atom is a variable's name or a ``Unit``.
        constant: a number.

    Raises:
        TypeError: an atom is neither a name nor a unit, or a number is not exact.
    """

    _terms: dict[Atom, Number] = field(converter=_checked)
    constant: Number = field(default=0, converter=_constant)

    @property
    def terms(self) -> Mapping[Atom, Number]:
        """The coefficients that are not 0, by their atoms."""
        return MappingProxyType(self._terms)

    @cached_property
    def _hash(self) -> int:
        return hash((frozenset(self._terms.items()), self.constant))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Expression):
            return NotImplemented
        return self is other or (self.constant == other.constant and self._terms == other._terms)

    @property
    def depth(self) -> int:
        """How many hidden layers it needs as it is written; 0 if it is affine in the variables."""
        return max((atom.depth for atom in self._terms if isinstance(atom, Unit)), default=0)

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables that occur in it, those inside units last, each once."""
        inside = (name for unit in units_of([self]) for name in unit.argument.terms)
        return tuple(dict.fromkeys(atom for atom in (*self._terms, *inside) if isinstance(atom, str)))

    def evaluate(self, values: Mapping[str, Exact]) -> Number:
        """Its value, straight from the definition.

        Args:
            values: of its variables, and perhaps of others.

        Raises:
            TypeError: a value is not an exact number.
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
        return sum((c * known[atom] for atom, c in self._terms.items()), self.constant)

    def affine_terms(self) -> Mapping[str, Number]:
        """The coefficients of its variables, if it has no units.

        Raises:
            ValueError: it has some.
        """
        terms = {atom: c for atom, c in self._terms.items() if isinstance(atom, str)}
        if len(terms) < len(self._terms):
            raise ValueError(f"{self} is not affine: it has units")
        return terms

    def substitute(self, values: Mapping[str, Expression | Exact]) -> Expression:
        """The expression with variables replaced, inside units too; variables that are not named stay."""
        known: dict[Atom, Expression] = {name: as_expression(value) for name, value in values.items()}
        for old in units_of([self]):
            known[old] = unit(old.activation, old.argument.replace(known), old.name)
        return self.replace(known)

    def replace(self, known: Mapping[Atom, Expression]) -> Expression:
        """The sum with some of its atoms replaced; what is inside the units that stay is not touched."""
        terms: dict[Atom, Number] = {}
        constant = self.constant
        for atom, coefficient in self._terms.items():
            if atom not in known:
                terms[atom] = terms.get(atom, 0) + coefficient
                continue
            constant += coefficient * known[atom].constant
            for part, factor in known[atom].terms.items():
                terms[part] = terms.get(part, 0) + coefficient * factor
        return Expression(terms, constant)

    def __add__(self, other: Expression | Exact) -> Expression:
        return sum_of((self, other))

    __radd__ = __add__

    def __neg__(self) -> Expression:
        return self * -1

    def __sub__(self, other: Expression | Exact) -> Expression:
        return sum_of((self, -as_expression(other)))

    def __rsub__(self, other: Expression | Exact) -> Expression:
        return -self + other

    def __mul__(self, factor: Expression | Exact) -> Expression:
        if isinstance(factor, Expression):
            if factor.terms and self.terms:
                raise TypeError(f"the product of ({self}) and ({factor}) is not piecewise linear")
            return self * factor.constant if self.terms else factor * self.constant
        k = number(factor, "a factor")
        return Expression({atom: k * c for atom, c in self._terms.items()}, k * self.constant)

    __rmul__ = __mul__

    def __truediv__(self, divisor: Exact) -> Expression:
        return self * (1 / Fraction(number(divisor, "a divisor")))

    def to_text(self, layers: int = SHOWN_LAYERS) -> str:
        """As it was written, but for units more than ``layers`` layers deep and terms after the first eight."""
        signed = [
            ("-" if c < 0 else "+", str(abs(c)), atom if isinstance(atom, str) else atom.to_text(layers))
            for atom, c in list(self._terms.items())[:SHOWN_TERMS]
        ]
        pieces = [f"{sign} {'' if size == '1' else size + ' '}{atom}" for sign, size, atom in signed]
        if (more := len(self._terms) - SHOWN_TERMS) > 0:
            pieces.append(f"+ ... ({more} more terms)")
        if self.constant or not pieces:
            pieces.append(f"{'-' if self.constant < 0 else '+'} {abs(self.constant)}")
        text = " ".join(pieces)
        return text[2:] if text[0] == "+" else f"-{text[2:]}"

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return f"Expression({self})"


Vector = tuple[Expression, ...]


def variable(name: str) -> Expression:
    """The variable of that name; a TypeError if it is not a string."""
    if not isinstance(name, str):
        raise TypeError(f"the name of a variable is a string, not the {type(name).__name__} {name!r}")
    return Expression({name: 1})


def const(k: Exact) -> Expression:
    """The constant ``k``; a TypeError if it is not an exact number."""
    return Expression({}, k)


def as_expression(value: Expression | Exact) -> Expression:
    """An expression as it is, and an exact number as a constant; a TypeError for anything else."""
    return value if isinstance(value, Expression) else const(value)


def sum_of(expressions: Iterable[Expression | Exact]) -> Expression:
    """The sum of the ``expressions``, in time linear in the number of terms; 0 for none."""
    terms: dict[Atom, Number] = {}
    constant: Number = 0
    for e in map(as_expression, expressions):
        constant += e.constant
        for atom, coefficient in e.terms.items():
            terms[atom] = terms.get(atom, 0) + coefficient
    return Expression(terms, constant)


def unit(activation: Activation, argument: Expression, name: str | None = None) -> Expression:
    """One unit; that of a constant is a constant."""
    if not argument.terms:
        return const(ACTIVATIONS[activation](argument.constant))
    return Expression({Unit(activation, argument, name): 1})


def units_of(expressions: Iterable[Expression]) -> list[Unit]:
    """All units in the ``expressions``, each once, shallow ones first and then in the order of first occurrence."""
    found: dict[Unit, None] = {}
    for e in expressions:
        waiting = [e]
        while waiting:
            fresh = [atom for atom in waiting.pop().terms if isinstance(atom, Unit) and atom not in found]
            found.update(dict.fromkeys(fresh))
            waiting += (unit.argument for unit in reversed(fresh) if unit.depth > 1)
    return sorted(found, key=lambda unit: unit.depth)
