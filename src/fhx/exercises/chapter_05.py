r"""The exercises of chapter 5, Turing machines in rational weights, with their oracles.

Codes of stacks are compared with digits read by ``int(digits, base)``, unit counts with an enumeration of the units'
names, and the machines and nets that a reader designed with languages: on all short words, and on words that are too
long for a table of the size of the answer.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate, product

from numpy.random import Generator

from fhx.compile import real_time_limit
from fhx.exercises.evaluate_turing import (
    by_prefix,
    decide_turing,
    first_states,
    long_brackets,
    long_powers,
    right_answers,
    right_signs,
    scaled_states,
    tells_tops,
    value_of_pop,
)
from fhx.exercises.record import Case, Exercise, random_word
from fhx.machines import TURING_MACHINES, TuringMachine, all_words

__all__ = ["EXERCISES"]


# Stacks in numbers


def _component(word: Sequence[str], symbol: str, base: int) -> Fraction:
    """The digits of one symbol, read as an integer: B - 1 written as a single digit, so B is at most 36."""
    largest = "0123456789abcdefghijklmnopqrstuvwxyz"[base - 1]
    digits = "".join(largest if letter == symbol else "0" for letter in word)
    return Fraction(int("0" + digits, base), base ** len(digits))


def _base(generator: Generator) -> int:
    return int(generator.integers(3, 37))


def _largest_error(base: int) -> Fraction:
    """Half the way from the numbers without the symbol on top, at most 1/B, to those with it, at least 1 - 1/B."""
    return Fraction(1, 2) - Fraction(1, base)


def _base_and_error(generator: Generator) -> Case:
    base = _base(generator)
    return base, _largest_error(base) * Fraction(int(generator.integers(0, 25)), 20)


# Languages


def _depths(word: str) -> list[int]:
    return list(accumulate((1 if letter == "a" else -1 for letter in word), initial=0))


def balanced(word: str) -> bool:
    """Whether brackets, a opens and b closes, are balanced."""
    depths = _depths(word)
    return min(depths) == 0 == depths[-1]


def power_of_two(word: str) -> bool:
    """Whether a word has 1, 2, 4, 8, ... letters."""
    return bin(len(word)).count("1") == 1


def in_blocks(word: str) -> bool:
    """Whether a word is as many a as b, the a before the b."""
    n = len(word) // 2
    return word == "a" * n + "b" * n


DEEP = ("a" * 20 + "b" * 20, "a" * 20 + "b" * 19, "a" * 19 + "b" * 20, "ab" * 20, "ab" * 10 + "ba" + "ab" * 10)
BRACKETS = (*all_words("ab", 8), *DEEP)
COUNTS = (*range(41), 63, 64, 65, 100, 128)


def _near_blocks(generator: Generator) -> Case:
    """A word a^n b^n, as often long as short, and often with one letter changed, added or left out."""
    n = int(generator.integers(300, 1200) if generator.integers(2) else generator.integers(1, 60))
    word = "a" * n + "b" * n
    i = int(generator.integers(2 * n))
    letter = "ab"[generator.integers(2)]
    return (
        [word, word + "b" * (1 + i % 60), word[:i] + letter + word[i + 1 :], word[:i] + word[i + 1 :]][
            generator.integers(4)
        ],
    )


# How many units a machine's net has

SMALL = ("increment", "marching", "bouncing", "palindromes", "equal-blocks", "copying")


def _by_names(tm: TuringMachine) -> int:
    """The units of the step's ReLUs, each with a name of its own, counted."""
    rules = [(q, b, move) for q, b, move in tm.transitions.values()]
    symbols = [*tm.tape_alphabet]
    pushed = {move: [c for c in symbols if any((b, d) == (c, move) for _, b, d in rules)] for move in "LR"}
    right = [c for c in symbols if c != tm.blank and (c in tm.input_alphabet or c in pushed["L"])]
    names: set[object] = {"load", "gap", "start"}
    for goal in (*tm.states, tm.accept, tm.reject):
        if goal == tm.start or any((q, move) == (goal, "R") for q, _, move in rules):
            names |= {(goal, c, "right") for c in [tm.blank, *right]}
        if any((q, move) == (goal, "L") for q, _, move in rules):
            names |= {(goal, c, "left") for c in pushed["R"]}
    names |= {(q, b, "stays") for q, b, move in rules if move == "L"}
    names |= set(product(pushed["R"], ("L push", "L pop", "top of L, 1", "top of L, 2")))
    names |= set(product(right, ("R push", "R pop", "R kept")))
    names |= set(product(right, ("top of R, 1", "top of R, 2", "top of R kept", "top of R pushed")))
    names |= {(c, "loaded") for c in right if c in tm.input_alphabet}
    return len(names)


