"""Machines: finite automata and Turing machines as frozen values, decided equivalence, learning from queries."""

from recurrence.machines.dfa import DFA
from recurrence.machines.equivalence import Comparison
from recurrence.machines.learning import Learned, learn
from recurrence.machines.named import NAMED, divisible_by, parity, symmetric_group, tomita
from recurrence.machines.turing import Configuration, TuringMachine, Verdict
from recurrence.machines.words import all_words, word_sample

__all__ = [
    "DFA",
    "NAMED",
    "Comparison",
    "Configuration",
    "Learned",
    "TuringMachine",
    "Verdict",
    "all_words",
    "divisible_by",
    "learn",
    "parity",
    "symmetric_group",
    "tomita",
    "word_sample",
]
