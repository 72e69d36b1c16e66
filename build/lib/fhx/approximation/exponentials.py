r"""What a memory costs in units: kernels of linear recurrences are sums of exponentials; Hankel matrices count them.

A kernel :math:`\rho(0), \dots, \rho(T)` fills the Hankel matrix :math:`H_{ij} = \rho(i + j)`. For
:math:`\rho(t) = C W^t U` with m units :math:`H_{ij} = (C W^i)(W^j U)` has rank m at most. How far a matrix is from
those of rank m is a matter of its singular values.

Source: Ho & Kalman (1966) for the factorisation, Adamyan, Arov & Krein (1971) for infinite matrices.
"""

from math import sqrt
from typing import Literal, get_args

import torch
from jaxtyping import Float
from torch import Tensor

from fhx._checks import one_of, positive
from fhx.approximation.linear import LinearRecurrence

Measure = Literal["sum", "energy", "largest"]
MEASURES: tuple[Measure, ...] = get_args(Measure)


def hankel_matrix(kernel: Float[Tensor, " steps"]) -> Float[Tensor, "p q"]:
    r""":math:`H_{ij} = \rho(i + j)`, as near to square as it can be: p + q = steps + 1 and p = q or p = q + 1.

    Raises:
        ValueError: the kernel is not a vector of at least one number, or not finite.
    """
    kernel = _checked(kernel)
    return kernel.unfold(0, (len(kernel) + 1) // 2, 1)


@torch.no_grad()
def hankel_bound(kernel: Float[Tensor, " steps"], units: int, measure: Measure = "sum") -> float:
    r"""A lower bound of the error of every linear recurrence of m units.

    Let :math:`e = \hat\rho - \rho` be the error of its kernel on t = 0, ..., T, and H, :math:`\hat H`, E the Hankel
    matrices. As :math:`\hat H = H + E` has rank m at most, :math:`\lVert E \rVert \ge \sigma_{m+1}` (Schmidt, Mirsky)
    and :math:`\lVert E \rVert_F \ge (\sum_{k>m} \sigma_k^2)^{1/2} =: \tau` (Eckart and Young), with the singular values
    of H. Each number of e stands on one antidiagonal of the :math:`p \times q` matrix E, at most :math:`\min(p, q)`
    times, so

    .. math::

       \sum_t |e(t)| \ge \lVert E \rVert \ge \sigma_{m+1}, \quad
       \Big(\sum_t e(t)^2\Big)^{1/2} \ge \frac{\tau}{\sqrt{\min(p, q)}}, \quad
       \max_t |e(t)| \ge \frac{\tau}{\sqrt{pq}}.

    Each holds for the first 2, 4, 8, ... numbers of the kernel too, and the best of these bounds is taken. What
    rounding may have added to the singular values is subtracted, so that the bound holds for the kernel as it is given.

    Args:
        kernel: :math:`\rho(0), \dots, \rho(T)`.
        units: m.
        measure: "sum", the largest error of an output within T + 1 steps from :math:`h_0 = 0`, for inputs within
            :math:`\pm 1`; "energy", the same for inputs with :math:`\sum_t x_t^2 \le 1`; "largest", that of a single
            number of the kernel.

    Raises:
        ValueError: the measure is unknown, ``units`` is not a positive integer, or the kernel is not a finite vector.

    Source: Schmidt (1907) and Mirsky (1960) for the norm, Eckart & Young (1936) for the sum of squares.
    """
    one_of("measure", measure, MEASURES)
    kernel, m = _checked(kernel).double(), positive("units", units)
    lengths = {len(kernel), *(2**k for k in range(1, len(kernel).bit_length()) if 2**k < len(kernel))}
    return max(_bound(hankel_matrix(kernel[:length]), m, measure) for length in lengths)


def _bound(H: Float[Tensor, "p q"], m: int, measure: Measure) -> float:
    sizes = torch.linalg.svdvals(H)
    rounding = 4 * max(H.shape) * torch.finfo(H.dtype).eps * sizes.norm().item()
    if m >= len(sizes):
        return 0.0
    if measure == "sum":
        return max(0.0, sizes[m].item() - rounding)
    share = min(H.shape) if measure == "energy" else H.shape[0] * H.shape[1]
    return max(0.0, sizes[m:].norm().item() - rounding) / sqrt(share)


@torch.no_grad()
def exponential_sum(kernel: Float[Tensor, " steps"], units: int) -> LinearRecurrence:
    r"""A linear recurrence of m units, with one input and one output, whose kernel is close to this one, in float64.

    .. math:: \hat\rho(t) = C W^t U = \sum_k c_k z_k^t, \qquad z_k \text{ the eigenvalues of } W,

    where :math:`z_k` may be complex, in pairs, and a multiple one comes with powers of t. The m leading singular
    vectors of the Hankel matrix, :math:`H \approx O R`, are read as :math:`O_i = C W^i`, :math:`R_j = W^j U`: one step
    down in O is W (least squares), and the first column of R is U. Then C is solved anew, by least squares for the
    whole kernel.

    If :math:`\rho` itself is a sum of m exponentials, it is found, up to rounding. Otherwise nothing says that no
    recurrence of m units does better, nor that this one is stable; ``hankel_bound`` says how much there is to gain.

    Args:
        kernel: :math:`\rho(0), \dots, \rho(T)`.
        units: m; fewer are used where the rank of the Hankel matrix is lower, up to rounding.

    Raises:
        ValueError: ``units`` is not a positive integer, or not below half the number of steps, or the kernel is not a
            finite vector, or is zero.

    Source: Ho & Kalman (1966), in the form with a singular value decomposition.
    """
    kernel, m = _checked(kernel).double(), positive("units", units)
    if 2 * m >= len(kernel):
        raise ValueError(f"{m} units need a kernel of more than {2 * m} steps, got {len(kernel)}")
    left, sizes, right = torch.linalg.svd(hankel_matrix(kernel), full_matrices=False)
    m = min(m, int((sizes > len(kernel) * torch.finfo(sizes.dtype).eps * sizes[0]).sum()))
    if not m:
        raise ValueError("the kernel is zero: no unit is needed")
    observed, reached = left[:, :m] * sizes[:m].sqrt(), sizes[:m].sqrt()[:, None] * right[:m]
    W, U = torch.linalg.lstsq(observed[:-1], observed[1:]).solution, reached[:, :1]
    powers = LinearRecurrence(W, U, torch.eye(m, dtype=W.dtype)).kernel(len(kernel))[..., 0]
    sizes = powers.norm(dim=0)
    C = torch.linalg.lstsq(powers / sizes, kernel[:, None], driver="gelsd").solution.T / sizes
    return LinearRecurrence(W, U, C)


def _checked(kernel: Tensor) -> Tensor:
    if kernel.ndim != 1 or not len(kernel) or not kernel.isfinite().all():
        raise ValueError(f"a kernel must be a vector of finite numbers, one for each step, got {tuple(kernel.shape)}")
    return kernel
