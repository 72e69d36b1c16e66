"""The bridge to automata-lib: its machines have sets of states, one-character symbols and partial transitions."""

from collections.abc import Iterable

from automata.base.exceptions import InvalidSymbolError, RegexException
from automata.fa.dfa import DFA as LibraryDFA
from automata.fa.nfa import NFA as LibraryNFA

from fhx.machines.search import breadth_first
from fhx.machines.words import Automaton, State, Symbol, has_letters_only

__all__ = ["LibraryDFA", "letters", "parts", "to_library", "translate_regex"]

Parts = tuple[tuple[State, ...], tuple[Symbol, ...], dict[tuple[State, Symbol], State], State, frozenset[State]]
PRIVATE = 0xF0000
"""The first character of a plane of Unicode that is reserved for private use."""


def letters(alphabet: Iterable[Symbol]) -> list[str]:
    """One character for each symbol: the symbol itself if all are single characters, else private characters."""
    symbols = list(alphabet)
    if has_letters_only(symbols):
        return [str(symbol) for symbol in symbols]
    return [chr(PRIVATE + i) for i in range(len(symbols))]


def to_library(dfa: Automaton) -> LibraryDFA:
    """The same machine there, with the same states."""
    named = list(zip(dfa.alphabet, letters(dfa.alphabet), strict=True))
    return LibraryDFA(
        states=set(dfa.states),
        input_symbols={letter for _, letter in named},
        transitions={q: {letter: dfa.transitions[q, symbol] for symbol, letter in named} for q in dfa.states},
        initial_state=dfa.start,
        final_states=dfa.accept,
    )


def parts(machine: LibraryDFA, alphabet: tuple[Symbol, ...]) -> Parts:
    """States, alphabet, transitions, start and accepting states of a machine, made total, without unreachable states.

    The states come breadth first in the order of the alphabet: the library's own sets have no order.
    """
    if not isinstance(machine, LibraryDFA):
        raise TypeError(f"a DFA of automata-lib is expected, not {type(machine).__name__}")
    named = list(zip(alphabet, letters(alphabet), strict=True))
    if machine.input_symbols != {letter for _, letter in named}:
        raise ValueError(f"the machine reads {sorted(machine.input_symbols)}, and the alphabet is {alphabet}")
    machine = machine.to_complete()
    states = breadth_first(machine.initial_state, lambda state: (machine.transitions[state][x] for _, x in named))
    transitions = {(state, symbol): machine.transitions[state][x] for state in states for symbol, x in named}
    return states, alphabet, transitions, machine.initial_state, frozenset(machine.final_states & set(states))


def translate_regex(regex: str, alphabet: tuple[Symbol, ...]) -> LibraryDFA:
    """The minimal machine of a regular expression over the alphabet; a transition may be missing.

    Raises:
        ValueError: the alphabet has a symbol that is not one character, the expression cannot be read, or it uses a
            symbol outside the alphabet.
    """
    if not has_letters_only(alphabet):
        raise ValueError(f"the symbols of a regular expression are single characters, not {alphabet}")
    try:
        machine = LibraryNFA.from_regex(regex, input_symbols=set(letters(alphabet)))
    except RegexException as error:
        raise ValueError(f"the regular expression {regex!r} cannot be read: {error}") from error
    except InvalidSymbolError as error:
        message = f"the regular expression {regex!r} uses a symbol outside the alphabet {alphabet}: {error}"
        raise ValueError(message) from error
    if outside := machine.input_symbols - set(alphabet):
        raise ValueError(f"the regular expression {regex!r} uses {sorted(outside)}, outside the alphabet {alphabet}")
    return LibraryDFA.from_nfa(machine)
