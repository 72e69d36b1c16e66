"""Dynamics: what happens when a cell is repeated."""

from fhx._extras import needs

with needs("torch"):
    from fhx.dynamics.box import Box
    from fhx.dynamics.forward import diagonal_rtrl, rtrl
    from fhx.dynamics.gradients import gradient_norms, input_gradients
    from fhx.dynamics.jacobians import jacobians
    from fhx.dynamics.lyapunov import LyapunovEstimate, finite_time_exponents, lyapunov_estimate, lyapunov_spectrum
    from fhx.dynamics.mean_field import MeanField
    from fhx.dynamics.memory import Moments, memory_moments
    from fhx.dynamics.parallel import ParallelRun, jacobi_sweeps, parallel_unroll
    from fhx.dynamics.products import log_product, log_singular_values, product_norms
    from fhx.dynamics.realization import Realization
    from fhx.dynamics.scan import affine_scan, diagonal_states, linear_states
    from fhx.dynamics.unrolling import unroll

__all__ = [
    "Box",
    "LyapunovEstimate",
    "MeanField",
    "Moments",
    "ParallelRun",
    "Realization",
    "affine_scan",
    "diagonal_rtrl",
    "diagonal_states",
    "finite_time_exponents",
    "gradient_norms",
    "input_gradients",
    "jacobi_sweeps",
    "jacobians",
    "linear_states",
    "log_product",
    "log_singular_values",
    "lyapunov_estimate",
    "lyapunov_spectrum",
    "memory_moments",
    "parallel_unroll",
    "product_norms",
    "rtrl",
    "unroll",
]
