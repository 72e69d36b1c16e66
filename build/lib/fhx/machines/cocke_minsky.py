r"""Turing machines with two symbols as tag systems, after Cocke and Minsky."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, partial

from attrs import frozen

from fhx.machines.tag import TagSystem
from fhx.machines.turing import Rule, TuringMachine
from fhx.machines.two_way import TwoWay
from fhx.machines.words import State, Symbol

__all__ = ["TuringTag"]

Letter = tuple[str, State, Symbol] | str
FILLER = "x"


@frozen
class TuringTag:
    r"""A Turing machine with two symbols, on a tape infinite both ways, as a 2-tag system.

    The tape beside the head is two numbers, :math:`M` on the left and :math:`N` on the right, in binary with the
    nearest cell as the lowest digit and the blank as 0. A machine in state :math:`q` that reads :math:`a` is the word

    .. math:: A\,x\,(\alpha\,x)^M\,B\,x\,(\beta\,x)^N,

    in which every letter but the filler :math:`x` carries the pair :math:`(q, a)`. A move to the right that writes the
    digit :math:`s` is :math:`M \mapsto 2M + s`, :math:`N \mapsto \lfloor N / 2 \rfloor`, and the digit that is read
    next is the one that :math:`N` loses. It takes three passes over the word:

    - :math:`A \to C x\,(c x)^s,\; \alpha \to c x c x,\; B \to S,\; \beta \to s` double :math:`M` and pair off the
      :math:`N + 1` letters :math:`S s^N`;
    - :math:`C \to D_1 D_0,\; c \to d_1 d_0,\; S \to T_1 T_0,\; s \to t_1 t_0` halve :math:`N`; if it is even, the last
      :math:`s` deletes :math:`D_1`, and then :math:`D_0, d_0, T_0, t_0` are read, else :math:`D_1, d_1, T_1, t_1`;
    - these become the word of the next state and of the digit in their index, with one more filler in front if that
      is 0, which the last letter read deletes.

    A move to the left halves :math:`M` in the same way and doubles :math:`N`, with :math:`B \to S_1 S_0\,(s_1 s_0)^s,\;
    \beta \to s_1 s_0 s_1 s_0` so that a shift of one letter does not lose it. The system halts on :math:`D_1` or
    :math:`D_0` if the machine has no rule for what is read next.

    Args:
        machine: a Turing machine whose tape alphabet has two symbols.

    Raises:
        ValueError: the machine has another number of symbols.

    Source: Cocke and Minsky, Universality of tag systems with P = 2 (1964).
    """

    machine: TuringMachine

    def __attrs_post_init__(self) -> None:
        if len(self.machine.tape_alphabet) != 2:
            raise ValueError(f"the machine must have two symbols, not {self.machine.tape_alphabet}")

    @cached_property
    def system(self) -> TagSystem:
        """The tag system."""
        productions: dict[Letter, tuple[Letter, ...]] = {FILLER: ()}
        for pair, rule in self.machine.transitions.items():
            productions |= self._passes(pair, rule)
        return TagSystem(productions)

    def encode(self, word: Iterable[Symbol]) -> tuple[Letter, ...]:
        """The tag system's word for the machine's start, with a word from the head to the right.

        Raises:
            ValueError: a symbol outside the input alphabet.
        """
        symbol, *right = next(self.machine.run(word)).tape or (self.machine.blank,)
        number = sum(2**i for i, a in enumerate(right) if a != self.machine.blank)
        letter = partial(_letter, self.machine.start, symbol)
        return (letter("A"), FILLER, letter("B"), FILLER, *(letter("β"), FILLER) * number)

    def decode(self, word: Sequence[Letter]) -> TwoWay | None:
        """The machine's configuration, its head on cell 0, if the word stands for one, else None."""
        if not word or not isinstance(word[0], tuple):
            return None
        role, state, symbol = word[0]
        counts = Counter(letter[0] for letter in word)
        if role == "A":
            return self._two_way(state, counts["α"], symbol, counts["β"])
        if role in ("D0", "D1") and word[0] not in self.system.productions:
            target, read = self.machine.transitions[state, symbol][0], self.machine.tape_alphabet[int(role[1])]
            return self._two_way(target, counts["d1"], read, max(counts["t0"], counts["t1"]))
        return None

    def _two_way(self, state: State, left: int, symbol: Symbol, right: int) -> TwoWay:
        beside = bin(left)[2:], bin(right)[:1:-1]
        digits = str(self.machine.tape_alphabet.index(symbol)).join(beside)
        tape = digits.strip("0")
        first = digits.index("1") - len(beside[0]) if tape else 0
        return TwoWay(state, tuple(self.machine.tape_alphabet[int(digit)] for digit in tape), first, 0)

    def _passes(self, pair: tuple[State, Symbol], rule: Rule) -> Mapping[Letter, tuple[Letter, ...]]:
        """The productions of a rule, pass after pass."""
        (state, symbol), (target, written, move) = pair, rule
        s, x = int(written != self.machine.blank), FILLER
        table: dict[str, tuple[str, ...]] = {"C": ("D1", "D0"), "c": ("d1", "d0")}
        if move == "R":
            table |= {"A": ("C", x) + ("c", x) * s, "α": ("c", x, "c", x), "B": ("S",), "β": ("s",)}
            table |= {"S": ("T1", "T0"), "s": ("t1", "t0")}
        else:
            table |= {"A": ("C",), "α": ("c",), "B": ("S1", "S0") + ("s1", "s0") * s, "β": ("s1", "s0") * 2}
            table |= {"S1": ("T1", x), "s1": ("t1", x), "S0": (x, "T0"), "s0": (x, "t0")}
        here = partial(_letter, state, symbol)
        productions = {here(role): tuple(map(here, word)) for role, word in table.items()}
        for digit, read in enumerate(self.machine.tape_alphabet):
            there = partial(_letter, target, read)
            if goes_on := (target, read) in self.machine.transitions:
                productions[here(f"D{digit}")] = (x,) * (1 - digit) + (there("A"), x)
            for role, next_role in {"d": "α", "T": "B", "t": "β"}.items():
                productions[here(f"{role}{digit}")] = (there(next_role), x) if goes_on else ()
        return productions


def _letter(state: State, symbol: Symbol, role: str) -> Letter:
    return FILLER if role == FILLER else (role, state, symbol)
