"""The torch net: the same decisions as the exact one, or an error."""

import re
from fractions import Fraction

import pytest
import torch
from exact_nets import ABB, INTEGERS, PARITY, machines, net, one_hot, rnns, words
from hypothesis import given, settings
from hypothesis import strategies as st

import fhx
from fhx.exact import Matrix, Recognizer, SimpleRNN
from fhx.exact.float_range import largest_exact_state, two_relus

DTYPES = [torch.float64, torch.float32, torch.float16, torch.bfloat16]
BITS = {torch.float64: 53, torch.float32: 24, torch.float16: 11, torch.bfloat16: 8}


def tensor(recognizer, words, dtype):
    """Words of one length as one-hot vectors."""
    size = len(recognizer.alphabet)
    rows = [[one_hot(recognizer.alphabet.index(symbol), size) for symbol in word] for word in words]
    return torch.tensor(rows, dtype=dtype, device=fhx.device())


def moved(recognizer, *arguments):
    return recognizer.to_torch(*arguments).to(fhx.device())


@st.composite
def recognizers(draw, activations=("relu", "slu")):
    """Integer nets; their outputs are any integers."""
    rnn = draw(rnns(INTEGERS, activations))
    w = draw(st.lists(INTEGERS, min_size=rnn.units, max_size=rnn.units))
    return Recognizer(rnn, w, draw(INTEGERS), "abc"[: rnn.input_size], draw(st.integers(1, 3)))


@settings(max_examples=80)
@given(st.data(), recognizers(), st.sampled_from([torch.float64, torch.float32]))
def test_outputs_are_the_exact_ones(data, recognizer, dtype):
    length = data.draw(st.integers(0, 3))
    batch = data.draw(st.lists(st.text(recognizer.alphabet, min_size=length, max_size=length), max_size=3))
    inputs = tensor(recognizer, batch, dtype).reshape(len(batch), length, len(recognizer.alphabet))
    exact = [list(recognizer.outputs(word)) for word in batch]
    assert moved(recognizer, dtype)(inputs).tolist() == exact


@settings(max_examples=60)
@given(st.data(), recognizers(activations=("slu",)))
def test_two_relus_are_an_slu(data, recognizer):
    relu, word = two_relus(recognizer), data.draw(words(recognizer.alphabet, 6))
    assert relu.rnn.activation == "relu"
    assert relu.units == 2 * recognizer.units
    assert list(relu.outputs(word)) == list(recognizer.outputs(word))
    d = recognizer.units
    for state, pair in zip(recognizer.run(word), relu.run(word), strict=True):
        assert all(state.get(i, 0) == pair.get(i, 0) - pair.get(d + i, 0) for i in range(d))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("pause", [0, 2])
def test_words_of_unequal_lengths(dtype, pause):
    given_words = ["", "abb", "a", "babababb", "abbabba", ""]
    decisions = moved(net(ABB, pause), dtype).accepts(given_words)
    assert decisions.dtype == torch.bool
    assert decisions.tolist() == [ABB.accepts(word) for word in given_words]


@settings(max_examples=30)
@given(st.data(), machines())
def test_decisions_are_the_machine_s(data, machine):
    batch = data.draw(st.lists(words(machine.letters), max_size=6))
    module = moved(net(machine))
    assert module.accepts(batch, batch_size=2).tolist() == [machine.accepts(word) for word in batch]


def test_what_it_is():
    module = net(PARITY).to_torch(torch.float32)
    assert isinstance(module.rnn, torch.nn.RNN)
    assert module.rnn.nonlinearity == "relu"
    assert module.rnn.batch_first
    assert {parameter.dtype for parameter in module.parameters()} == {torch.float32}
    assert not any(parameter.requires_grad for parameter in module.parameters())
    assert net(PARITY).to_torch().h0.dtype == torch.float64
    assert module(torch.zeros(0, 3, 2)).shape == (0, 3)
    assert module(torch.zeros(2, 0, 2)).shape == (2, 0)
    assert module.accepts([]).shape == (0,)


def test_decisions_lie_where_the_net_lies():
    """A device that every machine has, on which a tensor has no numbers."""
    assert net(PARITY).to_torch().to("meta").accepts([]).device.type == "meta"


