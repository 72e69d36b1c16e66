"""Deterministic Turing machines with one tape, infinite to the right, as frozen values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Reversible
from typing import Any, NamedTuple

from attrs import field, frozen

from fhx._checks import at_least
from fhx.machines.validation import Rule, check_turing_machine, frozen_rules, hashed, in_order
from fhx.machines.words import State, Symbol

__all__ = ["Configuration", "Rule", "State", "TuringMachine", "Verdict"]


class Configuration(NamedTuple):
    r"""A machine at a moment: its state, the tape without the blanks at its end, and the head's cell from 0.

    The tape may be shorter than ``head + 1``; the head is then on a blank.
    """

    state: State
    tape: tuple[Symbol, ...]
    head: int


class Verdict(NamedTuple):
    """What a machine decided on a word, and after how many steps; ``accepted`` is None if it had not halted by then."""

    accepted: bool | None
    steps: int


def _input_alphabet(alphabet: Reversible[Symbol]) -> tuple[Symbol, ...]:
    return in_order(alphabet, "symbols of the input alphabet")


@frozen(repr=False)
class TuringMachine:
    r"""A deterministic Turing machine :math:`(Q, \Sigma, \Gamma, \delta, q_0, q_{\mathrm{acc}}, q_{\mathrm{rej}})`.

    Its tape has a first cell and no last one. A word stands on the first cells, blanks follow, the head is on the first
    cell. A **step** in state :math:`q` on symbol :math:`a` follows the rule

    .. math:: \delta(q, a) = (q', a', D), \qquad D \in \{\mathrm{L}, \mathrm{R}\}:

    it writes :math:`a'`, goes to :math:`q'` and moves the head by one cell; a move to the left from the first cell
    stays there. The machine **halts** when no rule applies: it accepts in :math:`q_{\mathrm{acc}}` and rejects
    otherwise, in :math:`q_{\mathrm{rej}}` or where the rule is missing, which is no step. It may begin in
    :math:`q_{\mathrm{acc}}` or :math:`q_{\mathrm{rej}}`; the blank may be a symbol of its words.

    States and symbols are any hashable values, and their order is part of the value, as in a :class:`DFA`.

    Args:
        transitions: :math:`\delta`, a mapping ``{(state, symbol): (state, symbol, "L" or "R")}``; stored immutable.
        start: :math:`q_0`.
        accept: :math:`q_{\mathrm{acc}}`, which no rule leaves.
        reject: :math:`q_{\mathrm{rej}}`, which no rule leaves, and not ``accept``.
        blank: the symbol on every cell behind the word.
        input_alphabet: :math:`\Sigma`, ordered and not empty; a string is its characters.

    Attributes:
        states: the states but for the two in which it halts: the start, those that rules leave in the order of the
            rules, then those that rules only lead to.
        tape_alphabet: :math:`\Gamma`: the blank, the symbols of words, those that rules read in their order, then those
            that are only written.

    Raises:
        TypeError: symbols without order (a set) or not hashable, or transitions that are not a mapping.
        ValueError: broken laws, all of them at once: a move other than L and R, a rule that is not a triple or does not
            leave from a pair, one that leaves ``accept`` or ``reject``, one state for both of these, a start that
            occurs nowhere else, a symbol listed twice, no symbol.

    The conventions are those of Sipser, Introduction to the Theory of Computation (2013), section 3.1.
    """

    transitions: Mapping[tuple[State, Symbol], Rule] = field(converter=frozen_rules)
    start: State
    accept: State
    reject: State
    blank: Symbol
    input_alphabet: tuple[Symbol, ...] = field(converter=_input_alphabet)
    states: tuple[State, ...] = field(init=False)
    tape_alphabet: tuple[Symbol, ...] = field(init=False)

    @states.default
    def _working_states(self) -> tuple[State, ...]:
        self._check()  # first of all: only lawful rules have states and symbols to be read off
        rules = self.transitions
        visited = (self.start, *(q for q, _ in rules), *(q for q, _, _ in rules.values()))
        return tuple(q for q in dict.fromkeys(visited) if q not in (self.accept, self.reject))

    @tape_alphabet.default
    def _symbols_on_the_tape(self) -> tuple[Symbol, ...]:
        rules = self.transitions
        found = (self.blank, *self.input_alphabet, *(a for _, a in rules), *(a for _, a, _ in rules.values()))
        return tuple(dict.fromkeys(found))

    def _check(self) -> None:
        hashed(
            (self.start, self.accept, self.reject, self.blank, *self.transitions.values()),
            "start, accept, reject, blank and the targets of transitions",
        )
        check_turing_machine(self.transitions, self.start, self.accept, self.reject, self.input_alphabet)

    def __repr__(self) -> str:
        return f"TuringMachine({', '.join(map(repr, self._parts()))})"

    def __str__(self) -> str:
        """The rules as a table, one row per state and one column per symbol; a dash where the rule is missing."""
        table = [["", *map(str, self.tape_alphabet)]]
        for q in self.states:
            rules = (self.transitions.get((q, a)) for a in self.tape_alphabet)
            table.append([str(q), *("-" if rule is None else " ".join(map(str, rule)) for rule in rules)])
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in table)

    def _parts(self) -> tuple[Any, ...]:
        return dict(self.transitions), self.start, self.accept, self.reject, self.blank, self.input_alphabet

    def run(self, word: Iterable[Symbol]) -> Iterator[Configuration]:
        """Yield the configurations of the run on a word, the first one included and the last one if it halts.

        Raises:
            ValueError: at the first of them, for a symbol outside the input alphabet.
        """
        state, tape, head = self.start, self._loaded(word), 0
        while True:
            yield Configuration(state, self._trimmed(tape), head)
            rule = self.transitions.get((state, tape[head]))
            if rule is None:
                return
            state, tape[head], move = rule
            head = head + 1 if move == "R" else max(head - 1, 0)
            if head == len(tape):
                tape.append(self.blank)

    def decide(self, word: Iterable[Symbol], max_steps: int) -> Verdict:
        r"""Run on a word for at most ``max_steps`` steps, and report the outcome.

        Returns:
            The :class:`Verdict`: accepted or not and after how many steps, or None and ``max_steps``.

        Raises:
            ValueError: a symbol outside the input alphabet, or ``max_steps`` is not an integer of at least 0.
        """
        max_steps = at_least("max_steps", max_steps, 0)
        rules, blank = dict(self.transitions), self.blank
        state, tape, head, steps = self.start, self._loaded(word), 0, 0
        while rule := rules.get((state, tape[head])):
            if steps == max_steps:
                return Verdict(None, steps)
            steps += 1
            state, tape[head], move = rule
            if move == "R":
                head += 1
                if head == len(tape):
                    tape.append(blank)
            elif head:
                head -= 1
        return Verdict(state == self.accept, steps)

    def _loaded(self, word: Iterable[Symbol]) -> list[Symbol]:
        """The tape with a word on it, as far as it is looked at: at least one cell."""
        tape = list(word)
        for symbol in tape:
            if symbol not in self.input_alphabet:
                raise ValueError(f"symbol {symbol!r} is outside the input alphabet {self.input_alphabet}")
        return tape or [self.blank]

    def _trimmed(self, tape: list[Symbol]) -> tuple[Symbol, ...]:
        end = len(tape)
        while end and tape[end - 1] == self.blank:
            end -= 1
        return tuple(tape[:end])
