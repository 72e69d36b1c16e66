"""Nerode classes: counted by brute force, in closed form, as states of machines, and what floats hold of them."""

from fractions import Fraction
from math import log2
from random import Random

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from machine_strategies import dfas

from fhx.exact import Recognizer, SimpleRNN
from fhx.machines import (
    GROWTH,
    WrongLength,
    all_words,
    dyck,
    dyck_growth,
    dyck_states,
    first_wrong_length,
    nerode_classes,
)

BRACKETS = {f"dyck-({k}, {m})": dyck_growth(k, m) for k, m in [(1, 3), (2, None), (2, 2), (3, 2), (5, 1)]}
EVERY = {**GROWTH, **BRACKETS}
LONGEST = {"palindromes": 7, "marked palindromes": 6, "dyck-1": 8, "dyck-(2, None)": 4, "dyck-(3, 2)": 5}
LONGEST |= {"dyck-(2, 2)": 8, "dyck-(5, 1)": 6}
languages = st.sets(st.sampled_from(list(all_words("ab", 5)))).map(frozenset)
"""Any set of words of at most five letters."""


def told_apart(language, alphabet, u, v, longest):
    """Whether a word of so many letters tells them apart, by trying all."""
    return any((u + w in language) != (v + w in language) for w in all_words(alphabet, longest))


def classes(words, same):
    """How many classes, by comparing with one member of each."""
    leaders = []
    for word in words:
        if not any(same(word, leader) for leader in leaders):
            leaders.append(word)
    return len(leaders)


@given(languages, st.integers(0, 4), st.integers(0, 3), st.booleans())
def test_classes_of_any_language(language, n, h, exactly):
    words = [w for w in all_words("ab", n) if len(w) == n or not exactly]
    direct = classes(words, lambda u, v: not told_apart(language, "ab", u, v, h))

    def viable(u):
        return any(w.startswith(u) for w in language)

    for given_viable in (None, viable):
        assert nerode_classes(language.__contains__, "ab", n, h, exactly, given_viable) == direct


@given(dfas(max_states=6, max_symbols=2))
def test_the_classes_are_the_states_of_the_minimal_machine(dfa):
    """Words shorter than the number of states reach all of them, and suffixes as long tell them apart."""
    n = len(dfa.states) - 1
    assert nerode_classes(dfa.accepts, dfa.alphabet, n, n) == len(dfa.minimize().states)


@pytest.mark.claim("E23")
@given(dfas(max_states=30, max_symbols=2), st.integers(0, 4), st.integers(0, 3))
def test_a_machine_is_in_at_least_so_many_states(dfa, n, h):
    after = {t: {[*dfa.run(w)][-1] for w in all_words(dfa.alphabet, t) if len(w) == t} for t in range(n + 1)}
    assert nerode_classes(dfa.accepts, dfa.alphabet, n, h) <= len(set().union(*after.values()))
    assert nerode_classes(dfa.accepts, dfa.alphabet, n, h, exactly=True) <= len(after[n])


@pytest.mark.claim("E23")
@pytest.mark.parametrize("name", EVERY)
def test_closed_forms(name):
    language = EVERY[name]
    for n in range(LONGEST.get(name, 10) + 1):
        h = language.suffixes(n)
        for exactly, count in ((False, language.up_to), (True, language.exactly)):
            found = nerode_classes(language.contains, language.alphabet, n, h, exactly, language.viable)
            assert found == count(n), (n, exactly)


@pytest.mark.parametrize("name", EVERY)
def test_all_words_and_longer_suffixes_give_the_same(name):
    """Nothing is left out, and suffixes that are longer tell no more words apart."""
    language, total = EVERY[name], 13 if len(EVERY[name].alphabet) == 2 else 8
    for n in range(total):
        h = language.suffixes(n) + 1
        if n + h <= total and len(language.alphabet) ** (n + h) < 10_000:
            assert nerode_classes(language.contains, language.alphabet, n, h) == language.up_to(n)
            assert nerode_classes(language.contains, language.alphabet, n, h, exactly=True) == language.exactly(n)


