"""A language as the list of its words in order, read as far as it is needed."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

from fhx.machines.words import refuse_one_string

__all__ = ["WordList"]

_END = object()


class WordList:
    r"""The string :math:`\langle L \rangle = w^{(1)} \# w^{(2)} \# \dots` of a language, read symbol by symbol.

    The words are read once, when a symbol is asked for, and what was read is kept. A fault in them, or an error in
    their generator, is raised again whenever anything after it is asked for.

    Args:
        alphabet: the symbols, in order.
        words: the words in strict length-then-alphabet order, or a function without arguments that gives them.

    Raises:
        TypeError: the words are a string, a set, or not iterable.
    """

    def __init__(
        self, alphabet: Sequence[Hashable], words: Iterable[Iterable[Hashable]] | Callable[[], Iterable[Any]]
    ) -> None:
        words = words() if callable(words) else words
        refuse_one_string(words)
        if isinstance(words, set | frozenset):
            raise TypeError("the words are a set, which has no order: give a list or a generator")
        try:
            self._words = iter(words)
        except TypeError:
            raise TypeError(f"the words must be an iterable, not the {type(words).__name__} {words!r}") from None
        self.alphabet = tuple(alphabet)
        self._places = {symbol: place for place, symbol in enumerate(self.alphabet)}
        self._string: list[int] = []
        self._last: tuple[Any, tuple[int, tuple[int, ...]]] | None = None
        self._fault: Exception | None = None
        self.count = 0
        self.ended = False

    def symbol(self, t: int) -> int | None:
        r"""The place in the alphabet of the t-th symbol of :math:`\langle L \rangle`, t from 1.

        That of # is the size of the alphabet; past the end of a finite list there is None.

        Raises:
            ValueError: the words up to there are not in order, or have a symbol outside the alphabet.
            TypeError: what should be a word is not a sequence of symbols.
        """
        while t > len(self._string) and not self.ended:
            self._read()
        return self._string[t - 1] if t <= len(self._string) else None

    def _read(self) -> None:
        """One word more, or the end."""
        if self._fault is not None:
            raise self._fault
        try:
            word = next(self._words, _END)
            if word is _END:
                self.ended = True
                return
            places = self._checked(word)
        except Exception as fault:
            self._fault = fault
            raise
        self._string += (*places, len(self.alphabet))
        self.count += 1

    def _checked(self, word: Any) -> tuple[int, ...]:
        try:
            word = word if isinstance(word, str) else tuple(word)
        except TypeError:
            raise TypeError(
                f"word {self.count + 1} of the language is {word!r}, which is not a sequence of symbols"
            ) from None
        places = tuple(self._place(symbol, word) for symbol in word)
        key = len(places), places
        if self._last is not None and key <= self._last[1]:
            raise ValueError(
                "the words of a language come in strict length-then-alphabet order, "
                f"but {self._last[0]!r} stands before {word!r}"
            )
        self._last = word, key
        return places

    def _place(self, symbol: Any, word: Any) -> int:
        try:
            return self._places[symbol]
        except (KeyError, TypeError):
            raise ValueError(
                f"the symbol {symbol!r} of the listed word {word!r} is outside the alphabet {self.alphabet}"
            ) from None
