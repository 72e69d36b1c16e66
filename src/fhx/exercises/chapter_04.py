r"""The exercises of chapter 4, what training finds, with their oracles.

Intervals are compared with quantiles of the beta distribution, windows with a table of their answers, tables of L* with
words compared two by two, gains with the zero of a
derivative. Nets that a reader designed are run on words: in exact numbers, in floating point, and with noise.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, count
from math import log

from numpy.random import Generator
from scipy.optimize import brentq
from scipy.special import betaincinv

from fhx.exercises.evaluate_counters import WORDS_GO_ROUND, counts_sums, maps_and_star, small_machine
from fhx.exercises.evaluate_exact import net_outputs
from fhx.exercises.evaluate_lstm import counting_cell, decide_order
from fhx.exercises.evaluate_noisy import survives_noise
from fhx.exercises.record import Case, Exercise, random_word
from fhx.machines import NAMED, all_words
from fhx.tasks import LANGUAGES

__all__ = ["EXERCISES"]

Predicate = Callable[[str], bool]
Words = Sequence[str]


@dataclass(frozen=True)
class Member:
    """Whether a word belongs to one of the book's languages, as a function that can be shown."""

    language: str

    def __call__(self, word: str) -> bool:
        return LANGUAGES[self.language].contains(word)

    def __repr__(self) -> str:
        return f"<is a word in {self.language}?>"


def _language(generator: Generator) -> tuple[Member, str]:
    language = LANGUAGES[list(LANGUAGES)[generator.integers(len(LANGUAGES))]]
    return Member(language.name), language.alphabet


def _predicate_and_word(generator: Generator) -> Case:
    accepts, alphabet = _language(generator)
    return accepts, random_word(generator, alphabet, 12)


# How sure a success rate is


def _by_quantiles(k: int, n: int) -> tuple[float, float]:
    low = 0.0 if k == 0 else float(betaincinv(k, n - k + 1, 0.025))
    high = 1.0 if k == n else float(betaincinv(k + 1, n - k, 0.975))
    return low, high


def _counts(generator: Generator) -> Case:
    n = int(generator.integers(1, 60))
    return int(generator.integers(n + 1)), n


# Nets that count


def _balanced_prefixes(word: str) -> list[bool]:
    return [ahead == 0 for ahead in accumulate((1 if letter == "a" else -1 for letter in word), initial=0)]


def _letters(generator: Generator) -> Case:
    """Letters at random, then one letter so often that the count comes near 0 again."""
    size = int(2.0 ** generator.uniform(3, 11))
    more = generator.uniform(0, 1)
    word = "".join(generator.choice(["a", "b", "ab", "ba"], size=size, p=[more / 2, (1 - more) / 2, 0.25, 0.25]))
    ahead = word.count("a") - word.count("b")
    return (word + "ab"[ahead > 0] * (abs(ahead) + int(generator.integers(2))),)


# Nets that undo errors


def _gain_of_the_level_tangent(M: int, eta: float) -> float | None:
    """The least of log((1 - e) / e) / (1/2 - M (e + eta)) over e, at the e where its derivative is 0."""
    most = 0.5 / M - eta
    if most <= 0:
        return None

    def slope(e: float) -> float:
        return M * log((1 - e) / e) - (0.5 - M * (e + eta)) / (e * (1 - e))

    e = brentq(slope, 1e-12 * most, most * (1 - 1e-12), xtol=1e-16)
    return log((1 - e) / e) / (0.5 - M * (e + eta))


def _terms_and_noise(generator: Generator) -> Case:
    M = int(generator.integers(2, 10))
    return M, float(generator.uniform(0, 1.1)) * 0.5 / M


# What a window reaches


def _by_looking_up(k: int) -> int:
    """The answers after each window, number by number, until one window has two."""
    answers: dict[str, str] = {}
    for n in count(1):
        word = "^" + "a" * n + "b" * n
        for t in range(1, len(word) + 1):
            so_far = word[:t]
            b = so_far.count("b")
            may_follow = "a or end" if t == 1 else "a or b" if b == 0 else "b" if b < n else "end"
            if answers.setdefault(so_far[-k:], may_follow) != may_follow:
                return n - 1
    raise AssertionError("every window is too short for some n")


# The table of L*


def _compared_two_by_two(
    accepts: Predicate, alphabet: str, words: Words, continuations: Words
) -> tuple[int, tuple[str, str] | None]:
    def alike(u: str, v: str) -> bool:
        return not any(accepts(u + z) != accepts(v + z) for z in continuations)

    first_of_its_kind = [u for i, u in enumerate(words) if not any(alike(u, v) for v in words[:i])]
    new = ((u, a) for u in words for a in alphabet if not any(alike(u + a, v) for v in words))
    return len(first_of_its_kind), next(new, None)


