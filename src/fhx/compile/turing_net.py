"""The net of a Turing machine: which names of its state hold which part of a configuration, and back."""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from operator import index

import torch

from fhx.compile.names import unique
from fhx.exact import Answer, Expression, HaltingNet, Pieces, SimpleRNN, Step, TorchHaltingNet
from fhx.exact.numbers import Number
from fhx.exact.stacks import decode
from fhx.machines import Configuration, TuringMachine, Verdict

__all__ = ["Layout", "TuringNet"]

Pair = tuple[Hashable, Hashable]


@dataclass(frozen=True)
class Layout:
    """The names in the state of a Turing machine's step.

    ``by_right``, ``by_left`` and ``staying`` are the pairs (state, symbol read) that can follow a move to the right
    (the first one included), a move to the left, and one that stays at the left end.
    """

    load: str
    gap: str
    first: str
    pairs: Mapping[Pair, str]
    left: Mapping[Hashable, str]
    left_top: Mapping[Hashable, str]
    right: Mapping[Hashable, str]
    right_top: Mapping[Hashable, str]
    symbols: Mapping[Hashable, str]
    eos: str
    by_right: tuple[Pair, ...]
    by_left: tuple[Pair, ...]
    staying: tuple[Pair, ...]

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
        states, known, pairs = [*tm.states, tm.accept, tm.reject], None, []
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

        def take(things: Iterable[Hashable]) -> dict[Hashable, str]:
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
            raise ValueError(f"this is no configuration: the pairs {here} are on, load is {state[self.load]}")
        q, a = here[0]
        left = self._stack(state, self.left, self.left_top, base)
        right = self._stack(state, self.right, self.right_top, base)
        tape = [*reversed(left), a, *(tm.blank if b is None else b for b in right)]
        while tape and tape[-1] == tm.blank:
            tape.pop()
        return Configuration(q, tuple(tape), len(left))

    def _stack(self, state: Mapping, numbers: Mapping, tops: Mapping, base: int) -> tuple[Hashable, ...]:
        word = decode([state[name] for name in numbers.values()], tuple(numbers), base)
        bits = {symbol: state[name] for symbol, name in tops.items()}
        if bits != {symbol: int(word[:1] == (symbol,)) for symbol in tops}:
            raise ValueError(f"this is no configuration: the stack {word} has the top bits {bits}")
        return word


@dataclass(frozen=True)
class TuringNet:
    """A simple RNN that runs a Turing machine: read a word, then EOS for ever.

    Args:
        net: the simple RNN with its readout, which answers 1 or -1 once if the machine halts.
        machine: the machine.
        base: of the stacks.
        step: the recurrence that the net was compiled from.
        out: its output.
        layout: which names of its state hold what.
    """

    net: HaltingNet
    machine: TuringMachine
    base: int
    step: Step
    out: Expression
    layout: Layout

    @cached_property
    def pieces(self) -> Pieces:
        """The step made ready for long runs, with the same numbers as ``net``, which is the reference."""
        names = self.layout
        left = {names.left[a]: names.left_top[a] for a in names.left}
        right = {names.right[a]: names.right_top[a] for a in names.right}
        return Pieces(self.step, self.out, (left, right, {names.gap: None}), self.base)

    @property
    def rnn(self) -> SimpleRNN:
        """The simple RNN."""
        return self.net.rnn

    @property
    def units(self) -> int:
        """How many ReLU units the net has."""
        return self.rnn.size

    def to_torch(self, dtype: torch.dtype = torch.float64) -> TorchHaltingNet:
        """The net as ``torch.nn.RNN``, its weights and states rounded: :class:`fhx.exact.TorchHaltingNet`.

        Raises:
            TypeError: ``dtype`` is no floating-point type.
        """
        return self.net.to_torch(dtype)

    def outputs(self, word: Iterable[Hashable]) -> Iterator[Number]:
        """The output after each symbol of the word and then after each EOS, for ever: 0, but for one 1 or -1.

        Raises:
            ValueError: a symbol is outside the input alphabet.
        """
        return self.pieces.outputs(*self._read(word))

    def decide(self, word: Iterable[Hashable], max_steps: int, progress: bool = False) -> Verdict:
        """What the net says of a word, counted in steps of the machine: the first EOS starts it.

        Args:
            word: symbols of the machine's words.
            max_steps: how many steps to wait for.
            progress: show a bar of plain text on stderr.

        Raises:
            ValueError: a symbol is outside the input alphabet, or ``max_steps < 0``.
            TypeError: ``max_steps`` is not whole.
        """
        if index(max_steps) < 0:
            raise ValueError(f"a run has at least 0 steps, not {max_steps}")
        match self.pieces.answer(*self._read(word), max_steps + 1, progress):
            case None:
                return Verdict(None, max_steps)
            case Answer(value, T):
                return Verdict(value == 1, T - 1)

    def configurations(self, word: Iterable[Hashable]) -> Iterator[Configuration]:
        """The machine's configurations, read from the net's state after each EOS, until it has halted.

        Raises:
            ValueError: a symbol is outside the input alphabet, or a state holds no configuration.
        """
        word = tuple(word)
        for t, state in enumerate(self.net.run(word)):
            if t > len(word):
                here = self.layout.configuration(self.net.decode(state), self.machine, self.base)
                if here is None:
                    return
                yield here

    def _read(self, word: Iterable[Hashable]) -> tuple[Iterator[int], int]:
        """The columns of U that a word shows to the net, and the one that it sees from then on."""
        end = self.rnn.input_size - 1
        return takewhile(lambda column: column != end, self.net.recognizer.columns(self.net.fed(word))), end
