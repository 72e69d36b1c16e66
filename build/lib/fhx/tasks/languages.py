r"""Formal languages: after every symbol of a word, whether what has been read so far belongs to the language.

A :class:`~fhx.tasks.Language` is a predicate on words, written as plainly as the definition, and a way to draw
words of a given length in which members and near misses are not vanishingly rare. The predicates know nothing of
automata.
"""

import random
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, groupby

import torch
from attrs import Factory, frozen
from jaxtyping import Float, Int
from torch import Tensor

from fhx.machines.names import NameTable
from fhx.machines.words import refuse_one_string
from fhx.tasks.sequences import Sequences, Task
from fhx.tasks.word_draws import blocks, mixture, no_three, off_by_one, runs, uniform, walk

__all__ = ["LANGUAGES", "Language", "encode", "formal_language", "next_symbols"]


@frozen
class Language:
    """A set of words over an alphabet, and how words are drawn to teach it.

    Attributes:
        name: its id in ``LANGUAGES``.
        alphabet: its symbols in order.
        contains: whether a word over the alphabet belongs to it.
        draw: a word of the given length, from the given source of randomness.
        rule: one line that says how words are drawn.
        probes: for a language that asks for counting, the hard words of number :math:`n`: equal counts, and near
            misses.
        viable: whether a word is a prefix of a member; None where no task asks for it.
        stream: with the seed, what words are drawn from; the name, or an older one, since stored results were drawn so.
    """

    name: str
    alphabet: str
    contains: Callable[[str], bool]
    draw: Callable[[int, random.Random], str]
    rule: str
    probes: Callable[[int], list[str]] | None = None
    viable: Callable[[str], bool] | None = None
    stream: str = Factory(lambda self: self.name, takes_self=True)

    def prefixes(self, word: str) -> list[bool]:
        """Whether each prefix belongs to the language, the empty one first: ``len(word) + 1`` answers."""
        return [self.contains(word[:t]) for t in range(len(word) + 1)]

    def words(self, count: int, lengths: tuple[int, int], seed: int) -> list[str]:
        """Words drawn independently, their lengths uniform from the first of ``lengths`` to the second.

        Raises:
            ValueError: ``count`` is below 1, or the lengths are not such a range.
        """
        low, high = lengths
        if count < 1 or not 1 <= low <= high:
            raise ValueError(f"drawing takes at least 1 word and lengths 1 <= low <= high, not {count} and {lengths}")
        source = random.Random(f"{self.stream} {seed}")
        return [self.draw(source.randint(low, high), source) for _ in range(count)]

    def sequences(self, words: Sequence[str], empty: bool = True) -> Sequences:
        """The words as one-hot inputs, with targets ``(time, N, 1)``: 1 where the prefix read belongs to the language.

        Raises:
            ValueError: a word has a symbol outside the alphabet, or none where ``empty`` is false.
        """
        inputs, lengths = encode(words, self.alphabet, empty)
        targets = torch.zeros(*inputs.shape[:2], 1)
        for n, word in enumerate(words):
            targets[: lengths[n], n, 0] = torch.tensor(self.prefixes(word)[0 if empty else 1 :]).to(targets.dtype)
        return Sequences(inputs, targets, lengths)


