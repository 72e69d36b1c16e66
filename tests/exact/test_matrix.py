"""Exact numbers and sparse matrices."""

import copy
import re
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from exact_nets import NUMBERS
from hypothesis import given
from hypothesis import strategies as st

from fhx.exact import Matrix
from fhx.exact.numbers import number, quotient, vector

SIZES = st.integers(0, 4)


def matrices(rows, columns, numbers=NUMBERS):
    row = st.lists(numbers, min_size=columns, max_size=columns)
    return st.lists(row, min_size=rows, max_size=rows)


@pytest.mark.parametrize("value", [3, np.int64(3), np.uint8(3), Fraction(3), Fraction(6, 2)])
def test_whole_numbers_become_ints(value):
    assert number(value, "x") == 3
    assert type(number(value, "x")) is int


def test_fractions_stay():
    assert number(Fraction(2, 6), "x") == Fraction(1, 3)
    assert quotient(6, 4) == Fraction(3, 2)
    assert type(quotient(6, 3)) is int


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (0.5, "float"),
        (2.0, "float"),
        (np.float64(1), "float64"),
        (True, "bool"),
        (np.bool_(True), "bool"),
        (Decimal(1), "Decimal"),
        (1j, "complex"),
        ("1", "str"),
        (None, "NoneType"),
    ],
)
def test_nothing_else_is_exact(value, kind):
    with pytest.raises(TypeError, match=f"^c is the {kind}"):
        number(value, "c")


def test_an_error_names_the_entry():
    with pytest.raises(TypeError, match=re.escape("W[1, 2] is the float 0.5: exact numbers")):
        Matrix.of([[1, 2, 3], [4, 5, 0.5]], "W")
    with pytest.raises(TypeError, match=re.escape("entry [1, 0] is the bool True")):
        Matrix((2, 2), {(0, 0): 1, (1, 0): True})
    with pytest.raises(TypeError, match=re.escape("b[1] is the float 1.0")):
        vector([1, 1.0], "b")


def test_shapes():
    with pytest.raises(ValueError, match=re.escape("W is not a matrix: row 0 has 2 entries and row 1 has 1")):
        Matrix.of([[1, 2], [3]], "W")
    with pytest.raises(ValueError, match=re.escape("entry [2, 0] lies outside a matrix of shape (2, 2)")):
        Matrix((2, 2), {(2, 0): 1})
    with pytest.raises(ValueError, match="outside"):
        Matrix((2, 2), {(0, -1): 1})
    with pytest.raises(ValueError, match="shape"):
        Matrix((2,), {})
    with pytest.raises(ValueError, match=re.escape("shapes (1, 2) and (1, 2) cannot be multiplied")):
        Matrix.of([[1, 2]]) @ Matrix.of([[1, 2]])
    with pytest.raises(ValueError, match=re.escape("shapes (1, 2) and (2, 1) cannot be added")):
        Matrix.of([[1, 2]]) + Matrix.of([[1], [2]])
    with pytest.raises(ValueError, match="the vector has 3 entries, but 2 are needed"):
        Matrix.of([[1, 2]]) @ (1, 2, 3)


def test_what_is_stored():
    matrix = Matrix.of(np.array([[0, 2], [3, 0]]))
    assert dict(matrix.entries) == {(0, 1): 2, (1, 0): 3}
    assert (matrix.rows, matrix.columns) == (2, 2)
    assert matrix.column(0) == {1: 3}
    assert matrix.row(0) == {1: 2}
    assert matrix.dense() == ((0, 2), (3, 0))
    assert Matrix.of(matrix) is matrix


def test_a_matrix_is_a_value():
    entries = {(0, 0): Fraction(1, 2), (1, 1): 0}
    matrix = Matrix((2, 2), entries)
    entries[0, 0] = 7
    assert matrix == Matrix.of([[Fraction(1, 2), 0], [0, 0]])
    assert hash(matrix) == hash(Matrix.of([[Fraction(1, 2), 0], [0, 0]]))
    assert type(Matrix((1, 1), {(0, 0): Fraction(2)}).entries[0, 0]) is int
    assert Matrix([2, 2], matrix.entries) == matrix
    assert matrix != Matrix((2, 3), {(0, 0): Fraction(1, 2)})
    assert copy.deepcopy(matrix) == matrix
    with pytest.raises(TypeError):
        matrix.entries[0, 0] = 7
    with pytest.raises(TypeError):
        matrix.column(0)[0] = 7
    with pytest.raises(AttributeError):
        matrix.shape = (1, 1)


@given(st.data(), SIZES, SIZES, SIZES)
def test_algebra_is_that_of_dense_matrices(data, m, n, k):
    a, b, c = data.draw(matrices(m, n)), data.draw(matrices(m, n)), data.draw(matrices(n, k))
    A, B, C = (_matrix(rows, shape) for rows, shape in ((a, (m, n)), (b, (m, n)), (c, (n, k))))
    assert (A + B).dense() == tuple(tuple(a[i][j] + b[i][j] for j in range(n)) for i in range(m))
    product = [[sum(a[i][l] * c[l][j] for l in range(n)) for j in range(k)] for i in range(m)]
    assert (A @ C).dense() == tuple(map(tuple, product))
    for j in range(k):
        assert A @ [C.column(j).get(i, 0) for i in range(n)] == tuple(row[j] for row in product)
    assert 0 not in (A + B).entries.values()


def _matrix(rows, shape):
    return Matrix(shape, {(i, j): value for i, row in enumerate(rows) for j, value in enumerate(row)})


def test_a_matrix_is_shown_as_it_is_written():
    matrix = Matrix((2, 2), {(0, 1): 3})
    assert repr(matrix) == "Matrix(shape=(2, 2), entries={(0, 1): 3})"
    assert eval(repr(matrix)) == matrix
