"""Machines: finite automata as frozen values, decided equivalence, and learning them from queries."""

from recurrence.machines.dfa import DFA
from recurrence.machines.equivalence import Comparison
from recurrence.machines.words import all_words, word_sample

__all__ = ["DFA", "Comparison", "all_words", "word_sample"]
