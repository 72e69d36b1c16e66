r"""The exercises of chapter 3, automata in integer weights, with their oracles.

Machines and nets that a reader designs are searched side by side with a machine that is right, which decides for all
words.
"""

from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.random import Generator

from fhx.exercises.evaluate_certificate import CERTIFICATES, a_certificate, certificate_verdict, hulls_share_a_point
from fhx.exercises.evaluate_counters import table_of
from fhx.exercises.evaluate_exact import (
    decide_machine,
    describe_word,
    layers_by_jumps,
    right_hats,
    right_layers,
    right_net,
    right_start,
    threshold_side,
)
from fhx.exercises.record import Case, Exercise
from fhx.machines import DFA, NFA, dyck, letter_from_the_end, parity

__all__ = ["EXERCISES"]

Bits = Sequence[int]
Rows = Sequence[Sequence[int]]

SECOND_LAST_A = DFA.from_regex("(a|b)*a(a|b)", "ab")
ENDS_IN_ABB = DFA.from_regex("(a|b)*abb", "ab")
NO_BB = DFA.from_regex("(a|ba)*b?", "ab")
TWO_WAYS = NFA(range(3), "ab", {(0, "b"): [0, 1], (0, "a"): [2], (1, "a"): [2]}, [0, 1], [2])


# Machines


def _random_dfa(generator: Generator, alphabet: str) -> DFA:
    n = int(generator.integers(1, 6))
    transitions = {(q, a): int(generator.integers(n)) for q in range(n) for a in alphabet}
    return DFA(range(n), alphabet, transitions, 0, np.flatnonzero(generator.integers(0, 2, size=n)).tolist())


def _machine(generator: Generator) -> Case:
    return (_random_dfa(generator, "abc"[: generator.integers(1, 4)]),)


def _nfa(generator: Generator) -> tuple[NFA]:
    """With one accepting state, and on average one or two states to go to by each symbol."""
    states, alphabet = range(int(generator.integers(2, 6))), "abc"[: generator.integers(1, 4)]
    some = lambda mean: [q for q in states if generator.random() < mean / len(states)]  # noqa: E731
    moves = {(q, a): some(1.5) for q in states for a in alphabet}
    return (NFA(states, alphabet, moves, [0, *some(0.5)], [int(generator.choice(states))]),)


def _two_machines(generator: Generator) -> Case:
    """A machine, and either it with one transition changed, which may or may not matter, or any other one."""
    left = _random_dfa(generator, "ab")
    if generator.random() < 0.2:
        return left, _random_dfa(generator, "ab")
    n = len(left.states)
    changed = (int(generator.choice(n)), "ab"[generator.choice(2)])
    target = int(generator.choice(n))
    return left, DFA(left.states, "ab", {**left.transitions, changed: target}, 0, left.accept)


def _by_refinement(left: DFA, right: DFA) -> str:
    """The shortest word's length is the number of rounds in which Moore's refinement tells the starts apart."""
    machines = (left, right)
    states = [(i, q) for i, machine in enumerate(machines) for q in machine.states]
    block = {(i, q): int(q in machines[i].accept) for i, q in states}
    for length in range(len(states)):
        if block[0, left.start] != block[1, right.start]:
            return f"a word of length {length} on which they differ"
        keys = {
            (i, q): (block[i, q], *(block[i, machines[i].transitions[q, a]] for a in left.alphabet)) for i, q in states
        }
        names = {key: number for number, key in enumerate(dict.fromkeys(keys.values()))}
        block = {state: names[key] for state, key in keys.items()}
    return "None: no word tells the two apart"


def _counter(n: int, alphabet: str, accept: list[int]) -> DFA:
    return DFA(range(n), alphabet, {(q, a): (q + 1) % n for q in range(n) for a in alphabet}, 0, accept)


# Nets of saturated units: all vectors of zeros and ones, and the start


def _reached_in_the_cube(W: Rows, U: Rows, b: Bits, h0: Bits) -> int:
    """Powers of the relation "one symbol leads from this vector to that", until they stop growing."""
    recurrent, inputs = np.array(W, dtype=int), np.array(U, dtype=int)
    cube = np.array(sorted({*product((0, 1), repeat=len(b)), tuple(h0)}))
    place = {tuple(h): i for i, h in enumerate(cube.tolist())}
    leads = np.eye(len(cube), dtype=bool)
    for column in inputs.T:
        for i, h in enumerate(np.clip(cube @ recurrent.T + column + np.array(b), 0, 1).tolist()):
            leads[i, place[tuple(h)]] = True
    while (further := leads @ leads).sum() > leads.sum():
        leads = further
    return int(leads[place[tuple(h0)]].sum())


def _saturated_net(generator: Generator) -> Case:
    d, k = generator.integers(1, 6), generator.integers(1, 3)
    sizes = ((d, d), (d, k), (d,), (d,))
    return tuple(generator.integers(-2, 3, size=size).tolist() for size in sizes)


def _bits(generator: Generator) -> Case:
    first, again = (generator.integers(0, 2, size=generator.integers(low, 12)).tolist() for low in (0, 1))
    return first, again


