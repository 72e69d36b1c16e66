r"""A quadratic norm for cells :math:`\sigma(W h + e)` whose slopes lie between 0 and 1, for all biases and inputs.

Let :math:`P \succ 0`, and let T be diagonal with no negative entry. Two states that are :math:`\delta` apart have
arguments that are :math:`W \delta` apart, and next states that are :math:`\eta` apart with
:math:`\eta_j^2 \le \eta_j (W \delta)_j` for each unit. So if

.. math:: M = \begin{pmatrix} \lambda^2 P & -W^\top T \\ -T W & 2 T - P \end{pmatrix} \succeq 0,

then :math:`0 \le (\delta, \eta)^\top M (\delta, \eta) = \lambda^2 |\delta|_P^2 - |\eta|_P^2
- 2\, \eta^\top T (W \delta - \eta)`, the last term is at least 0, and the gain in :math:`|h|_P` is at most
:math:`\lambda`. With :math:`T = P` diagonal it is :math:`W^\top P W \preceq \lambda^2 P`, diagonal Schur stability.

A solver finds P and T (``pip install 'fhx[convex]'``); the rate that :func:`slope_restricted_gain` states rests on its
own arithmetic alone, for whatever P and T it is given.
"""

from itertools import product
from math import inf, sqrt
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh
from torch import Tensor

from fhx._extras import needs
from fhx.stability.norms import EPS, above, exact

UPWARDS = tuple(2.0**-k for k in range(44, 3, -2))  # parts by which a guess of the square of the gain is raised


def slope_restricted_gain(W: Float[Tensor, "d d"], P: Float[Tensor, "d d"], T: Float[Tensor, " d"]) -> float:
    r"""An upper bound of the gain in :math:`|h|_P = \sqrt{h^\top P h}`, certified by M; rounding included.

    The least :math:`\lambda^2` with :math:`M \succeq 0` is an eigenvalue, which is a guess; it is raised a little until
    M, as it is computed in float64, has no eigenvalue below what rounding can hide.

    Args:
        W: the matrix of the cell, times the largest slope of its activation.
        P: symmetric.
        T: the diagonal, no number of it negative.

    Returns:
        :math:`\lambda`; inf where P, or :math:`2 T - P`, is not positive definite beyond rounding.

    Raises:
        ValueError: the three are of different sizes, or hold a number that is not finite.
    """
    W, P, T = exact("W", W).cpu(), exact("P", P).cpu(), exact("T", T).cpu()
    n = len(W)
    if W.shape != (n, n) or P.shape != (n, n) or T.shape != (n,):
        raise ValueError(f"W, P and T are of different sizes: {tuple(W.shape)}, {tuple(P.shape)}, {tuple(T.shape)}")
    P, S = (P + P.mT) / 2, 2 * torch.diag(T) - (P + P.mT) / 2
    if (T < 0).any() or not _definite(P) or not _definite(S):
        return inf
    scale = W.abs().max().item()
    if scale == 0:
        return 0.0
    TW = T[:, None] * (W / scale)
    try:
        image = TW.numpy().T @ cho_solve(cho_factor(S.numpy()), TW.numpy())
        guess = max(0.0, float(eigh((image + image.T) / 2, P.numpy(), eigvals_only=True)[-1]))
    except LinAlgError:
        return inf
    for part in UPWARDS:
        square = guess * (1 + part) + part * 1e-30
        if _definite(torch.cat([torch.cat([square * P, -TW.mT], 1), torch.cat([-TW, S], 1)])):
            return above(scale * sqrt(square) * (1 + 8 * EPS))
    return inf


def _definite(M: Float[Tensor, "n n"]) -> bool:
    """Whether M is positive semidefinite, and all that rounds to it in a few steps."""
    size = M.abs().max()
    if size == 0:
        return False
    M, n = M / size, len(M)
    return torch.linalg.eigvalsh(M)[0].item() > (8 + 4 * n) * EPS * M.norm().item()


