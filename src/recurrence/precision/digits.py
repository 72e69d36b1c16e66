"""How many digits a floating-point number holds, in bits and in the base of a stack."""

from math import log2

import torch

__all__ = ["lossy_length", "significand_bits"]


def significand_bits(dtype: torch.dtype) -> int:
    """p, how many bits the significand of a floating-point type has, the leading one included.

    Raises:
        TypeError: ``dtype`` is no floating-point type.
    """
    return 1 - int(log2(torch.finfo(dtype).eps))


def lossy_length(base: int, dtype: torch.dtype) -> int:
    r"""The least n with :math:`(B - 1) B^{-n} < 2^{-p-1}`: from there on the n-th of n equal symbols is lost.

    The stack of n - 1 such symbols is in :math:`[\frac{B-1}{B}, 1]`, where floats are at least :math:`2^{-p}` apart,
    and what the n-th adds is less than half of this. For :math:`a^n` itself, :math:`1 - B^{-n}` then rounds to 1, the
    stack without end.

    Raises:
        TypeError: ``dtype`` is no floating-point type.
    """
    p, n = significand_bits(dtype), 1
    while (base - 1) * 2 ** (p + 1) >= base**n:
        n += 1
    return n
