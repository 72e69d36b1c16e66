"""Stability: how fast a cell forgets, and what that means for its truncation."""

from recurrence.stability.contraction import contraction_rate, steps_to_contract
from recurrence.stability.gru import GRUBounds, gru_bounds
from recurrence.stability.lstm import LSTMBounds, lstm_bounds
from recurrence.stability.lyapunov import lyapunov_norm, weighted_gain
from recurrence.stability.projection import Projected, project
from recurrence.stability.search import Search, adversarial_gain
from recurrence.stability.states import invariant_set
from recurrence.stability.truncation import truncated_states, truncation_length, window_length

__all__ = [
    "GRUBounds",
    "LSTMBounds",
    "Projected",
    "Search",
    "adversarial_gain",
    "contraction_rate",
    "gru_bounds",
    "invariant_set",
    "lstm_bounds",
    "lyapunov_norm",
    "project",
    "steps_to_contract",
    "truncated_states",
    "truncation_length",
    "weighted_gain",
    "window_length",
]