def best_slope_norm(
    W: Float[Tensor, "d d"], diagonal: bool = False, digits: float = 1e-4
) -> tuple[float, Float[Tensor, "d d"], Float[Tensor, " d"]]:
    r"""P and T for which the certified gain is least, to a part of ``digits``, by bisection over :math:`\lambda`.

    Args:
        W: as for :func:`slope_restricted_gain`, not 0.
        diagonal: whether P must be diagonal, and T = P.
        digits: at which the bisection ends.

    Returns:
        The rate that :func:`slope_restricted_gain` certifies, P, and the diagonal of T.

    Raises:
        ValueError: W is not a square matrix of finite numbers, or no norm was found.
        MissingExtraError: cvxpy and its solver are not installed.

    Source: the inequality is that of slope-restricted nonlinearities, as in Fazlyab et al. (2019), "Efficient and
    accurate estimation of Lipschitz constants for deep neural networks", and Revay, Wang and Manchester (2021), "A
    convex parameterization of robust recurrent neural networks".
    """
    with needs("convex"):  # here, since nothing else needs the solver
        import cvxpy
    W = exact("W", W).cpu()
    n = len(W)
    if W.shape != (n, n) or not W.any():
        raise ValueError(f"a norm is looked for where W is a square matrix and not 0, got shape {tuple(W.shape)}")
    best = (inf, torch.eye(n, dtype=torch.float64), torch.ones(n, dtype=torch.float64))
    low, high = 0.0, torch.linalg.matrix_norm(W, 2).item() * (1 + digits)
    while high - low > digits * high:
        middle = (low + high) / 2
        found = _solve(cvxpy, W.numpy(), middle, diagonal)
        rate = inf if found is None else slope_restricted_gain(W, *found)
        if found is not None and rate < best[0]:
            best = (rate, *found)
        low, high = (low, min(middle, rate)) if rate <= middle * (1 + digits) else (middle, high)
    if best[0] == inf:
        raise ValueError("the solver found no norm")
    return best


def _solve(cvxpy: Any, W: np.ndarray, rate: float, diagonal: bool) -> tuple[Tensor, Tensor] | None:
    """P and T with the largest least eigenvalue of M at this rate, if the solver comes to an end."""
    n = len(W)
    t, least = cvxpy.Variable(n, nonneg=True), cvxpy.Variable()
    P = cvxpy.diag(t) if diagonal else cvxpy.Variable((n, n), symmetric=True)
    T = cvxpy.diag(t)
    M = cvxpy.bmat([[rate**2 * P, -W.T @ T], [-T @ W, 2 * T - P]])
    rules = [(M + M.T) / 2 >> least * np.eye(2 * n), P >> 1e-6 * np.eye(n), cvxpy.trace(P) == n]
    try:
        cvxpy.Problem(cvxpy.Maximize(least), rules).solve(solver=cvxpy.CLARABEL)
    except cvxpy.error.SolverError:
        return None
    if t.value is None:
        return None
    P = torch.from_numpy(np.asarray(P.value if not diagonal else np.diag(t.value), dtype=np.float64))
    return (P + P.mT) / 2, torch.from_numpy(np.asarray(t.value, dtype=np.float64))


def gain_of_every_norm(W: Float[Tensor, "d d"]) -> float:
    r"""A lower bound, in **every** norm, of the supremum over all biases of the gain of :math:`\sigma(W h + U x + b)`.

    Where a unit saturates its slope is as near 0 as one likes, and near :math:`a_j = 0` it is 1. So the Jacobians come
    near all :math:`D W` with a diagonal D of zeros and ones, and in every norm that supremum is at least the spectral
    radius of each: that of a principal submatrix of W. This is their largest, up to rounding; :math:`2^d - 1` of them.

    Raises:
        ValueError: W is not a square matrix of finite numbers, or has more than 16 rows.
    """
    W = exact("W", W).cpu()
    n = len(W)
    if W.shape != (n, n) or n > 16:
        raise ValueError(f"W must be a square matrix of at most 16 rows, got shape {tuple(W.shape)}")
    kept = torch.tensor([*product((0.0, 1.0), repeat=n)][1:], dtype=torch.float64)
    return torch.linalg.eigvals(kept[:, :, None] * W).abs().max().item()
