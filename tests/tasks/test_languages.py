"""Formal languages: predicates against automata and rewriting, what is drawn, what is asked, and nets as acceptors."""

import random
from itertools import product

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fhx.machines import DFA, parity, tomita
from fhx.tasks import LANGUAGES, Acceptor, formal_language, next_symbols
from fhx.tasks.languages import encode
from fhx.tasks.word_draws import blocks, no_three, off_by_one, runs, walk


def all_words(alphabet, longest):
    return ["".join(word) for length in range(longest + 1) for word in product(alphabet, repeat=length)]


def ordered_with_equal_counts(word, alphabet):
    counts = [word.count(symbol) for symbol in alphabet]
    return len(set(counts)) == 1 and sorted(word) == list(word)


def vanishes(word):
    """Dyck by rewriting: pairs are struck out until nothing is left."""
    while "()" in word:
        word = word.replace("()", "")
    return word == ""


MACHINES = {
    "parity": parity(),
    "tomita-3": tomita(3),
    "tomita-4": tomita(4),
    "tomita-6": tomita(6),
    "(a|b)*abb": DFA.from_regex("(a|b)*abb", "ab"),
}
OTHERWISE = {
    **{name: machine.accepts for name, machine in MACHINES.items()},
    "a^n b^n": lambda word: ordered_with_equal_counts(word, "ab"),
    "a^n b^n c^n": lambda word: ordered_with_equal_counts(word, "abc"),
    "dyck-1": vanishes,
}


def test_every_language_is_checked():
    assert set(OTHERWISE) == set(LANGUAGES)
    assert all(name == language.name for name, language in LANGUAGES.items())
    assert all("".join(MACHINES[name].alphabet) == LANGUAGES[name].alphabet for name in MACHINES)


@pytest.mark.parametrize("name", LANGUAGES)
def test_membership_is_what_another_definition_says(name):
    language = LANGUAGES[name]
    words = all_words(language.alphabet, 8 if len(language.alphabet) == 3 else 11)
    assert [language.contains(word) for word in words] == [OTHERWISE[name](word) for word in words]


@pytest.mark.parametrize("name", [name for name, language in LANGUAGES.items() if language.viable])
def test_viable_words_are_the_beginnings_of_members(name):
    language = LANGUAGES[name]
    members = ["".join(symbol * n for symbol in language.alphabet) for n in range(8)]
    beginnings = {member[:t] for member in members for t in range(len(member) + 1)}
    words = all_words(language.alphabet, 7)
    assert [language.viable(word) for word in words] == [word in beginnings for word in words]


# --- what is drawn


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(sorted(LANGUAGES)), st.integers(1, 30), st.integers(0, 30), st.integers(0, 10**6))
def test_drawn_words_have_the_length_asked_for_and_follow_the_seed(name, low, more, seed):
    language = LANGUAGES[name]
    words = language.words(5, (low, low + more), seed)
    assert len(words) == 5
    assert all(low <= len(word) <= low + more and set(word) <= set(language.alphabet) for word in words)
    assert words == language.words(5, (low, low + more), seed)
    assert language.words(20, (30, 30), seed) != language.words(20, (30, 30), seed + 1)


@pytest.mark.parametrize("name", LANGUAGES)
@pytest.mark.parametrize("lengths", [(1, 20), (101, 200)])
def test_members_are_not_vanishingly_rare_among_what_is_drawn(name, lengths):
    language = LANGUAGES[name]
    answers = [language.prefixes(word)[1:] for word in language.words(200, lengths, 0)]
    assert sum(any(row) for row in answers) > 30
    assert sum(not all(row) for row in answers) > 30
    late = [row[len(row) // 2 :] for row in answers]
    assert sum(any(row) for row in late) > 30


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 60), st.integers(0, 10**6))
def test_what_is_drawn_near_a_language_is_near_it(length, seed):
    source = random.Random(seed)
    assert "000" not in no_three(length, source)
    heights = [1 if symbol == "(" else -1 for symbol in walk(length, source)]
    assert min(sum(heights[: t + 1]) for t in range(length)) >= 0
    word = runs(length, source)
    assert LANGUAGES["tomita-3"].contains(word.rstrip("0"))  # the last block of zeros may be cut
    for alphabet in ("ab", "abc"):
        word = blocks(alphabet)(length, source)
        assert word == "".join(sorted(word))


def test_the_probes_of_a_number_are_its_equal_blocks_and_near_misses():
    assert off_by_one("ab")(2) == ["aabbbb"]
    assert off_by_one("abc")(2) == ["aabcccc", "aabbcccc", "aabbbcccc"]
    for name in ("a^n b^n", "a^n b^n c^n", "dyck-1"):
        language = LANGUAGES[name]
        members = [sum(language.prefixes(word)[2:]) for word in language.probes(4)]
        assert sum(members) == 1  # one member a number, apart from the empty word


@pytest.mark.parametrize("arguments", [(0, (1, 2), 0), (1, (0, 2), 0), (1, (3, 2), 0)])
def test_impossible_draws_are_refused(arguments):
    with pytest.raises(ValueError, match="at least 1 word and lengths 1 <= low <= high"):
        LANGUAGES["parity"].words(*arguments)


