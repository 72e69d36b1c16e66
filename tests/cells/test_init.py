"""Initialisers against the laws of the distributions they draw from."""

import math
from functools import partial

import pytest
import torch
from cell_zoo import KINDS, WITH_MATRICES
from hypothesis import given, settings
from hypothesis import strategies as st
from random_tensors import DOUBLE, rng

from fhx.cells import (
    Cell,
    DeepCell,
    DeepLSTMCell,
    GRUCell,
    HighwayCell,
    LSTMCell,
    ResidualCell,
    SimpleCell,
    Stack,
    gaussian_,
    orthogonal_,
)

SEED = st.integers(0, 2**32 - 1)
BIG = {
    "simple": lambda: SimpleCell(2, 60, **DOUBLE),
    "lstm": lambda: LSTMCell(2, 40, **DOUBLE),
    "gru": lambda: GRUCell(2, 40, **DOUBLE),
    "deep": lambda: DeepCell(2, 40, 4, 70, **DOUBLE),
    "residual": lambda: ResidualCell(2, 40, 3, **DOUBLE),
    "highway": lambda: HighwayCell(2, 40, 3, **DOUBLE),
    "deep lstm": lambda: DeepLSTMCell(2, 40, 3, **DOUBLE),
    "stack": lambda: Stack([SimpleCell(2, 40, **DOUBLE), HighwayCell(40, 60, 2, **DOUBLE)]),
}
MATRICES = {"simple": 1, "lstm": 4, "gru": 3, "deep": 4, "residual": 3, "highway": 6, "deep lstm": 6, "stack": 5}


@pytest.mark.parametrize("kind", BIG)
def test_gaussian_weights_have_the_stated_moments(kind):
    """Six standard errors: of a mean of n normal numbers 1 / sqrt(n), of their mean square sqrt(2 / n)."""
    cell = BIG[kind]()
    gaussian_(cell, 1.7, 0.3, rng(1))
    weights = [W * W.shape[1] ** 0.5 / 1.7 for W in cell.layer_matrices()]
    biases = [b / 0.3 for b in cell.layer_biases()]
    assert len(weights) == MATRICES[kind]
    for z in [*weights, *biases]:
        assert abs(z.mean().item()) < 6 / math.sqrt(z.numel())
        assert abs(z.square().mean().item() - 1) < 6 * math.sqrt(2 / z.numel())
    z = torch.cat([z.flatten() for z in weights])
    between_quartiles = (z.abs() < 0.67449).double().mean().item()
    assert abs(between_quartiles - 0.5) < 3 / math.sqrt(z.numel())


@pytest.mark.parametrize("kind", [*WITH_MATRICES, "stack"])
@settings(max_examples=5)
@given(st.data(), st.floats(0, 3), SEED)
def test_orthogonal_matrices_times_the_gain(kind, data, gain, seed):
    cell = data.draw(KINDS[kind])()
    orthogonal_(cell, gain, generator=rng(seed))
    for W in cell.layer_matrices():
        product = W.T @ W if W.shape[0] >= W.shape[1] else W @ W.T
        torch.testing.assert_close(product, gain**2 * torch.eye(len(product), **DOUBLE), rtol=1e-12, atol=1e-12)


def test_orthogonal_matrices_are_uniform():
    """The first row of a uniform orthogonal matrix of 2 rows has a uniform angle; the determinant's sign is fair."""
    n, cell, generator = 400, SimpleCell(1, 2, **DOUBLE), rng(2)
    drawn = torch.stack([(orthogonal_(cell, generator=generator), cell.W.detach().clone())[1] for _ in range(n)])
    bound = 6 / math.sqrt(n)
    assert abs(torch.linalg.det(drawn).mean().item()) < bound
    for harmonic in (1, 2, 4):  # QR with unfixed signs shows in the first
        angle = harmonic * torch.atan2(drawn[:, 0, 1], drawn[:, 0, 0])
        assert abs(angle.cos().mean().item()) < bound / math.sqrt(2)
        assert abs(angle.sin().mean().item()) < bound / math.sqrt(2)