@pytest.mark.parametrize("name", EVERY)
def test_words_that_are_viable_begin_a_member(name):
    """Of words of up to three letters every viable one has a member of at most nine, and only they have one."""
    language = EVERY[name]
    length, reach = {2: (4, 9), 3: (3, 9), 4: (2, 6), 6: (2, 5), 10: (1, 3)}[len(language.alphabet)]
    begun = {w[:length] for w in all_words(language.alphabet, reach) if language.contains(w)}
    for word in all_words(language.alphabet, length):
        assert language.viable(word) == any(beginning[: len(word)] == word for beginning in begun), word


def test_brackets_to_a_depth_have_the_states_of_their_machine():
    for k, m in [(1, 4), (2, 3), (3, 2)]:
        assert dyck_growth(k, m).up_to(m) == dyck_growth(k, m).up_to(100) == dyck_states(k, m)
        assert len(dyck(k, m).states) == dyck_states(k, m)
        assert dyck_growth(k).up_to(m) == dyck_states(k, m)


def test_a_search_says_what_it_has_searched():
    def words(n):
        return ["a" * n, "b" * n]

    even = first_wrong_length(lambda w: True, lambda w: len(w) < 3, words, range(9))
    assert even == WrongLength("aaa", (0, 1, 2, 3), 7)
    assert even.length == 3
    none = first_wrong_length(lambda w: w < "b", lambda w: "b" not in w, words, (2, 5))
    assert (none.length, none.lengths, none.tried) == (None, (2, 5), 4)
    assert first_wrong_length(lambda w: None, lambda w: False, words, [4]).word == "aaaa"


def test_faults_are_named():
    with pytest.raises(TypeError, match="order"):
        nerode_classes(str, {"a"}, 2, 2)
    with pytest.raises(ValueError, match="the alphabet is empty"):
        nerode_classes(str, "", 2, 2)
    with pytest.raises(ValueError, match="at least 0, got -1"):
        nerode_classes(str, "a", 2, -1)
    with pytest.raises(ValueError, match="m must be"):
        dyck_growth(1, 0)


# What floats hold of them: nets are in the room above, and floats need torch


@pytest.fixture
def verdict():
    """``verdict(net, dtype)``: whether the net in floats has an output above 1/2 behind a word."""
    torch = pytest.importorskip("torch")

    def of(net, dtype):
        floats = net.to_torch(getattr(torch, dtype), exact=False)

        def decides(word):
            columns = torch.tensor([net.alphabet.index(a) for a in word], dtype=torch.int64)
            inputs = torch.nn.functional.one_hot(columns, len(net.alphabet)).to(floats.dtype)
            return bool((floats(inputs[None])[0, -1] if word else floats.readout(floats.h0)[0]) > 0.5)

        return decides

    return of


def counter():
    """As many a as b: k = #a - #b in relu(k), relu(-k), and relu(k - 1), relu(-k - 1); see chapter 3."""
    signs = [[1, -1], [-1, 1], [1, -1], [-1, 1]]
    W = [[a, b, 0, 0] for a, b in signs]
    return Recognizer(SimpleRNN(W, signs, [0, 0, -1, -1], [0] * 4, "relu"), [-1, -1, 1, 1], 1, "ab")


def halving():
    """a^n b^n: a number is halved at each a and doubled at each b; see chapter 5."""
    half = Fraction(1, 2)
    W, U = [[half, 0, 0], [2, 2, -2], [4, 4, -3]], [[0, -1], [-2, 0], [-4, -1]]
    return Recognizer(SimpleRNN(W, U, [0, 0, 0], [1, 0, 1], "slu"), [0, 0, 1], 0, "ab")