def _machine(generator: Generator) -> Case:
    """A few rules at random, not all of which need be of use."""
    states, symbols = range(generator.integers(1, 5)), "_abx"[: generator.integers(2, 5)]
    goals = [*states, "accept", "reject"]
    rules: dict[tuple[int, str], tuple[int | str, str, str]] = {}
    for pair in product(states, symbols):
        if generator.random() < 0.8:
            goal, symbol = goals[generator.integers(len(goals))], symbols[generator.integers(len(symbols))]
            rules[pair] = goal, symbol, "LR"[generator.integers(2)]
    rules[0, "a"] = goals[generator.integers(len(goals))], "a", "LR"[generator.integers(2)]
    rules[0, "_"] = 0, "_", "R"
    return (TuringMachine(rules, 0, "accept", "reject", "_", symbols[1:3]),)


def _blank_is_a_letter() -> TuringMachine:
    return TuringMachine({("q", "0"): ("A", "1", "L"), ("q", "1"): ("q", "0", "R")}, "q", "A", "J", "0", "01")


def _one_number(word: str, alphabet: str) -> tuple[Fraction, list[int]]:
    """The digits read as an integer, and the bits from the first symbol."""
    base = 2 * len(alphabet) + 1
    digits = "".join("0123456789abcdefghijklmnopqrstuvwxyz"[2 * alphabet.index(a) + 2] for a in word)
    top = alphabet.index(word[0]) if word else -1
    return Fraction(int("0" + digits, base), base ** len(digits)), [int(j <= top) for j in range(len(alphabet))]


def _rational_net(generator: Generator) -> Case:
    d = int(generator.integers(1, 4))

    def numbers() -> list[Fraction]:
        return [Fraction(int(generator.integers(-4, 5)), int(generator.integers(1, 7))) for _ in range(d)]

    return [numbers() for _ in range(d)], numbers(), numbers()


