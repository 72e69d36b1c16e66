"""What cells do by their own definition: equations, views, widths, weights, bad input."""

import copy
import math
from itertools import product
from re import escape

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from jaxtyping import TypeCheckError
from random_tensors import DEVICE, draw, rng
from torch import nn

from fhx.cells import (
    AffineCell,
    Cell,
    DeepCell,
    DeepLSTMCell,
    GRUCell,
    HighwayCell,
    LinearCell,
    LSTMCell,
    ResidualCell,
    SimpleCell,
    Stack,
)

CELLS = [SimpleCell, LinearCell, LSTMCell, GRUCell]


def make(kind, d_in=2, d=3, seed=0, **options):
    return kind(d_in, d, generator=rng(seed), dtype=torch.float64, device=DEVICE, **options)


def assert_close(a, b):
    torch.testing.assert_close(a, b, rtol=1e-13, atol=1e-13)


@pytest.mark.claim("A2")
@pytest.mark.parametrize(
    ("activation", "scalar"),
    [
        ("tanh", math.tanh),
        ("relu", lambda a: max(a, 0.0)),
        ("sigmoid", lambda a: 1 / (1 + math.exp(-a))),
        ("identity", lambda a: a),
        (torch.sin, math.sin),
    ],
)
@settings(max_examples=10)
@given(st.integers(1, 4), st.integers(1, 4), st.integers(0, 2**32))
def test_the_simple_cell_by_hand(activation, scalar, d_in, d, seed):
    cell = make(SimpleCell, d_in, d, seed, activation=activation)
    h, x = draw(d, seed=seed), draw(d_in, seed=seed + 1)
    W, U, b = cell.W.tolist(), cell.U.tolist(), cell.b.tolist()
    by_hand = [
        scalar(sum(W[i][j] * h[j].item() for j in range(d)) + sum(U[i][j] * x[j].item() for j in range(d_in)) + b[i])
        for i in range(d)
    ]
    assert_close(cell(h, x), torch.tensor(by_hand, dtype=torch.float64, device=DEVICE))


def test_the_linear_cell_is_the_simple_cell_with_the_identity():
    linear, simple = make(LinearCell), make(SimpleCell, activation="identity")
    h, x = draw(4, 3), draw(4, 2)
    assert_close(linear(h, x), simple(h, x))


@pytest.mark.claim("B1")
def test_the_lstm_by_its_named_blocks():
    cell, state, x = make(LSTMCell), draw(4, 6), draw(4, 2)
    h, c = state[:, :3], state[:, 3:]
    f = torch.sigmoid(h @ cell.W_f.T + x @ cell.U_f.T + cell.b_f)
    i = torch.sigmoid(h @ cell.W_i.T + x @ cell.U_i.T + cell.b_i)
    o = torch.sigmoid(h @ cell.W_o.T + x @ cell.U_o.T + cell.b_o)
    z = torch.tanh(h @ cell.W_z.T + x @ cell.U_z.T + cell.b_z)
    c = i * z + f * c
    assert_close(cell(state, x), torch.cat([o * torch.tanh(c), c], -1))
    assert_close(cell.hidden(cell(state, x)), o * torch.tanh(c))


def gru(cell, h, x, candidate):
    r = torch.sigmoid(h @ cell.W_r.T + x @ cell.U_r.T + cell.b_r)
    z = torch.sigmoid(h @ cell.W_z.T + x @ cell.U_z.T + cell.b_z)
    return (1 - z) * torch.tanh(x @ cell.U_n.T + cell.b_n + candidate(r)) + z * h


def test_the_gru_by_its_named_blocks():
    cell, h, x = make(GRUCell), draw(4, 3), draw(4, 2)
    assert_close(cell(h, x), gru(cell, h, x, lambda r: r * (h @ cell.W_n.T + cell.b_m)))


def test_the_gru_is_the_original_one_only_for_a_diagonal_candidate():
    cell, h, x = make(GRUCell), draw(4, 3), draw(4, 2)
    with torch.no_grad():
        cell.b_m.zero_()
        assert (cell(h, x) - gru(cell, h, x, lambda r: (r * h) @ cell.W_n.T)).abs().max() > 1e-3
        cell.W_n[...] = torch.diag(draw(3))
    assert_close(cell(h, x), gru(cell, h, x, lambda r: (r * h) @ cell.W_n.T))


