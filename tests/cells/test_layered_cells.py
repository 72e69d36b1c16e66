"""Cells whose step is a net: their equations, the cells they contain, and how they train."""

from functools import partial

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from random_tensors import DOUBLE, draw, rng
from torch import nn
from torch.func import functional_call, stack_module_state, vmap
from torch.nn import functional as F

from fhx.cells import DeepCell, DeepLSTMCell, HighwayCell, LSTMCell, ResidualCell, SimpleCell, Stack
from fhx.dynamics import Realization, unroll
from fhx.tasks import running_parity
from fhx.training import fit

LAYERED = {
    "deep": DeepCell,
    "wide": partial(DeepCell, width=20),
    "normalised": partial(DeepCell, normalized=True),
    "residual": ResidualCell,
    "highway": HighwayCell,
    "deep lstm": DeepLSTMCell,
}
WIDTH, DEPTH, SEED = st.integers(1, 5), st.integers(1, 5), st.integers(0, 2**32 - 2)


def same(a, b):
    torch.testing.assert_close(a, b, rtol=1e-13, atol=1e-13)


def state_and_input(cell, seed, batch=3):
    return draw(batch, cell.state_width, seed=seed), draw(batch, cell.input_size, seed=seed + 1)


def layers(cell):
    """The matrices and biases, first layer first."""
    return list(zip([cell.W, *cell.W_upper], [cell.b, *cell.b_upper], strict=True))


@settings(max_examples=20)
@given(WIDTH, WIDTH, DEPTH, st.none() | WIDTH, SEED)
def test_the_deep_cell_is_a_feed_forward_net_of_state_and_input(d_in, d, depth, width, seed):
    cell = DeepCell(d_in, d, depth, width, generator=rng(seed), **DOUBLE)
    first, *upper = layers(cell)
    net = nn.Sequential(nn.Linear(d + d_in, len(cell.b), **DOUBLE), nn.Tanh())
    with torch.no_grad():
        net[0].weight.copy_(torch.cat((first[0], cell.U), 1))
        net[0].bias.copy_(first[1])
        for W, b in upper:
            net.extend([nn.Linear(*W.shape[::-1], **DOUBLE), nn.Tanh()])
            net[-2].weight.copy_(W)
            net[-2].bias.copy_(b)
    assert len(net) == 2 * depth
    h, x = state_and_input(cell, seed)
    same(cell(h, x), net(torch.cat((h, x), 1)))


def test_layer_norms_standardise_each_pre_activation():
    cell = DeepCell(2, 4, 2, 5, "identity", True, generator=rng(), **DOUBLE)
    with torch.no_grad():
        for k, norm in enumerate(cell.norms):
            norm.weight.copy_(draw(len(norm.weight), seed=k + 10))
            norm.bias.copy_(draw(len(norm.weight), seed=k + 20))
    h, x = state_and_input(cell, 0)
    a = h @ cell.W.T + x @ cell.U.T + cell.b
    for k, norm in enumerate(cell.norms):
        a = a if k == 0 else a @ cell.W_upper[0].T + cell.b_upper[0]
        a = (a - a.mean(1, keepdim=True)) / (a.var(1, correction=0, keepdim=True) + 1e-5).sqrt()
        a = norm.weight * a + norm.bias
    same(cell(h, x), a)


def test_at_first_a_layer_norm_forgets_the_scale_of_the_weights():
    cell = DeepCell(2, 30, 3, normalized=True, generator=rng(), **DOUBLE)
    h, x = state_and_input(cell, 0)
    before = cell(h, x)
    with torch.no_grad():
        for p in (cell.W, cell.U, cell.b, *cell.W_upper, *cell.b_upper):
            p *= 10
    torch.testing.assert_close(cell(h, x), before, rtol=1e-3, atol=1e-3)


@settings(max_examples=20)
@given(WIDTH, WIDTH, DEPTH, st.floats(-2, 2), st.floats(0, 1), SEED)
def test_the_residual_cell_by_its_layers(d_in, d, depth, scale, leak, seed):
    cell = ResidualCell(d_in, d, depth, scale, "sigmoid", leak=leak, generator=rng(seed), **DOUBLE)
    h, x = state_and_input(cell, seed)
    a = h
    for k, (W, b) in enumerate(layers(cell)):
        a = (1 - leak) * a + scale * torch.sigmoid(a @ W.T + b + (x @ cell.U.T if k == 0 else 0))
    same(cell(h, x), a)


@settings(max_examples=20)
@given(WIDTH, WIDTH, DEPTH, st.floats(-3, 3), SEED)
def test_the_highway_cell_by_its_layers(d_in, d, depth, carry_bias, seed):
    cell = HighwayCell(d_in, d, depth, carry_bias, generator=rng(seed), **DOUBLE)
    h, x = state_and_input(cell, seed)
    a = h
    for k, (W, b) in enumerate(layers(cell)):
        assert (b[d:] == -carry_bias).all()
        z = torch.tanh(a @ W[:d].T + b[:d] + (x @ cell.U[:d].T if k == 0 else 0))
        t = torch.sigmoid(a @ W[d:].T + b[d:] + (x @ cell.U[d:].T if k == 0 else 0))
        a = t * z + (1 - t) * a
    same(cell(h, x), a)


