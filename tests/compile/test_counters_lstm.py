"""Counter machines as LSTMs: exact memories with saturated gates, and real gates with enough gain."""

import pytest

torch = pytest.importorskip("torch")

from counter_machines import counter_machines, plain_run, words_of  # noqa: E402
from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from fhx.cells import LSTMCell, from_torch  # noqa: E402
from fhx.compile import counters_to_lstm, lstm_gain, lstm_units  # noqa: E402
from fhx.compile.counter_cells import pair_cells  # noqa: E402
from fhx.dynamics import unroll  # noqa: E402
from fhx.machines import COUNTER_MACHINES, NAMED, all_words  # noqa: E402
from fhx.tasks import LANGUAGES, Acceptor  # noqa: E402

LONGEST = {1: 100, 2: 10, 3: 6, 4: 5}
SATURATING = {torch.float64: 1500, torch.float32: 210}


def memories(net, word):
    """The memory of every cell after the vector of zeros and after each symbol."""
    state = None
    for x in net._encoded([word]):
        _, state = net.lstm(x[None], state)
        yield state[1][0, 0]


@pytest.mark.claim("E25")
@pytest.mark.parametrize("dtype", SATURATING)
@settings(max_examples=25)
@given(machine=counter_machines(), data=st.data())
def test_the_state_holds_the_configuration(dtype, machine, data):
    net = counters_to_lstm(machine, SATURATING[dtype], dtype)
    assert net.units == lstm_units(machine)
    word = data.draw(words_of(machine, 25))
    found = [at and (at.state, list(at.counts)) for at in net.run(word)]
    assert found == list(plain_run(machine, word))
    verdicts = [machine.accepts(word[:t]) for t in range(len(word) + 1)]
    assert (net(net._encoded([word])) > 0).flatten().tolist() == verdicts


@pytest.mark.parametrize("dtype", SATURATING)
@settings(max_examples=30)
@given(machine=counter_machines(), data=st.data())
@torch.no_grad()
def test_memories_are_exactly_bits_and_counts(dtype, machine, data):
    net, k = counters_to_lstm(machine, SATURATING[dtype], dtype), machine.counters
    word = data.draw(words_of(machine, 25))
    run = [at for at in plain_run(machine, word) if at]
    cells = pair_cells(machine)
    for t, memory in zip(range(len(run)), memories(net, word), strict=False):
        before = run[t - 1] if t else None
        counts = before[1] if before else [0] * k
        bits = [
            before is not None
            and (cell.state, cell.symbol) == (before[0], word[t - 1])
            and all(counts[i] == 0 for i in cell.zeros)
            for cell in cells
        ]
        assert memory.tolist() == [float(t == 0), *map(float, bits), *map(float, counts)]


@pytest.mark.parametrize("name", COUNTER_MACHINES)
def test_verdicts_on_all_short_words(name):
    machine = COUNTER_MACHINES[name]
    net = counters_to_lstm(machine)
    words = list(all_words(machine.alphabet, LONGEST[len(machine.alphabet)]))
    assert net.accepts(words).tolist() == list(map(machine.accepts, words))


@pytest.mark.parametrize("name", ["a^n b^n", "a^n b^n c^n", "dyck-1"])
def test_it_is_an_acceptor_of_the_languages_of_the_tasks(name):
    net, language = counters_to_lstm(COUNTER_MACHINES[name], dtype=torch.float32), LANGUAGES[name]
    acceptor = Acceptor(net, language.alphabet)
    for word in language.words(20, (1, 60), seed=0):
        assert acceptor.prefixes([word])[:, 0].tolist() == language.prefixes(word)


def test_it_is_an_lstm_cell():
    net = counters_to_lstm(COUNTER_MACHINES["a^n b^n"])
    cell = from_torch(net.lstm)
    assert isinstance(cell, LSTMCell)
    inputs = net._encoded(["aaabbb", "abab"])
    logits = net.readout(cell.hidden(unroll(cell, inputs)))
    assert torch.equal(logits > 0, net(inputs) > 0)


@torch.no_grad()
def drives(net, word):
    """What drives each input gate, at each step."""
    lstm, d = net.lstm, net.units
    h = torch.zeros(1, d, dtype=torch.float64)
    c = h.clone()
    for x in net._encoded([word]):
        yield x @ lstm.weight_ih_l0[:d].T + h @ lstm.weight_hh_l0[:d].T + lstm.bias_ih_l0[:d]
        _, (h, c) = lstm(x[None], (h.reshape(1, 1, d), c.reshape(1, 1, d)))
        h = h[0]


@pytest.mark.claim("E25")
@settings(max_examples=40)
@given(machine=counter_machines(states=3, counters=2), data=st.data(), n=st.integers(1, 60))
def test_a_certified_gain_is_enough_and_its_bounds_hold(machine, data, n):
    K = lstm_gain(machine, n)
    net = counters_to_lstm(machine, K)
    word = data.draw(words_of(machine, n))
    found = [at and (at.state, list(at.counts)) for at in net.run(word)]
    assert found == list(plain_run(machine, word))
    assert min(drive.abs().min() for drive in drives(net, word)) >= K / 2 - 1


@pytest.mark.parametrize("n", [10, 100, 1000])
def test_blocks_of_a_length_need_a_gain_of_the_order_of_its_logarithm(n):
    machine, half = COUNTER_MACHINES["a^n b^n"], n // 2
    words = ["a" * half + "b" * m for m in (half - 1, half, half + 1)]
    right = [False, True, False]
    assert counters_to_lstm(machine, lstm_gain(machine, n + 1)).accepts(words).tolist() == right
    too_small = {10: 5, 100: 8, 1000: 12}[n]
    assert counters_to_lstm(machine, too_small).accepts(words).tolist() != right


def test_words_of_any_symbols_and_none():
    machine = COUNTER_MACHINES["dyck-1"]
    net = counters_to_lstm(machine)
    assert net.accepts([]).tolist() == []
    assert net.accepts(["", tuple("()"), ("(",)]).tolist() == [True, True, False]
    with pytest.raises(TypeError, match="one string"):
        net.accepts("()")
    with pytest.raises(ValueError, match="symbol 'x' is outside"):
        net.accepts(["x"])


def test_arguments_are_checked(unchecked):
    with pytest.raises(TypeError, match="counters_to_lstm needs a CounterMachine"):
        counters_to_lstm(NAMED["parity"])
    with pytest.raises(ValueError, match="gain must be a positive number"):
        counters_to_lstm(COUNTER_MACHINES["dyck-1"], 0)
    with pytest.raises(TypeError, match="dtype must be"):
        counters_to_lstm(COUNTER_MACHINES["dyck-1"], dtype=torch.int64)


@pytest.mark.parametrize(("dtype", "bits"), [(torch.float64, 53), (torch.float32, 24)])
@torch.no_grad()
def test_a_count_ends_where_its_float_does(dtype, bits):
    net = counters_to_lstm(COUNTER_MACHINES["a^n b^n"], dtype=dtype)
    *_, (h, c) = ((h, c) for h, c in states(net, "aaa"))
    c[..., -1] = 2.0**bits - 2
    counts = []
    for _ in range(4):
        _, (h, c) = net.lstm(net._encoded(["a"])[1:], (h, c))
        counts.append(c[..., -1].item() - 2**bits)
    assert counts == [-1, 0, 0, 0]


def states(net, word):
    state = None
    for x in net._encoded([word]):
        _, state = net.lstm(x[None], state)
        yield tuple(part.clone() for part in state)
