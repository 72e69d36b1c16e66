"""Nets in the limit of a large gain: what they converge to, how many states they have, and how they are caught."""

from itertools import product

import pytest

torch = pytest.importorskip("torch")

from counter_machines import counter_machines, words_of  # noqa: E402
from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from torch import nn  # noqa: E402

from fhx.compile import (  # noqa: E402
    SaturatedNet,
    counters_to_lstm,
    halving_gru,
    hierarchy,
    saturated_automaton,
    saturated_counters,
)
from fhx.machines import (  # noqa: E402
    NAMED,
    all_words,
    equal_blocks_mistake,
    palindrome_mistake,
    state_counts,
)

KINDS = {"tanh": nn.RNN, "GRU": nn.GRU, "LSTM": nn.LSTM}


def net(kind, units, seed, gain=1.0):
    """A net with Gaussian weights, and its limit."""
    generator = torch.Generator().manual_seed(seed)
    made = KINDS[kind](2, units, dtype=torch.float64)
    readout = nn.Linear(units, 1, dtype=torch.float64)
    with torch.no_grad():
        for parameter in (*made.parameters(), *readout.parameters()):
            parameter.normal_(generator=generator)
        for parameter in made.parameters():
            parameter *= gain
    return made, SaturatedNet(made, readout, "ab")


def one_hot(word):
    return nn.functional.one_hot(torch.tensor(["ab".index(x) for x in word]), 2).double()


def run(saturated, word):
    state = saturated.first
    for symbol in word:
        state = saturated.step(state, symbol)
        yield state


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=30)
@given(seed=st.integers(0, 2**32), word=st.text("ab", min_size=1, max_size=8))
@torch.no_grad()
def test_states_converge_to_those_of_the_limit(kind, seed, word):
    made, saturated = net(kind, 4, seed, gain=1e9)
    state = None
    for x, limit in zip(one_hot(word), run(saturated, word), strict=True):
        _, state = made(x[None], state)
        found = torch.cat([part.flatten() for part in state]) if kind == "LSTM" else state.flatten()
        assert torch.allclose(found, torch.tensor(limit, dtype=torch.float64), atol=1e-6)


@pytest.mark.claim("E25")
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=15)
@given(seed=st.integers(0, 2**32))
def test_states_are_counted_and_are_no_more_than_the_bounds(kind, seed):
    _, saturated = net(kind, 3, seed)
    counts = saturated.state_counts(7)
    assert counts == state_counts(saturated, "ab", 7)
    for n, count in enumerate(counts):
        assert count <= (27 if kind != "LSTM" else (3 * (2 * n + 1)) ** 3)


@pytest.mark.claim("E25")
@settings(max_examples=15)
@given(kind=st.sampled_from(["tanh", "GRU"]), seed=st.integers(0, 2**32))
def test_every_saturated_tanh_net_and_gru_is_wrong_about_equal_blocks(kind, seed):
    _, saturated = net(kind, 5, seed)
    word = equal_blocks_mistake(saturated, 3**5 + 1)
    half = len(word) // 2
    assert saturated.accepts(word) != (word == "a" * half + "b" * half)


@settings(max_examples=15, deadline=None)
@given(machine=counter_machines(states=3, counters=2, alphabet="ab#"))
def test_every_lstm_of_a_counter_machine_is_wrong_about_marked_palindromes(machine):
    saturated = saturated_counters(counters_to_lstm(machine))
    word = palindrome_mistake(saturated, 12)
    before, mark, after = word.partition("#")
    assert saturated.accepts(word) != (bool(mark) and after == before[::-1])


@settings(max_examples=25)
@given(machine=counter_machines(), data=st.data())
@torch.no_grad()
def test_a_gain_that_saturates_floats_is_the_limit(machine, data):
    made = counters_to_lstm(machine)
    saturated = saturated_counters(made)
    word, state = data.draw(words_of(machine, 20)), None
    limits = [saturated.first, *run(saturated, word)]
    for x, limit in zip(made._encoded([word]), limits, strict=True):
        _, state = made.lstm(x[None], state)
        assert state[1][0, 0].tolist() == list(limit[made.units :])
        assert torch.allclose(state[0][0, 0], torch.tensor(limit[: made.units], dtype=torch.float64), atol=1e-15)
    assert saturated.accepts(word) == machine.accepts(word)


