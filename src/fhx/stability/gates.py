r"""How far a gate :math:`\sigma(W h + U x + b)` can open while :math:`|h|_\infty \le 1` and :math:`|x|_\infty \le B_x`.

Row j of the argument is at most :math:`a_j = b_j + |W_{j,:}|_1 + B_x |U_{j,:}|_1`, which it reaches; the bias keeps its
sign. So the gate's unit j is at most :math:`\sigma(a_j)`.
"""

from jaxtyping import Float
from torch import Tensor

from fhx.stability.norms import EPS, UP, row_sums


def gate_logits(
    W: Float[Tensor, "rows d"], U: Float[Tensor, "rows input"], b: Float[Tensor, " rows"], input_bound: float
) -> Float[Tensor, " rows"]:
    """An upper bound of :math:`a_j` for each row, in float64."""
    from_state, from_input = row_sums(W), input_bound * row_sums(U)
    return b + from_state + from_input + 4 * EPS * (b.abs() + from_state + from_input)


def opened(logits: Float[Tensor, " d"]) -> Float[Tensor, " d"]:
    r"""An upper bound of :math:`\sigma(a)`."""
    return (logits.sigmoid() * UP).clamp(max=1)


def memory(logits: Float[Tensor, " d"]) -> Float[Tensor, " d"]:
    r"""An upper bound of :math:`1 / (1 - \sigma(a)) = 1 + e^a`, without the loss of digits of the left side."""
    return (1 + logits.exp() * (1 + 4 * EPS * logits.abs())) * UP