@pytest.mark.parametrize("kind", BIG)
@pytest.mark.parametrize("initialize", [partial(gaussian_, weight_std=1.0), orthogonal_])
def test_a_seed_decides_and_the_rest_stays(kind, initialize):
    state = torch.get_rng_state()
    cell = BIG[kind]()
    torch.set_rng_state(state)
    again = BIG[kind]()
    inputs = {name: p.detach().clone() for name, p in cell.named_parameters() if name.split(".")[-1] == "U"}
    before = torch.get_rng_state()
    initialize(cell, generator=rng(3))
    initialize(again, generator=rng(3))
    assert torch.equal(torch.get_rng_state(), before)
    assert all(torch.equal(p, q) for p, q in zip(cell.parameters(), again.parameters(), strict=True))
    assert inputs
    assert all(torch.equal(dict(cell.named_parameters())[name], U) for name, U in inputs.items())
    assert all(p.requires_grad and p.grad_fn is None for p in cell.parameters())
    initialize(again, generator=rng(4))
    assert not torch.equal(cell.layer_matrices()[-1], again.layer_matrices()[-1])


@pytest.mark.parametrize("initialize", [partial(gaussian_, weight_std=1.0), orthogonal_])
def test_no_bias_is_none_and_a_highway_keeps_its_carry(initialize):
    for cell in (BIG["gru"](), BIG["highway"]()):
        initialize(cell, generator=rng())
        assert not any(b.any() for b in cell.layer_biases())
    assert (cell.b[40:] == -2).all()
    assert all((b[40:] == -2).all() for b in cell.b_upper)


@pytest.mark.parametrize("kind", BIG)
def test_biases_are_drawn_alike_by_both(kind):
    """Six standard errors of the mean square of n normal numbers."""
    cell = BIG[kind]()
    orthogonal_(cell, 1.0, 0.3, rng(4))
    z = torch.cat(cell.layer_biases()) / 0.3
    assert abs(z.square().mean().item() - 1) < 6 * math.sqrt(2 / z.numel())


def test_matrices_are_views_of_the_parameters_first_layer_first():
    cell = DeepLSTMCell(2, 3, 2)
    first, *top = cell.layer_matrices()
    assert first is cell.W
    with torch.no_grad():
        for k, block in enumerate(top):
            block.fill_(k)
    assert torch.equal(cell.W_upper[0][:, 0], torch.arange(4.0).repeat_interleave(3).to(cell.W.device))


@pytest.mark.usefixtures("unchecked")
class TestBadInput:
    @pytest.mark.parametrize("bad", [-1.0, float("nan"), float("inf")])
    def test_a_scale_out_of_range(self, bad):
        cell = SimpleCell(2, 3)
        for name, call in (
            ("weight_std", lambda: gaussian_(cell, bad)),
            ("bias_std", lambda: gaussian_(cell, 1.0, bad)),
            ("gain", lambda: orthogonal_(cell, bad)),
            ("bias_std", lambda: orthogonal_(cell, 1.0, bad)),
        ):
            with pytest.raises(ValueError, match=f"^{name} must be a finite number of at least 0, got"):
                call()

    def test_a_cell_that_names_no_matrices(self):
        class Counter(Cell):
            def drive(self, x):
                return x

            def step(self, h, drive):
                return h + drive

        with pytest.raises(ValueError, match="Counter does not say which matrices act on its state"):
            gaussian_(Counter(2, 2), 1.0)


@pytest.mark.parametrize("draw", [partial(gaussian_, weight_std=1.0), orthogonal_])
def test_without_a_generator_they_draw_from_the_one_of_torch(draw):
    """On the CPU, whatever the cell's device, so that a seed gives the same cell everywhere."""
    drawn = []
    for generator in (None, rng(7)):
        torch.manual_seed(7)
        cell = SimpleCell(2, 4, **DOUBLE)
        torch.manual_seed(7)
        draw(cell, generator=generator)
        drawn.append(cell.W)
    assert torch.equal(*drawn)