def test_a_stack_is_its_layers_by_hand():
    cell = Stack([make(LSTMCell, 2, 3), make(GRUCell, 3, 2), make(SimpleCell, 2, 4)])
    assert (cell.input_size, cell.state_size, cell.state_width) == (2, 4, 6 + 2 + 4)
    state, x = draw(5, 12), draw(5, 2)
    first = cell.layers[0](state[:, :6], x)
    second = cell.layers[1](state[:, 6:8], first[:, :3])
    third = cell.layers[2](state[:, 8:], second)
    assert_close(cell(state, x), torch.cat([first, second, third], -1))
    assert torch.equal(cell.hidden(cell(state, x)), cell(state, x)[:, 8:])


def test_a_stack_of_stacks_is_a_stack():
    a, b, c = make(LSTMCell, 2, 3), make(GRUCell, 3, 3), make(LSTMCell, 3, 2)
    nested, flat = Stack([Stack([a, b]), c]), Stack([a, b, c])
    state, x = draw(5, flat.state_width), draw(5, 2)
    assert nested.state_width == flat.state_width
    assert torch.equal(nested(state, x), flat(state, x))
    assert torch.equal(nested.hidden(state), flat.hidden(state))


@pytest.mark.parametrize("depth", [1, 2, 4])
def test_a_repeated_cell_draws_all_layers_from_one_generator(depth):
    stack, generator = Stack.repeat(SimpleCell, 2, 3, depth, activation="relu", generator=rng(5)), rng(5)
    layers = [SimpleCell(3 if k else 2, 3, "relu", generator=generator) for k in range(depth)]
    assert repr(stack) == repr(Stack(layers))
    for ours, theirs in zip(stack.parameters(), Stack(layers).parameters(), strict=True):
        assert torch.equal(ours, theirs)


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (SimpleCell(2, 3), "SimpleCell(2, 3, activation=tanh)"),
        (SimpleCell(2, 3, nn.PReLU()), "SimpleCell(2, 3, activation=PReLU(num_parameters=1))"),
        (LinearCell(2, 3), "LinearCell(2, 3)"),
        (LSTMCell(2, 3), "LSTMCell(2, 3)"),
        (GRUCell(2, 3), "GRUCell(2, 3)"),
        (Stack([LSTMCell(2, 3), GRUCell(3, 4)]), "Stack(LSTMCell(2, 3), GRUCell(3, 4))"),
        (DeepCell(2, 3, 4), "DeepCell(2, 3, depth=4, width=3, activation=tanh, normalized=False)"),
        (
            DeepCell(2, 3, 4, 5, nn.Tanh(), normalized=True),
            "DeepCell(2, 3, depth=4, width=5, activation=Tanh(), normalized=True)",
        ),
        (ResidualCell(2, 3, 4), "ResidualCell(2, 3, depth=4, scale=1.0, leak=0.0, activation=tanh)"),
        (ResidualCell(2, 3, 4, 2, nn.Tanh()), "ResidualCell(2, 3, depth=4, scale=2.0, leak=0.0, activation=Tanh())"),
        (HighwayCell(2, 3, 4, 1), "HighwayCell(2, 3, depth=4, carry_bias=1.0)"),
        (DeepLSTMCell(2, 3, 4), "DeepLSTMCell(2, 3, depth=4)"),
    ],
    ids=lambda value: "" if isinstance(value, str) else type(value).__name__,
)
def test_a_cell_says_what_it_is(cell, text):
    assert repr(cell) == text


@pytest.mark.parametrize("kind", CELLS)
def test_the_step_of_the_drive_is_the_cell(kind):
    cell = make(kind)
    h, inputs = draw(4, cell.state_width), draw(7, 4, 2)
    drives = cell.drive(inputs)
    for x, drive in zip(inputs, drives, strict=True):
        assert_close(cell.step(h, drive), cell(h, x))


@pytest.mark.parametrize("kind", CELLS)
def test_widths_and_initial_state(kind):
    cell = make(kind, d_in=2, d=5)
    assert (cell.input_size, cell.state_size) == (2, 5)
    assert cell.state_width == (10 if kind is LSTMCell else 5)
    zeros = cell.initial_state(3, 4)
    assert zeros.shape == (3, 4, cell.state_width)
    assert zeros.dtype == torch.float64
    assert zeros.device.type == DEVICE.type
    assert not zeros.any()
    assert cell.initial_state().shape == (cell.state_width,)