EXERCISES: tuple[Exercise, ...] = (
    Exercise(
        "05-code",
        "A stack by hand",
        "code(word, alphabet, base)",
        ("word", "alphabet", "base"),
        cases=(
            ("aab", "ab", 3),
            ("", "ab", 3),
            ("b", "ab", 10),
            ("abba", "abc", 4),
            ("cab", "abc", 10),
            ("a" * 40, "a", 3),
        ),
        sample=lambda generator: (random_word(generator, "abc", 12), "abc", _base(generator)),
        oracle=lambda word, alphabet, base: [_component(word, symbol, base) for symbol in alphabet],
    ),
    Exercise(
        "05-pop",
        "Pop in one formula",
        "pop_numbers(base)",
        ("base", "stack"),
        cases=((3, "a"), (3, ""), (3, "b"), (3, "aab"), (3, "bbbbaa"), (4, "aa"), (4, "baa"), (10, "abab")),
        sample=lambda generator: (_base(generator), random_word(generator, "ab", 12)),
        oracle=lambda base, stack: _component(stack[1:], "a", base),
        arguments=lambda base, stack: (base,),
        observe=lambda value, base, stack: value_of_pop(value, _component(stack, "a", base)),
    ),
    Exercise(
        "05-error",
        "A stack top that tolerates errors",
        "tolerant_top(base, error)",
        ("base", "error"),
        cases=(
            (3, Fraction(0)),
            (4, Fraction(1, 8)),
            (3, Fraction(1, 10)),
            (3, Fraction(1, 6)),
            (4, Fraction(1, 3)),
            (10, Fraction(2, 5)),
            (10, Fraction(2, 5) - Fraction(1, 10**9)),
        ),
        sample=_base_and_error,
        oracle=lambda base, error: "a line" if error < _largest_error(base) else "None",
        observe=tells_tops,
    ),
    Exercise(
        "05-halting",
        "Brackets that always halt",
        "halting_brackets()",
        (),
        cases=((),),
        sample=lambda generator: (),
        oracle=lambda: True,
        observe=lambda value: decide_turing(
            value, "ab", balanced, BRACKETS, long_brackets, lambda n: max(10_000, 6 * n**2)
        ),
        seconds=20.0,
    ),
    Exercise(
        "05-powers",
        "Your own machine in a net",
        "powers()",
        (),
        cases=((),),
        sample=lambda generator: (),
        oracle=lambda: True,
        observe=lambda value: decide_turing(
            value, "a", power_of_two, ("a" * n for n in COUNTS), long_powers, lambda n: max(50_000, 3 * n**2)
        ),
        seconds=20.0,
    ),
    Exercise(
        "05-count",
        "How many units",
        "count_units(tm)",
        ("tm",),
        cases=(*((TURING_MACHINES[name],) for name in SMALL), (_blank_is_a_letter(),)),
        sample=_machine,
        oracle=_by_names,
    ),
    Exercise(
        "05-number",
        "A whole stack in one number",
        "one_number(word, alphabet)",
        ("word", "alphabet"),
        cases=(("ba", "ab"), ("", "ab"), ("a", "a"), ("cab", "abc"), ("aac", "abc"), ("a" * 30, "ab")),
        sample=lambda generator: (random_word(generator, "abcd", 12), "abcd"),
        oracle=_one_number,
    ),
    Exercise(
        "05-whole",
        "Without fractions",
        "without_fractions(W, b, h0)",
        ("W", "b", "h0"),
        cases=(
            ([[Fraction(1, 2)]], [Fraction(1, 3)], [Fraction(1)]),
            ([[Fraction(1, 3), -1], [0, Fraction(3, 2)]], [0, Fraction(-1, 4)], [Fraction(1, 5), 2]),
            ([[0]], [Fraction(1, 2)], [0]),
            ([[2]], [0], [Fraction(1, 7)]),
            ([[Fraction(-1, 2)]], [Fraction(1, 3)], [Fraction(-2, 3)]),
        ),
        sample=_rational_net,
        oracle=first_states,
        observe=scaled_states,
    ),
    Exercise(
        "05-lists",
        "A list too long to look up",
        "impossible_length(units, steps)",
        ("units", "steps"),
        cases=((3, 1), (1, 1), (30, 1), (3, 10), (88, 1)),
        sample=lambda generator: (int(generator.integers(1, 40)), int(generator.integers(1, 6))),
        oracle=lambda units, steps: real_time_limit(units, steps_per_symbol=steps),
    ),
    Exercise(
        "05-counter",
        "A number that counts",
        "number_counter()",
        ("word",),
        cases=(*((word,) for word in all_words("ab", 6)), ("a" * 300 + "b" * 302,), ("a" * 200 + "b" * 199 + "a",)),
        sample=_near_blocks,
        oracle=lambda word: by_prefix(word, (in_blocks(word[:t]) for t in range(len(word) + 1))),
        arguments=lambda word: (),
        observe=lambda value, word: right_signs(value, word, "ab", max_units=4),
    ),
    Exercise(
        "05-fewest",
        "As few units as you can",
        "fewest_brackets()",
        (),
        cases=((),),
        sample=lambda generator: (),
        oracle=lambda: True,
        observe=lambda value: right_answers(value, "ab", 10, balanced, BRACKETS, long_brackets),
        seconds=10.0,
    ),
)
"""The exercises of the chapter, in its order."""
