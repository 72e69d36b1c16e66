"""Machines as frozen values: finite automata, decided and learned; Turing machines, tag systems, a universal one."""

from fhx.machines.cocke_minsky import TuringTag
from fhx.machines.complexity import CIRCUIT_CLASSES, Complexity, complexity, is_quasi_aperiodic
from fhx.machines.counter import CounterConfiguration, CounterMachine, CounterRule
from fhx.machines.counter_adversary import (
    StepMachine,
    configuration_bound,
    equal_blocks_mistake,
    palindrome_length,
    palindrome_mistake,
    state_counts,
)
from fhx.machines.counter_library import COUNTER_MACHINES
from fhx.machines.dfa import DFA
from fhx.machines.dyck import bracket_pairs, dyck, dyck_states, well_nested
from fhx.machines.equivalence import Comparison
from fhx.machines.exchange import dfa_from_aalpy, dfa_from_dot, dfa_to_aalpy, dfa_to_dot
from fhx.machines.exchange_turing import turing_from_automata_lib, turing_to_automata_lib
from fhx.machines.groups import PermutationGroup, group_machine
from fhx.machines.growth import GROWTH, Growth, dyck_growth
from fhx.machines.learning import LearnedDFA, learn_dfa
from fhx.machines.monoid import TooManyElementsError, TransitionMonoid, syntactic_monoid
from fhx.machines.named import NAMED, divisible_by, parity, symmetric_group, tomita
from fhx.machines.names import UnknownNameError
from fhx.machines.nerode import WrongLength, first_wrong_length, nerode_classes
from fhx.machines.nfa import NFA, letter_from_the_end
from fhx.machines.prefixes import ParallelRun, states_by_doubling, states_by_halving
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
    "CIRCUIT_CLASSES",
    "COUNTER_MACHINES",
    "DFA",
    "FIRST",
    "GROWTH",
    "NAMED",
    "NFA",
    "TURING_MACHINES",
    "Comparison",
    "Complexity",
    "Configuration",
    "CounterConfiguration",
    "CounterMachine",
    "CounterRule",
    "Growth",
    "LearnedDFA",
    "ParallelRun",
    "PermutationGroup",
    "StepMachine",
    "TagSystem",
    "TooManyElementsError",
    "TransitionMonoid",
    "TuringMachine",
    "TuringTag",
    "TwoWay",
    "UniversalProgram",
    "UnknownNameError",
    "Verdict",
    "WrongLength",
    "addition",
    "all_words",
    "bouncing",
    "bracket_pairs",
    "busy_beaver",
    "collatz",
    "complexity",
    "configuration_bound",
    "copying",
    "dfa_from_aalpy",
    "dfa_from_dot",
    "dfa_to_aalpy",
    "dfa_to_dot",
    "divisible_by",
    "dyck",
    "dyck_growth",
    "dyck_states",
    "equal_blocks",
    "equal_blocks_mistake",
    "first_wrong_length",
    "fold_tape",
    "fold_word",
    "group_machine",
    "increment",
    "is_quasi_aperiodic",
    "learn_dfa",
    "letter_from_the_end",
    "marching",
    "nerode_classes",
    "odd_part",
    "palindrome_length",
    "palindrome_mistake",
    "palindromes",
    "parity",
    "repeated",
    "rogozhin_form",
    "state_counts",
    "states_by_doubling",
    "states_by_halving",
    "symmetric_group",
    "syntactic_monoid",
    "tomita",
    "turing_from_automata_lib",
    "turing_to_automata_lib",
    "unfold_tape",
    "universal",
    "well_nested",
    "word_sample",
]
