"""Compilers between machines, piecewise linear steps and nets: each top function reads like a proof."""

from typing import TYPE_CHECKING

from fhx._extras import lazily
from fhx.compile.advice import (
    TABLE_ALPHABET,
    copy_words,
    halting_words,
    prime_words,
    table_halts,
    table_machine,
)
from fhx.compile.automata import dfa_to_rnn
from fhx.compile.bounded_stack import DyckLayout, dyck_to_rnn, dyck_units
from fhx.compile.cascade import Cascade, cascade_to_rnns
from fhx.compile.counter_cells import lstm_gain, lstm_units
from fhx.compile.counters import counter_units, counters_to_rnn, read_counters
from fhx.compile.extract import StateExplosionError, explore, rnn_to_dfa, state_bound
from fhx.compile.grid import dfa_to_grid_rnn
from fhx.compile.language import digit_bound, language_to_rnn, step_bound
from fhx.compile.language_net import LanguageNet, Lookup
from fhx.compile.layers import UncompilableError
from fhx.compile.lemma import step_to_rnn
from fhx.compile.narrow import dfa_to_narrow_rnn, narrow_steps
from fhx.compile.noise_proof import NoiseProofNet
from fhx.compile.nondeterministic import nfa_to_rnn
from fhx.compile.palindrome_net import marked_palindromes
from fhx.compile.real_start import digit_net
from fhx.compile.sign_patterns import affine_patterns, lookup_dfa, lookup_units, real_time_limit, verdict_patterns
from fhx.compile.size import grid_shape, grid_units, language_count, one_hot_units, unit_lower_bound
from fhx.compile.square import find_disagreement
from fhx.compile.turing import turing_to_rnn
from fhx.compile.turing_advice import with_advice
from fhx.compile.turing_integers import IntegerLayout
from fhx.compile.turing_layers import turing_to_layered_rnn
from fhx.compile.turing_layout import Layout
from fhx.compile.turing_net import TuringNet
from fhx.compile.turing_size import turing_time, turing_units
from fhx.compile.turing_source import MISTAKES, SourceLayout, source_step
from fhx.compile.word_list import WordList

if TYPE_CHECKING:
    from fhx.compile.cell_hierarchy import HierarchyRow, halving_gru, hierarchy, saturated_automaton, saturated_counters
    from fhx.compile.counters_lstm import CounterLSTM, counters_to_lstm
    from fhx.compile.saturated import SaturatedNet

__all__ = [
    "MISTAKES",
    "TABLE_ALPHABET",
    "Cascade",
    "CounterLSTM",
    "DyckLayout",
    "HierarchyRow",
    "IntegerLayout",
    "LanguageNet",
    "Layout",
    "Lookup",
    "NoiseProofNet",
    "SaturatedNet",
    "SourceLayout",
    "StateExplosionError",
    "TuringNet",
    "UncompilableError",
    "WordList",
    "affine_patterns",
    "cascade_to_rnns",
    "copy_words",
    "counter_units",
    "counters_to_lstm",
    "counters_to_rnn",
    "dfa_to_grid_rnn",
    "dfa_to_narrow_rnn",
    "dfa_to_rnn",
    "digit_bound",
    "digit_net",
    "dyck_to_rnn",
    "dyck_units",
    "explore",
    "find_disagreement",
    "grid_shape",
    "grid_units",
    "halting_words",
    "halving_gru",
    "hierarchy",
    "language_count",
    "language_to_rnn",
    "lookup_dfa",
    "lookup_units",
    "lstm_gain",
    "lstm_units",
    "marked_palindromes",
    "narrow_steps",
    "nfa_to_rnn",
    "one_hot_units",
    "prime_words",
    "read_counters",
    "real_time_limit",
    "rnn_to_dfa",
    "saturated_automaton",
    "saturated_counters",
    "source_step",
    "state_bound",
    "step_bound",
    "step_to_rnn",
    "table_halts",
    "table_machine",
    "turing_time",
    "turing_to_layered_rnn",
    "turing_to_rnn",
    "turing_units",
    "unit_lower_bound",
    "verdict_patterns",
    "with_advice",
]

MODULES_OF_TORCH = {
    "CounterLSTM": "fhx.compile.counters_lstm",
    "HierarchyRow": "fhx.compile.cell_hierarchy",
    "SaturatedNet": "fhx.compile.saturated",
    "counters_to_lstm": "fhx.compile.counters_lstm",
    "halving_gru": "fhx.compile.cell_hierarchy",
    "hierarchy": "fhx.compile.cell_hierarchy",
    "saturated_automaton": "fhx.compile.cell_hierarchy",
    "saturated_counters": "fhx.compile.cell_hierarchy",
}
__getattr__ = lazily(__name__, MODULES_OF_TORCH, "torch")
