"""Each cell equals torch's own net, forward and gradient."""

from itertools import product
from re import escape

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

import fhx
from fhx.cells import GRUCell, LinearCell, LSTMCell, SimpleCell, Stack, from_torch
from fhx.dynamics import unroll

DEVICE = fhx.device()
DOUBLE = {"dtype": torch.float64, "device": DEVICE}
KINDS = {
    "tanh": lambda *sizes, **options: SimpleCell(*sizes, "tanh", **options),
    "relu": lambda *sizes, **options: SimpleCell(*sizes, "relu", **options),
    "lstm": LSTMCell,
    "gru": GRUCell,
}
WIDTH = st.integers(1, 5)


def make(kind, d_in, d, depth, seed):
    generator = torch.Generator().manual_seed(seed)
    layers = [KINDS[kind](d if k else d_in, d, generator=generator, **DOUBLE) for k in range(depth)]
    return (layers[0] if depth == 1 else Stack(layers)), generator


def noise(*shape, generator):
    return torch.randn(shape, generator=generator, dtype=torch.float64).to(DEVICE)


def assert_same(ours, theirs):
    torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=1e-12)


def initial(cell, kind, batch, generator):
    """A random h_0 in our form, and the same in torch's."""
    h0 = noise(batch, cell.state_width, generator=generator).requires_grad_()
    layers = list(cell.layers) if isinstance(cell, Stack) else [cell]
    states = h0.split([layer.state_width for layer in layers], -1)
    if kind != "lstm":
        return h0, torch.stack(states)
    return h0, tuple(map(torch.stack, zip(*(state.chunk(2, -1) for state in states), strict=True)))


@pytest.mark.claim("A2", "B1")
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=15)
@given(st.integers(1, 8), st.integers(1, 4), WIDTH, WIDTH, st.integers(1, 3), st.integers(0, 2**32))
def test_forward_and_gradient(kind, time, batch, d_in, d, depth, seed):
    cell, generator = make(kind, d_in, d, depth, seed)
    net = cell.to_torch()
    inputs = noise(time, batch, d_in, generator=generator).requires_grad_()
    h0, torch_h0 = initial(cell, kind, batch, generator)
    direction = noise(time, batch, d, generator=generator)

    states = unroll(cell, inputs, h0)
    outputs, last = net(inputs, torch_h0)
    assert_same(cell.hidden(states), outputs)
    if kind == "lstm" and depth == 1:
        assert_same(states[-1], torch.cat([part[0] for part in last], -1))

    ours = torch.autograd.grad((cell.hidden(states) * direction).sum(), [inputs, h0, *cell.parameters()])
    theirs = torch.autograd.grad((outputs * direction).sum(), [inputs, h0, *net.parameters()])
    assert_same(ours[:2], theirs[:2])
    ours = dict(zip([name for name, _ in cell.named_parameters()], ours[2:], strict=True))
    theirs = dict(zip([name for name, _ in net.named_parameters()], theirs[2:], strict=True))
    for k in range(depth):
        layer = f"layers.{k}." if depth > 1 else ""
        assert_same(ours[f"{layer}W"], theirs[f"weight_hh_l{k}"])
        assert_same(ours[f"{layer}U"], theirs[f"weight_ih_l{k}"])
        assert_same(ours[f"{layer}b"], theirs[f"bias_ih_l{k}"])
        if kind == "gru":
            assert_same(ours[f"{layer}b_m"], theirs[f"bias_hh_l{k}"][2 * d :])


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=10)
@given(st.lists(st.integers(1, 6), min_size=1, max_size=4), st.integers(1, 2), st.integers(0, 2**32))
def test_lengths_equal_packed_sequences(kind, lengths, depth, seed):
    cell, generator = make(kind, 2, 3, depth, seed)
    inputs = noise(max(lengths), len(lengths), 2, generator=generator)
    states = unroll(cell, inputs, lengths=torch.tensor(lengths))
    packed, last = cell.to_torch()(pack_padded_sequence(inputs, torch.tensor(lengths), enforce_sorted=False))
    outputs, _ = pad_packed_sequence(packed)
    for k, length in enumerate(lengths):
        assert_same(cell.hidden(states)[:length, k], outputs[:length, k])
    last = last[0] if kind == "lstm" else last
    assert_same(cell.hidden(states[-1]), last[-1])


