"""Machines as frozen values: finite automata, decided and learned; Turing machines, tag systems, a universal one."""

from recurrence.machines.cocke_minsky import TuringTag
from recurrence.machines.dfa import DFA
from recurrence.machines.equivalence import Comparison
from recurrence.machines.learning import Learned, learn
from recurrence.machines.named import NAMED, divisible_by, parity, symmetric_group, tomita
from recurrence.machines.tag import TagSystem, collatz, odd_part, rogozhin_form
from recurrence.machines.turing import Configuration, TuringMachine, Verdict
from recurrence.machines.turing_library import (
    TURING_MACHINES,
    addition,
    bouncing,
    busy_beaver,
    copying,
    equal_blocks,
    increment,
    marching,
    palindromes,
    repeated,
)
from recurrence.machines.two_way import FIRST, TwoWay, fold, fold_word, unfold
from recurrence.machines.universal import UniversalProgram, universal
from recurrence.machines.words import all_words, word_sample

__all__ = [
    "DFA",
    "FIRST",
    "NAMED",
    "TURING_MACHINES",
    "Comparison",
    "Configuration",
    "Learned",
    "TagSystem",
    "TuringMachine",
    "TuringTag",
    "TwoWay",
    "UniversalProgram",
    "Verdict",
    "addition",
    "all_words",
    "bouncing",
    "busy_beaver",
    "collatz",
    "copying",
    "divisible_by",
    "equal_blocks",
    "fold",
    "fold_word",
    "increment",
    "learn",
    "marching",
    "odd_part",
    "palindromes",
    "parity",
    "repeated",
    "rogozhin_form",
    "symmetric_group",
    "tomita",
    "unfold",
    "universal",
    "word_sample",
]
