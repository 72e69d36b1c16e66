"""What rounding adds to a run."""

import torch

from fhx._checks import at_least_zero, positive
from fhx.stability.contraction import check_rate
from fhx.stability.norms import UP


def rounding_term(rate: float, size: float, operations: int, dtype: torch.dtype = torch.float64) -> float:
    r"""How far a computed run may be from the exact one: :math:`m\, \epsilon\, s / (1 - \lambda)`, at every time.

    A step that makes m roundings of numbers no larger than s errs by no more than :math:`m \epsilon s`; the next step
    multiplies what is there by :math:`\lambda` and adds as much again. So while :math:`\lambda^k H` falls for ever,
    what is measured stops falling here.

    Args:
        rate: :math:`\lambda < 1`.
        size: s, of what is rounded, in the norm of the rate: for a sum, the sum of the terms' sizes.
        operations: m, of a step: for a sum of n products, n and what follows it.
        dtype: its :math:`\epsilon` is the distance from 1 to the next number, twice the unit roundoff.

    Raises:
        ValueError: the rate is not below 1, ``size`` is negative or NaN, ``operations`` is not a positive integer.
    """
    at_least_zero("size", size)
    return positive("operations", operations) * torch.finfo(dtype).eps * size / (1 - check_rate(rate)) * UP
