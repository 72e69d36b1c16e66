"""Dynamics: what happens when a cell is repeated."""

from recurrence.dynamics.gradients import gradient_norms, input_gradients
from recurrence.dynamics.jacobians import jacobians
from recurrence.dynamics.lyapunov import finite_time_exponents, lyapunov_spectrum
from recurrence.dynamics.mean_field import MeanField
from recurrence.dynamics.parallel import ParallelRun, jacobi_sweeps, parallel_unroll
from recurrence.dynamics.products import log_product, log_singular_values, product_norms
from recurrence.dynamics.realisation import Realisation
from recurrence.dynamics.scan import affine_scan, linear_states
from recurrence.dynamics.unrolling import unroll

__all__ = [
    "MeanField",
    "ParallelRun",
    "Realisation",
    "affine_scan",
    "finite_time_exponents",
    "gradient_norms",
    "input_gradients",
    "jacobi_sweeps",
    "jacobians",
    "linear_states",
    "log_product",
    "log_singular_values",
    "lyapunov_spectrum",
    "parallel_unroll",
    "product_norms",
    "unroll",
]