@pytest.mark.parametrize("kind", ["tanh", "GRU"])
@pytest.mark.parametrize("name", ["(a|b)*abb", "parity", "tomita-3", "S3"])
def test_automata_saturate(kind, name):
    dfa = NAMED[name]
    saturated = saturated_automaton(dfa, kind)
    assert saturated.net.hidden_size == len(dfa.states) * len(dfa.alphabet) + 1
    assert list(saturated.verdicts(7)) == [dfa.accepts(word) for word in all_words(dfa.alphabet, 7)]
    assert max(saturated.state_counts(8)) <= saturated.net.hidden_size
    with pytest.raises(ValueError, match="kind must be one of"):
        saturated_automaton(dfa, "LSTM")


# Gates that stand at 1/2


def test_one_unit_of_a_gru_with_a_gate_at_one_half_has_as_many_states_as_there_are_words():
    gru, readout = nn.GRU(2, 1, dtype=torch.float64), nn.Linear(1, 1, dtype=torch.float64)
    with torch.no_grad():
        for parameter in gru.parameters():
            parameter.zero_()
        gru.weight_ih_l0[2] = torch.tensor([1, -1])  # the candidate is 1 on a and -1 on b, the update gate 1/2
    saturated = SaturatedNet(gru, readout, "ab")
    assert saturated.state_counts(12) == [2**n for n in range(13)]


def test_the_halving_gru_counts_in_the_limit():
    saturated = halving_gru()
    assert list(saturated.verdicts(12)) == [w.count("a") == w.count("b") for w in all_words("ab", 12)]
    word = "a" * 400 + "b" * 400
    assert saturated.accepts(word)
    assert not saturated.accepts(word + "b")
    assert equal_blocks_mistake(saturated, 300) is None


@torch.no_grad()
def test_the_halving_gru_needs_a_gain_that_grows_exponentially():
    def right(gain, n):
        made = halving_gru(gain)
        words = ["a" * n + "b" * n, "a" * n + "b" * (n - 1), "a" * (n - 1) + "b" * n]
        for word in words:
            state = made.h0.expand(1, 1, -1)
            _, state = made.net(one_hot(word)[:, None], state.contiguous())
            if bool(made.readout(state)[0, 0, 0] > 0) != (word.count("a") == word.count("b")):
                return False
        return True

    least = []
    for n in (10, 20, 40, 80):
        exponent = 1
        while not right(2.0**exponent, n):
            exponent += 1
        least.append(exponent - n)
    assert all(abs(above) <= 4 for above in least)


# The table


def test_the_table_of_cells():
    rows = hierarchy((3, 6, 12))
    by = {(row.cell, row.language): row for row in rows}
    assert [row.cell for row in rows] == sorted(
        (row.cell for row in rows), key=lambda cell: ("tanh", "GRU", "GRU, ", "LSTM", "ReLU").index(cell[:5])
    )
    for kind in ("tanh", "GRU"):
        row = by[kind, "a^n b^n, n up to 3"]
        assert max(row.counts) <= row.units
        assert row.mistake[1] == "a^n b^n"
    assert by["GRU, two gates at 1/2", "as many a as b"].counts == (6, 12, 24)
    for cell in ("LSTM", "ReLU"):
        assert by[cell, "a^n b^n"].mistake is None
        assert by[cell, "anagrams"].mistake[1] == "marked palindromes"
        linear, square = (by[cell, name].counts for name in ("a^n b^n", "anagrams"))
        assert linear[2] / linear[1] < 2.5
        assert square[2] / square[1] < 5
    palindromes = by["ReLU", "marked palindromes"]
    assert palindromes.counts[2] > 2**12
    assert palindromes.mistake is None
    assert all(row.words > 2000 for row in rows if "random" not in row.language)
    with pytest.raises(ValueError, match="lengths must be"):
        hierarchy((-1,))


def test_verdicts_are_those_of_each_word():
    _, saturated = net("LSTM", 3, seed=5)
    words = ["".join(word) for n in range(5) for word in product("ab", repeat=n)]
    assert list(saturated.verdicts(4)) == [saturated.accepts(word) for word in words]


def test_only_nets_of_one_layer_are_taken(unchecked):
    readout = nn.Linear(2, 1)
    with pytest.raises(TypeError, match="not Linear"):
        SaturatedNet(readout, readout, "ab")
    for wrong in (nn.GRU(2, 2, 2), nn.RNN(2, 2, bidirectional=True), nn.RNN(2, 2, bias=False)):
        with pytest.raises(ValueError, match="one layer in one direction with biases"):
            SaturatedNet(wrong, readout, "ab")
    saturated = SaturatedNet(nn.RNN(2, 2), readout, "ab")
    with pytest.raises(ValueError, match="symbol 'c' is outside"):
        saturated.step(saturated.first, "c")
    assert "RNN(2, 2)" in repr(saturated)
