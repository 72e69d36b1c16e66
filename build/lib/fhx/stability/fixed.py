"""The state that a contraction settles in under one input, by Banach's iteration."""

from copy import deepcopy
from dataclasses import dataclass
from math import ceil, inf, log

import torch
from jaxtyping import Float
from torch import Tensor

from fhx._checks import positive_number
from fhx.cells import Cell
from fhx.cells.kinds import refuse_torch_net
from fhx.stability.certificates import certificate_in
from fhx.stability.norms import UP, AnyNorm


@dataclass(frozen=True, eq=False)
class FixedPoint:
    r"""A state near the fixed point :math:`h^* = f(h^*, x)`.

    Args:
        state: :math:`h_n`, in float64.
        error_bound: :math:`\frac{\lambda}{1 - \lambda} |h_n - h_{n-1}| \ge |h_n - h^*|`, up to what rounding
            does to a step.
        steps: n.
        rate: :math:`\lambda`, of the certificate.
    """

    state: Float[Tensor, " width"]
    error_bound: float
    steps: int
    rate: float


def fixed_point(
    cell: Cell, x: Float[Tensor, " d_in"] | None = None, norm: AnyNorm | None = None, tolerance: float = 1e-12
) -> FixedPoint:
    r"""The one state that a step with the input x leaves as it is, to which every run with that input converges.

    Banach's iteration :math:`h_n = f(h_{n-1}, x)` from :math:`h_0 = 0`, in float64. It ends when the a-posteriori bound
    is at most the tolerance, when n is so large that

    .. math:: |h_n - h^*| \le \frac{\lambda^n}{1 - \lambda} |h_1 - h_0|

    promises it, or when rounding keeps the steps from getting shorter; ``error_bound`` says how close it came.

    Args:
        cell: one that is certified to contract for inputs as large as x.
        x: the input; zeros if None.
        norm: 2, "max" or "lyapunov", of the certificate and of the error; None for 2, and "max" for gated cells.
        tolerance: above 0.

    Raises:
        ValueError: no contraction is certified, the input has another width or is not finite, the tolerance is not
            positive, or what :func:`contraction_rate` raises.

    Source: Banach (1922), "Sur les opérations dans les ensembles abstraits et leur application aux équations
    intégrales".
    """
    positive_number("tolerance", tolerance)
    refuse_torch_net(cell)
    cell = deepcopy(cell).double().requires_grad_(False)
    h = torch.zeros_like(cell.initial_state())
    x = h.new_zeros(cell.input_size) if x is None else x.detach().to(h)
    if x.shape != (cell.input_size,) or not x.isfinite().all():
        raise ValueError(f"the input must be {cell.input_size} finite numbers, got {x.tolist()}")
    found, norm = certificate_in(norm, cell, x.abs().max().item())
    rate = found.rate(norm)
    if not rate < 1:
        raise ValueError(f"{cell} is not certified to contract under this input: its rate is {rate:.6g}")
    size = found.norm_function(norm)
    before, error_bound, steps, max_steps = inf, inf, 0, 1
    while error_bound > tolerance and steps < max_steps:
        h, last = cell(h, x), h
        steps += 1
        apart = size(h - last)
        error_bound = rate / (1 - rate) * apart * UP
        if steps == 1 and error_bound > tolerance:
            max_steps = 1 + ceil(log(tolerance / error_bound) / log(rate))
        if apart >= before:
            break
        before = apart
    return FixedPoint(h, error_bound, steps, rate)
