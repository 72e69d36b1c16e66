r"""Norms of weights, each computed in float64 and rounded upwards: no true norm is larger.

The unit roundoff of float64 is :math:`u = 2^{-53}`. A sum of n numbers of one sign, in any order, is off by at most
:math:`(n - 1) u / (1 - (n - 1) u)` of itself (Higham 2002, section 4.2); the singular values of an n by n matrix are
computed with an error of a small multiple of :math:`n u` times the largest one.
"""

from math import inf
from typing import Literal, get_args

import torch
from jaxtyping import Float
from torch import Tensor

from fhx.cells import AffineCell
from fhx.cells.activations import ACTIVATIONS, Activation

Norm = Literal[2, "max", "weighted", "lyapunov"]
AnyNorm = Norm | float  # float for inf, which means "max"
NORMS: tuple[Norm, ...] = get_args(Norm)

EPS = torch.finfo(torch.float64).eps
UP = 1 + 16 * EPS  # covers a handful of roundings of positive numbers
SLOPE_BOUNDS = {"tanh": 1.0, "relu": 1.0, "sigmoid": 0.25, "identity": 1.0}


def as_norm(norm: AnyNorm) -> Norm:
    """A norm of states by one of its names: inf means "max", as in torch.

    Raises:
        ValueError: it is not 2, "max", "weighted" or "lyapunov".
    """
    wanted = "max" if norm == inf else norm
    for known in NORMS:
        if wanted == known:
            return known
    raise ValueError(f"norm must be one of {', '.join(map(repr, NORMS))}, or inf for 'max', got {norm!r}")


def exact(name: str, weights: Tensor) -> Float[Tensor, "*shape"]:
    """The same numbers in float64, apart from the graph.

    Raises:
        ValueError: one is not finite.
    """
    weights = weights.detach().double()
    if not weights.isfinite().all():
        raise ValueError(f"nothing is certified for {name}, which holds an entry that is not finite")
    return weights


def exact_weights(cell: AffineCell, *names: str) -> list[Float[Tensor, "..."]]:
    """The weights of these names, exact."""
    return [exact(f"{name} of the {type(cell).__name__}", getattr(cell, name)) for name in names]


def row_sums(W: Float[Tensor, "rows columns"]) -> Float[Tensor, " rows"]:
    r"""An upper bound of :math:`\sum_j |W_{ij}|` for each row: how much a row can make of a vector of max norm 1."""
    return W.abs().sum(1) * (1 + W.shape[1] * EPS)


def max_norm(W: Float[Tensor, "rows columns"]) -> float:
    r"""An upper bound of :math:`\lVert W \rVert_\infty`, the largest row sum."""
    return row_sums(W).max().item()


def two_norm(W: Float[Tensor, "rows columns"]) -> float:
    r"""An upper bound of :math:`\lVert W \rVert_2`: the largest singular value, and :math:`(8 + n) 2 u` more."""
    return above(torch.linalg.matrix_norm(W, 2).item() * (1 + (8 + max(W.shape)) * EPS))


def above(value: float) -> float:
    """A little more than a positive number: a few of the smallest floats, which is nothing but where numbers are so
    small that a float has no relative precision, and 0 for 0."""
    return value + 2.0**-1070 if value else value


def slope_bound(activation: Activation) -> float:
    r"""The Lipschitz constant :math:`L_\sigma` of an activation.

    Raises:
        ValueError: it is not a named one, and its constant is unknown.
    """
    for named, known in ACTIVATIONS.items():
        if known is activation:
            return SLOPE_BOUNDS[named]
    name = getattr(activation, "__name__", repr(activation))
    raise ValueError(f"the Lipschitz constant of the activation {name} is unknown: use {', '.join(SLOPE_BOUNDS)}")
