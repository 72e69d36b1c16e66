"""Stability: how fast a cell forgets, and what that means for its truncation."""

from recurrence.stability.bounds import (
    gradient_bound,
    lemma_1,
    lemma_2,
    lemma_3,
    proposition_2,
    proposition_2_power,
    proposition_2_source,
    rounding_term,
    theorem_1,
    theorem_1_length,
)
from recurrence.stability.conjugate import Translated, WithReadout
from recurrence.stability.constants import constants, simple_constants
from recurrence.stability.contraction import contraction_rate, steps_to_contract
from recurrence.stability.definite import DefiniteNet, definite_net, definite_order, definite_window
from recurrence.stability.descent import Descent, descend, gradient_gap, step_sizes
from recurrence.stability.fixed import FixedPoint, fixed_point
from recurrence.stability.gru import GRUBounds, gru_bounds
from recurrence.stability.lstm import LSTMBounds, lstm_bounds
from recurrence.stability.lstm_constants import lstm_constants, project_within
from recurrence.stability.lyapunov import lyapunov_norm, weighted_gain
from recurrence.stability.projection import Projected, project
from recurrence.stability.search import Search, adversarial_gain
from recurrence.stability.smoothness import Constants, LossConstants
from recurrence.stability.states import invariant_set
from recurrence.stability.truncation import truncated_states, truncation_length, window_length

__all__ = [
    "Constants",
    "DefiniteNet",
    "Descent",
    "FixedPoint",
    "GRUBounds",
    "LSTMBounds",
    "LossConstants",
    "Projected",
    "Search",
    "Translated",
    "WithReadout",
    "adversarial_gain",
    "constants",
    "contraction_rate",
    "definite_net",
    "definite_order",
    "definite_window",
    "descend",
    "fixed_point",
    "gradient_bound",
    "gradient_gap",
    "gru_bounds",
    "invariant_set",
    "lemma_1",
    "lemma_2",
    "lemma_3",
    "lstm_bounds",
    "lstm_constants",
    "lyapunov_norm",
    "project",
    "project_within",
    "proposition_2",
    "proposition_2_power",
    "proposition_2_source",
    "rounding_term",
    "simple_constants",
    "step_sizes",
    "steps_to_contract",
    "theorem_1",
    "theorem_1_length",
    "truncated_states",
    "truncation_length",
    "weighted_gain",
    "window_length",
]
