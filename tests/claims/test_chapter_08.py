"""The claims that chapter 8 settles: gradients of deep cells, the stored map, and the border of mean-field theory."""

from math import comb, log

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from recurrence.cells import DeepCell, DeepLSTMCell, ResidualCell, SimpleCell, Stack, gaussian_, orthogonal_
from recurrence.dynamics import MeanField, jacobians, product_norms, unroll
from recurrence.experiments import stored, trainability
from recurrence.training import interval

DOUBLE = {"dtype": torch.float64}


@pytest.fixture(scope="module")
def reached() -> dict:
    """Successes by kind, depth and steps: a list of counts, one a gain."""
    return {
        tuple(p["point"][key] for key in ("variant", "depth", "steps")): [
            sum(update is not None for update in row) for row in p["result"]["reached"]
        ]
        for p in stored("trainability")["points"]
    }


def rate(start, depth: int, gain: float, layers: int = 64) -> float:
    """Nats per layer of a typical gradient, over eight cells."""
    generator = torch.Generator().manual_seed(10 * depth)
    logs = []
    for _ in range(8):
        cell = DeepCell(1, 32, depth, generator=generator, **DOUBLE)
        start(cell, gain, generator=generator)
        x = 0.1 * torch.randn(layers // depth, 1, 1, generator=generator, **DOUBLE)
        h0 = 0.5 * torch.randn(1, 32, generator=generator, **DOUBLE)
        product = torch.randn(1, 32, generator=generator, **DOUBLE)
        log_scale = 0.0
        for J in jacobians(cell, x, h0)[:, 0].flip(0):
            product = product @ J
            log_scale += product.norm().log().item()
            product = product / product.norm()
        logs.append(log_scale / layers)
    return sum(logs) / len(logs)


# A8


def test_a8_two_layers_of_norm_two_and_nearly_two_shrink_every_gradient():
    cell = DeepCell(1, 2, 2, activation="identity", **DOUBLE)
    with torch.no_grad():
        cell.W[:] = torch.diag(torch.tensor([2.0, 0.5]))
        cell.W_upper[0][:] = torch.diag(torch.tensor([0.45, 1.8]))
    logs = product_norms(jacobians(cell, torch.zeros(40, 1, 1, **DOUBLE)))[:, 0]
    assert logs[0].item() == pytest.approx(40 * log(0.9))
    assert all(torch.linalg.matrix_norm(W, 2) > 1.7 for W in cell.layer_matrices())


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10_000), st.integers(1, 5), st.integers(1, 6), st.floats(0.2, 3))
def test_a8_the_norms_bound_the_gradient_over_l_t_layers(seed, depth, steps, gain):
    generator = torch.Generator().manual_seed(seed)
    cell = DeepCell(2, 5, depth, generator=generator, **DOUBLE)
    gaussian_(cell, gain, generator=generator)
    x = torch.randn(steps, 3, 2, generator=generator, **DOUBLE)
    largest = max(torch.linalg.matrix_norm(W, 2).item() for W in cell.layer_matrices())
    assert (product_norms(jacobians(cell, x))[0] <= depth * steps * log(largest) + 1e-9).all()


def test_a8_with_orthogonal_matrices_all_depths_share_one_rate():
    for gain in (0.8, 1.25):
        rates = [rate(orthogonal_, depth, gain) for depth in (1, 2, 4, 8)]
        assert max(rates) - min(rates) < 0.04
    assert rate(orthogonal_, 4, 1.25) - rate(orthogonal_, 4, 0.8) > 0.2


def test_a8_gaussian_matrices_of_gain_08_have_norms_above_1_and_gradients_that_vanish():
    generator = torch.Generator().manual_seed(0)
    cell = DeepCell(1, 32, 4, generator=generator, **DOUBLE)
    gaussian_(cell, 0.8, generator=generator)
    assert min(torch.linalg.matrix_norm(W, 2).item() for W in cell.layer_matrices()) > 1.3
    assert all(rate(gaussian_, depth, 0.8) < -0.1 for depth in (1, 8))


# A9


def test_a9_a_plain_cell_of_eight_layers_and_residual_ones_of_sixteen_are_trained(reached):
    at_gain = dict(zip(trainability.GAINS, reached["plain", 8, 10], strict=True))
    assert at_gain[1.0] >= 3
    assert at_gain[1.25] >= 3
    assert at_gain[0.6] == 0
    assert sum(reached["residual", 16, 10]) >= 20


def test_a9_no_plain_cell_is_trained_far_beyond_its_border(reached):
    far = {key: counts for key, counts in reached.items() if key[0] == "plain" and key[1] * key[2] >= 200}
    assert len(far) >= 5
    assert not any(map(sum, far.values()))


def test_a9_on_the_teacher_half_of_the_deep_cells_beat_the_vanilla_cell_of_equal_size():
    runs = {
        (p["point"]["cell"], p["point"]["depth"]): interval(p["result"]["test"])
        for p in stored("deep_cells")["points"]
        if p["point"]["task"] == "teacher"
    }
    deep = {key for key in runs if key[1] >= 2 and key[0] != "stacked"}
    better = {key for key in deep if runs[key].high < runs["plain", 1].low}
    assert (len(better), len(deep)) == (9, 18)
    assert {("plain", 2), ("plain", 4), ("highway", 8)} <= better
    assert runs["plain", 8].high < runs["affine", 1].low
    assert not any(runs[key].high < runs["gated", 1].low for key in deep)
    assert runs["residual", 8].low > runs["affine", 1].high


