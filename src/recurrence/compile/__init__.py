"""Compilers between machines, piecewise linear steps and nets: each top function reads like a proof."""

from recurrence.compile.automata import dfa_to_rnn
from recurrence.compile.extract import StateExplosion, explore, rnn_to_dfa, state_bound
from recurrence.compile.grid import dfa_to_grid_rnn
from recurrence.compile.layers import Uncompilable
from recurrence.compile.lemma import step_to_rnn
from recurrence.compile.real_start import digit_net
from recurrence.compile.size import grid_shape, grid_units, language_count, one_hot_units, unit_lower_bound
from recurrence.compile.square import commuting_square
from recurrence.compile.turing import turing_to_rnn
from recurrence.compile.turing_net import TuringNet

__all__ = [
    "StateExplosion",
    "TuringNet",
    "Uncompilable",
    "commuting_square",
    "dfa_to_grid_rnn",
    "dfa_to_rnn",
    "digit_net",
    "explore",
    "grid_shape",
    "grid_units",
    "language_count",
    "one_hot_units",
    "rnn_to_dfa",
    "state_bound",
    "step_to_rnn",
    "turing_to_rnn",
    "unit_lower_bound",
]
