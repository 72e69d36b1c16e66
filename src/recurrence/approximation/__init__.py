"""Approximation: how near a simple step comes to any other, and what repeating makes of the difference."""

from recurrence.approximation.box import Box
from recurrence.approximation.folding import fold, fold_exactly, shallow_step
from recurrence.approximation.imitation import ImitationErrors, imitate, imitation_errors
from recurrence.approximation.interpolant import interpolant, interpolation_bound
from recurrence.approximation.rollout import (
    passing_times,
    predicted_steps,
    rollout_bound,
    rollout_errors,
    step_error_for,
)
from recurrence.approximation.shallow import ShallowCell

__all__ = [
    "Box",
    "ImitationErrors",
    "ShallowCell",
    "fold",
    "fold_exactly",
    "imitate",
    "imitation_errors",
    "interpolant",
    "interpolation_bound",
    "passing_times",
    "predicted_steps",
    "rollout_bound",
    "rollout_errors",
    "shallow_step",
    "step_error_for",
]
