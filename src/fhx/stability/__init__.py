"""Stability: how fast a cell forgets, and what that means for its truncation."""

from fhx.stability.bounds import (
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
from fhx.stability.conjugate import Translated, WithReadout
from fhx.stability.constants import constants, simple_constants
from fhx.stability.contraction import contraction_rate, steps_to_contract
from fhx.stability.definite import DefiniteNet, definite_net, definite_order, definite_window
from fhx.stability.descent import Descent, descend, gradient_gap, step_sizes
from fhx.stability.fixed import FixedPoint, fixed_point
from fhx.stability.gru import GRUBounds, gru_bounds
from fhx.stability.lstm import LSTMBounds, lstm_bounds
from fhx.stability.lstm_constants import lstm_constants, project_within
from fhx.stability.lyapunov import lyapunov_norm, weighted_gain
from fhx.stability.projection import Projected, project
from fhx.stability.search import Search, adversarial_gain
from fhx.stability.smoothness import Constants, LossConstants
from fhx.stability.states import invariant_set
from fhx.stability.truncation import truncated_states, truncation_length, window_length

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
