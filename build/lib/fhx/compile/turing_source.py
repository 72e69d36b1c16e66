r"""The lecture notes' own step of a Turing machine: load, rewind, left and right, with its mistakes or without.

The state is a one-hot vector q over the machine's states and four more, and two stacks l and r over
:math:`\Gamma \cup \{\$\}`, see ``fhx.exact.stacks``. The mark $ is the bottom of both. The tape, from the
first cell on, is l from its bottom up, then r from its top down, then blanks; the head is on the top of r, and on a
blank where that is $.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from enum import Enum
from itertools import product
from types import MappingProxyType

from attrs import frozen

from fhx._checks import check_kind
from fhx.compile.names import unique
from fhx.exact import AND, Expression, Step, const, if_then_else, relu, sum_of, variable
from fhx.exact.numbers import Number
from fhx.exact.stacks import check_base, decode, encode, push, top
from fhx.machines import Configuration, TuringMachine
from fhx.machines.turing import Rule

__all__ = ["MISTAKES", "SourceLayout", "check_layers", "source_step"]

MISTAKES: Mapping[str, str] = MappingProxyType(
    {
        "pop": "(4.26) takes the top off once, and it weighs B - 1",
        "write": "(4.33) never writes the new symbol",
        "left end": "the second sum of (4.33) pushes a c that nothing binds; here it runs over the tape alphabet",
        "right end": "(4.33) has no term for a head on the $ of the right stack, which is on a blank",
    }
)
"""What is wrong in (4.26) and (4.33), by name."""


class _Bottom(Enum):
    """The mark below a stack, which is not a symbol of a tape."""

    BOTTOM = "$"

    def __repr__(self) -> str:
        return "$"

    __str__ = __repr__


BOTTOM = _Bottom.BOTTOM
Stack = Mapping[Hashable, Expression]
Conditions = tuple[Expression, Expression]
EMPTY: Stack = MappingProxyType({})


@frozen
class SourceLayout:
    """The names in the state of the source's step: q by the machine's states and ours, l and r by their symbols.

    ``load``, ``rewind``, ``yes`` and ``no`` are the states that are ours; ``states`` has the machine's, ``left`` and
    ``right`` the stacks', ``symbols`` and ``eos`` the inputs'.
    """

    load: str
    rewind: str
    yes: str
    no: str
    states: Mapping[Hashable, str]
    left: Mapping[Hashable, str]
    right: Mapping[Hashable, str]
    symbols: Mapping[Hashable, str]
    eos: str

    @property
    def added_states(self) -> tuple[str, ...]:
        """The names of the states that are not the machine's."""
        return (self.load, self.rewind, self.yes, self.no)

    def start_delay(self, length: int) -> int:
        """How many end marks bring the machine to its first configuration: one to see the end of the word, one per
        symbol to rewind it, and one to find it rewound.
        """
        return length + 2

    @property
    def answer_delay(self) -> int:
        """The answer comes one step after the last configuration."""
        return 1

    @classmethod
    def of(cls, tm: TuringMachine) -> "SourceLayout":
        """The names for a machine."""
        states, marked = (*tm.states, tm.accept, tm.reject), (*tm.tape_alphabet, BOTTOM)
        letter = dict(zip(marked, unique(marked), strict=True))
        wanted = ["load", "rewind", "yes", "no", *states]
        wanted += [f"{side}[{letter[a]}]" for side in ("left", "right") for a in marked]
        names = iter(unique([*wanted, *(f"x={letter[a]}" for a in tm.input_alphabet), "EOS"]))

        def take(things: Iterable[Hashable]) -> dict[Hashable, str]:
            return {thing: next(names) for thing in things}

        load, rewind, yes, no = (next(names) for _ in range(4))
        return cls(
            load=load,
            rewind=rewind,
            yes=yes,
            no=no,
            states=take(states),
            left=take(marked),
            right=take(marked),
            symbols=take(tm.input_alphabet),
            eos=next(names),
        )

    def configuration(self, state: Mapping[str, Number], tm: TuringMachine, base: int) -> Configuration | None:
        """The configuration that a state of the step holds; None before the first and after the last.

        Raises:
            ValueError: the state holds no configuration.
        """
        on = {name: state[name] for name in (*self.added_states, *self.states.values()) if state[name]}
        stacks = [
            decode([state[name] for name in part.values()], tuple(part), base) for part in (self.left, self.right)
        ]
        if list(on.values()) not in ([], [1]):
            raise ValueError(f"this is not a configuration: the states are {on}")
        here = [q for q, name in self.states.items() if name in on]
        if not here:
            return None
        if any(BOTTOM in stack[:-1] or stack[-1:] != (BOTTOM,) for stack in stacks):
            raise ValueError(f"this is not a configuration: the stacks are {stacks[0]} and {stacks[1]}")
        left, right = (stack[:-1] for stack in stacks)
        tape = [*reversed(left), *right]
        while tape and tape[-1] == tm.blank:
            tape.pop()
        return Configuration(here[0], tuple(tape), len(left))


