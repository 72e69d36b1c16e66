r"""A norm in which a stable matrix contracts: :math:`|h|_P = \sqrt{h^\top P h}`, from a Lyapunov equation."""

from math import inf, sqrt
from warnings import catch_warnings, simplefilter

import numpy as np
import torch
from jaxtyping import Float
from scipy.linalg import LinAlgWarning, eigh, solve_discrete_lyapunov
from torch import Tensor

from fhx.stability.norms import EPS, UP, above


def lyapunov_norm(A: Float[Tensor, "d d"]) -> Float[Tensor, "d d"]:
    r"""A symmetric :math:`P \succeq I` with :math:`A^\top P A \preceq \lambda^2 P` for some :math:`\lambda < 1`.

    With :math:`\rho` the spectral radius and :math:`r = (1 + \rho) / 2`, it solves

    .. math:: P = I + r^{-2} A^\top P A = \sum_{k \ge 0} r^{-2k} (A^k)^\top A^k,

    so that :math:`A^\top P A = r^2 (P - I)`, and :math:`\lambda \le r \sqrt{1 - 1 / \lVert P \rVert}`.

    Raises:
        ValueError: A is not a square matrix of finite numbers, or no norm is found in which it contracts in float64:
            its spectral radius is 1 or more, or the condition of P is so bad (about 1e14) that rounding hides it.

    Source: Horn and Johnson (2013), "Matrix analysis", lemma 5.6.10, which has another norm of this kind.
    """
    P = find_norm(A)
    if P is None:
        radius = torch.linalg.eigvals(A.detach().double()).abs().max().item()
        raise ValueError(f"no norm is certified in which the matrix contracts: its spectral radius is {radius:.17g}")
    return P


def find_norm(A: Float[Tensor, "d d"]) -> Float[Tensor, "d d"] | None:
    """What ``lyapunov_norm`` returns, or None where there is none."""
    A = A.detach().double()
    if A.ndim != 2 or A.shape[0] != A.shape[1] or not A.isfinite().all():
        raise ValueError(f"a Lyapunov equation needs a square matrix of finite numbers, got shape {tuple(A.shape)}")
    radius = torch.linalg.eigvals(A).abs().max().item()
    if radius >= 1:
        return None
    scaled = (A * (2 / (1 + radius))).cpu().numpy()
    with catch_warnings():
        simplefilter("ignore", LinAlgWarning)  # of a bad condition: what comes of it is certified, or not
        solution = solve_discrete_lyapunov(scaled.T, np.eye(len(A)))
    P = torch.from_numpy(solution).to(A)
    P = (P + P.mT) / 2
    return P if P.isfinite().all() and weighted_gain(A, P) < 1 else None


def weighted_gain(A: Float[Tensor, "d d"], P: Float[Tensor, "d d"]) -> float:
    r"""An upper bound of :math:`\sup |A h|_P / |h|_P`; inf where P is not positive definite beyond rounding.

    The largest generalised eigenvalue :math:`t` of :math:`(A^\top P A, P)` is a guess; what is certified is that
    :math:`t P - A^\top P A` has no eigenvalue below some :math:`-s`, so that the square of the gain is at most
    :math:`t + s / \lambda_{\min}(P)`.
    """
    scale = A.abs().max().item()
    if scale == 0:
        return 0.0
    A = A / scale  # so that no square is beyond the range of floats
    n, image = len(A), A.mT @ P @ A
    image = (image + image.mT) / 2
    spectrum = torch.linalg.eigvalsh(P)
    size = spectrum.abs().max().item() * (1 + (8 + n) * EPS)
    least = spectrum[0].item() - (8 + n) * EPS * size
    if least <= 0:
        return inf
    t = max(0.0, float(eigh(image.cpu().numpy(), P.cpu().numpy(), eigvals_only=True)[-1]))
    rounding = 4 * (8 + n) * EPS * size * (t + n * A.square().sum().item())
    below = max(0.0, -torch.linalg.eigvalsh(t * P - image)[0].item())
    return above(scale * sqrt(t + (rounding + below) / least) * UP)
