"""The machines of the book against predicates in plain Python, on all short words."""

import re
from itertools import groupby, permutations
from math import factorial, gcd

import pytest
from aalpy.SULs import TomitaSUL

from fhx.machines import DFA, NAMED, all_words, divisible_by, parity, symmetric_group, tomita


def blocks(word):
    return [(symbol, len(list(block))) for symbol, block in groupby(word)]


def no_odd_zeros_after_odd_ones(word):
    flagged = False
    for symbol, length in blocks(word):
        if flagged and symbol == "0" and length % 2:
            return False
        flagged |= symbol == "1" and length % 2 == 1
    return True


TOMITA = {
    1: (2, lambda word: set(word) <= {"1"}),
    2: (3, lambda word: word == "10" * (len(word) // 2)),
    3: (5, no_odd_zeros_after_odd_ones),
    4: (4, lambda word: max((n for symbol, n in blocks(word) if symbol == "0"), default=0) < 3),
    5: (4, lambda word: word.count("0") % 2 == word.count("1") % 2 == 0),
    6: (3, lambda word: (word.count("0") - word.count("1")) % 3 == 0),
    7: (
        5,
        lambda word: [symbol for symbol, _ in blocks(word)] in (list("0101")[i:j] for i in (0, 1) for j in range(5)),
    ),
}


@pytest.mark.parametrize("k", TOMITA)
def test_tomita(k):
    size, predicate = TOMITA[k]
    dfa = tomita(k)
    library = TomitaSUL(k)
    assert (dfa.alphabet, len(dfa.states)) == (("0", "1"), size)
    assert len(dfa.minimize().states) == size
    for word in all_words("01", 10):
        assert dfa.accepts(word) == predicate(word) == library.query(tuple(word))[-1], word


def test_tomita_3_is_not_about_neighbouring_blocks_only():
    direct = ~DFA.from_regex("((0|1)*0)?1(11)*0(00)*(1(0|1)*)?", "01")
    assert len(tomita(3).equivalent(direct).word) == 6
    assert direct.accepts("100110")
    assert not tomita(3).accepts("100110")


@pytest.mark.parametrize("k", [0, 8, -1, "1", 1.5])
def test_there_are_seven_grammars(k):
    with pytest.raises(ValueError, match=re.escape(f"there is no {k!r}")):
        tomita(k)


def test_parity():
    dfa = parity()
    assert dfa == dfa.minimize()
    assert dfa.states == ("even", "odd")
    for word in all_words("01", 10):
        *_, state = dfa.run(word)
        assert state == ("even", "odd")[word.count("1") % 2]
        assert dfa.accepts(word) == (state == "odd")


@pytest.mark.parametrize(
    ("n", "base", "length"), [(1, 2, 6), (3, 2, 10), (6, 2, 10), (7, 10, 4), (12, 10, 4), (5, 36, 2)]
)
def test_divisible_by(n, base, length):
    dfa = divisible_by(n, base)
    assert set(dfa.states) == {f"r{r}" for r in range(n)}
    assert len(dfa.alphabet) == base
    assert gcd(n, base) > 1 or len(dfa.minimize().states) == n
    for word in all_words(dfa.alphabet, length):
        *_, state = dfa.run(word)
        assert state == f"r{int(word or '0', base) % n}"
        assert dfa.accepts(word) == (state == "r0")


@pytest.mark.parametrize(("n", "base"), [(0, 2), (-3, 2), (3, 1), (3, 37)])
def test_a_divisor_and_a_base_have_ranges(n, base):
    with pytest.raises(ValueError, match=f"not {n} and {base}"):
        divisible_by(n, base)
    with pytest.raises(TypeError, match="float"):
        divisible_by(2.5)


def product(word, n):
    """Where each of 0, ..., n-1 ends when the letters of a word move it one after the other."""
    moves = {"s": [1, 0, *range(2, n)], "c": [(i + 1) % n for i in range(n)]}
    places = list(range(n))
    for letter in word:
        places = [moves[letter][place] for place in places]
    return places


@pytest.mark.parametrize(("n", "length"), [(2, 8), (3, 10), (4, 10), (5, 10)])
def test_symmetric_group(n, length):
    dfa = symmetric_group(n)
    assert set(dfa.states) == {"".join(map(str, images)) for images in permutations(range(1, n + 1))}
    assert len(dfa.minimize().states) == factorial(n)
    for word in all_words("sc", length):
        *_, state = dfa.run(word)
        assert [int(image) - 1 for image in state] == product(word, n)
        assert dfa.accepts(word) == (product(word, n) == list(range(n)))


def test_the_first_letter_of_a_word_acts_first():
    """Swap, then cycle: 1 goes to 2 and on to 3."""
    *_, state = symmetric_group(3).run("sc")
    assert state == "321"


@pytest.mark.parametrize("n", [0, 1, 10])
def test_permutations_of_single_digits(n):
    with pytest.raises(ValueError, match=f"not of {n}"):
        symmetric_group(n)


@pytest.mark.parametrize("name", [name for name, dfa in NAMED.items() if set(dfa.alphabet) & set("0123456789")])
def test_no_state_of_a_machine_that_reads_digits_reads_like_one(name):
    assert not [state for state in NAMED[name].states if str(state).isdigit()]


def test_all_names():
    assert {"(a|b)*abb", "parity", "S3", "S5"} | {f"tomita-{k}" for k in TOMITA} < set(NAMED)
    assert NAMED["tomita-7"] == tomita(7)
    assert NAMED["S5"] == symmetric_group(5)
    assert NAMED["divisible-by-7-decimal"].accepts("1001")
    with pytest.raises(TypeError, match="item assignment"):
        NAMED["abb"] = parity()