def source_step(tm: TuringMachine, base: int = 3, layers: int = 4, mistakes: Iterable[str] = ()) -> Step:
    r"""The sum (4.30) of load, rewind, left and right, repaired; with ``mistakes=MISTAKES`` as it is printed.

    Each part is a sum of choices, if :math:`c_1 \wedge c_2 \wedge c_3` then (q', l', r'), one per case, and at most
    one case holds. A choice lies above its conditions, and these lie above the tops of the stacks:

    - ``layers=4``, as the source counts: the tops, a conjunction of two conditions, one of that with a third, and
      (4.29), :math:`\mathrm{slu}(t - 1 + c)`.
    - ``layers=3``: a conjunction of any number of conditions is one ReLU.
    - ``layers=2``: a choice is a conjunction too, :math:`\mathrm{relu}(t + c_1 + c_2 + c_3 - 3)`, since t is in [0, 1].

    Repaired are the four mistakes in ``MISTAKES``; so in (4.33), as in (4.34), a rule on the blank has terms for a $ on
    the right too. Added are two states of ours, since the source says neither what the output is nor what becomes of a
    missing rule: one step after ``accept`` comes ``yes``, one step after ``reject`` or where there is no rule,
    ``no``, and after these all is 0.

    Args:
        tm: the machine.
        base: B of the stacks; the source's is 3.
        layers: 2, 3 or 4, the depth of the step.
        mistakes: those of ``MISTAKES`` that are left in.

    Returns:
        The step; its inputs are the symbols of words and EOS, and its names those of ``SourceLayout.of(tm)``.

    Raises:
        ValueError: the base is not an integer of at least 3, ``layers`` is not 2, 3 or 4, or a mistake is unknown.
        TypeError: ``tm`` is not a TuringMachine.

    Source: the proof of Theorem 4.6 of the lecture notes.
    """
    check_kind(tm, TuringMachine, "source_step")
    base = check_base(base)
    check_layers(layers)
    mistakes = frozenset(mistakes)
    if unknown := sorted(mistakes - MISTAKES.keys(), key=str):
        raise ValueError(f"unknown mistakes {unknown}; the known ones are {list(MISTAKES)}")
    parts = _Parts(tm, base, layers, mistakes)
    parts.load()
    parts.rewind()
    parts.left()
    parts.right()
    parts.answer()
    return parts.step()


def check_layers(layers: int) -> None:
    """Raise a ValueError unless the source's step can be written in this many layers."""
    if type(layers) is not int or layers not in (2, 3, 4):
        raise ValueError(f"the source's step has 2, 3 or 4 layers, not {layers!r}")


