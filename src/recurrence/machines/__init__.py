"""Machines: finite automata as frozen values, decided equivalence, and learning them from queries."""

from recurrence.machines.dfa import DFA
from recurrence.machines.equivalence import Comparison
from recurrence.machines.learning import Learned, learn
from recurrence.machines.named import NAMED, divisible_by, parity, symmetric_group, tomita
from recurrence.machines.words import all_words, word_sample

__all__ = [
    "DFA",
    "NAMED",
    "Comparison",
    "Learned",
    "all_words",
    "divisible_by",
    "learn",
    "parity",
    "symmetric_group",
    "tomita",
    "word_sample",
]
