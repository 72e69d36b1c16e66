"""The claims that chapter 4 settles: what the stored runs say, and what the cells can and cannot hold."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from recurrence.cells import GRUCell, LSTMCell, SimpleCell
from recurrence.dynamics import Realisation, unroll
from recurrence.experiments import formal_languages, recognition, stored
from recurrence.machines import NAMED, learn, word_sample
from recurrence.tasks import LANGUAGES, Acceptor

COUNTERS = ("a^n b^n", "a^n b^n c^n", "dyck-1")


@pytest.fixture(scope="module")
def runs() -> dict:
    return {(p["point"]["language"], p["point"]["cell"]): p for p in stored("formal_languages")["points"]}


def test_e5_the_stored_run_has_every_pair_and_ten_seeds(runs):
    assert set(runs) == {(name, cell) for name in formal_languages.NAMES for cell in recognition.CELLS}
    assert {len(right) for p in runs.values() for right in p["result"]["right"].values()} == {10}


def test_e5_parity_is_found_by_every_seed_and_counting_by_none_at_ten_times_the_length(runs):
    assert all(sum(runs["parity", cell]["result"]["right"]["10x"]) == 10 for cell in recognition.CELLS)
    far = [sum(runs[name, cell]["result"]["right"]["10x"]) for name in COUNTERS for cell in recognition.CELLS]
    near = [sum(runs[name, cell]["result"]["right"]["1x"]) for name in COUNTERS for cell in recognition.CELLS]
    assert sum(far) == 0 < sum(near)


@pytest.mark.parametrize("cell", recognition.CELLS)
def test_e5_the_machine_read_out_of_the_stored_net_for_parity_is_the_true_one(runs, cell):
    point = runs["parity", cell]
    words = word_sample("01", 8, random_words=200, random_length=40)
    accepts = Acceptor(formal_languages.net(point["point"], point["result"]), "01")
    accepts.read(words)
    assert learn(accepts, "01", words).dfa.equivalent(NAMED["parity"])


def test_e5_no_net_for_equal_blocks_is_right_to_thirty(runs):
    language = LANGUAGES["a^n b^n"]
    words = ["a" * n + "b" * m for n in range(31) for m in (n - 1, n, n + 1) if m >= 0]
    for cell in recognition.CELLS:
        point = runs["a^n b^n", cell]
        accepts = Acceptor(formal_languages.net(point["point"], point["result"]), "ab")
        accepts.read(words)
        assert any(accepts(word) != language.contains(word) for word in words)


def test_a5_every_lstm_counts_farther_than_every_gru():
    reach = {(p["point"]["language"], p["point"]["cell"]): p["result"]["reach"] for p in stored("counting")["points"]}
    for name in ("a^n b^n", "a^n b^n c^n"):
        assert min(reach[name, "LSTM"]) > max(reach[name, "GRU"])


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10_000), st.sampled_from([GRUCell, SimpleCell]), st.floats(0.1, 30))
def test_a5_tanh_and_gru_states_stay_in_the_box(seed, make, scale):
    generator = torch.Generator().manual_seed(seed)
    cell = make(2, 5, generator=generator, dtype=torch.float64)
    with torch.no_grad():
        for parameter in cell.parameters():
            parameter *= scale
    x = torch.randn(60, 4, 2, generator=generator, dtype=torch.float64)
    h0 = 2 * torch.rand(4, 5, generator=generator, dtype=torch.float64) - 1
    assert unroll(cell, x, h0).abs().max() <= 1


def test_a5_two_lstm_units_count_for_ever_and_so_leave_the_box():
    cell = LSTMCell(2, 2, dtype=torch.float64)
    with torch.no_grad():
        for parameter in cell.parameters():
            parameter.zero_()
        for bias in (cell.b_i, cell.b_f, cell.b_o):
            bias[:] = 40.0
        cell.U_z[:] = torch.tensor([[40.0, -40.0], [40.0, -40.0]])
    start = torch.tensor([0.0, 0.0, 0.5, -0.5], dtype=torch.float64)
    net = Realisation(cell, lambda h: h[..., 0] - h[..., 1] - 0.7, start)
    symbols = torch.cat([torch.zeros(5000, 1), torch.ones(5100, 1)]).long()
    one_hot = torch.nn.functional.one_hot(symbols, 2).double()
    balance = (1 - 2 * symbols).cumsum(0)
    with torch.no_grad():
        assert torch.equal(net(one_hot) > 0, balance == 0)
        assert net.states(one_hot)[4999, 0, 2] == 5000.5