def test_the_copy_is_a_copy_and_draws_nothing():
    before = torch.get_rng_state()
    cell, _ = make("gru", 2, 3, 1, 0)
    net = cell.to_torch()
    assert torch.equal(torch.get_rng_state(), before)
    with torch.no_grad():
        cell.W.zero_()
    assert net.weight_hh_l0.abs().min() > 0


LACKING = {
    "linear": LinearCell(1, 2),
    "sigmoid": SimpleCell(1, 2, "sigmoid"),
    "callable": SimpleCell(1, 2, torch.sin),
    "linear layer": Stack([SimpleCell(1, 2), LinearCell(2, 2)]),
}
MIXED = {
    "sizes": Stack([SimpleCell(1, 2), SimpleCell(2, 3)]),
    "activations": Stack([SimpleCell(1, 2), SimpleCell(2, 2, "relu")]),
    "kinds": Stack([LSTMCell(1, 2), GRUCell(2, 2)]),
}


@pytest.mark.parametrize("cell", LACKING.values(), ids=LACKING)
def test_what_torch_lacks_is_refused(cell):
    lacking = cell.layers[-1] if isinstance(cell, Stack) else cell
    with pytest.raises(ValueError, match=f"^{escape(f'torch has no recurrent net that repeats {lacking}')}$"):
        cell.to_torch()


@pytest.mark.parametrize("cell", MIXED.values(), ids=MIXED)
def test_a_mixed_stack_is_refused(cell):
    law = f"torch stacks only cells of one kind, activation and state_size, not {cell}"
    with pytest.raises(ValueError, match=f"^{escape(law)}$"):
        cell.to_torch()


NETS = {
    "tanh": nn.RNN,
    "relu": lambda *sizes, **options: nn.RNN(*sizes, nonlinearity="relu", **options),
    "lstm": nn.LSTM,
    "gru": nn.GRU,
}
CELLS = {"tanh": SimpleCell, "relu": SimpleCell, "lstm": LSTMCell, "gru": GRUCell}
TORCH_CELLS = {
    "tanh": nn.RNNCell,
    "relu": lambda *sizes, **options: nn.RNNCell(*sizes, nonlinearity="relu", **options),
    "lstm": nn.LSTMCell,
    "gru": nn.GRUCell,
}


