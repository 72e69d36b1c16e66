"""Networks and recognizers."""

import re
from fractions import Fraction
from itertools import islice, repeat

import pytest
from exact_nets import ABB, PARITY, RATIONALS, dense, machines, net, one_hot, rnns, words
from hypothesis import given, settings
from hypothesis import strategies as st

from fhx.exact import Matrix, Network, Recognizer, SimpleRNN, StateDecoder

HALF = Fraction(1, 2)
COUNTER = SimpleRNN([[1]], [[1, 0]], [0], [0], "relu", ["count"])


@settings(max_examples=60)
@given(st.data(), machines(), st.integers(0, 2))
def test_the_net_of_a_machine_decides_as_the_machine(data, machine, pause):
    recognizer, word = net(machine, pause), data.draw(words(machine.letters))
    after = [int(q in machine.accept) for q in machine.after(word)]
    assert list(recognizer.outputs(word)) == after[1:]
    assert recognizer.accepts(word) == machine.accepts(word)
    assert len(list(recognizer.run(word))) == 1 + len(word) * (pause + 1)


@settings(max_examples=60)
@given(st.data(), rnns(), st.integers(1, 3))
def test_outputs_are_the_network_s(data, rnn, steps):
    """The fast outputs of a recognizer against the reference of the network with one output."""
    w, c = data.draw(st.lists(RATIONALS, min_size=rnn.units, max_size=rnn.units)), data.draw(RATIONALS)
    recognizer = Recognizer(rnn, w, c, "xyz"[: rnn.input_size], steps)
    word = data.draw(words(recognizer.alphabet, 5))
    xs = [one_hot(recognizer.alphabet.index(symbol), rnn.input_size) for symbol in word]
    network = Network(rnn, [w], [c], steps)
    assert [(output,) for output in recognizer.outputs(word)] == list(network.outputs(xs))
    states = list(recognizer.run(word))[steps::steps]
    readout = [sum(w[i] * h for i, h in enumerate(dense(state, rnn.units))) + c for state in states]
    assert list(recognizer.outputs(word)) == readout


def test_a_network_of_two_outputs():
    rnn = SimpleRNN([[1]], [[HALF]], [0], [1], "relu")
    network = Network(rnn, [[1], [-2]], [0, HALF])
    assert tuple(network.outputs([(1,), (2,)])) == ((3 * HALF, -5 * HALF), (5 * HALF, -9 * HALF))
    assert network.units == 1
    assert tuple(network.outputs([])) == ()


def test_steps_between_inputs():
    """A unit that doubles itself: k - 1 doublings after each input, and the output is read after the last."""
    rnn = SimpleRNN([[2]], [[1]], [0], [0], "relu")
    assert tuple(Network(rnn, [[1]], [0], 3).outputs([(1,), (1,)])) == ((4,), (36,))
    assert list(Recognizer(rnn, [1], 0, "a", 3).outputs("aa")) == [4, 36]
    assert [state.get(0, 0) for state in Recognizer(rnn, [1], 0, "a", 3).run("aa")] == [0, 1, 2, 4, 9, 18, 36]


def test_words_of_parity():
    recognizer = net(PARITY)
    assert recognizer.accepts("") is False
    assert recognizer.accepts("1") is True
    assert recognizer.accepts(["1", "1", "1"]) is True
    assert recognizer.accepts(iter("10101")) is True
    assert list(recognizer.outputs("")) == []
    assert recognizer.units == 5
    assert recognizer.rnn.unit_names[-1] == "start"


def test_the_empty_word_reads_the_start():
    assert Recognizer(COUNTER, [1], 1, "ab").accepts("") is True
    assert Recognizer(COUNTER, [1], 0, "ab").accepts("") is False


