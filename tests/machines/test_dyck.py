"""Bounded brackets: three ways to decide them, and a machine that could not be smaller."""

from itertools import accumulate, chain

import pytest
from bracket_words import walk
from hypothesis import given
from hypothesis import strategies as st

from fhx.machines import all_words, bracket_pairs, dyck, dyck_states, well_nested

SIZES = [(1, 1), (1, 4), (2, 1), (2, 3), (3, 2), (5, 2)]


def alphabet(k):
    return tuple(chain(*bracket_pairs(k)))


def struck_out(word, k, m):
    """Pairs that stand side by side are struck out until nothing is left; heights count brackets of all kinds."""
    heights = accumulate((1 if a in dict(bracket_pairs(k)) else -1 for a in word), initial=0)
    if max(heights) > m:
        return False
    word, pairs = list(word), bracket_pairs(k)
    while i := next((i for i in range(1, len(word)) if (word[i - 1], word[i]) in pairs), 0):
        del word[i - 1 : i + 1]
    return not word


def derived(word, k, m):
    """S -> nothing | opening S closing S, where the first S has one level less."""
    if not word:
        return True
    closing = dict(bracket_pairs(k)).get(word[0])
    return m > 0 and any(
        word[i] == closing and derived(word[1:i], k, m - 1) and derived(word[i + 1 :], k, m)
        for i in range(1, len(word))
    )


@pytest.mark.parametrize(("k", "m"), SIZES)
def test_all_short_words(k, m):
    dfa = dyck(k, m)
    for word in all_words(alphabet(k), {1: 10, 2: 6, 3: 5, 5: 4}[k]):
        accepted = dfa.accepts(word)
        assert accepted == well_nested(word, k, m) == struck_out(word, k, m) == derived(word, k, m)
        assert well_nested(word, k) == struck_out(word, k, len(word))


@given(st.integers(1, 6), st.integers(1, 3), st.integers(0, 40), st.integers(0, 2**32))
def test_words_that_mostly_keep_the_rules(k, m, length, seed):
    word, dfa = walk(k, m, length, 0.03, seed), dyck(k, m)
    for t, state in enumerate(dfa.run(word)):
        accepted = struck_out(word[:t], k, m)
        assert (state in dfa.accept) == accepted == well_nested(word[:t], k, m)


@pytest.mark.parametrize(("k", "m"), SIZES)
def test_no_smaller_machine_accepts_them(k, m):
    dfa = dyck(k, m)
    assert len(dfa.states) == len(dfa.minimize().states) == dyck_states(k, m)
    assert set(dfa.reachable()) == set(dfa.states)


def test_a_state_is_the_stack():
    assert [*dyck(2, 2).run("([])[[[]")] == ["empty", "(", "([", "(", "empty", "[", "[[", "wrong", "wrong"]
    assert dyck(2, 1).states == ("empty", "(", "[", "wrong")
    assert dyck_states(3, 8) == 1 + sum(3**i for i in range(9))


def test_many_kinds_have_numbers():
    assert bracket_pairs(4) == (("(", ")"), ("[", "]"), ("{", "}"), ("<", ">"))
    assert bracket_pairs(5)[-1] == ("(5", ")5")
    assert dyck(5, 2).accepts(["(5", "(1", ")1", ")5"])


def test_faults_are_named():
    with pytest.raises(ValueError, match="'a' is not one of the brackets"):
        well_nested("(a)", 2)
    with pytest.raises(ValueError, match="k must be an integer of at least 1"):
        bracket_pairs(0)
    with pytest.raises(ValueError, match="m must be an integer of at least 0"):
        well_nested("", 1, -1)
    for function in (dyck, dyck_states):
        with pytest.raises(ValueError, match="m must be an integer of at least 1"):
            function(2, 0)
        with pytest.raises(ValueError, match="k must be"):
            function(2.5, 1)