# E7


def test_e7_the_border_errs_less_often_than_one_border_for_all_gains_except_at_the_edge(reached):
    gains = dict(enumerate(trainability.GAINS))
    points = [
        (gains[i], key[1] * key[2], count >= 3)
        for key, counts in reached.items()
        if key[0] == "plain"
        for i, count in enumerate(counts)
    ]
    away = [point for point in points if point[0] != 1]
    wrong = sum((size <= 6 * MeanField("tanh", gain).depth_scale) != trained for gain, size, trained in away)
    same = min(sum((size <= c) != trained for _, size, trained in away) for _, c, _ in away)
    assert wrong < same < sum(trained for *_, trained in away)
    edge = [trained for gain, _, trained in points if gain == 1]
    assert MeanField("tanh", 1.0).depth_scale == float("inf")
    assert sum(edge) < len(edge) / 2


def test_e7_which_remedies_train_more_nets_than_plain_in_depth_and_which_in_time(reached):
    def more(points):
        nets = {kind: sum(sum(reached[kind, *at]) for at in points) for kind in trainability.CELLS}
        return {kind for kind in nets if nets[kind] > nets["plain"]}

    assert more([(8, 10), (8, 30)]) == {"residual", "stacked"}
    assert more([(1, 30), (1, 100)]) == set(trainability.CELLS) - {"plain", "gated"}


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10_000), st.integers(2, 12), st.integers(1, 8), st.floats(0.1, 2))
def test_e7_residual_layers_of_scale_one_over_l_keep_a_gradient_within_bounds(seed, depth, steps, gain):
    generator = torch.Generator().manual_seed(seed)
    cell = ResidualCell(1, 4, depth, scale=1 / depth, generator=generator, **DOUBLE)
    gaussian_(cell, gain, generator=generator)
    kappa = max(torch.linalg.matrix_norm(W, 2).item() for W in cell.layer_matrices())
    x, v = torch.randn(steps, 1, 1, generator=generator, **DOUBLE), torch.randn(4, generator=generator, **DOUBLE)
    moved = v
    for J in jacobians(cell, x)[:, 0]:
        moved = J @ moved
    change = (moved.norm() / v.norm()).item()
    assert change <= (1 + kappa / depth) ** (depth * steps) + 1e-9
    if kappa < depth:
        assert change >= (1 - kappa / depth) ** (depth * steps) - 1e-9


@settings(deadline=None, max_examples=20)
@given(st.integers(1, 4), st.integers(1, 6))
def test_e7_a_stack_sums_over_binomially_many_paths(depth, steps):
    """With all weights 1 and no bias each path adds 1."""
    cells = [SimpleCell(1, 1, activation="identity", **DOUBLE) for _ in range(depth)]
    with torch.no_grad():
        for cell in cells:
            cell.W.fill_(1)
            cell.U.fill_(1)
            cell.b.zero_()
    x = torch.zeros(steps, 1, 1, **DOUBLE)
    x[0] = 1.0  # so that the bottom state at time 1 is 1
    top = unroll(Stack(cells), x)[-1, 0, -1]
    assert top.item() == comb(steps + depth - 2, depth - 1)


# A10


@pytest.mark.parametrize("depth", [1, 2, 8])
def test_a10_the_memory_of_a_deep_lstm_has_one_factor_a_step_whatever_its_depth(depth):
    generator = torch.Generator().manual_seed(depth)
    cell = DeepLSTMCell(1, 3, depth, generator=generator, **DOUBLE)
    x = torch.randn(1, 2, 1, generator=generator, **DOUBLE)
    h0 = torch.randn(2, 6, generator=generator, **DOUBLE)
    block = jacobians(cell, x, h0)[0, :, 3:, 3:]
    gates = block.diagonal(dim1=-2, dim2=-1)
    assert torch.equal(block, torch.diag_embed(gates))
    assert ((gates > 0) & (gates < 1)).all()


@pytest.mark.parametrize("depth", [1, 4])
def test_a10_the_gated_nets_of_the_map_start_with_gates_half_open(depth):
    """Their biases are 0, as the Gaussian start sets them: half of a memory is left after a step."""
    cell = trainability.make("gated", depth, 1.0).cell
    top = cell.b_upper[-1] if depth > 1 else cell.b
    assert not top.any()


def test_a10_a_forget_bias_of_three_holds_the_gradient_of_a_deep_lstm_that_a_bias_of_nought_loses():
    logs = []
    for bias in (0.0, 3.0):
        generator = torch.Generator().manual_seed(0)
        cell = DeepLSTMCell(1, 16, 4, generator=generator, **DOUBLE)
        gaussian_(cell, 0.8, generator=generator)
        with torch.no_grad():
            cell.b_upper[-1][16:32] = bias
        x = 0.1 * torch.randn(30, 4, 1, generator=generator, **DOUBLE)
        logs.append(product_norms(jacobians(cell, x))[0].mean().item())
    assert logs[0] < -10
    assert logs[1] > -3
