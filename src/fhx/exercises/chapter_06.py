r"""The exercises of chapter 6, real weights and finite ones, with their oracles.

Search times and digits are read off nets that run; lists are compared with an enumeration of all words, digits of a
real number with the only expansion without ones, and letters that a float holds with rounding in exact numbers.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate, count, product

from numpy.random import Generator

from fhx.compile import language_to_rnn, step_bound
from fhx.exercises.evaluate_counters import Among
from fhx.exercises.evaluate_turing import by_prefix, right_signs
from fhx.exercises.record import Case, Exercise
from fhx.machines import all_words, nerode_classes

__all__ = ["EXERCISES"]

Words = Sequence[str]


def _some_words(generator: Generator, alphabet: str, longest: int, share: float) -> list[str]:
    """Words in length-then-alphabet order."""
    return [word for word in all_words(alphabet, longest) if generator.random() < share]


# A finite language as numbers


def _listed_by_enumeration(words: Words, alphabet: str) -> list[Fraction]:
    """The digits of each symbol as a numeral in base 3, read by ``int``."""
    longest = max(map(len, words), default=-1)
    string = "".join(word + "#" for word in all_words(alphabet, longest) if word in words)
    numerals = ("0" + "".join("02"[x == symbol] for x in string) for symbol in alphabet + "#")
    return [Fraction(int(numeral, 3), 3 ** len(string)) for numeral in numerals]


def _shuffled_words(generator: Generator) -> Case:
    alphabet = ["a", "ab", "ba", "cab"][generator.integers(4)]
    words = _some_words(generator, alphabet, 3, 0.3)
    return [words[i] for i in generator.permutation(len(words))], alphabet


# Times and digits of the search


def _search_time(words: Words, word: str) -> int:
    return language_to_rnn("ab", list(words)).look_up(word).steps


def _words_and_word(generator: Generator) -> Case:
    words, everything = _some_words(generator, "ab", 3, 0.3), list(all_words("ab", 4))
    choices = words if words and generator.random() < 0.5 else everything
    return words, choices[generator.integers(len(choices))]


def _digits_by_trying(words: Words, length: int) -> int:
    """The fewest digits with which the net, cut off there, answers all words up to a length; long words come first."""
    net, tried = language_to_rnn("ab", list(words)), list(all_words("ab", length))[::-1]
    limit = step_bound(length, len(words))
    shorter = ((digits, net.truncated(digits)) for digits in count())
    right = (
        digits
        for digits, cut in shorter
        if all(
            (answer := cut.answer(word, limit)) is not None and answer.value == (1 if word in words else -1)
            for word in tried
        )
    )
    return next(right)


def _words_and_length(generator: Generator) -> Case:
    return _some_words(generator, "ab", 3, 0.3), int(generator.integers(3))


# A unary language as one number


def _without_ones(z: Fraction, n: int) -> bool:
    """Of the integers k with z 3^(n + 1) in [k, k + 1], one has no digit 1 in base 3: its digits are those of z."""
    below = int(z * 3 ** (n + 1) // 1)
    candidates = [k for k in (below, below - 1) if 0 <= z * 3 ** (n + 1) - k <= 1 and k >= 0]
    numerals = (_ternary(k) for k in candidates)
    return next(numeral[-1] == "2" for numeral in numerals if "1" not in numeral)


def _ternary(k: int) -> str:
    return (_ternary(k // 3) if k >= 3 else "") + str(k % 3)


def _number(first: Sequence[int], again: Sequence[int]) -> Fraction:
    """The number of a unary language: bits for the words 1^0, 1^1, ..., of which the last ones repeat."""

    def finite(bits: Sequence[int]) -> Fraction:
        return sum((Fraction(2 * bit, 3**t) for t, bit in enumerate(bits, start=1)), start=Fraction(0))

    return finite(first) + finite(again) * Fraction(3 ** len(again), 3 ** len(again) - 1) / 3 ** len(first)


def _number_and_length(generator: Generator) -> Case:
    first, again = (generator.integers(0, 2, size=generator.integers(low, 6)).tolist() for low in (0, 1))
    return _number(first, again), int(generator.integers(0, 30))


# Letters in a float


def _by_rounding(base: int, bits: int) -> int:
    """Rounds 1 - B^-n to a multiple of 2^-p, ties to even, until it is 1."""
    return next(n - 1 for n in count(1) if round((1 - Fraction(1, base**n)) * 2**bits) == 2**bits)


# The mirror


def mirrored(word: str) -> bool:
    """Whether a word is u m v, where u is over a and b and v is u backwards."""
    n = len(word) // 2
    return word == word[:n] + "m" + word[:n][::-1] and "m" not in word[:n]


def _near_mirror(generator: Generator) -> Case:
    """A word u m v, long or short, often with a letter changed, added or left out, or two letters of v exchanged."""
    size = generator.integers(250, 500) if generator.integers(2) else generator.integers(1, 30)
    half = "".join(generator.choice(["a", "b"], size=size))
    word, n = half + "m" + half[::-1], len(half)
    i, letter = int(generator.integers(len(word))), "abm"[generator.integers(3)]
    k = n + 1 + int(generator.integers(n))
    exchanged = word[:k] + word[k : k + 2][::-1] + word[k + 2 :]
    changed = [word, word + letter, word[:i] + letter + word[i + 1 :], word[:i] + word[i + 1 :], exchanged]
    return (changed[generator.integers(5)] if generator.integers(2) else word,)


EXERCISES: tuple[Exercise, ...] = (
    Exercise(
        "06-list",
        "A finite language in numbers",
        "list_numbers(words, alphabet)",
        ("words", "alphabet"),
        cases=(
            (["b", "ab"], "ab"),
            ([], "ab"),
            ([""], "ab"),
            (["abab", "", "bb", "aa"], "ab"),
            (["ab", "b", "a"], "ba"),
            (["c", "aa", "b", "ca"], "cab"),
        ),
        sample=_shuffled_words,
        oracle=_listed_by_enumeration,
    ),
    Exercise(
        "06-time",
        "When the answer comes",
        "search_time(words, word)",
        ("words", "word"),
        cases=(
            (["", "aa", "bb"], "aa"),
            (["", "aa", "bb"], "ab"),
            (["", "aa", "bb"], ""),
            (["", "aa", "bb"], "a"),
            (["", "aa", "bb"], "bbb"),
            ([], ""),
            ([], "abab"),
            (["abab"], ""),
        ),
        sample=_words_and_word,
        oracle=_search_time,
    ),
    Exercise(
        "06-enough",
        "Digits that are enough",
        "digits_enough(words, n)",
        ("words", "n"),
        cases=((["b", "ab"], 2), (["b", "ab"], 1), (["b", "ab"], 0), ([], 2), (["", "a", "b"], 0), (["", "bbb"], 2)),
        sample=_words_and_length,
        oracle=_digits_by_trying,
    ),
    Exercise(
        "06-advice",
        "Advice in one number",
        "is_member(z, n)",
        ("z", "n"),
        cases=(
            (Fraction(3, 4), 0),
            (Fraction(3, 4), 1),
            (Fraction(1, 4), 3),
            (Fraction(0), 5),
            (Fraction(1), 0),
            (Fraction(1), 40),
            (Fraction(1, 3), 0),
            (Fraction(1, 3), 1),
            (_number([0, 0, 1, 1, 0, 1, 0, 1], [0]), 7),
            (_number([0, 0, 1, 1, 0, 1, 0, 1], [0]), 8),
            (_number([0] * 60 + [1], [0]), 60),
        ),
        sample=_number_and_length,
        oracle=_without_ones,
    ),
    Exercise(
        "06-held",
        "Letters in a float",
        "letters_held(base, bits)",
        ("base", "bits"),
        cases=(*product((3, 4, 8), (8, 11, 24, 53)), (3, 1000), (512, 8), (1024, 8), (2**60 - 1, 59)),
        sample=lambda generator: (int(generator.integers(3, 20)), int(generator.integers(2, 120))),
        oracle=_by_rounding,
    ),
    Exercise(
        "06-mirror",
        "The mirror in real time",
        "mirror()",
        ("word",),
        cases=(
            *((word,) for word in all_words("abm", 4)),
            ("abmab",),
            ("abbmabb",),
            ("ab" * 60 + "m" + "ba" * 60,),
            ("ab" * 60 + "m" + "ba" * 59 + "ab",),
            ("a" * 80 + "m" + "a" * 81,),
        ),
        sample=_near_mirror,
        oracle=lambda word: by_prefix(word, map(mirrored, accumulate(word, initial=""))),
        arguments=lambda word: (),
        observe=lambda value, word: right_signs(value, word, "abm", max_units=12),
    ),
    Exercise(
        "06-classes",
        "Classes by hand",
        "count_classes(contains, alphabet, n, h)",
        ("contains", "alphabet", "n", "h"),
        cases=(
            (Among("palindromes"), "ab", 3, 3),
            (Among("palindromes"), "ab", 3, 1),
            (Among("a^n b^n"), "ab", 4, 4),
            (Among("a^n b^n"), "ab", 0, 2),
            (Among("parity"), "01", 5, 0),
            (Among("(a|b)*abb"), "ab", 3, 2),
            (Among("dyck-1"), "()", 4, 0),
        ),
        sample=lambda generator: (Among("a^n b^n"), "ab", int(generator.integers(7)), int(generator.integers(5))),
        oracle=lambda contains, alphabet, n, h: nerode_classes(contains, alphabet, n, h, exactly=True),
    ),
)
"""The exercises of the chapter, in its order."""
