"""Compilers between machines, piecewise linear steps and nets: each top function reads like a proof."""

from recurrence.compile.advice import (
    TABLE_ALPHABET,
    copy_words,
    halting_words,
    prime_words,
    table_halts,
    table_machine,
)
from recurrence.compile.automata import dfa_to_rnn
from recurrence.compile.extract import StateExplosion, explore, rnn_to_dfa, state_bound
from recurrence.compile.grid import dfa_to_grid_rnn
from recurrence.compile.language import digit_bound, language_to_rnn, step_bound
from recurrence.compile.language_net import LanguageNet, Lookup
from recurrence.compile.layers import Uncompilable
from recurrence.compile.lemma import step_to_rnn
from recurrence.compile.real_start import digit_net
from recurrence.compile.size import grid_shape, grid_units, language_count, one_hot_units, unit_lower_bound
from recurrence.compile.square import commuting_square
from recurrence.compile.turing import turing_to_rnn
from recurrence.compile.turing_advice import with_advice
from recurrence.compile.turing_layers import LayeredTuringNet, turing_to_layered_rnn
from recurrence.compile.turing_net import TuringNet
from recurrence.compile.turing_size import turing_time, turing_units
from recurrence.compile.turing_source import MISTAKES, source_step
from recurrence.compile.word_list import WordList

__all__ = [
    "MISTAKES",
    "TABLE_ALPHABET",
    "LanguageNet",
    "LayeredTuringNet",
    "Lookup",
    "StateExplosion",
    "TuringNet",
    "Uncompilable",
    "WordList",
    "commuting_square",
    "copy_words",
    "dfa_to_grid_rnn",
    "dfa_to_rnn",
    "digit_bound",
    "digit_net",
    "explore",
    "grid_shape",
    "grid_units",
    "halting_words",
    "language_count",
    "language_to_rnn",
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