@settings(max_examples=20)
@given(WIDTH, WIDTH, DEPTH, SEED)
def test_the_deep_lstm_is_an_lstm_of_a_nets_top_layer(d_in, d, depth, seed):
    cell = DeepLSTMCell(d_in, d, depth, generator=rng(seed), **DOUBLE)
    state, x = state_and_input(cell, seed)
    a = torch.cat((state[:, :d], x), 1)
    for k, (W, b) in enumerate(layers(cell)):
        a = F.linear(torch.tanh(a) if k else a, W if k else torch.cat((W, cell.U), 1), b)
    lstm = LSTMCell(1, d, **DOUBLE)
    with torch.no_grad():
        lstm.W.zero_()
    same(cell(state, x), lstm.step(state, a))
    assert cell.state_width == 2 * d
    assert torch.equal(cell.hidden(state), state[:, :d])


@settings(max_examples=20)
@given(WIDTH, WIDTH, SEED)
def test_depth_one_is_the_cell_that_is_deepened(d_in, d, seed):
    pairs = [
        (SimpleCell(d_in, d, "relu", generator=rng(seed), **DOUBLE), partial(DeepCell, activation="relu", width=7)),
        (LSTMCell(d_in, d, generator=rng(seed), **DOUBLE), DeepLSTMCell),
    ]
    for shallow, kind in pairs:
        deep = kind(d_in, d, depth=1, generator=rng(seed), **DOUBLE)
        h, x = state_and_input(shallow, seed)
        assert torch.equal(deep(h, x), shallow(h, x))
        drive = shallow.drive(x)
        assert torch.equal(deep.jacobian(h, drive), shallow.jacobian(h, drive))
        deep.load_state_dict(kind(d_in, d, depth=1, generator=rng(seed + 1), **DOUBLE).state_dict())
        shallow.load_state_dict(deep.state_dict())
        assert torch.equal(deep(h, x), shallow(h, x))


@settings(max_examples=10)
@given(WIDTH, WIDTH, DEPTH, SEED)
def test_an_open_way_through_is_the_identity(d_in, d, depth, seed):
    closed = ResidualCell(d_in, d, depth, 0.0, generator=rng(seed), **DOUBLE)
    carried = HighwayCell(d_in, d, depth, float("inf"), generator=rng(seed), **DOUBLE)
    for cell in (closed, carried):
        h, x = state_and_input(cell, seed)
        assert torch.equal(cell(h, x), h)
        assert torch.equal(cell.jacobian(h, cell.drive(x)), torch.eye(d, **DOUBLE).expand(3, d, d))


@pytest.mark.parametrize("kind", LAYERED)
@settings(max_examples=10)
@given(WIDTH, st.integers(2, 5), DEPTH, SEED)
def test_weights_are_drawn_one_after_the_other(kind, d_in, d, depth, seed):
    """Uniform with the root of what a layer reads as the bound; the first layer's is that of the state."""
    before = torch.get_rng_state()
    cell, generator = LAYERED[kind](d_in, d, depth=depth, generator=rng(seed), **DOUBLE), rng(seed)
    assert torch.equal(torch.get_rng_state(), before)
    width, (inner, top) = 20 if kind == "wide" else d, {"highway": (2, 2), "deep lstm": (1, 4)}.get(kind, (1, 1))
    rows, columns = [*[inner * width] * (depth - 1), top * d], [d, *[width] * (depth - 1)]
    assert cell.depth == len(cell.W_upper) + 1 == len(cell.b_upper) + 1 == depth
    parameters = [cell.W, cell.U, cell.b, *cell.W_upper, *cell.b_upper]
    shapes = [(rows[0], d), (rows[0], d_in), (rows[0],), *zip(rows[1:], columns[1:], strict=True), *zip(rows[1:])]
    for parameter, shape, n in zip(parameters, shapes, [d, d, d, *2 * columns[1:]], strict=True):
        wanted = torch.empty(shape, dtype=torch.float64).uniform_(-(n**-0.5), n**-0.5, generator=generator)
        if kind == "highway" and len(shape) == 1:
            wanted[d:] = -2.0
        assert torch.equal(parameter, wanted.to(parameter.device))


@pytest.mark.parametrize("kind", LAYERED)
def test_weights_and_jacobians_lie_where_they_are_asked_to(kind):
    """A device that every machine has, on which a tensor has no numbers."""
    cell = LAYERED[kind](2, 3, depth=2, device="meta")
    h, x = cell.initial_state(4), torch.zeros(4, 2, device="meta")
    values = [*cell.parameters(), cell(h, x), cell.jacobian(h, cell.drive(x)), cell.input_jacobian(h, x)]
    assert {value.device.type for value in values} == {"meta"}