def encode(
    words: Sequence[str], alphabet: str, empty: bool = True
) -> tuple[Float[Tensor, "time N symbols"], Int[Tensor, " N"]]:
    r"""Words as columns of one-hot vectors :math:`e_{x_1}, e_{x_2}, \dots`, and their numbers of steps.

    With ``empty`` a zero vector stands before every word, so that the output after it is the answer for the empty
    word, and step :math:`t + 1` that for the prefix :math:`x_1 \dots x_t`. After a word's end there are zeros.

    Raises:
        TypeError: the words are one string.
        ValueError: there is no word, a symbol is outside the alphabet, or a word has no step at all.
    """
    refuse_one_string(words)
    if not words:
        raise ValueError("there is no word to encode")
    before = int(empty)
    lengths = torch.tensor([len(word) + before for word in words])
    inputs = torch.zeros(int(lengths.max()), len(words), len(alphabet))
    index = {symbol: i for i, symbol in enumerate(alphabet)}
    for n, word in enumerate(words):
        if not (word or empty):
            raise ValueError("the empty word has no step: encode it with empty=True")
        if unknown := [symbol for symbol in word if symbol not in index]:
            raise ValueError(f"word {word!r} has the symbol {unknown[0]!r}, which is not in the alphabet {alphabet!r}")
        inputs[range(before, len(word) + before), n, [index[symbol] for symbol in word]] = 1
    return inputs, lengths


def formal_language(
    name: str,
    lengths: tuple[int, int] = (1, 20),
    sizes: tuple[int, int, int] = (4000, 500, 500),
    seed: int = 0,
    test_lengths: tuple[int, int] | None = None,
    empty: bool = True,
) -> Task:
    r"""Words of a formal language; at every step whether the prefix read so far is in it.

    .. math:: y_t = 1 \text{ if } x_1 x_2 \dots x_t \in L, \text{ else } 0.

    A net with one logit as output accepts where it is positive. If no continuation of a prefix is in :math:`L`, every
    continuation has to be rejected, so nets have to remember a fault.

    Args:
        name: an id of ``LANGUAGES``, or an alias of one.
        lengths: the least and the greatest length of words to train on and to choose by; uniform between them.
        sizes: number of words for training, validation and test. They are drawn independently, so short words recur.
        seed: a seed.
        test_lengths: the same for the test words; None: ``lengths``.
        empty: whether a zero vector stands before every word, after which the empty word is decided: see ``encode``.

    Raises:
        UnknownNameError: there is no such language; a ``ValueError``.
        ValueError: a length or a size is out of range.
    """
    language = LANGUAGES[name]
    spans = (lengths, lengths, lengths if test_lengths is None else test_lengths)
    train, valid, test = (
        language.sequences(language.words(size, span, 3 * seed + i), empty)
        for i, (size, span) in enumerate(zip(sizes, spans, strict=True))
    )
    symbols = len(language.alphabet)
    return Task(language.name, train, valid, test, symbols, 1, kind="bits per step", labels=("member",))


def next_symbols(name: str, counts: Iterable[int] = range(1, 11), test_counts: Iterable[int] = range(11, 21)) -> Task:
    r"""Members :math:`a^n b^n` (or :math:`a^n b^n c^n`) only; at every step which symbols may come next.

    Target bit :math:`i` at a step is 1 where the prefix read so far may be followed by symbol :math:`i`, and the last
    bit where the word may end there, that is, where the prefix is a member. A zero vector stands before every word.
    This is the task of Gers and Schmidhuber (2001), with :math:`n` for its length.

    Args:
        name: an id of ``LANGUAGES``, or an alias, whose language says what is viable.
        counts: the numbers :math:`n`, one word each, to train on; the same words are the validation set.
        test_counts: those to test with.

    Raises:
        UnknownNameError: there is no such language; a ``ValueError``.
        ValueError: its next symbols are not known, or a count is below 1.
    """
    language = LANGUAGES[name]
    train, test = (_members(language, list(numbers)) for numbers in (counts, test_counts))
    size, labels = len(language.alphabet), (*language.alphabet, "end")
    return Task(f"{language.name}, next", train, train, test, size, size + 1, "bits per step", labels)


