"""Which names of the state of a Turing machine's step hold which part of a configuration, and back."""

from collections.abc import Hashable, Iterable, Mapping
from typing import TypeVar

from attrs import frozen

from fhx.compile.names import unique
from fhx.exact.numbers import Number
from fhx.exact.stacks import decode
from fhx.machines import Configuration, TuringMachine
from fhx.machines.turing import State
from fhx.machines.words import Symbol

__all__ = ["Layout"]

T = TypeVar("T", bound=Hashable)
Pair = tuple[State, Symbol]
"""A state, and the symbol read."""


@frozen
class Layout:
    """The names in the state of a Turing machine's step.

    ``load``, ``gap`` and ``first`` are needed until the word has ended; ``pairs`` are the states with the symbol read,
    ``left`` and ``right`` the stacks by symbols, ``left_top`` and ``right_top`` their tops, ``symbols`` and ``eos``
    the inputs.

    ``by_right``, ``by_left`` and ``staying`` are the pairs (state, symbol read) that can follow a move to the right
    (the first one included), a move to the left, and one that stays at the left end.
    """

    load: str
    gap: str
    first: str
    pairs: Mapping[Pair, str]
    left: Mapping[Symbol, str]
    left_top: Mapping[Symbol, str]
    right: Mapping[Symbol, str]
    right_top: Mapping[Symbol, str]
    symbols: Mapping[Symbol, str]
    eos: str
    by_right: tuple[Pair, ...]
    by_left: tuple[Pair, ...]
    staying: tuple[Pair, ...]

    def start_delay(self, length: int) -> int:
        """How many end marks bring the machine to its first configuration: the first one, whatever the length of the
        word.
        """
        return 1

    @property
    def answer_delay(self) -> int:
        """The answer comes with the last configuration."""
        return 0

    @property
    def stacks(self) -> tuple[Mapping[str, str | None], ...]:
        """The numbers of each stack, with the names of their tops; ``gap`` has none."""
        left = {self.left[a]: self.left_top[a] for a in self.left}
        right = {self.right[a]: self.right_top[a] for a in self.right}
        return left, right, {self.gap: None}

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of the step's inputs, in order."""
        return (*self.symbols.values(), self.eos)

    @classmethod
    def of(cls, tm: TuringMachine) -> "Layout":
        """The names for a machine: what no run of it can need has none.

        On the left stack are symbols that rules with a move to the right write. On the right one are those of the
        words and those that rules with a move to the left write; the blank is its zero digit and has no name. Rules
        count that read a pair which so can come about.
        """
        states = [*tm.states, tm.accept, tm.reject]
        known: list[Pair] | None = None
        pairs: list[Pair] = []
        while pairs != known:
            rules = [rule for pair, rule in tm.transitions.items() if pair in pairs]
            rightward = [(q, b) for q, b, move in rules if move == "R"]
            leftward = [(q, b) for q, b, move in rules if move == "L"]
            left = [a for a in tm.tape_alphabet if a in {b for _, b in rightward}]
            written = {*tm.input_alphabet, *(b for _, b in leftward)} - {tm.blank}
            right = [a for a in tm.tape_alphabet if a in written]
            after_right, after_left = {tm.start, *(q for q, _ in rightward)}, {q for q, _ in leftward}
            by_right = [(q, a) for q in states if q in after_right for a in (tm.blank, *right)]
            by_left = [(q, a) for q in states if q in after_left for a in left]
            staying = list(dict.fromkeys(leftward))
            known, pairs = pairs, list(dict.fromkeys([*by_right, *by_left, *staying]))
        pairs.sort(key=lambda pair: (states.index(pair[0]), tm.tape_alphabet.index(pair[1])))

        state_name = dict(zip(states, unique(states), strict=True))
        symbol_name = dict(zip(tm.tape_alphabet, unique(tm.tape_alphabet), strict=True))
        wanted = ["load", "gap", "first"]
        wanted += [f"{state_name[q]}&{symbol_name[a]}" for q, a in pairs]
        for side, symbols in (("left", left), ("right", right)):
            wanted += [f"{side}[{symbol_name[a]}]" for a in symbols] + [f"{side} top={symbol_name[a]}" for a in symbols]
        wanted += [*(f"x={symbol_name[a]}" for a in tm.input_alphabet), "EOS"]
        names = iter(unique(wanted))

        def take(things: Iterable[T]) -> dict[T, str]:
            return {thing: next(names) for thing in things}

        return cls(
            load=next(names),
            gap=next(names),
            first=next(names),
            pairs=take(pairs),
            left=take(left),
            left_top=take(left),
            right=take(right),
            right_top=take(right),
            symbols=take(tm.input_alphabet),
            eos=next(names),
            by_right=tuple(by_right),
            by_left=tuple(by_left),
            staying=tuple(staying),
        )

    def configuration(self, state: Mapping[str, Number], tm: TuringMachine, base: int) -> Configuration | None:
        """The configuration that a state of the step holds; None before the end of the word and after the machine's.

        Raises:
            ValueError: the state holds no configuration.
        """
        here = [pair for pair, name in self.pairs.items() if state[name]]
        if not here:
            return None
        if len(here) > 1 or state[self.pairs[here[0]]] != 1 or state[self.load]:
            raise ValueError(f"this is not a configuration: the pairs {here} are on, load is {state[self.load]}")
        q, a = here[0]
        left = self._stack(state, self.left, self.left_top, base)
        right = self._stack(state, self.right, self.right_top, base)
        tape = [*reversed(left), a, *(tm.blank if b is None else b for b in right)]
        while tape and tape[-1] == tm.blank:
            tape.pop()
        return Configuration(q, tuple(tape), len(left))

    def _stack(
        self, state: Mapping[str, Number], numbers: Mapping[Symbol, str], tops: Mapping[Symbol, str], base: int
    ) -> tuple[Symbol | None, ...]:
        word = decode([state[name] for name in numbers.values()], tuple(numbers), base)
        bits = {symbol: state[name] for symbol, name in tops.items()}
        if bits != {symbol: int(word[:1] == (symbol,)) for symbol in tops}:
            raise ValueError(f"this is not a configuration: the stack {word} has the top bits {bits}")
        return word
