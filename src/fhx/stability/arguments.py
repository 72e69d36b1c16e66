"""Checks of arguments that the modules of this folder share; each raises a ``ValueError`` that names the culprit."""

from collections.abc import Callable

from jaxtyping import Float
from torch import Tensor

from fhx.stability.norms import exact

ROUNDED = 1e-6  # part of the largest entry, by which a matrix computed in float32 may fail to be symmetric


def satisfies(value: float, law: Callable[[float], bool]) -> bool:
    """Whether a number obeys a law; what is no number does not."""
    try:
        return bool(law(value))
    except (TypeError, ValueError, RuntimeError):  # arrays have no one truth value
        return False


def check_shape(name: str, value: object, *sizes: int | str) -> None:
    """Raise a ``ValueError`` unless a value is a tensor of these sizes; a size that is free is given by its name."""
    shape = tuple(value.shape) if isinstance(value, Tensor) else None
    if shape is None or len(shape) != len(sizes) or any(shape[i] != n for i, n in enumerate(sizes) if n != str(n)):
        wanted = ", ".join(map(str, sizes)) + "," * (len(sizes) == 1)
        got = type(value).__name__ if shape is None else f"shape {shape}"
        raise ValueError(f"{name} must be a tensor of shape ({wanted}), got {got}")


def symmetric(name: str, value: Float[Tensor, "d d"], d: int) -> Float[Tensor, "d d"]:
    """The symmetric part of a d by d matrix, in float64, or a ``ValueError`` unless it is symmetric up to rounding."""
    check_shape(name, value, d, d)
    P = exact(name, value)
    apart = (P - P.mT).abs().tril()
    if apart.max() > ROUNDED * P.abs().max():
        i, j = divmod(int(apart.argmax()), d)
        one, other = P[i, j].item(), P[j, i].item()
        raise ValueError(f"{name} must be symmetric: entry {(i, j)} is {one!r} and {(j, i)} is {other!r}")
    half: Tensor = (P + P.mT) / 2
    return half