def drawn(net, seed):
    """The net with normal weights."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.copy_(noise(*parameter.shape, generator=generator))
    return net


@pytest.mark.parametrize("kind", NETS)
@settings(max_examples=15)
@given(st.integers(1, 6), WIDTH, WIDTH, st.integers(1, 3), st.booleans(), st.booleans(), st.integers(0, 2**32))
def test_a_net_of_torch_becomes_a_cell_with_its_states(kind, time, d_in, d, depth, bias, batch_first, seed):
    net = drawn(NETS[kind](d_in, d, num_layers=depth, bias=bias, batch_first=batch_first, **DOUBLE), seed)
    cell, generator = from_torch(net), torch.Generator().manual_seed(seed)
    assert [type(layer) for layer in (cell.layers if depth > 1 else [cell])] == [CELLS[kind]] * depth
    inputs = noise(time, 2, d_in, generator=generator)
    h0, torch_h0 = initial(cell, kind, 2, generator)
    outputs, _ = net(inputs.transpose(0, 1) if batch_first else inputs, torch_h0)
    assert_same(cell.hidden(unroll(cell, inputs, h0)), outputs.transpose(0, 1) if batch_first else outputs)


@pytest.mark.parametrize("kind", TORCH_CELLS)
@pytest.mark.parametrize("bias", [True, False])
def test_a_cell_of_torch_becomes_ours(kind, bias):
    net, generator = drawn(TORCH_CELLS[kind](2, 3, bias=bias, **DOUBLE), 0), torch.Generator().manual_seed(1)
    cell, x = from_torch(net), noise(4, 2, generator=generator)
    h = noise(4, cell.state_width, generator=generator)
    if kind == "lstm":
        assert_same(cell(h, x), torch.cat(net(x, h.chunk(2, -1)), -1))
    else:
        assert_same(cell(h, x), net(x, h))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_there_and_back_again_every_number_is_the_same(kind, depth, dtype):
    cell = make(kind, 2, 3, depth, 0)[0].to(dtype)
    net = cell.to_torch()
    assert not net.batch_first
    assert {(p.dtype, p.device.type, p.requires_grad) for p in net.parameters()} == {(dtype, DEVICE.type, True)}
    back = from_torch(net)
    assert repr(back) == repr(cell)
    assert back.state_dict().keys() == cell.state_dict().keys()
    assert all(torch.equal(value, cell.state_dict()[name]) for name, value in back.state_dict().items())
    assert {(p.dtype, p.device.type, p.requires_grad) for p in back.parameters()} == {(dtype, DEVICE.type, True)}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("bias", [True, False])
def test_both_ways_lead_to_the_same_device(kind, bias):
    """A device that every machine has, on which a tensor has no numbers."""
    nets = [make_one[kind](2, 3, bias=bias, device="meta") for make_one in (TORCH_CELLS, NETS)]
    for cell in map(from_torch, nets):
        assert {p.device.type for p in [*cell.parameters(), *cell.to_torch().parameters()]} == {"meta"}


@pytest.mark.parametrize("kind", KINDS)
def test_the_cell_is_a_copy_that_trains_and_draws_nothing(kind):
    net, before = NETS[kind](2, 3), torch.get_rng_state()
    cell = from_torch(net)
    assert torch.equal(torch.get_rng_state(), before)
    assert all(p.requires_grad and p.grad_fn is None for p in cell.parameters())
    with torch.no_grad():
        cell.W.zero_()
    assert net.weight_hh_l0.abs().min() > 0


def test_dropout_is_nothing_in_evaluation_mode():
    net = drawn(nn.RNN(1, 2, 2, dropout=0.5, **DOUBLE), 0).eval()
    x = noise(3, 1, 1, generator=torch.Generator())
    cell = from_torch(net)
    assert_same(cell.hidden(unroll(cell, x)), net(x)[0])


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(("kind", "proj_size"), [(nn.RNN, 0), (nn.GRU, 0), (nn.LSTM, 0), (nn.LSTM, 1), (nn.LSTM, 2)])
def test_all_that_no_cell_repeats_is_named(kind, proj_size):
    for both, dropout, training in product([False, True], [0.0, 0.5], [False, True]):
        net = kind(1, 3, 2, bidirectional=both, dropout=dropout, **({"proj_size": proj_size} if proj_size else {}))
        laws = ["it reads in both directions, and a cell reads in one"] * both
        laws += [f"it has projections, proj_size={proj_size}, and no cell here has"] * (proj_size > 0)
        drops = dropout > 0 and training
        laws += [f"it drops out, dropout={dropout}, and a cell does not: call eval() first"] * drops
        if laws:
            with pytest.raises(ValueError, match=f"^{escape(f'no cell repeats {net}: ' + '; '.join(laws))}$"):
                from_torch(net.train(training))
        else:
            assert len(from_torch(net.train(training)).layers) == 2


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("other", [nn.Linear(1, 2), SimpleCell(1, 2), None])
def test_what_is_no_net_of_torch(other):
    law = f"from_torch is for torch.nn's RNN, LSTM, GRU, RNNCell, LSTMCell, GRUCell, not {type(other).__name__}"
    with pytest.raises(TypeError, match=f"^{escape(law)}$"):
        from_torch(other)
