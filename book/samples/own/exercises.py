"""Two exercises of an instructor's own, with the number 20; the second is another one for each student."""

from dataclasses import replace

import numpy as np

from fhx.exercises import Exercise, Mistake, Notes


def _word(generator: np.random.Generator) -> tuple[str]:
    return ("".join(generator.choice(list("ab"), size=generator.integers(1, 30))),)


def _residue(word: str, modulus: int) -> int:
    """By the letters before the last one, where the solution counts all."""
    return (_residue(word[:-1], modulus) + (word[-1] == "a")) % modulus if word else 0


def _count(modulus: int) -> Exercise:
    """The exercise with a modulus."""
    return Exercise(
        "20-count",
        "Counting to a modulus",
        "count(word)",
        ("word",),
        cases=(("",), ("ab",), ("aaaaa",)),
        sample=_word,
        oracle=lambda word: _residue(word, modulus),
        notes=COUNT,
        solution=f"def count(word):\n    return word.count('a') % {modulus}",
        parameters={"m": modulus},
    )


RUNS = Notes(
    points=1,
    difficulty="one line",
    minutes=5,
    teaches="What has to be remembered between two letters.",
    hint="Count the places where the letter changes.",
    mistakes=(
        Mistake("It counts the changes.", "def runs(word):\n    return sum(a != b for a, b in zip(word, word[1:]))"),
    ),
)
COUNT = Notes(
    points=2,
    difficulty="a few lines",
    minutes=10,
    teaches="How many states a counter needs.",
    hint="How many letters a does the word have?",
    mistakes=(Mistake("It does not take the remainder.", "def count(word):\n    return word.count('a')"),),
)
EXERCISES = [
    Exercise(
        "20-runs",
        "Runs of a letter",
        "runs(word)",
        ("word",),
        cases=(("",), ("aab",)),
        sample=_word,
        oracle=lambda word: len("".join(word).replace("ab", "a b").replace("ba", "b a").split()),
        notes=RUNS,
        solution="from itertools import groupby\n\n\ndef runs(word):\n    return sum(1 for _ in groupby(word))",
    ),
    replace(_count(3), variant=lambda generator: _count(int(generator.integers(2, 9)))),
]
