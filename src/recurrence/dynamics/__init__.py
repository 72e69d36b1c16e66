"""Dynamics: what happens when a cell is repeated."""

from recurrence.dynamics.jacobians import jacobians
from recurrence.dynamics.lyapunov import finite_time_exponents, lyapunov_spectrum
from recurrence.dynamics.mean_field import MeanField
from recurrence.dynamics.realisation import Realisation
from recurrence.dynamics.unrolling import unroll

__all__ = ["MeanField", "Realisation", "finite_time_exponents", "jacobians", "lyapunov_spectrum", "unroll"]