EXERCISES: tuple[Exercise, ...] = (
    Exercise(
        "03-second-last",
        "The second last letter",
        "second_last()",
        (),
        cases=((),),
        sample=lambda generator: (),
        oracle=lambda: True,
        observe=lambda value: decide_machine(value, SECOND_LAST_A),
    ),
    Exercise(
        "03-threshold",
        "Majority by one threshold",
        "majority()",
        ("x",),
        cases=tuple((x,) for x in product((0, 1), repeat=3)),
        sample=lambda generator: (tuple(generator.integers(0, 2, size=3).tolist()),),
        oracle=lambda x: sorted(x)[1] == 1,
        arguments=lambda x: (),
        observe=threshold_side,
    ),
    Exercise(
        "03-certificate",
        "Checking a certificate",
        "proves_no_line(points, labels, multipliers)",
        ("points", "labels", "multipliers"),
        cases=CERTIFICATES,
        sample=a_certificate,
        oracle=hulls_share_a_point,
        observe=certificate_verdict,
    ),
    Exercise(
        "03-one-layer",
        "One hidden layer or not",
        "one_layer()",
        (),
        cases=((),),
        sample=lambda generator: (),
        oracle=layers_by_jumps,
        observe=right_layers,
    ),
    Exercise(
        "03-pair-net",
        "The compiler by hand",
        "pair_net(dfa)",
        ("dfa",),
        cases=tuple(
            (dfa,) for dfa in (parity(), ~parity(), ENDS_IN_ABB, _counter(3, "a", [0, 1]), _counter(1, "abc", []))
        ),
        sample=_machine,
        oracle=lambda dfa: True,
        observe=right_net,
    ),
    Exercise(
        "03-no-bb",
        "Never two in a row",
        "no_bb()",
        (),
        cases=((),),
        sample=lambda generator: (),
        oracle=lambda: True,
        observe=lambda value: right_net(value, NO_BB, max_units=2),
    ),
    Exercise(
        "03-count-states",
        "How many states a net has",
        "count_states(W, U, b, h0)",
        ("W", "U", "b", "h0"),
        cases=(
            ([[0]], [[1, 0]], [0], [0]),
            ([[1]], [[1, -1]], [0], [2]),
            ([[1, -2], [1, -2]], [[0, 1], [0, 1]], [0, -1], [0, 0]),
            ([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1], [0, 0], [0, 0]], [0, 0, 0], [0, 0, 0]),
            ([[0, 0], [1, 0]], [[0, 1], [0, 0]], [0, 0], [-1, 3]),
        ),
        sample=_saturated_net,
        oracle=_reached_in_the_cube,
    ),
    Exercise(
        "03-hat",
        "A number becomes one-hot",
        "hats(n)",
        ("n",),
        cases=tuple((n,) for n in (3, 2, 1, 5)),
        sample=lambda generator: (int(generator.integers(4, 25)),),
        oracle=lambda n: True,
        observe=right_hats,
    ),
    Exercise(
        "03-table",
        "A table read aloud",
        "table_number(dfa, symbol)",
        ("dfa", "symbol"),
        cases=(
            (_counter(2, "a", [1]), "a"),
            (parity(), "1"),
            (ENDS_IN_ABB, "b"),
            (_counter(3, "a", [2]), "a"),
            (parity(), "0"),
        ),
        sample=lambda generator: (_random_dfa(generator, "ab"), "ab"[generator.integers(2)]),
        oracle=table_of,
    ),
    Exercise(
        "03-sets",
        "A set of states by hand",
        "nfa_net(nfa)",
        ("nfa",),
        cases=tuple((nfa,) for nfa in (*(letter_from_the_end(d, "ba") for d in (1, 2, 4)), TWO_WAYS)),
        sample=_nfa,
        oracle=lambda nfa: True,
        observe=lambda value, nfa: right_net(value, nfa.determinize(), len(nfa.states) * len(nfa.alphabet) + 1, "slu"),
    ),
    Exercise(
        "03-depth",
        "Brackets of one kind",
        "bracket_net(m)",
        ("m",),
        cases=tuple((m,) for m in (1, 2, 3, 6)),
        sample=lambda generator: (int(generator.integers(4, 16)),),
        oracle=lambda m: True,
        observe=lambda value, m: right_net(value, dyck(1, m), m + 2, "slu"),
    ),
    Exercise(
        "03-distinguish",
        "A shortest word that tells",
        "shortest_difference(left, right)",
        ("left", "right"),
        cases=(
            (SECOND_LAST_A, ENDS_IN_ABB),
            (ENDS_IN_ABB, ~ENDS_IN_ABB),
            (SECOND_LAST_A, DFA.from_regex("(a|b)*a(a|b)b*", "ab")),
            (_counter(4, "ab", [0]), _counter(6, "ab", [0])),
            (_counter(2, "ab", [0]), _counter(4, "ab", [0, 2])),
            (DFA.from_regex("aaaaa|bbbbb", "ab"), DFA.from_regex("aba|bab", "ab")),
            (_counter(12, "ab", [0]), _counter(13, "ab", [0])),
        ),
        sample=_two_machines,
        oracle=_by_refinement,
        observe=describe_word,
    ),
    Exercise(
        "03-real-start",
        "Bits in a start",
        "real_start(first, again)",
        ("first", "again"),
        cases=(([1], [0]), ([], [1]), ([1, 0, 1, 1], [0]), ([], [1, 0]), ([0, 0, 1], [0, 1, 1])),
        sample=_bits,
        oracle=lambda first, again: True,
        observe=right_start,
    ),
    Exercise(
        "03-fewest",
        "As few units as you can",
        "fewest()",
        (),
        cases=((),),
        sample=lambda generator: (),
        oracle=lambda: True,
        observe=lambda value: right_net(value, ENDS_IN_ABB, max_units=3),
    ),
)
"""The exercises of the chapter, in its order."""
