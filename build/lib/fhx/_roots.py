"""The root of a function of one number, between two points where its signs differ."""

from collections.abc import Callable

__all__ = ["root"]


def root(f: Callable[[float], float], low: float, high: float, xtol: float, rtol: float = 1e-14) -> float:
    """Where f is zero, by Brent's method, to within ``xtol + rtol * |root|``.

    Raises:
        ValueError: f has the same sign at both ends.
    """
    from scipy.optimize import brentq  # half a second of imports: here, so that the package starts without them

    return float(brentq(f, low, high, xtol=xtol, rtol=rtol))
