"""Why Theorem 4.5 needs an integer start: one number can hold a whole language."""

from collections.abc import Sequence
from fractions import Fraction

from fhx.exact import Recognizer, SimpleRNN

__all__ = ["digit_net"]


def digit_net(digits: Sequence[int]) -> Recognizer:
    r"""Two SLUs with integer weights that recognise :math:`\{a^n : d_n = 1\}`, with the digits in :math:`h_0`.

    The unit z holds the digits yet to come, in base 3, and the unit top the one on top:

    .. math::

       \begin{aligned}
       z_t &= \mathrm{slu}(3 z_{t-1} - 2\, \mathrm{top}_{t-1}) = \textstyle\sum_{n \ge t} 2 d_n / 3^{n - t + 1}, \\
       \mathrm{top}_t &= \mathrm{slu}(9 z_{t-1} - 6\, \mathrm{top}_{t-1} - 1) = \mathrm{slu}(3 z_t - 1) = d_t,
       \end{aligned}

    since :math:`z_t \le 1/3` if :math:`d_t = 0` and :math:`z_t \ge 2/3` if :math:`d_t = 1`. W and b are integers, and
    only :math:`h_0 = (\sum_n 2 d_n / 3^{n+1},\ d_0)` is not. Infinitely many digits make a real number, and every
    language over one symbol its net: with :math:`d_n = 1` for the squares n, one that is not regular. So Theorem 4.5
    is false for a real :math:`h_0`. Here the digits are finitely many, those after them 0, and the number is a
    fraction. The language is then finite and regular, and the minimal machine has two states more than the place of the
    last 1, which grows with the number of digits without bound, while the net keeps its two units.

    Args:
        digits: :math:`d_0, d_1, \dots`, each 0 or 1.

    Raises:
        ValueError: a digit is neither 0 nor 1.
    """
    for n, digit in enumerate(digits):
        if type(digit) not in (int, bool) or digit not in (0, 1):
            raise ValueError(f"digit {n} must be 0 or 1, got {digit!r}")
    z = sum((Fraction(2 * int(digit), 3 ** (n + 1)) for n, digit in enumerate(digits)), Fraction(0))
    top = int(digits[0]) if len(digits) else 0
    rnn = SimpleRNN([[3, -2], [9, -6]], [[0], [0]], [0, -1], [z, top], "slu", ("z", "top"))
    return Recognizer(rnn, [0, 1], 0, "a")