@pytest.mark.parametrize(("kind", "letters"), [(LSTMCell, "ifzo"), (GRUCell, "rzn")])
def test_writing_to_a_view_writes_to_the_parameter(kind, letters):
    cell = make(kind)
    with torch.no_grad():
        for k, letter in enumerate(letters):
            for name in "WUb":
                getattr(cell, f"{name}_{letter}")[...] = k
    blocks = torch.arange(len(letters), dtype=torch.float64, device=DEVICE).repeat_interleave(3)
    assert torch.equal(cell.b, blocks)
    assert torch.equal(cell.W, blocks[:, None].expand(-1, 3))
    assert torch.equal(cell.U, blocks[:, None].expand(-1, 2))
    for name, letter in product("WUb", letters):
        assert getattr(kind, f"{name}_{letter}").__doc__ == f"The rows of {name} that belong to {letter}, a view."


@pytest.mark.parametrize("kind", CELLS)
def test_weights_are_uniform_and_come_from_the_generator(kind):
    before = torch.get_rng_state()
    cell, again, other = (kind(30, 25, generator=rng(seed)) for seed in (0, 0, 1))
    assert torch.equal(torch.get_rng_state(), before)
    for a, b, c in zip(cell.parameters(), again.parameters(), other.parameters(), strict=True):
        assert torch.equal(a, b)
        assert not torch.equal(a, c)
        assert a.abs().max() <= 1 / 5
    assert cell.W.abs().max() > 0.195
    assert abs(cell.W.std().item() - 0.2 / math.sqrt(3)) < 0.01
    assert cell.W.dtype == torch.float32


@pytest.mark.parametrize("kind", CELLS)
@settings(max_examples=10)
@given(st.integers(1, 5), st.integers(1, 5), st.integers(0, 2**32))
def test_weights_are_drawn_one_after_the_other(kind, d_in, d, seed):
    cell, generator = make(kind, d_in, d, seed), rng(seed)
    rows = d * {LSTMCell: 4, GRUCell: 3}.get(kind, 1)
    shapes = {"W": (rows, d), "U": (rows, d_in), "b": (rows,)} | ({"b_m": (d,)} if kind is GRUCell else {})
    assert [name for name, _ in cell.named_parameters()] == [*shapes]
    for name, shape in shapes.items():
        drawn = torch.empty(shape, dtype=torch.float64).uniform_(-(d**-0.5), d**-0.5, generator=generator)
        assert torch.equal(getattr(cell, name), drawn.to(DEVICE))


@pytest.mark.parametrize("kind", CELLS)
def test_weights_lie_where_they_are_asked_to(kind):
    """A device that every machine has, on which a tensor has no numbers."""
    with torch.device("meta"):
        like_all_else, elsewhere = kind(2, 3), make(kind)
    for cell in (kind(2, 3, device="meta"), like_all_else):
        start = cell.initial_state(4)
        places = [*cell.parameters(), start, cell(start, torch.zeros(4, 2, device="meta"))]
        assert {place.device.type for place in places} == {"meta"}
    assert all(torch.equal(a, b) for a, b in zip(elsewhere.parameters(), make(kind).parameters(), strict=True))


def test_without_a_generator_torch_seeds_the_weights():
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        first = SimpleCell(2, 3)
        torch.manual_seed(3)
        assert torch.equal(first.W, SimpleCell(2, 3).W)


@pytest.mark.parametrize("kind", CELLS)
def test_a_copy_and_a_saved_cell_compute_the_same(kind, tmp_path):
    cell = make(kind)
    torch.save(cell, tmp_path / "cell.pt")
    h, x = draw(4, cell.state_width), draw(4, 2)
    for same in (copy.deepcopy(cell), torch.load(tmp_path / "cell.pt", weights_only=False)):
        assert torch.equal(same(h, x), cell(h, x))


def test_a_module_as_activation_is_part_of_the_cell():
    cell = make(SimpleCell, activation=nn.PReLU(dtype=torch.float64, device=DEVICE))
    assert "activation.weight" in dict(cell.named_parameters())
    h = torch.full((3,), -100.0, dtype=torch.float64, device=DEVICE)
    with torch.no_grad():
        cell.W.copy_(torch.eye(3))
    assert_close(cell(h, draw(2)), 0.25 * (h + cell.drive(draw(2))))


