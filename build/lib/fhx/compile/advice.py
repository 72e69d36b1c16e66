r"""Languages as lists of words in order: two that machines decide, and a table of advice.

Each is a generator, for ``language_to_rnn``, which reads it as far as it needs.
"""

from collections.abc import Iterator, Mapping
from itertools import count, product

from fhx.machines.words import Symbol, Word, as_word

__all__ = ["TABLE_ALPHABET", "copy_words", "halting_words", "prime_words", "table_halts", "table_machine"]

TABLE_ALPHABET = ".abcdefgh"
"""A machine's rules as letters: none, and 0LA, 0LB, 0RA, 0RB, 1LA, 1LB, 1RA, 1RB (write, move, next state)."""

RULES = dict(zip(TABLE_ALPHABET[1:], product((0, 1), "LR", "AB"), strict=True))
STEPS = 6
"""The busy beaver number S(2), which counts the step that halts."""

Rules = Mapping[tuple[str, int], tuple[int, str, str]]


def copy_words(alphabet: tuple[Symbol, ...] | str = "ab") -> Iterator[Word]:
    r""":math:`\{ww : w \in \Sigma^*\}`, for ever.

    Args:
        alphabet: the symbols, :math:`\Sigma`.
    """
    for length in count():
        for half in product(alphabet, repeat=length):
            yield as_word(half + half, alphabet)


def prime_words(symbol: str = "1") -> Iterator[str]:
    r""":math:`\{1^p : p \text{ prime}\}`, for ever.

    Args:
        symbol: the only one of the alphabet.
    """
    primes: list[int] = []
    for n in count(2):
        if all(n % p for p in primes):
            primes.append(n)
            yield symbol * n


def halting_words() -> Iterator[str]:
    r"""The machines with two states and two symbols that halt on the blank tape, as words of four letters.

    All :math:`9^4` machines have a word: the rules of (A, 0), (A, 1), (B, 0), (B, 1) in this order, each a letter of
    ``TABLE_ALPHABET``. A machine halts where it has no rule; what one writes in its last step, and where it moves, does
    not matter for that. So these are all the machines there are with two states besides that in which they halt.
    """
    return (word for word in map("".join, product(TABLE_ALPHABET, repeat=4)) if table_halts(word))


def table_machine(word: str) -> Rules:
    """The machine of a word of the table: ``{(state, symbol): (symbol, move, state)}``, started in A on zeros.

    Raises:
        ValueError: the word does not have four letters of ``TABLE_ALPHABET``.
    """
    if len(word) != 4 or not set(word) <= set(TABLE_ALPHABET):
        raise ValueError(f"a machine has four letters of {TABLE_ALPHABET}, got {word!r}")
    pairs = product("AB", (0, 1))
    return {pair: RULES[letter] for pair, letter in zip(pairs, word, strict=True) if letter in RULES}


def table_halts(word: str, max_steps: int = STEPS) -> bool:
    """Whether the machine halts on the blank tape, infinite on both sides, within ``max_steps`` steps.

    With 6 steps, it is whether the machine halts at all: S(2) = 6 is the most that one takes, the step that halts
    included.

    Args:
        word: the machine's table, as for ``table_machine``.
        max_steps: how many steps it may take.

    Raises:
        ValueError: as for ``table_machine``.

    Source: Lin and Rado (1965), Computer studies of Turing machine problems.
    """
    rules, state, ones, head = table_machine(word), "A", set[int](), 0
    for _ in range(max_steps):
        rule = rules.get((state, int(head in ones)))
        if rule is None:
            return True
        symbol, move, state = rule
        (ones.add if symbol else ones.discard)(head)
        head += 1 if move == "R" else -1
    return False
