"""Words: how they are written, all of them up to a length, and a stated sample."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import product
from random import Random
from typing import Protocol, overload

from fhx._checks import at_least

__all__ = ["Automaton", "State", "Symbol", "Word", "all_words", "as_word", "has_letters_only", "word_sample"]

State = Hashable
Symbol = Hashable
Word = str | tuple[Symbol, ...]


class Automaton(Protocol):
    """The five parts of a deterministic finite automaton."""

    @property
    def states(self) -> tuple[State, ...]: ...
    @property
    def alphabet(self) -> tuple[Symbol, ...]: ...
    @property
    def transitions(self) -> Mapping[tuple[State, Symbol], State]: ...
    @property
    def start(self) -> State: ...
    @property
    def accept(self) -> frozenset[State]: ...


def has_letters_only(alphabet: Iterable[Symbol]) -> bool:
    """Whether every symbol is a string of one character, so that a word can be written as a string."""
    return all(isinstance(symbol, str) and len(symbol) == 1 for symbol in alphabet)


def as_word(symbols: Iterable[Symbol], alphabet: Iterable[Symbol]) -> Word:
    """The symbols as a string if each symbol of the alphabet is a one-character string, else as a tuple."""
    return "".join(map(str, symbols)) if has_letters_only(alphabet) else tuple(symbols)


def refuse_one_string(words: object) -> None:
    """Raise a TypeError if a list of words is one string, whose symbols would be taken for words."""
    if isinstance(words, str):
        raise TypeError(f"the words are the one string {words!r}: give a list of words")


@overload
def all_words(alphabet: str, max_length: int) -> Iterator[str]: ...
@overload
def all_words(alphabet: Sequence[Symbol], max_length: int) -> Iterator[Word]: ...
def all_words(alphabet: Sequence[Symbol], max_length: int) -> Iterator[Word]:
    r"""The :math:`\sum_{t=0}^{n} |\Sigma|^t` words of at most :math:`n` symbols, short ones first, then by alphabet.

    Args:
        alphabet: the symbols :math:`\Sigma` in their order.
        max_length: :math:`n`; below 0 there is no word.
    """
    for length in range(max_length + 1):
        for symbols in product(alphabet, repeat=length):
            yield as_word(symbols, alphabet)


@overload
def word_sample(
    alphabet: str, exhaustive_length: int, random_words: int = 0, random_length: int = 0, seed: int = 0
) -> tuple[str, ...]: ...
@overload
def word_sample(
    alphabet: Sequence[Symbol], exhaustive_length: int, random_words: int = 0, random_length: int = 0, seed: int = 0
) -> tuple[Word, ...]: ...
def word_sample(
    alphabet: Sequence[Symbol], exhaustive_length: int, random_words: int = 0, random_length: int = 0, seed: int = 0
) -> tuple[Word, ...]:
    """A stated list of words to compare two languages on: all short ones, then random ones.

    Args:
        alphabet: the symbols in their order.
        exhaustive_length: all words of at most this many symbols come first, as in :func:`all_words`.
        random_words: how many random words follow.
        random_length: their lengths are uniform on ``exhaustive_length + 1, ..., random_length``, and their symbols
            uniform on the alphabet.
        seed: of the random words.

    Raises:
        ValueError: random words are asked for, but none is longer than ``exhaustive_length``.
    """
    if at_least("random_words", random_words, 0) and random_length <= exhaustive_length:
        raise ValueError(
            f"random words of at most {random_length} symbols are among all words of at most {exhaustive_length}"
        )
    rng = Random(seed)
    lengths = [rng.randint(exhaustive_length + 1, random_length) for _ in range(random_words)]
    drawn = (as_word(rng.choices(alphabet, k=length), alphabet) for length in lengths)
    return (*all_words(alphabet, exhaustive_length), *drawn)