def test_the_recurrence_itself():
    module = net(ABB).to_torch()
    assert module.rnn.weight_hh_l0.tolist() == [list(map(float, row)) for row in net(ABB).rnn.W.dense()]
    assert module.rnn.weight_ih_l0.tolist() == [list(map(float, row)) for row in net(ABB).rnn.U.dense()]
    assert module.rnn.bias_ih_l0.tolist() == list(net(ABB).rnn.b)


def doubling(factor=2, readout=1, start=1):
    """One unit that multiplies itself with each symbol."""
    rnn = SimpleRNN([[factor]], [[0]], [0], [start], "relu", ["power"])
    return Recognizer(rnn, [readout], 0, "a")


def counting(step):
    rnn = SimpleRNN([[1]], [[step, 0]], [0], [0], "relu", ["count"])
    return Recognizer(rnn, [1], 0, "+0")


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_range_is_sharp(dtype):
    """A counter in steps of s is stepped exactly up to L - s; one more and L + 1 would not be told from L."""
    limit = 2 ** BITS[dtype]
    step = limit // 4 - 1
    recognizer = counting(step)
    module = moved(recognizer, dtype)
    assert module.largest == limit - step
    if dtype == torch.float32 and fhx.device().type != "cpu":  # products of a GPU have a smaller range
        with pytest.raises(OverflowError):
            module(tensor(recognizer, ["+++0"], dtype))
        return
    assert module(tensor(recognizer, ["+++0"], dtype)).tolist() == [list(recognizer.outputs("+++0"))]
    with pytest.raises(OverflowError, match=re.escape(f"after net step 4 a unit is {4 * step}, but")):
        module(tensor(recognizer, ["+++++"], dtype))
    beyond = torch.tensor(limit, dtype=dtype)
    assert beyond + 1 == beyond


@settings(max_examples=100)
@given(recognizers(("relu",)), st.integers(40, 1000))
def test_the_largest_exact_state(recognizer, limit):
    """By trial: H passes all inequalities and H + 1 does not."""
    rnn, largest = recognizer.rnn, largest_exact_state(recognizer, limit)

    def within(size):
        rows = [
            sum(abs(w) * size for w in row) + max(map(abs, U_row)) + abs(b)
            for row, U_row, b in zip(rnn.W.dense(), rnn.U.dense(), rnn.b, strict=True)
        ]
        return size <= limit and max(*rows, sum(abs(w) * size for w in recognizer.w) + abs(recognizer.c)) <= limit

    assert within(largest)
    assert not within(largest + 1)


def test_a_state_beyond_the_range():
    module = moved(doubling(), torch.float64)
    assert module.largest == 2**52
    inputs = tensor(doubling(), ["a" * 52], torch.float64)
    assert module(inputs)[0, -1] == 2**52
    with pytest.raises(OverflowError, match=re.escape("after net step 53 a unit is 9007199254740992, but")):
        module(tensor(doubling(), ["a" * 60], torch.float64))


def test_infinities_are_seen():
    with pytest.raises(OverflowError, match="after net step 24 a unit is"):
        moved(doubling(), torch.float32)(tensor(doubling(), ["a" * 2000], torch.float32))


def test_after_its_end_a_word_may_overflow():
    """The padding of a short word beside a long one runs on; nobody reads it."""
    rnn = SimpleRNN([[2, 0], [0, 0]], [[-4, 0], [1, 1]], [1, 0], [0, 0], "relu", ["without a", "last"])
    recognizer = Recognizer(rnn, [0, 1], 0, "ab")
    given_words = ["", "b" * 22, "a" * 100]
    assert moved(recognizer, torch.float32).accepts(given_words).tolist() == [False, True, True]
    with pytest.raises(OverflowError):
        moved(recognizer, torch.float32).accepts(["b" * 100])


def test_outputs_that_decide_nothing():
    with pytest.raises(ValueError, match=re.escape("the output after 'aa' is 4: neither 1 (accept) nor 0 (reject)")):
        moved(doubling()).accepts(["", "aa"])
    with pytest.raises(ValueError, match=re.escape("the output after 'a' is 0.5: neither")):
        moved(doubling(Fraction(1, 2)), torch.float64, False).accepts(["a"])


