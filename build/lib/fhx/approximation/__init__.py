"""Approximation: how close a simple step comes to any other, how the error grows over a run, what memory costs."""

from fhx._extras import needs

with needs("torch"):
    from fhx.approximation.exponentials import exponential_sum, hankel_bound, hankel_matrix
    from fhx.approximation.folding import fold, fold_exactly, shallow_step
    from fhx.approximation.imitation import ImitationErrors, imitate, imitation_errors
    from fhx.approximation.interpolant import interpolant, interpolation_bound
    from fhx.approximation.linear import LinearRecurrence, linear_part, memory_kernel, rest_point
    from fhx.approximation.rollout import (
        passing_times,
        predicted_steps,
        rollout_bound,
        rollout_errors,
        step_error_for,
    )
    from fhx.approximation.shallow import ShallowCell

__all__ = [
    "ImitationErrors",
    "LinearRecurrence",
    "ShallowCell",
    "exponential_sum",
    "fold",
    "fold_exactly",
    "hankel_bound",
    "hankel_matrix",
    "imitate",
    "imitation_errors",
    "interpolant",
    "interpolation_bound",
    "linear_part",
    "memory_kernel",
    "passing_times",
    "predicted_steps",
    "rest_point",
    "rollout_bound",
    "rollout_errors",
    "shallow_step",
    "step_error_for",
]