def _members(language: Language, counts: list[int]) -> Sequences:
    if language.viable is None:
        known = (name for name, other in LANGUAGES.items() if other.viable)
        raise ValueError(f"the next symbols of {language.name!r} are not known; those of {', '.join(known)} are")
    if not counts or min(counts) < 1:
        raise ValueError(f"counts must be given and at least 1, not {counts}")
    words = ["".join(symbol * n for symbol in language.alphabet) for n in counts]
    inputs, lengths = encode(words, language.alphabet)
    targets = torch.zeros(*inputs.shape[:2], len(language.alphabet) + 1)
    for n, word in enumerate(words):
        for t in range(len(word) + 1):
            prefix = word[:t]
            follows = [language.viable(prefix + symbol) for symbol in language.alphabet]
            targets[t, n] = torch.tensor([*follows, language.contains(prefix)]).to(targets.dtype)
    return Sequences(inputs, targets, lengths)


def _equal_blocks(alphabet: str) -> Callable[[str], bool]:
    def contains(word: str) -> bool:
        n, rest = divmod(len(word), len(alphabet))
        return rest == 0 and word == "".join(symbol * n for symbol in alphabet)

    return contains


def _odd_blocks(word: str) -> str:
    """The symbols of the blocks of odd length, a block being a longest run of one symbol."""
    return "".join(symbol for symbol, block in groupby(word) if len(list(block)) % 2)


def _viable_blocks(alphabet: str) -> Callable[[str], bool]:
    """The beginnings of members: blocks in order, full ones as long as the first and the last no longer."""
    shape = re.compile("".join(f"({symbol}*)" for symbol in alphabet))

    def viable(word: str) -> bool:
        match = shape.fullmatch(word)
        if match is None:
            return False
        first, *others = (len(block) for block in match.groups())
        used = [n for n in others if n]
        return others[: len(used)] == used and all(n == first for n in used[:-1]) and all(n <= first for n in used)

    return viable


def _heights(word: str) -> Iterator[int]:
    return accumulate((1 if symbol == "(" else -1 for symbol in word), initial=0)


def _balanced(word: str) -> bool:
    return word.count("(") == word.count(")") and min(_heights(word)) == 0


UNIFORM = "uniform words"
NEARLY = "half {}; a quarter the same with one symbol redrawn; a quarter uniform words"
EQUAL = "blocks of equal or nearly equal length in order, the last one longer"


def _blocked(name: str, alphabet: str) -> Language:
    draw, rule = mixture(alphabet, blocks(alphabet)), NEARLY.format(EQUAL)
    contains, viable = _equal_blocks(alphabet), _viable_blocks(alphabet)
    return Language(name, alphabet, contains, draw, rule, off_by_one(alphabet), viable)


_LANGUAGES = (
    Language("parity", "01", lambda word: word.count("1") % 2 == 1, uniform("01"), UNIFORM),
    Language(
        "tomita-3",
        "01",
        lambda word: "10" not in _odd_blocks(word),
        mixture("01", runs),
        NEARLY.format("blocks of 1 to 4 symbols that keep the rule"),
        stream="tomita 3",
    ),
    Language(
        "tomita-6",
        "01",
        lambda word: (word.count("0") - word.count("1")) % 3 == 0,
        uniform("01"),
        UNIFORM,
        stream="tomita 6",
    ),
    _blocked("a^n b^n", "ab"),
    _blocked("a^n b^n c^n", "abc"),
    Language(
        "dyck-1",
        "()",
        _balanced,
        mixture("()", walk),
        NEARLY.format("walks that stay at or above zero"),
        off_by_one("()"),
    ),
    Language("(a|b)*abb", "ab", lambda word: word.endswith("abb"), uniform("ab"), UNIFORM),
    Language(
        "tomita-4",
        "01",
        lambda word: "000" not in word,
        mixture("01", no_three),
        NEARLY.format("words in which a one follows any two zeros"),
        stream="tomita 4",
    ),
)
LANGUAGES: NameTable[Language] = NameTable(
    "language",
    {language.name: language for language in _LANGUAGES},
    elsewhere="; finite automata of more languages are in fhx.machines.NAMED",
)
"""The languages by id or alias: some regular, and three that no finite automaton decides."""