class _Parts:
    """The parts of the step; each adds its choices to the next values of the state's names."""

    def __init__(self, tm: TuringMachine, base: int, layers: int, mistakes: frozenset[str]) -> None:
        self.tm, self.base, self.mistakes = tm, base, mistakes
        self.choice: Callable[..., Expression] = {
            4: lambda t, *cs: if_then_else(AND(AND(*cs[:2]), *cs[2:]), t),
            3: lambda t, *cs: if_then_else(AND(*cs), t),
            2: lambda t, *cs: AND(t, *cs),
        }[layers]
        self.names = names = SourceLayout.of(tm)
        self.q = {q: _held(name) for q, name in names.states.items()}
        self.l, self.r = ({a: _held(name) for a, name in part.items()} for part in (names.left, names.right))
        self.top_l, self.top_r = (
            {a: top(variable(name), base) for a, name in part.items()} for part in (names.left, names.right)
        )
        self.after: dict[str, list[Expression]] = {
            name: []
            for name in (*names.added_states, *names.states.values(), *names.left.values(), *names.right.values())
        }

    def load(self) -> None:
        """(4.31): push the word on the left stack."""
        load, eos = _held(self.names.load), _held(self.names.eos)
        read = self.pushed(self.l, {a: _held(name) for a, name in self.names.symbols.items()})
        self.choose(load, 1 - eos, into=self.names.load, left=read, right=self.r)
        self.choose(load, eos, into=self.names.rewind, left=self.l, right=self.r)

    def rewind(self) -> None:
        """(4.32): move it to the right stack."""
        rewind, over = _held(self.names.rewind), self.top_l[BOTTOM]
        moved = self.pushed(self.r, self.top_l)
        self.choose(rewind, 1 - over, into=self.names.rewind, left=self.popped(self.l, self.top_l), right=moved)
        self.choose(rewind, over, into=self.names.states[self.tm.start], left=self.l, right=self.r)

    def left(self) -> None:
        """(4.33): write a', then move the symbol left of the head, if there is one, on top of it."""
        for conditions, (state, written, _), rest in self.rules("L"):
            if rest is self.r and "right end" in self.mistakes:
                continue
            into, popped = self.names.states[state], self.popped(self.l, self.top_l)
            right = self.r if "write" in self.mistakes else self.pushed(rest, {written: 1})
            for c in self.tm.tape_alphabet:
                self.choose(*conditions, self.top_l[c], into=into, left=popped, right=self.pushed(right, {c: 1}))
            unbound = [self.pushed(popped, {c: 1}) for c in self.tm.tape_alphabet]
            for left in unbound if "left end" in self.mistakes else [self.l]:
                self.choose(*conditions, self.top_l[BOTTOM], into=into, left=left, right=right)

    def right(self) -> None:
        """(4.34): move a' to the left stack."""
        for conditions, (state, written, _), rest in self.rules("R"):
            left = self.pushed(self.l, {written: 1})
            self.choose(*conditions, into=self.names.states[state], left=left, right=rest)

    def answer(self) -> None:
        """One step after the end."""
        self.choose(self.q[self.tm.accept], into=self.names.yes)
        self.choose(self.q[self.tm.reject], into=self.names.no)
        for conditions, rule, _ in self.cases():
            if rule is None:
                self.choose(*conditions, into=self.names.no)

    def rules(self, move: str) -> Iterator[tuple[Conditions, Rule, Stack]]:
        """Where the machine moves there: the conditions, the rule, what is right of the cell read."""
        for conditions, rule, rest in self.cases():
            if rule is not None and rule[2] == move:
                yield conditions, rule, rest

    def cases(self) -> Iterator[tuple[Conditions, Rule | None, Stack]]:
        """All states with the symbol read, and their rule if there is one; on a $, which is read as a blank, nothing is
        popped.
        """
        for q, a in product(self.tm.states, self.tm.tape_alphabet):
            rule = self.tm.transitions.get((q, a))
            yield (self.q[q], self.top_r[a]), rule, self.popped(self.r, self.top_r)
            if a == self.tm.blank:
                yield (self.q[q], self.top_r[BOTTOM]), rule, self.r

    def pushed(self, z: Stack, bits: Mapping[Hashable, Expression | Number]) -> Stack:
        """(4.24)."""
        return {a: push(z[a], bits.get(a, 0), self.base) for a in z}

    def popped(self, z: Stack, tops: Stack) -> Stack:
        """(4.26)."""
        weight = 1 if "pop" in self.mistakes else self.base - 1
        return {a: self.base * z[a] - weight * tops[a] for a in z}

    def choose(self, *conditions: Expression, into: str, left: Stack = EMPTY, right: Stack = EMPTY) -> None:
        """If all conditions hold: this state, and these stacks."""
        values = {into: const(1)}
        values |= {self.names.left[a]: value for a, value in left.items()}
        values |= {self.names.right[a]: value for a, value in right.items()}
        for name, value in values.items():
            self.after[name].append(self.choice(value, *conditions))

    def step(self) -> Step:
        """The sum of the parts, from the start (4.28)."""
        names, marked = self.names, tuple(self.names.left)
        h0: dict[str, Number] = {**dict.fromkeys(self.after, 0), names.load: 1}
        h0 |= dict(zip(names.left.values(), encode([BOTTOM], marked, self.base), strict=True))
        h0 |= dict(zip(names.right.values(), encode([self.tm.blank, BOTTOM], marked, self.base), strict=True))
        state = {name: sum_of(terms) for name, terms in self.after.items()}
        return Step(state, (*names.symbols.values(), names.eos), h0)


def _held(name: str) -> Expression:
    """A value, which is not negative, past the layer of the tops."""
    return relu(variable(name), f"{name} held")
