"""Nets for the tests: random ones, and the net of a finite automaton, written by hand."""

from dataclasses import dataclass
from fractions import Fraction

from hypothesis import strategies as st

from fhx.exact import Matrix, Recognizer, SimpleRNN


@dataclass(frozen=True)
class Machine:
    """A DFA over states 0..n-1 and letters, started in 0: the tests' own, a dict and a loop."""

    transitions: dict
    accept: frozenset
    letters: str

    @property
    def size(self):
        return len(self.transitions) // len(self.letters)

    def after(self, word):
        """The states after 0, 1, ... symbols."""
        states = [0]
        for letter in word:
            states.append(self.transitions[states[-1], letter])
        return states

    def accepts(self, word):
        return self.after(word)[-1] in self.accept


PARITY = Machine({(0, "0"): 0, (0, "1"): 1, (1, "0"): 1, (1, "1"): 0}, frozenset({1}), "01")
ABB = Machine(
    {(q, x): p for q, row in enumerate([(1, 0), (1, 2), (1, 3), (1, 0)]) for x, p in zip("ab", row, strict=True)},
    frozenset({3}),
    "ab",
)


def net(machine, pause=0):
    """The net whose unit q&b is on where the machine was in q and read b.

    With a pause each symbol is followed by zero vectors: in the first the machine's state q, then a unit itself, takes
    over, and in the others it holds on.
    """
    pairs = [(q, b) for q in range(machine.size) for b in machine.letters]
    place = {pair: i for i, pair in enumerate(pairs)}
    start, size = len(pairs), len(pairs) + 1
    goes_to = {place[pair]: machine.transitions[pair] for pair in pairs} | {start: 0}
    W = {(place[q, b], i): 1 for i, q in goes_to.items() for b in machine.letters}
    U = {(place[q, b], machine.letters.index(b)): 1 for q, b in pairs}
    b, units = [-1] * len(pairs) + [0], [f"q{q}&{b}" for q, b in pairs] + ["start"]
    w = [int(goes_to[i] in machine.accept) for i in range(size)]
    if pause:
        held = {q: size + q for q in range(machine.size)}
        W = {(held[q], i): 1 for i, q in goes_to.items()} | {(held[q], held[q]): 1 for q in held}
        W |= {(place[q, b], held[q]): 1 for q, b in pairs}
        U |= {(held[q], a): -1 for q in held for a in range(len(machine.letters))}
        b, units, size = b + [0] * len(held), units + [f"q{q}" for q in held], size + len(held)
        w = [0] * len(pairs) + [0] + [int(q in machine.accept) for q in held]
        start = held[0]
    h0 = [int(i == start) for i in range(size)]
    rnn = SimpleRNN(Matrix((size, size), W), Matrix((size, len(machine.letters)), U), b, h0, "relu", units)
    return Recognizer(rnn, w, 0, machine.letters, pause + 1)


@st.composite
def machines(draw, max_states=8):
    size, letters = draw(st.integers(1, max_states)), "abc"[: draw(st.integers(1, 3))]
    states = st.integers(0, size - 1)
    transitions = {(q, x): draw(states) for q in range(size) for x in letters}
    return Machine(transitions, draw(st.frozensets(states)), letters)


def words(letters, max_size=12):
    return st.text(alphabet=letters, max_size=max_size)


INTEGERS = st.integers(-3, 3)
RATIONALS = st.builds(Fraction, st.integers(-6, 6), st.integers(1, 6))
NUMBERS = st.one_of(INTEGERS, RATIONALS)


@st.composite
def rnns(draw, numbers=NUMBERS, activations=("relu", "slu")):
    """A sparse net of 1 to 5 units and 1 to 3 inputs; whole nets are integer where ``numbers`` are."""
    size, inputs = draw(st.integers(1, 5)), draw(st.integers(1, 3))
    sparse = st.one_of(st.just(0), numbers)

    def rows(count, width):
        return [draw(st.lists(sparse, min_size=width, max_size=width)) for _ in range(count)]

    b, h0 = rows(2, size)
    return SimpleRNN(rows(size, size), rows(size, inputs), b, h0, draw(st.sampled_from(activations)))


@st.composite
def runs(draw, numbers=NUMBERS, max_size=8):
    """A net and a word of columns and pauses."""
    rnn = draw(rnns(numbers))
    columns = st.one_of(st.none(), st.integers(0, rnn.input_size - 1))
    return rnn, draw(st.lists(columns, max_size=max_size))


def one_hot(symbol, size):
    return tuple(int(a == symbol) for a in range(size))


def dense(state, size):
    return tuple(state.get(i, 0) for i in range(size))