@pytest.mark.parametrize("kind", LAYERED)
def test_many_nets_at_once_in_a_stack_and_over_time(kind):
    draws = [{"generator": rng(seed), **DOUBLE} for seed in (0, 1)]
    nets = [Stack([LAYERED[kind](2, 3, depth=3, **options), LSTMCell(3, 2, **options)]) for options in draws]
    runs = [Realization(net, nn.Identity()) for net in nets]
    inputs = draw(5, 4, 2)
    parameters, buffers = stack_module_state(runs)
    many = vmap(lambda p, b: functional_call(runs[0], (p, b), (inputs,)))(parameters, buffers)
    one_by_one = torch.stack([net.hidden(unroll(net, inputs)) for net in nets])
    torch.testing.assert_close(many, one_by_one, rtol=1e-12, atol=1e-12)
    gradients = torch.autograd.grad(many.square().sum(), list(parameters.values()))
    exact = [torch.autograd.grad(one_by_one.square().sum(), list(net.parameters()), retain_graph=True) for net in nets]
    for ours, *theirs in zip(gradients, *exact, strict=True):
        torch.testing.assert_close(ours, torch.stack(theirs), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("kind", LAYERED)
def test_every_kind_trains(kind):
    def build():
        return Realization(LAYERED[kind](1, 8, depth=2), nn.Linear(8, 2))

    task = running_parity(1, (16, 8, 8))  # the class is the bit itself
    trained = fit(build, task, seeds=range(3), updates=40, batch_size=16, learning_rate=0.03, progress=False)
    assert not trained.diverged
    assert (trained.train_loss[:, -1] < 0.5 * trained.train_loss[:, 0]).all()


@pytest.mark.usefixtures("unchecked")
class TestBadInput:
    @pytest.mark.parametrize("kind", LAYERED)
    @pytest.mark.parametrize("bad", [0, -1, 2.0, "3", None, True])
    def test_a_depth_or_width_that_is_no_positive_integer(self, kind, bad):
        with pytest.raises(ValueError, match="depth must be an integer of at least 1, got"):
            LAYERED[kind](2, 3, bad)
        with pytest.raises(ValueError, match="state_size must be an integer of at least 1, got"):
            LAYERED[kind](2, bad, 3)
        with pytest.raises(ValueError, match="input_size must be an integer of at least 1, got"):
            LAYERED[kind](bad, 3, 3)

    @pytest.mark.parametrize("bad", [0, 1.5])
    def test_a_width_of_the_inner_layers_that_is_no_positive_integer(self, bad):
        with pytest.raises(ValueError, match=r"^width must be an integer of at least 1, got"):
            DeepCell(2, 3, 4, bad)

    @pytest.mark.parametrize("kind", [DeepCell, ResidualCell])
    def test_an_unknown_activation(self, kind):
        with pytest.raises(ValueError, match="'tanh', 'relu', 'sigmoid', 'identity' or a callable, got 'softmax'"):
            kind(2, 3, 4, activation="softmax")

    def test_a_layer_norm_of_one_number(self):
        with pytest.raises(ValueError, match=r"at least 2 units, and this cell has layers of \[3, 3, 1\] units"):
            DeepCell(2, 1, 3, 3, normalized=True)

    @pytest.mark.parametrize("bad", [float("nan"), float("inf")])
    def test_a_scale_that_is_not_finite(self, bad):
        with pytest.raises(ValueError, match="scale must be finite, got"):
            ResidualCell(2, 3, 4, bad)

    @pytest.mark.parametrize("bad", [-0.1, 1.1, float("nan")])
    def test_a_leak_that_is_no_share(self, bad):
        with pytest.raises(ValueError, match=r"leak must lie in \[0, 1\], got"):
            ResidualCell(1, 2, 3, leak=bad)

    def test_a_carry_that_is_no_number(self):
        with pytest.raises(ValueError, match="carry_bias must be a number, got nan"):
            HighwayCell(2, 3, 4, float("nan"))

    @pytest.mark.parametrize("kind", LAYERED)
    def test_what_does_not_fit(self, kind):
        with pytest.raises(ValueError, match=r"real floating-point type, got torch\.int64"):
            LAYERED[kind](2, 3, 2, dtype=torch.int64)
        cell = LAYERED[kind](2, 3, 2)
        with pytest.raises(ValueError, match="state of width state_width"):
            cell(torch.zeros(4, 7), torch.zeros(4, 2))
        with pytest.raises(ValueError, match="input of width input_size = 2"):
            cell(torch.zeros(4, cell.state_width), torch.zeros(4, 3))
        with pytest.raises(ValueError, match="torch has no recurrent net that repeats"):
            cell.to_torch()