def mirror():
    """Marked palindromes: two stacks in base 4, and a number that is halved and doubled; see chapter 6."""
    half, push, digit = Fraction(1, 2), Fraction(1, 4), Fraction(3, 4)
    W = [[1], [digit, push], [digit, 0, push], [0, 0, 0, half], [-1, 1, 0, 0, 4], [-1, 0, 1, 0, 0, 4]]
    W += [[-1, 0, 0, 1, 0, 0, 2, -2], [-2, 0, 0, 2, 0, 0, 4, -3]]
    U = [[0, 0, -1], [digit, 0, -1], [0, digit, -1], [0, 0, -1], [-3, 0, 1], [0, -3, 1], [0, 0, 1], [0, 0, 2]]
    b, h0 = [0, -digit, -digit, 0, 0, 0, 0, -1], [1, 0, 0, 1, 0, 0, 0, 0]
    W = [row + [0] * (8 - len(row)) for row in W]
    return Recognizer(SimpleRNN(W, U, b, h0, "slu"), [0, 0, 0, 0, -1, -1, 0, 1], 0, "ab#")


def nearly_equal(n):
    """Blocks of a and b that differ by at most three letters, and one letter only."""
    return [*("a" * i + "b" * (n - i) for i in range(max(n // 2 - 1, 0), n // 2 + 2) if i <= n), "a" * n]


def marked(n):
    """For odd n some words with their mirror images, and these with one letter changed."""
    if n % 2 == 0:
        return ["a" * n]
    random = Random(n)
    halves = {c * (n // 2) for c in "ab"} | {"".join(random.choices("ab", k=n // 2)) for _ in range(4)}
    words = [w + "#" + w[::-1] for w in sorted(halves)]
    return words + [
        w[:i] + {"a": "b", "b": "a", "#": "#"}[w[i]] + w[i + 1 :] for w in words for i in (0, n // 2 - 1, -1)
    ]


@pytest.mark.parametrize(("dtype", "bits"), [("bfloat16", 8), ("float16", 11), ("float32", 24), ("float64", 53)])
def test_a_counter_is_wrong_behind_the_largest_run_of_integers(verdict, dtype, bits):
    """Up to it all sums are exact; the net is put just below it, into a state that is exact."""
    net, largest = counter(), 2**bits
    states = [[h.get(j, 0) for j in range(4)] for h in net.run("a" * 9)]
    assert states[1:] == [[j, 0, j - 1, 0] for j in range(1, 10)]
    near = evolve(net, rnn=evolve(net.rnn, h0=[largest - 1, 0, largest - 2, 0]))
    assert not verdict(near, dtype)("a")
    assert verdict(near, dtype)("aa")
    if bits < 12:
        found = first_wrong_length(
            verdict(net, dtype),
            lambda w: w.count("a") == w.count("b"),
            nearly_equal,
            [largest - 1, largest, largest + 1],
        )
        assert (found.word, found.length) == ("a" * (largest + 1), largest + 1)


@pytest.mark.parametrize(
    ("dtype", "halvings", "first"),
    [("float16", 24, 0), ("float32", 149, 290), ("float64", 1074, 2147)],
)
def test_a_number_that_is_halved_lasts_as_long_as_exponents_do(verdict, dtype, halvings, first):
    """Subnormal numbers are powers of two as well: it is not the digits that count."""
    torch = pytest.importorskip("torch")
    info = torch.finfo(getattr(torch, dtype))
    assert info.smallest_normal * info.eps == 2.0**-halvings
    found = first_wrong_length(verdict(halving(), dtype), GROWTH["a^n b^n"].contains, nearly_equal, range(first, 3000))
    assert found.length == 2 * halvings + 2
    assert found.word == "a" * (halvings + 1) + "b" * (halvings + 1)


@pytest.mark.parametrize(("dtype", "half"), [("bfloat16", 5), ("float16", 6), ("float32", 13), ("float64", 27)])
def test_a_stack_lasts_as_long_as_digits_do(verdict, dtype, half):
    """In base 4 there are p / 2 cells in p bits."""
    found = first_wrong_length(verdict(mirror(), dtype), GROWTH["marked palindromes"].contains, marked, range(60))
    assert found.length == 2 * half + 1
    torch = pytest.importorskip("torch")
    p = 1 - int(log2(torch.finfo(getattr(torch, dtype)).eps))
    assert half == p // 2 + 1