# --- what is asked


def test_a_word_becomes_one_hot_columns_behind_a_zero_vector():
    inputs, lengths = encode(["ba", ""], "ab")
    assert lengths.tolist() == [3, 1]
    assert inputs[:, 0].tolist() == [[0, 0], [0, 1], [1, 0]]
    assert inputs[:, 1].tolist() == [[0, 0]] * 3
    inputs, lengths = encode(["ba", "b"], "ab", empty=False)
    assert lengths.tolist() == [2, 1]
    assert inputs.tolist() == [[[0, 1], [0, 1]], [[1, 0], [0, 0]]]


@pytest.mark.parametrize(
    ("words", "empty", "culprit"),
    [([], True, "no word"), (["ab", "axb"], True, "'axb' has the symbol 'x'"), (["a", ""], False, "empty=True")],
)
def test_words_that_cannot_be_encoded_are_named(words, empty, culprit):
    with pytest.raises(ValueError, match=culprit):
        encode(words, "ab", empty)


@pytest.mark.parametrize("empty", [True, False])
@pytest.mark.parametrize("name", LANGUAGES)
def test_a_task_asks_for_the_membership_of_every_prefix(name, empty):
    before = torch.get_rng_state()
    task = formal_language(name, (1, 9), (20, 10, 10), seed=3, test_lengths=(10, 12), empty=empty)
    assert torch.equal(torch.get_rng_state(), before)
    assert (task.kind, task.input_size, task.output_size) == ("bits per step", len(LANGUAGES[name].alphabet), 1)
    read = []
    for part, longest in ((task.train, 9), (task.valid, 9), (task.test, 12)):
        for n in range(len(part)):
            hot = part.inputs[: part.lengths[n], n]
            assert hot.sum(1).tolist() == [0.0] * empty + [1.0] * (len(hot) - empty)
            word = "".join(LANGUAGES[name].alphabet[i] for i in hot[int(empty) :].argmax(1))
            assert 1 <= len(word) <= longest
            asked = [OTHERWISE[name](word[:t]) for t in range(1 - empty, len(word) + 1)]
            assert part.targets[: part.lengths[n], n, 0].tolist() == asked
            assert not part.targets[part.lengths[n] :, n].any()
            read.append(word)
    assert read[:10] != read[20:30]
    assert all(len(word) >= 10 for word in read[30:])
    other = formal_language(name, (1, 9), (20, 10, 10), seed=4, empty=empty)
    assert other.train.inputs.shape != task.train.inputs.shape or not torch.equal(other.train.inputs, task.train.inputs)


def test_the_next_symbols_of_a_member():
    task = next_symbols("a^n b^n", counts=(1, 2), test_counts=(3,))
    assert task.labels == ("a", "b", "end")
    # before it a or the end, after a both, after ab the end
    assert task.train.targets[:3, 0].tolist() == [[1, 0, 1], [1, 1, 0], [0, 0, 1]]
    assert task.train.targets[:, 1].tolist() == [[1, 0, 1], [1, 1, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1]]
    assert task.test.lengths.tolist() == [7]
    three = next_symbols("a^n b^n c^n", counts=(2,)).train.targets[:, 0].tolist()
    assert three == [[1, 0, 0, 1], [1, 1, 0, 0], [1, 1, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 1, 0], [0, 0, 0, 1]]


def test_unknown_languages_and_counts_are_refused():
    with pytest.raises(ValueError, match="no language 'dyck-2'; near it are dyck-1"):
        formal_language("dyck-2")
    with pytest.raises(ValueError, match="next symbols of 'parity' are not known; those of a"):
        next_symbols("parity")
    with pytest.raises(ValueError, match="at least 1, not \\[0, 1\\]"):
        next_symbols("a^n b^n", counts=(0, 1))


# --- nets as acceptors


def parity_net(calls):
    def net(inputs, lengths):
        calls.append(inputs.shape[1])
        return (inputs[..., 1:].cumsum(0) % 2) - 0.5

    return net


def test_an_acceptor_decides_as_its_net_and_asks_it_once():
    calls = []
    accepts = Acceptor(parity_net(calls), "01")
    assert accepts("0110100")
    assert calls == [1]
    assert [accepts("0110100"[:t]) for t in range(8)] == [parity().accepts("0110100"[:t]) for t in range(8)]
    assert calls == [1]  # prefixes are known from their word
    words = all_words("01", 6)
    accepts.read(words)
    assert [accepts(word) for word in words] == [parity().accepts(word) for word in words]
    assert calls == [1, len(words)]
    assert accepts(("1", "1", "1"))
    with pytest.raises(ValueError, match="'012' has the symbol '2'"):
        accepts("012")


def test_an_acceptor_reads_the_last_logit_in_the_type_of_its_net():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.sign = torch.nn.Parameter(torch.ones((), dtype=torch.float64))

        def forward(self, inputs, lengths):
            assert inputs.dtype == torch.float64
            assert lengths.dtype == torch.int64
            return torch.cat([-inputs[..., :1], self.sign * (inputs[..., :1] - 0.5)], -1)

    accepts = Acceptor(Net(), "ab")
    assert [accepts(word) for word in ("", "a", "ab", "ba")] == [False, True, False, True]
