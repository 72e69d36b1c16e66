"""unroll and Realization: a hand loop, lengths, plain functions, many copies at once, bad input."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from random_tensors import DEVICE, DOUBLE, draw, rng, stack
from torch import nn
from torch.func import functional_call, grad, stack_module_state, vmap

from fhx.cells import Cell, GRUCell, LinearCell, LSTMCell, SimpleCell
from fhx.dynamics import Realization, unroll

KINDS = [SimpleCell, LinearCell, LSTMCell, GRUCell, stack]


def make(kind, d_in=2, d=3, seed=0):
    return kind(d_in, d, generator=rng(seed), **DOUBLE)


def assert_close(a, b):
    torch.testing.assert_close(a, b, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=10)
@given(st.integers(0, 6), st.integers(1, 3), st.integers(1, 3), st.integers(1, 3), st.integers(0, 2**32))
def test_unroll_is_a_hand_loop(kind, time, batch, d_in, d, seed):
    cell = make(kind, d_in, d, seed)
    inputs, h = draw(time, batch, d_in, seed=seed), draw(batch, cell.state_width, seed=seed + 1)
    states = unroll(cell, inputs, h)
    assert states.shape == (time, batch, cell.state_width)
    for t in range(time):
        h = cell(h, inputs[t])
        assert_close(states[t], h)


@pytest.mark.parametrize("kind", KINDS)
def test_initial_states(kind):
    cell, inputs = make(kind), draw(4, 5, 2)
    assert_close(unroll(cell, inputs), unroll(cell, inputs, cell.initial_state(5)))
    h0 = draw(cell.state_width)
    assert_close(unroll(cell, inputs, h0), unroll(cell, inputs, h0.repeat(5, 1)))


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=10)
@given(st.lists(st.integers(0, 5), min_size=1, max_size=4), st.integers(0, 2), st.integers(0, 2**32))
def test_lengths_are_each_sequence_by_itself(kind, lengths, spare, seed):
    """Also in the gradient, and whatever the padding holds: here it holds NaN."""
    cell, time = make(kind, seed=seed), max(lengths) + spare
    h0 = draw(len(lengths), cell.state_width, seed=seed + 1).requires_grad_()
    inputs = draw(time, len(lengths), 2, seed=seed)
    for k, length in enumerate(lengths):
        inputs[length:, k] = torch.nan
    wanted = [cell.W if hasattr(cell, "W") else cell.layers[0].W, h0]

    states = unroll(cell, inputs.requires_grad_(), h0, torch.tensor(lengths, dtype=torch.int32))
    ends = []
    for k, length in enumerate(lengths):
        alone = torch.cat([h0[None, k : k + 1], unroll(cell, inputs[:length, k : k + 1], h0[k : k + 1])])[:, 0]
        assert_close(states[:length, k], alone[1:])
        assert_close(states[length:, k], alone[length].expand(time - length, -1))
        ends.append(alone[-1])
    if time:
        assert_close(states[-1], torch.stack(ends))
        ours = torch.autograd.grad(states[-1].square().sum(), [inputs, *wanted], materialize_grads=True)
        theirs = torch.autograd.grad(torch.stack(ends).square().sum(), [inputs, *wanted], materialize_grads=True)
        assert_close(ours, theirs)


def test_the_logistic_map_as_a_plain_function():
    def logistic(h, x):
        return 4 * h * (1 - h)

    states = unroll(logistic, torch.empty(30, 2, 0, **DOUBLE), torch.tensor([[0.1], [0.3]], **DOUBLE))
    for k, h in enumerate((0.1, 0.3)):
        for t in range(30):
            h = 4 * h * (1 - h)
            assert states[t, k, 0].item() == h


@settings(max_examples=20)
@given(st.lists(st.lists(st.integers(0, 1), max_size=8), min_size=1, max_size=4))
def test_parity_as_a_table_over_integers(words):
    table = torch.tensor([[0, 1], [1, 0]], device=DEVICE)
    inputs = torch.zeros(8, len(words), 1, dtype=torch.int64, device=DEVICE)
    for k, word in enumerate(words):
        inputs[: len(word), k, 0] = torch.tensor(word)
    lengths = torch.tensor(list(map(len, words)))
    even = torch.tensor([0], device=DEVICE)
    parity = Realization(lambda h, x: table[h, x], lambda h: h == 1, even)
    assert parity(inputs, lengths)[-1, :, 0].tolist() == [sum(word) % 2 == 1 for word in words]


@pytest.mark.parametrize("kind", KINDS)
def test_many_copies_run_as_one_batch(kind):
    """Stacked parameters of several seeds, each with its own data and lengths, equal one run a seed: the gradients."""
    nets = [Realization(make(kind, seed=s), nn.Linear(3, 1, **DOUBLE)) for s in range(3)]
    inputs, lengths = draw(3, 5, 4, 2), torch.tensor([[5, 1, 2, 3], [4, 4, 0, 5], [1, 2, 3, 4]], device=DEVICE)

    def loss(parameters, buffers, inputs, lengths):
        return functional_call(nets[0], (parameters, buffers), (inputs, lengths))[-1].square().mean()

    parameters, buffers = stack_module_state(nets)
    gradients = vmap(grad(loss))(parameters, buffers, inputs, lengths)
    for k, net in enumerate(nets):
        own = torch.autograd.grad(net(inputs[k], lengths[k])[-1].square().mean(), list(net.parameters()))
        for (name, _), gradient in zip(net.named_parameters(), own, strict=True):
            assert_close(gradients[name][k], gradient)


def test_a_realisation_is_its_triple():
    cell, readout, h0 = make(LSTMCell), nn.Linear(3, 2, **DOUBLE), draw(6)
    net, inputs = Realization(cell, readout, h0), draw(5, 4, 2)
    assert_close(net.states(inputs), unroll(cell, inputs, h0))
    assert_close(net(inputs), readout(unroll(cell, inputs, h0)[..., :3]))
    assert_close(Realization(cell, readout)(inputs), readout(cell.hidden(unroll(cell, inputs))))


def test_h0_is_a_buffer_unless_it_is_a_parameter():
    cell = make(SimpleCell)
    fixed, learnt = Realization(cell, nn.Identity(), draw(3)), Realization(cell, nn.Identity(), nn.Parameter(draw(3)))
    assert "h0" in dict(fixed.named_buffers())
    assert "h0" in fixed.state_dict()
    assert "h0" in dict(learnt.named_parameters())
    learnt(draw(4, 5, 2)).sum().backward()
    assert learnt.h0.grad.shape == (3,)
    assert learnt.h0.grad.all()


def test_a_cell_without_parameters_and_with_its_own_drive():
    class Sum(Cell):
        def drive(self, x):
            return x.square()

        def step(self, h, drive):
            return h + drive

    inputs = torch.arange(6.0).view(3, 2, 1)
    assert torch.equal(unroll(Sum(1, 1), inputs), inputs.square().cumsum(0))


@pytest.mark.usefixtures("unchecked")
class TestBadInput:
    cell = SimpleCell(2, 3)
    inputs = torch.zeros(4, 5, 2)

    @pytest.mark.parametrize("shape", [(4, 2), (4, 5, 2, 1), (2,), ()])
    def test_inputs_of_another_rank(self, shape):
        with pytest.raises(ValueError, match=r"inputs must have shape \(time, batch, d_in\), got"):
            unroll(self.cell, torch.zeros(shape))

    def test_inputs_of_another_width_or_dtype(self):
        with pytest.raises(ValueError, match="SimpleCell expects an input of width input_size = 2, got shape"):
            unroll(self.cell, torch.zeros(4, 5, 3))
        with pytest.raises(ValueError, match=r"inputs must be like the cell's parameters, torch\.float32 .*float64"):
            unroll(self.cell, self.inputs.double())

    @pytest.mark.parametrize(
        ("h0", "message"),
        [
            (torch.zeros(4), r"state_width = 3, got shape \(4,\)"),
            (torch.zeros(4, 3), r"with batch = 5, got \(4, 3\)"),
            (torch.zeros(1, 5, 3), r"got \(1, 5, 3\)"),
            (torch.tensor(0.0), r"got shape \(\)"),
            (torch.zeros(3).double(), "h0 must be like the cell's parameters"),
        ],
    )
    def test_an_initial_state_that_does_not_fit(self, h0, message):
        with pytest.raises(ValueError, match=message):
            unroll(self.cell, self.inputs, h0)

    @pytest.mark.parametrize(
        ("lengths", "message"),
        [
            (torch.ones(4, dtype=torch.int64), "lengths must be 5 integers"),
            (torch.ones(5), "lengths must be 5 integers"),
            (torch.ones(5, dtype=torch.bool), "lengths must be 5 integers"),
            (torch.tensor([1, 2, 3, 4, 5]), r"lengths must lie between 0 and T = 4, got \[1, 2, 3, 4, 5\]"),
            (torch.tensor([1, 2, -1, 4, 4]), "lengths must lie between 0 and T = 4"),
        ],
    )
    def test_lengths_that_do_not_fit(self, lengths, message):
        with pytest.raises(ValueError, match=message):
            unroll(self.cell, self.inputs, lengths=lengths)

    def test_a_plain_function_needs_h0_and_must_keep_the_state(self):
        with pytest.raises(ValueError, match="give h0"):
            unroll(lambda h, x: h, self.inputs)
        for f, got in [
            (lambda h, x: torch.cat([h, x], -1), r"\(5, 3\), torch.float32"),
            (lambda h, x: h > 0, r"\(5, 1\), torch.bool"),
            (lambda h, x: 0.0, "float"),
        ]:
            with pytest.raises(ValueError, match=rf"f\(h, x\) must return a state like h, \(5, 1\).*returned {got}"):
                unroll(f, self.inputs, torch.zeros(1))

    def test_a_realisation_without_its_initial_state(self):
        with pytest.raises(ValueError, match="give h0"):
            Realization(lambda h, x: h, nn.Identity())
        with pytest.raises(ValueError, match=r"h0 must be one state, shape \(width,\), got \(5, 3\)"):
            Realization(self.cell, nn.Identity(), torch.zeros(5, 3))
        with pytest.raises(ValueError, match=r"state_width = 3, got shape \(4,\)"):
            Realization(self.cell, nn.Identity(), torch.zeros(4))


@pytest.mark.parametrize(("kind", "shown"), [(SimpleCell, 3), (LSTMCell, 3)])
def test_a_readout_of_another_width_is_refused_when_it_is_given(kind, shown):
    with pytest.raises(ValueError, match=f"the readout reads 5 numbers, but a state shows it {shown}"):
        Realization(kind(2, 3), nn.Linear(5, 1))
    assert Realization(kind(2, 3), nn.LazyLinear(1))(torch.zeros(4, 1, 2)).shape == (4, 1, 1)
