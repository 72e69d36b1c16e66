"""Compilers between machines, piecewise linear steps and nets: each top function reads like a proof."""

from fhx.compile.advice import (
    TABLE_ALPHABET,
    copy_words,
    halting_words,
    prime_words,
    table_halts,
    table_machine,
)
from fhx.compile.automata import dfa_to_rnn
from fhx.compile.cascade import Cascade, cascade_to_rnns
from fhx.compile.extract import StateExplosionError, explore, rnn_to_dfa, state_bound
from fhx.compile.grid import dfa_to_grid_rnn
from fhx.compile.language import digit_bound, language_to_rnn, step_bound
from fhx.compile.language_net import LanguageNet, Lookup
from fhx.compile.layers import UncompilableError
from fhx.compile.lemma import step_to_rnn
from fhx.compile.noise_proof import NoiseProofNet
from fhx.compile.nondeterministic import nfa_to_rnn
from fhx.compile.real_start import digit_net
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

__all__ = [
    "MISTAKES",
    "TABLE_ALPHABET",
    "Cascade",
    "IntegerLayout",
    "LanguageNet",
    "Layout",
    "Lookup",
    "NoiseProofNet",
    "SourceLayout",
    "StateExplosionError",
    "TuringNet",
    "UncompilableError",
    "WordList",
    "cascade_to_rnns",
    "copy_words",
    "dfa_to_grid_rnn",
    "dfa_to_rnn",
    "digit_bound",
    "digit_net",
    "explore",
    "find_disagreement",
    "grid_shape",
    "grid_units",
    "halting_words",
    "language_count",
    "language_to_rnn",
    "nfa_to_rnn",
    "one_hot_units",
    "prime_words",
    "rnn_to_dfa",
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
    "with_advice",
]