def _table(generator: Generator) -> Case:
    accepts, alphabet = _language(generator)
    words = ["", *(random_word(generator, alphabet, 4) for _ in range(generator.integers(8)))]
    continuations = ["", *(random_word(generator, alphabet, 3) for _ in range(generator.integers(3)))]
    return accepts, alphabet, list(dict.fromkeys(words)), list(dict.fromkeys(continuations))


EXERCISES: tuple[Exercise, ...] = (
    Exercise(
        "04-targets",
        "A verdict after every letter",
        "targets(accepts, word)",
        ("accepts", "word"),
        cases=(
            (Member("parity"), "1011"),
            (Member("parity"), ""),
            (Member("a^n b^n"), "aabb"),
            (Member("dyck-1"), "(())("),
        ),
        sample=_predicate_and_word,
        oracle=lambda accepts, word: list(map(accepts, accumulate(word, initial=""))),
    ),
    Exercise(
        "04-interval",
        "An interval by bisection",
        "interval(k, n)",
        ("k", "n"),
        cases=((7, 10), (0, 10), (10, 10), (1, 1), (0, 1), (150, 300)),
        sample=_counts,
        oracle=_by_quantiles,
        tolerance=1e-6,
    ),
    Exercise(
        "04-relu-counter",
        "Counting outside a box",
        "relu_counter()",
        ("word",),
        cases=(*((word,) for word in all_words("ab", 6)), ("a" * 5000 + "b" * 5001,), ("b" * 5000 + "a" * 5001,)),
        sample=_letters,
        oracle=_balanced_prefixes,
        arguments=lambda word: (),
        observe=lambda value, word: [y > 0 for y in net_outputs(value, word, "ab", max_units=2)],
    ),
    Exercise(
        "04-lstm-order",
        "Counting in order",
        "in_order(cell)",
        (),
        cases=((),),
        sample=lambda generator: (),
        oracle=lambda: True,
        arguments=lambda: (counting_cell(),),
        observe=decide_order,
        seconds=10.0,
    ),
    Exercise(
        "04-window",
        "How far a window counts",
        "window_reach(k)",
        ("k",),
        cases=tuple((k,) for k in (1, 2, 3, 4, 21, 31, 40)),
        sample=lambda generator: (int(generator.integers(1, 70)),),
        oracle=_by_looking_up,
    ),
    Exercise(
        "04-rows",
        "The table of L*",
        "rows(accepts, alphabet, words, continuations)",
        ("accepts", "alphabet", "words", "continuations"),
        cases=(
            (Member("parity"), "01", [""], [""]),
            (Member("parity"), "01", ["", "1"], [""]),
            (Member("(a|b)*abb"), "ab", ["", "a", "ab", "abb"], [""]),
            (Member("(a|b)*abb"), "ab", ["", "a", "b", "aa"], ["", "bb"]),
            (Member("(a|b)*abb"), "ab", ["", "a", "ab", "abb"], ["", "b", "bb"]),
            (Member("a^n b^n"), "ab", ["", "a", "b", "aa"], ["", "b", "bb"]),
            (Member("tomita-6"), "01", ["", "01", "111", "0000"], ["", "0"]),
        ),
        sample=_table,
        oracle=_compared_two_by_two,
    ),
    Exercise(
        "04-repair",
        "Weights that survive noise",
        "robust()",
        (),
        cases=((),),
        sample=lambda generator: (),
        oracle=lambda: True,
        observe=survives_noise,
        seconds=10.0,
    ),
    Exercise(
        "04-gain",
        "The price of noise",
        "least_gain(M, eta)",
        ("M", "eta"),
        cases=((2, 0.0), (2, 0.1), (2, 0.25), (3, 0.05), (5, 0.09), (5, 0.2)),
        sample=_terms_and_noise,
        oracle=_gain_of_the_level_tangent,
        tolerance=1e-5,
    ),
    Exercise(
        "04-maps",
        "What words do to states",
        "maps_of_words(dfa)",
        ("dfa",),
        cases=(
            *((NAMED[name],) for name in ("parity", "(a|b)*abb", "tomita-3", "tomita-4", "divisible-by-3", "S3")),
            (WORDS_GO_ROUND,),
        ),
        sample=small_machine,
        oracle=maps_and_star,
    ),
    Exercise(
        "04-machine",
        "A counter machine of your own",
        "own_counters()",
        (),
        cases=((),),
        sample=lambda generator: (),
        oracle=lambda: True,
        observe=counts_sums,
        seconds=20.0,
    ),
)
"""The exercises of the chapter, in its order."""
