"""Steps with one hidden layer for the tests: random ones in floats and in fractions, and a plain loop over them."""

from fractions import Fraction

import torch
from hypothesis import strategies as st

from fhx.approximation import ShallowCell

FRACTIONS = st.builds(Fraction, st.integers(-4, 4), st.integers(1, 3))


def vectors(n):
    return st.tuples(*[FRACTIONS] * n)


def matrices(rows, columns):
    return st.tuples(*[vectors(columns)] * rows)


@st.composite
def exact_nets(draw):
    """V, A, B, c, d, h0 and some inputs."""
    d, units, inputs = draw(st.integers(1, 3)), draw(st.integers(1, 4)), draw(st.integers(0, 2))
    shapes = [matrices(d, units), matrices(units, d), matrices(units, inputs), vectors(units), vectors(d), vectors(d)]
    return [draw(shape) for shape in shapes], draw(st.lists(vectors(inputs), max_size=4))


def exact_states(weights, xs):
    """By Python's fractions, from the definition."""
    V, A, B, c, d, h = weights
    states = []
    for x in xs:
        units = [max(0, dot(a, h) + dot(b, x) + e) for a, b, e in zip(A, B, c, strict=True)]
        h = tuple(dot(v, units) + e for v, e in zip(V, d, strict=True))
        states.append(h)
    return states


def dot(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True))


def random_cell(seed, d=3, units=7, inputs=2, activation="relu", gain=1.0):
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape):
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    V, A = normal(d, units), normal(units, d)
    V = gain * V / (torch.linalg.matrix_norm(V, 2) * torch.linalg.matrix_norm(A, 2))
    return ShallowCell(V, A, normal(units, inputs), normal(units), normal(d), activation)
