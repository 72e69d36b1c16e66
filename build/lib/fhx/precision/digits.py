"""How many digits a floating-point number holds, in bits and in the base of a stack."""

from math import log2

import torch

__all__ = ["lossy_length", "significand_bits"]


def significand_bits(dtype: torch.dtype) -> int:
    """p, how many bits the significand of a floating-point type has, the leading one included.

    Raises:
        TypeError: ``dtype`` is not a floating-point type.
    """
    return 1 - int(log2(torch.finfo(dtype).eps))


def lossy_length(base: int, dtype: torch.dtype) -> int:
    r"""The least n with :math:`(B - 1) B^{-n} < 2^{-p-1}`: a number to which the digits B - 1 are added one by one,
    each sum rounded to nearest, does not change from the n-th on.

    Proof. It is never below the first one, :math:`\frac{B-1}{B} \ge \frac12`, since rounding is monotone; from there
    on floats are at least :math:`2^{-p}` apart, and what the n-th digit adds is less than half of this. The stack
    :math:`a^n` itself, :math:`1 - B^{-n}`, then rounds to 1, the stack without end.

    This is not a bound for a net. Its number is also rounded elsewhere, and may be 1 earlier; above 1 a gate leaks that
    should be closed, and the number goes on to grow.

    Args:
        base: B.
        dtype: of floats with p bits.

    Raises:
        TypeError: ``dtype`` is not a floating-point type.
    """
    p, n = significand_bits(dtype), 1
    while (base - 1) * 2 ** (p + 1) >= base**n:
        n += 1
    return n