@pytest.mark.parametrize(
    ("w", "word", "message"),
    [
        (1, "aaab", "the output after 'aaab' is 3: neither 1 (accept) nor 0 (reject)"),
        (HALF, "a", "the output after 'a' is 1/2: neither"),
        (-1, ("a", "b"), "the output after ('a', 'b') is -1: neither"),
    ],
)
def test_outputs_that_decide_nothing(w, word, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        Recognizer(COUNTER, [w], 0, "ab").accepts(word)


def test_symbols_outside_the_alphabet():
    message = re.escape("the symbol 'c' at position 2 is outside the alphabet ('a', 'b')")
    for use in (net(ABB).accepts, lambda word: list(net(ABB).outputs(word)), lambda word: list(net(ABB).run(word))):
        with pytest.raises(ValueError, match=message):
            use("abcab")
    with pytest.raises(ValueError, match="at position 0"):
        net(ABB).accepts([["a"]])


def test_a_run_is_lazy():
    assert len(list(islice(net(ABB).run(repeat("a")), 10))) == 10


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"w": [1, 2]}, ValueError, "w has 2 entries, but 1"),
        ({"w": [1.0]}, TypeError, "w[0] is the float 1.0"),
        ({"c": 0.0}, TypeError, "c is the float 0.0"),
        ({"alphabet": "a"}, ValueError, "the alphabet has 1 symbols, but U has 2 columns"),
        ({"alphabet": "abb"}, ValueError, "the symbol 'b' comes twice in the alphabet"),
        ({"alphabet": {"a", "b"}}, TypeError, "the alphabet is a set, which has no order"),
        ({"steps_per_symbol": 0}, ValueError, "steps_per_symbol must be an integer of at least 1, got 0"),
        ({"steps_per_symbol": 1.5}, ValueError, "steps_per_symbol must be an integer of at least 1, got 1.5"),
        ({"decoder": StateDecoder("x", [[1, 2]], [0])}, ValueError, "the decoder reads 2 units, but the net has 1"),
    ],
)
def test_what_does_not_fit(changes, error, message):
    fields = {"rnn": COUNTER, "w": [1], "c": 0, "alphabet": "ab"}
    with pytest.raises(error, match=f"^{re.escape(message)}"):
        Recognizer(**(fields | changes))


def test_networks_that_do_not_fit():
    with pytest.raises(ValueError, match="V has 2 columns, but the net has 1 units"):
        Network(COUNTER, [[1, 2]], [0])
    with pytest.raises(ValueError, match="c has 2 entries, but 1"):
        Network(COUNTER, [[1]], [0, 0])
    with pytest.raises(TypeError, match=re.escape("V[0, 0] is the float 0.5")):
        Network(COUNTER, [[0.5]], [0])
    with pytest.raises(TypeError, match=re.escape("c[0] is the float 0.5")):
        Network(COUNTER, [[1]], [0.5])
    with pytest.raises(ValueError, match="at least 1, got True"):
        Network(COUNTER, [[1]], [0], steps_per_symbol=True)


def test_a_code_reads_the_state_of_the_step():
    decoder = StateDecoder(["twice", "less"], [[2], [HALF]], [0, -1])
    recognizer = Recognizer(COUNTER, [1], 0, "ab", decoder=decoder)
    states = [recognizer.decode(state) for state in recognizer.run("ab")]
    assert states == [{"twice": 0, "less": -1}, {"twice": 2, "less": -HALF}, {"twice": 2, "less": -HALF}]
    assert Network(COUNTER, [[1]], [0], decoder=decoder).decode([4]) == {"twice": 8, "less": 1}
    assert type(recognizer.decode({0: 2})["less"]) is int


def test_a_code_that_does_not_fit():
    with pytest.raises(ValueError, match="D has 1 rows for 2 names"):
        StateDecoder(["a", "b"], [[1]], [0, 0])
    with pytest.raises(ValueError, match="d has 1 entries, but 2"):
        StateDecoder(["a", "b"], [[1], [1]], [0])
    with pytest.raises(TypeError, match=re.escape("D[0, 0] is the float 0.5")):
        StateDecoder(["a"], [[0.5]], [0])
    with pytest.raises(TypeError, match=re.escape("d[0] is the float 0.5")):
        StateDecoder(["a"], [[1]], [0.5])
    with pytest.raises(ValueError, match="it was not compiled from a step"):
        net(PARITY).decode({0: 1})
    recognizer = Recognizer(COUNTER, [1], 0, "ab", decoder=StateDecoder("n", [[1]], [0]))
    with pytest.raises(ValueError, match="the state has a unit 1, but the net has 1"):
        recognizer.decode({1: 1})
    with pytest.raises(ValueError, match="the state has 2 entries, but 1"):
        recognizer.decode((1, 2))
    with pytest.raises(TypeError, match=re.escape("the state[0] is the float 0.5")):
        recognizer.decode((0.5,))


def test_a_recognizer_is_a_value():
    assert net(ABB) == net(ABB)
    assert hash(net(ABB)) == hash(net(ABB))
    assert net(ABB) != net(PARITY)
    assert Matrix.of([net(ABB).w]) == net(ABB).network.V