def test_all_reasons_against_an_exact_net():
    half = Fraction(1, 2)
    rnn = SimpleRNN(Matrix((2, 2), {(0, 1): half, (1, 1): -half}), [[1], [half]], [0, 0], [half, 1], "relu")
    with pytest.raises(ValueError, match=re.escape("no exact net in torch.float64: W holds 2 numbers")) as error:
        Recognizer(rnn, [0, half], half, "a").to_torch()
    reasons = str(error.value)
    for part in ("the first W[0, 1] = 1/2", "U holds 1", "U[1, 0] = 1/2", "h0[0] = 1/2", "w[1] = 1/2", "c = 1/2"):
        assert part in reasons
    assert "b holds" not in reasons


@pytest.mark.parametrize(
    ("recognizer", "dtype"),
    [
        (doubling(2**53 + 1), torch.float64),
        (doubling(readout=2**24 + 1), torch.float32),
        (doubling(start=2**11), torch.float16),
        (doubling(10**5), torch.float16),
        (counting(2**8), torch.bfloat16),
        (Recognizer(SimpleRNN([[0]], [[2**24]], [1], [0], "relu"), [1], 0, "a"), torch.float32),
    ],
)
def test_weights_that_leave_no_range(recognizer, dtype):
    with pytest.raises(ValueError, match=f"within {dtype}, exact up to {2 ** BITS[dtype]}, these weights allow"):
        recognizer.to_torch(dtype)


def test_products_in_tensor_float():
    """Off the CPU a float32 state counts as exact up to 2^11, and larger weights leave no range at all."""
    for recognizer, largest in ((counting(1), 2**11), (counting(2**11), 2**11), (counting(2**11 + 1), -1)):
        module = recognizer.to_torch(torch.float32)
        assert module.largest > 2**11
        assert module.largest_in_tensor_float == largest
    assert counting(1).to_torch(torch.bfloat16).largest_in_tensor_float == 2**8 - 1


def test_rounded_nets_promise_nothing_and_can_be_trained():
    third = Fraction(1, 3)
    rnn = SimpleRNN([[third]], [[1]], [0], [0], "relu")
    module = moved(Recognizer(rnn, [1], 0, "a"), torch.float64, False)
    outputs = module(torch.tensor([[[0.7], [0.2]]], dtype=torch.float64, device=fhx.device()))
    torch.testing.assert_close(outputs.cpu(), torch.tensor([[0.7, 0.7 / 3 + 0.2]], dtype=torch.float64))
    outputs.sum().backward()
    assert all(parameter.grad is not None for parameter in module.parameters())
    assert moved(doubling(), torch.float32, False)(torch.zeros(1, 2000, 1, device=fhx.device())).isinf().any()


def test_inputs_that_are_not_one_hot():
    module = net(PARITY).to_torch()
    for wrong in ([1.0, 1.0], [0.5, 0.5], [2.0, -1.0], [float("nan"), 0.0]):
        with pytest.raises(ValueError, match="neither a one-hot vector nor the zero vector"):
            module(torch.tensor([[[1.0, 0.0], wrong]], dtype=torch.float64))


def test_a_cast_net_is_no_longer_exact():
    with pytest.raises(ValueError, match=re.escape("exact in torch.float64 and was cast to torch.float32")):
        net(PARITY).to_torch().float()(torch.zeros(1, 1, 2))
    assert net(PARITY).to_torch(exact=False).float()(torch.zeros(1, 1, 2)).shape == (1, 1)


def test_types_that_are_no_floats():
    for dtype in (torch.int64, torch.bool):
        with pytest.raises(TypeError, match="dtype must be a floating-point type"):
            net(PARITY).to_torch(dtype)


def test_symbols_outside_the_alphabet():
    with pytest.raises(TypeError, match="the words are the one string 'ab'"):
        net(ABB).to_torch().accepts("ab")
    with pytest.raises(ValueError, match=re.escape("the symbol 'c' at position 1 is outside the alphabet")):
        net(ABB).to_torch().accepts(["a", "bc"])