def test_a_new_cell_needs_only_a_step():
    class Residual(AffineCell):
        def step(self, h, drive):
            return h + torch.tanh(drive + h @ self.W.T)

    cell = make(Residual)
    h, x = draw(4, 3), draw(4, 2)
    assert_close(cell(h, x), h + torch.tanh(x @ cell.U.T + cell.b + h @ cell.W.T))
    assert "Residual" in str(cell)


class Counter(Cell):
    """A cell of its own, without parameters."""

    def drive(self, x):
        return x

    def step(self, h, drive):
        return h + drive


def test_a_cell_without_parameters():
    cell = Counter(2, 2)
    assert (cell.input_size, cell.state_size, cell.state_width) == (2, 2, 2)
    assert Counter(2, 3, 4).state_width == 12
    zeros = cell.initial_state(5)
    assert (zeros.shape, zeros.dtype, zeros.device) == ((5, 2), torch.get_default_dtype(), torch.get_default_device())
    assert repr(cell) == "Counter(2, 2)"
    assert cell.layer_biases() == []
    assert cell.hidden(zeros) is zeros
    state, x = zeros + 1, torch.ones(5, 2)
    assert torch.equal(cell(state, x), state + x)
    assert torch.equal(cell.jacobian(state, x), torch.eye(2).expand(5, 2, 2))


def test_an_abstract_cell_cannot_be_made():
    for kind in (Cell, AffineCell):
        with pytest.raises(TypeError, match="abstract"):
            kind(2, 3)


@pytest.mark.usefixtures("unchecked")
class TestBadInput:
    @pytest.mark.parametrize("kind", CELLS)
    @pytest.mark.parametrize("bad", [0, -1, 2.0, "3", None, True])
    def test_a_width_that_is_no_positive_integer(self, kind, bad):
        with pytest.raises(ValueError, match="state_size must be an integer of at least 1, got"):
            kind(2, bad)
        with pytest.raises(ValueError, match="input_size must be an integer of at least 1, got"):
            kind(bad, 2)

    @pytest.mark.parametrize("bad", [0, -1, 2.0])
    def test_a_width_or_part_of_ones_own_cell(self, bad):
        for k, name in enumerate(("input_size", "state_size", "parts")):
            sizes = [bad if i == k else 2 for i in range(3)]
            with pytest.raises(ValueError, match=f"^{name} must be an integer of at least 1, got {bad}$"):
                Counter(*sizes)

    @pytest.mark.parametrize("bad", ["softmax", None, 3, []])
    def test_an_unknown_activation(self, bad):
        with pytest.raises(ValueError, match="'tanh', 'relu', 'sigmoid', 'identity' or a callable"):
            SimpleCell(2, 3, bad)

    @pytest.mark.parametrize("kind", CELLS)
    @pytest.mark.parametrize("dtype", [torch.int64, torch.complex64])
    def test_a_dtype_that_is_not_real(self, kind, dtype):
        with pytest.raises(ValueError, match=f"floating-point type, got {dtype}"):
            kind(2, 3, dtype=dtype)

    @pytest.mark.parametrize("kind", CELLS)
    def test_an_input_or_state_of_another_width(self, kind):
        cell = kind(2, 3)
        name, width = kind.__name__, cell.state_width
        with pytest.raises(ValueError, match=rf"{name} expects an input of width input_size = 2, got shape \(4, 5\)"):
            cell(torch.zeros(4, width), torch.zeros(4, 5))
        with pytest.raises(ValueError, match=rf"{name} expects a state of width state_width = {width}, got .*\(4, 7\)"):
            cell(torch.zeros(4, 7), torch.zeros(4, 2))
        with pytest.raises(ValueError, match=r"got shape \(\)"):
            cell(torch.zeros(4, width), torch.tensor(1.0))

    def test_stacks_that_do_not_fit(self):
        with pytest.raises(ValueError, match=r"^a Stack needs at least one cell$"):
            Stack([])
        with pytest.raises(ValueError, match=r"^layer 1 of a Stack must be a Cell, got Linear$"):
            Stack([SimpleCell(2, 3), nn.Linear(3, 3)])
        law = "layer 1 of a Stack has input_size 6, but layer 0 below it shows 3 numbers (its state_size)"
        with pytest.raises(ValueError, match=f"^{escape(law)}$"):
            Stack([LSTMCell(2, 3), SimpleCell(6, 4)])


def test_annotated_shapes_are_checked_in_tests():
    with pytest.raises(TypeCheckError):
        make(SimpleCell).step(draw(4, 3), draw(1, 3))
