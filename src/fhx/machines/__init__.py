"""Machines as frozen values: finite automata, decided and learned; Turing machines, tag systems, a universal one."""

from fhx.machines.cocke_minsky import TuringTag
from fhx.machines.dfa import DFA
from fhx.machines.equivalence import Comparison
from fhx.machines.exchange import dfa_from_aalpy, dfa_from_dot, dfa_to_aalpy, dfa_to_dot
from fhx.machines.exchange_turing import turing_from_automata_lib, turing_to_automata_lib
from fhx.machines.learning import LearnedDFA, learn_dfa
from fhx.machines.named import NAMED, divisible_by, parity, symmetric_group, tomita
from fhx.machines.names import UnknownNameError
from fhx.machines.nfa import NFA, letter_from_the_end
from fhx.machines.tag import TagSystem, collatz, odd_part, rogozhin_form
from fhx.machines.turing import Configuration, TuringMachine, Verdict
from fhx.machines.turing_library import (
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
from fhx.machines.two_way import FIRST, TwoWay, fold_tape, fold_word, unfold_tape
from fhx.machines.universal import UniversalProgram, universal
from fhx.machines.words import all_words, word_sample

__all__ = [
    "DFA",
    "FIRST",
    "NAMED",
    "NFA",
    "TURING_MACHINES",
    "Comparison",
    "Configuration",
    "LearnedDFA",
    "TagSystem",
    "TuringMachine",
    "TuringTag",
    "TwoWay",
    "UniversalProgram",
    "UnknownNameError",
    "Verdict",
    "addition",
    "all_words",
    "bouncing",
    "busy_beaver",
    "collatz",
    "copying",
    "dfa_from_aalpy",
    "dfa_from_dot",
    "dfa_to_aalpy",
    "dfa_to_dot",
    "divisible_by",
    "equal_blocks",
    "fold_tape",
    "fold_word",
    "increment",
    "learn_dfa",
    "letter_from_the_end",
    "marching",
    "odd_part",
    "palindromes",
    "parity",
    "repeated",
    "rogozhin_form",
    "symmetric_group",
    "tomita",
    "turing_from_automata_lib",
    "turing_to_automata_lib",
    "unfold_tape",
    "universal",
    "word_sample",
]
