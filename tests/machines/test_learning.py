"""L*: what it finds, what it asks, and where it stops."""

import hashlib
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from machine_strategies import dfas

from fhx.machines import DFA, NAMED, all_words, learn_dfa, parity, tomita, word_sample

SHORT = list(all_words("01", 9))


@pytest.mark.parametrize("name", [name for name in NAMED if not name.startswith("S")])
def test_the_books_machines_are_learned(name):
    truth = NAMED[name]
    asked = []
    found = learn_dfa(
        lambda word: asked.append(word) or truth.accepts(word), truth.alphabet, word_sample(truth.alphabet, 4, 200, 20)
    )
    assert found.complete
    assert found.dfa == truth.minimize().canonical()
    assert len(asked) == len(set(asked)) == found.membership_queries
    assert found.equivalence_queries == len(found.counterexamples) + 1


@settings(max_examples=40)
@given(st.data())
def test_a_random_machine_is_learned_within_its_own_number_of_states(data):
    """The list holds every word that refutes a hypothesis: the shortest ones, found by a learner that may look."""
    truth = data.draw(dfas(max_states=25, max_symbols=3)).minimize()
    words = []
    most = max(2, len(truth.states))
    while not (found := learn_dfa(truth.accepts, truth.alphabet, words, most)).dfa.equivalent(truth):
        assert found.complete
        words.append(found.dfa.equivalent(truth).word)
    assert found.complete
    assert found.dfa == truth.canonical()
    assert set(found.counterexamples) <= {tuple(word) if isinstance(word, tuple) else word for word in words}


@pytest.mark.parametrize("n", [2, 9, 17])
def test_a_machine_that_counts_is_learned_within_its_own_number_of_states(n):
    """One long counterexample to many states: filling the table is not all that is asked."""
    truth = DFA(range(n), "0", {(q, "0"): min(q + 1, n - 1) for q in range(n)}, 0, [n - 1])
    found = learn_dfa(truth.accepts, "0", ["0" * (n + 50), *("0" * length for length in range(2 * n))], n)
    assert found.complete
    assert found.dfa == truth


@settings(max_examples=30)
@given(dfas(max_states=6, alphabet="ab"), st.integers(0, 5))
def test_the_answer_agrees_with_the_list_and_is_minimal(truth, length):
    words = list(all_words("ab", length))
    found = learn_dfa(truth.accepts, "ab", words)
    assert [found.dfa.accepts(word) for word in words] == [truth.accepts(word) for word in words]
    assert found.dfa == found.dfa.minimize().canonical()
    differing = found.dfa.equivalent(truth).word
    assert differing is None or len(differing) > length


def test_words_refute_in_the_order_of_the_list():
    truth = tomita(4)
    found = learn_dfa(truth.accepts, "01", ["1", "1110000", "000", "0000"])
    assert found.counterexamples[0] == "1110000"
    assert learn_dfa(truth.accepts, "01", ["000", "1110000"]).counterexamples[0] == "000"
    assert learn_dfa(truth.accepts, "01", []).counterexamples == ()
    assert learn_dfa(truth.accepts, "01", []).dfa == DFA([0], "01", {(0, x): 0 for x in "01"}, 0, [0])


def balanced(word):
    heights = np.cumsum([1 if x == "0" else -1 for x in word] or [0])
    return heights[-1] == 0 and min(heights) >= 0


def noise(word):
    return hashlib.sha256(repr(word).encode()).digest()[0] % 2


@pytest.mark.parametrize("teacher", [balanced, noise], ids=["brackets", "noise"])
@pytest.mark.parametrize("max_states", [2, 7, 30])
def test_a_teacher_that_is_no_finite_automaton_ends_at_max_states(teacher, max_states):
    words = (
        word_sample("01", 8, 300, 80) if teacher is noise else ["0" * n + "1" * m for n in range(35) for m in range(35)]
    )
    found = learn_dfa(teacher, "01", words, max_states)
    assert not found.complete
    assert len(found.dfa.states) <= max_states
    assert any(found.dfa.accepts(word) != bool(teacher(word)) for word in words)


def test_a_teacher_that_turns_to_noise_is_given_up_within_a_round():
    """Parity of the length up to 40 symbols, noise beyond: many rows come of the first long word."""
    words = word_sample("01", 5, 300, 80)
    found = learn_dfa(lambda word: noise(word) if len(word) > 40 else len(word) % 2, "01", words, 20)
    assert not found.complete
    assert found.membership_queries <= 20 * (1 + 20 * 2) + 20 * (4 + 7) + len(words)


def test_one_symbol_and_noise_end_too():
    found = learn_dfa(noise, [0], [(0,) * n for n in range(400)], 40)
    assert not found.complete
    assert len(found.dfa.states) <= 40


def test_one_state_too_few():
    truth = NAMED["divisible-by-7-decimal"]
    words = word_sample("0123456789", 2, 500, 10)
    assert learn_dfa(truth.accepts, truth.alphabet, words, 7).complete
    assert not learn_dfa(truth.accepts, truth.alphabet, words, 6).complete


def test_brackets_are_learned_as_deep_as_the_list_goes():
    found = learn_dfa(balanced, "01", all_words("01", 6))
    assert found.complete
    assert found.dfa.accepts("000111")
    assert [found.dfa.accepts(word) for word in all_words("01", 6)] == [balanced(word) for word in all_words("01", 6)]


def test_symbols_may_be_anything():
    alphabet = [None, "stop", (1, 2)]
    truth = DFA([0, 1], alphabet, {(q, x): int(x is None) ^ q for q in (0, 1) for x in alphabet}, 0, [1])
    seen = []
    found = learn_dfa(lambda word: seen.append(word) or truth.accepts(word), alphabet, all_words(alphabet, 3))
    assert found.dfa == truth
    assert all(type(word) is tuple for word in seen)


def test_nothing_is_printed_and_no_global_state_moves(capsys):
    random.seed(3)
    np.random.seed(3)
    before = random.getstate(), np.random.get_state()[1].tolist()
    first = learn_dfa(parity().accepts, "01", SHORT)
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before
    assert learn_dfa(parity().accepts, "01", SHORT) == first
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("", []), "an alphabet with a symbol"),
        (("01", [], 1), "at least 2 states"),
        (("01", ["01", "021"]), r"the word '021' has '2', outside the alphabet \('0', '1'\)"),
    ],
)
def test_bad_input(arguments, told):
    with pytest.raises(ValueError, match=told):
        learn_dfa(parity().accepts, *arguments)


def test_one_string_is_no_list_of_words():
    with pytest.raises(TypeError, match="the words are the one string '0110': give a list of words"):
        learn_dfa(parity().accepts, "01", "0110")


def test_a_teachers_own_error_passes():
    def teacher(word):
        raise ArithmeticError(word)

    with pytest.raises(ArithmeticError):
        learn_dfa(teacher, "01", [])


# Words


def test_word_samples():
    words = word_sample("ab", 3, 50, 9, seed=1)
    assert words[:15] == tuple(all_words("ab", 3))
    assert words[:4] == ("", "a", "b", "aa")
    assert len(words) == 65
    assert {len(word) for word in words[15:]} == {4, 5, 6, 7, 8, 9}
    assert words == word_sample("ab", 3, 50, 9, seed=1) != word_sample("ab", 3, 50, 9, seed=2)
    assert word_sample([0, 1], 1) == ((), (0,), (1,))
    assert list(all_words("ab", -1)) == []


def test_random_words_must_be_new():
    with pytest.raises(ValueError, match="at most 3 symbols are among all words of at most 3"):
        word_sample("ab", 3, 5, 3)
