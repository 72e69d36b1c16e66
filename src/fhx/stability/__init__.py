"""Stability: how fast a cell forgets, and what that means for its truncation."""

from fhx._extras import needs

with needs("torch"):
    from fhx.stability.bounds import (
        gradient_bound,
        gradient_gap_bound,
        output_gap_bound,
        state_gap_bound,
        weight_gap_bound,
        weight_gap_bound_harmonic,
        weight_gap_bound_power_law,
        window_for_output_gap,
    )
    from fhx.stability.certificates import Certificate, certificate, register_certificate
    from fhx.stability.conjugate import Translated, WithReadout
    from fhx.stability.constants import constants
    from fhx.stability.construction import (
        CachedRealization,
        Contracting,
        best_diagonal_norm,
        contracting,
        contracting_norm,
        diagonal_rate,
    )
    from fhx.stability.contraction import (
        ContractionCertificate,
        contraction_certificate,
        contraction_rate,
        steps_to_contract,
    )
    from fhx.stability.curvature import gradient_lipschitz_bound, tanh_gradient_lipschitz_bound
    from fhx.stability.definite import DefiniteNet, definite_net, definite_order, window_for_margin
    from fhx.stability.descent import Descent, descend, gradient_gap, step_sizes
    from fhx.stability.fixed import FixedPoint, fixed_point
    from fhx.stability.gru import GRUBounds, gru_bounds
    from fhx.stability.lags import lag_gradients, random_cut, random_cut_variance, window_for_gradient
    from fhx.stability.lstm import project_within
    from fhx.stability.lstm_bounds import LSTMBounds, lstm_bounds
    from fhx.stability.lstm_constants import lstm_constants
    from fhx.stability.lyapunov import lyapunov_norm, weighted_gain
    from fhx.stability.projection import Projected, project
    from fhx.stability.published import bonassi_rate, terzi_rate
    from fhx.stability.rounding import rounding_term
    from fhx.stability.search import Search, adversarial_gain
    from fhx.stability.simple_constants import simple_constants
    from fhx.stability.slopes import best_slope_norm, gain_of_every_norm, slope_restricted_gain
    from fhx.stability.smoothness import Constants, LossConstants
    from fhx.stability.states import invariant_set
    from fhx.stability.truncation import truncated_states, truncation_length, window_for_state_gap
    from fhx.stability.tube import largest_norm, reachable, tube
    from fhx.stability.ungated import zero_state_bound

__all__ = [
    "CachedRealization",
    "Certificate",
    "Constants",
    "Contracting",
    "ContractionCertificate",
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
    "best_diagonal_norm",
    "best_slope_norm",
    "bonassi_rate",
    "certificate",
    "constants",
    "contracting",
    "contracting_norm",
    "contraction_certificate",
    "contraction_rate",
    "definite_net",
    "definite_order",
    "descend",
    "diagonal_rate",
    "fixed_point",
    "gain_of_every_norm",
    "gradient_bound",
    "gradient_gap",
    "gradient_gap_bound",
    "gradient_lipschitz_bound",
    "gru_bounds",
    "invariant_set",
    "lag_gradients",
    "largest_norm",
    "lstm_bounds",
    "lstm_constants",
    "lyapunov_norm",
    "output_gap_bound",
    "project",
    "project_within",
    "random_cut",
    "random_cut_variance",
    "reachable",
    "register_certificate",
    "rounding_term",
    "simple_constants",
    "slope_restricted_gain",
    "state_gap_bound",
    "step_sizes",
    "steps_to_contract",
    "tanh_gradient_lipschitz_bound",
    "terzi_rate",
    "truncated_states",
    "truncation_length",
    "tube",
    "weight_gap_bound",
    "weight_gap_bound_harmonic",
    "weight_gap_bound_power_law",
    "weighted_gain",
    "window_for_gradient",
    "window_for_margin",
    "window_for_output_gap",
    "window_for_state_gap",
    "zero_state_bound",
]
