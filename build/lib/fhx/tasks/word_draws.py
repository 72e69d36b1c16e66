"""How words of formal languages are drawn: of a given length, from a given source of randomness."""

import random
from collections.abc import Callable
from itertools import product

__all__ = ["blocks", "mixture", "no_three", "off_by_one", "runs", "uniform", "walk"]

Draw = Callable[[int, random.Random], str]


def uniform(alphabet: str) -> Draw:
    return lambda length, source: "".join(source.choices(alphabet, k=length))


def mixture(alphabet: str, near: Draw) -> Draw:
    """Half of the words as ``near`` draws them, a quarter of these with one symbol redrawn, a quarter uniform."""

    def draw(length: int, source: random.Random) -> str:
        kind = source.randrange(4)
        if kind == 0:
            return uniform(alphabet)(length, source)
        word = near(length, source)
        if kind == 1:
            at = source.randrange(length)
            word = word[:at] + source.choice(alphabet) + word[at + 1 :]
        return word

    return draw


def blocks(alphabet: str) -> Draw:
    """A member that fits into the length, each block up to 2 shorter than it could be, then the last symbol only.

    Each block but the last is one too long or too short in every fourth word.
    """

    def draw(length: int, source: random.Random) -> str:
        n = max(0, length // len(alphabet) - source.randint(0, 2))
        word = "".join(symbol * (n + source.choice((0, 0, 0, source.choice((-1, 1))))) for symbol in alphabet[:-1])
        return (word + alphabet[-1] * length)[:length]

    return draw


def runs(length: int, source: random.Random) -> str:
    """Blocks of 1 to 4 ones and of 1 to 4 zeros, those of zeros even after an odd block of ones, as in Tomita 3."""
    word, even = "", False
    while len(word) < length:
        ones = source.randint(0 if not word else 1, 4)
        even = even or ones % 2 == 1
        word += "1" * ones + "0" * (source.choice((2, 4)) if even else source.randint(1, 4))
    return word[:length]


def no_three(length: int, source: random.Random) -> str:
    word = ""
    for _ in range(length):
        word += "1" if word.endswith("00") else source.choice("01")
    return word


def walk(length: int, source: random.Random) -> str:
    """A fair walk that goes up where it would go below zero."""
    word, height = "", 0
    for _ in range(length):
        up = height == 0 or source.random() < 0.5
        word, height = word + ("(" if up else ")"), height + (1 if up else -1)
    return word


def off_by_one(alphabet: str) -> Callable[[int], list[str]]:
    """Words whose prefixes have n, n - 1 and n + 1 symbols in each block after the first."""

    def probes(n: int) -> list[str]:
        first, *middle, last = list(alphabet)
        offsets = product((-1, 0, 1), repeat=len(middle))
        blocks = ("".join(s * (n + k) for s, k in zip(middle, off, strict=True)) for off in offsets)
        return [first * n + block + last * (n + 2) for block in blocks]

    return probes
