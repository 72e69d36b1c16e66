"""Cells that are stable by construction: every value contracts, every contraction is reached, and how W is used."""

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn.utils import parametrize

from fhx.cells import GRUCell, LinearCell, SimpleCell
from fhx.dynamics import Realization, unroll
from fhx.stability import (
    CachedRealization,
    Contracting,
    best_diagonal_norm,
    best_slope_norm,
    contracting,
    contracting_norm,
    contraction_rate,
    diagonal_rate,
    slope_restricted_gain,
)
from fhx.stability.construction import INSIDE
from fhx.tasks import running_parity
from fhx.training import fit

SEED = st.integers(0, 2**32)
SIZE = st.integers(1, 6)
DOUBLE = {"dtype": torch.float64}
RATE = 0.9


def drawn(seed, *shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), **DOUBLE)


def cell_with(W, kind=SimpleCell, *options, dtype=torch.float64):
    cell = kind(2, len(W), *options, dtype=dtype)
    with torch.no_grad():
        cell.W.copy_(W)
    return cell


def inside(seed, n, spread=0.0, norm=0.95):
    """A matrix with a diagonal norm below the rate, and that norm."""
    Q, s = drawn(seed, n, n), spread * drawn(seed + 1, n)
    Q = norm * Q / torch.linalg.matrix_norm(Q, 2)
    return RATE * Q * torch.exp(s - s[:, None]), torch.exp(2 * s)


@settings(max_examples=80)
@given(SIZE, SEED, st.floats(1e-3, 30), st.sampled_from([torch.float32, torch.float64]), st.booleans())
def test_every_value_of_the_parameters_is_certified(n, seed, size, dtype, diagonal):
    cell = contracting(SimpleCell(2, n, dtype=dtype), RATE, diagonal=diagonal)
    with torch.no_grad():
        for i, p in enumerate(cell.parametrizations.W.parameters()):
            p.copy_(size * drawn(seed + i, *p.shape) if p.ndim > 1 else min(size, 3) * drawn(seed + i, *p.shape))
    P = contracting_norm(cell)
    assert diagonal_rate(cell) <= RATE
    assert slope_restricted_gain(cell.W, torch.diag(P), P) <= RATE * (1 + 1e-6)  # by another way
    if not diagonal:
        assert torch.equal(P, torch.ones(n, **DOUBLE))
        assert contraction_rate(cell) <= RATE


@settings(max_examples=40)
@given(SIZE, SEED)
def test_a_matrix_of_the_ball_is_reproduced(n, seed):
    for W in (inside(seed, n)[0], torch.zeros(n, n, **DOUBLE)):
        for diagonal in (True, False):
            cell = contracting(cell_with(W), RATE, diagonal=diagonal)
            torch.testing.assert_close(cell.W, W, rtol=0, atol=1e-11)


@settings(max_examples=30)
@given(st.integers(2, 6), SEED)
def test_a_matrix_with_a_diagonal_norm_is_reproduced_outside_the_ball(n, seed):
    W, P = inside(seed, n, spread=0.7, norm=0.8)
    assume(torch.linalg.matrix_norm(W, 2) > RATE)
    assert diagonal_rate(cell_with(W), P) == pytest.approx(0.8 * RATE)
    torch.testing.assert_close(contracting(cell_with(W), RATE).W, W, rtol=0, atol=1e-9)
    clipped = contracting(cell_with(W), RATE, diagonal=False)
    assert contraction_rate(clipped) == pytest.approx(INSIDE * RATE)
    assert (clipped.W - W).norm() > 1e-3


@settings(max_examples=30)
@given(SIZE, SEED)
def test_outside_the_set_the_singular_values_are_clipped(n, seed):
    W = 3 * torch.linalg.qr(drawn(seed, n, n))[0]
    for diagonal in (True, False):
        cell = contracting(cell_with(W), RATE, diagonal=diagonal)
        torch.testing.assert_close(cell.W, W * RATE * INSIDE / 3, rtol=0, atol=1e-9)


@given(st.integers(2, 5), SEED)
def test_matrices_near_the_eigenvalue_that_is_not_reached(n, seed):
    B = torch.linalg.qr(drawn(seed, n, n))[0]
    signs = torch.ones(n, **DOUBLE)
    signs[0] = -1
    W = RATE * INSIDE * (B * signs) @ B.mT
    torch.testing.assert_close(contracting(cell_with(W), RATE).W, W, rtol=0, atol=1e-8)


@settings(max_examples=50)
@given(SIZE, SEED, st.floats(0.1, 5))
def test_no_pair_of_states_beats_the_certificate(n, seed, size):
    W, P = size * drawn(seed, n, n), torch.exp(drawn(seed + 1, n))
    cell = cell_with(W)
    h, other, x = drawn(seed + 2, 200, n), drawn(seed + 3, 200, n), drawn(seed + 4, 200, 2)
    other = h + 1e-3 * other
    before = ((h - other) * P.sqrt()).norm(dim=1)
    after = ((cell(h, x) - cell(other, x)) * P.sqrt()).norm(dim=1)
    assert (after <= diagonal_rate(cell, P) * before * (1 + 1e-9)).all()
    linear = diagonal_rate(cell_with(W, LinearCell), P)
    assert linear == pytest.approx(torch.linalg.matrix_norm(P.sqrt()[:, None] * W / P.sqrt(), 2).item())
    assert diagonal_rate(cell_with(W, SimpleCell, "sigmoid"), P) == pytest.approx(linear / 4)


def test_a_sigmoid_leaves_room_for_four_times_the_weights():
    W = 3.5 * torch.eye(3, **DOUBLE)
    cell = contracting(cell_with(W, SimpleCell, "sigmoid"), RATE)
    torch.testing.assert_close(cell.W, W)
    assert contraction_rate(cell) <= RATE


def test_a_nilpotent_matrix_is_in_the_set_whatever_its_size():
    W = torch.tensor([[0.0, 50.0], [0.0, 0.0]], **DOUBLE)
    cell = contracting(cell_with(W), RATE)
    torch.testing.assert_close(cell.W, W, rtol=1e-9, atol=1e-9)
    assert contraction_rate(cell) > 49
    assert diagonal_rate(cell) <= RATE


@pytest.mark.parametrize("n", [2, 5, 8])
def test_the_best_diagonal_norm_is_that_of_a_solver(n):
    pytest.importorskip("cvxpy")
    W = drawn(n, n, n)
    best = best_slope_norm(W, diagonal=True)[0]
    assert diagonal_rate(cell_with(W), best_diagonal_norm(W)) == pytest.approx(best, rel=2e-3)


def test_the_best_diagonal_norm_of_an_orthogonal_matrix_and_of_zero_is_the_plain_one():
    for W in (torch.linalg.qr(drawn(0, 4, 4))[0], torch.zeros(3, 3)):
        P = best_diagonal_norm(W)
        torch.testing.assert_close(P / P[0], torch.ones_like(P), rtol=1e-3, atol=0)


def test_a_gradient_leaves_the_orthogonal_start():
    """At an orthogonal Q the gradient of V would be 0: the start is a little inside."""
    W = RATE * torch.linalg.qr(drawn(0, 4, 4))[0]
    cell = contracting(cell_with(W), RATE)
    (cell.W * drawn(1, 4, 4)).sum().backward()
    assert all(p.grad.abs().max() > 1e-3 for p in cell.parametrizations.W.parameters())


def test_weights_assigned_later_are_brought_to_the_form():
    cell = contracting(cell_with(torch.zeros(3, 3)), RATE)
    W = inside(0, 3)[0]
    cell.W = W
    torch.testing.assert_close(cell.W, W)


class Counted(Contracting):
    calls = 0

    def forward(self, *parts):
        type(self).calls += 1
        return super().forward(*parts)


def test_a_cached_realisation_computes_the_weights_once_a_pass():
    torch.manual_seed(0)
    cell = SimpleCell(2, 4)
    parametrize.register_parametrization(cell, "W", Counted(RATE, 4, torch.float32))
    x = torch.randn(20, 3, 2)
    once, often = CachedRealization(cell, nn.Linear(4, 1)), Realization(cell, nn.Linear(4, 1))
    Counted.calls = 0
    states = once.states(x)
    assert Counted.calls == 1
    torch.testing.assert_close(states, often.states(x))
    assert Counted.calls >= 21
    with torch.no_grad():
        cell.parametrizations.W.original1.add_(1)
    assert not torch.allclose(once.states(x), states)  # nothing is kept from one pass to the next


@pytest.mark.parametrize("diagonal", [True, False])
def test_fit_trains_it_and_it_stays_certified(diagonal):
    seen = []

    class Watched(torch.optim.SGD):
        def step(self, closure=None):
            super().step(closure)
            seen.append([p.detach().clone() for group in self.param_groups for p in group["params"]])

    def make():
        return CachedRealization(contracting(SimpleCell(1, 6), RATE, diagonal=diagonal), nn.Linear(6, 2))

    task = running_parity(steps=5, sizes=(40, 10, 10))
    result = fit(
        make, task, seeds=range(2), updates=8, batch_size=20, learning_rate=3.0, optimizer=Watched, progress=False
    )
    assert all(diagonal_rate(net.cell) <= RATE for net in result.models)
    net = make()
    names = [name for name, _ in net.named_parameters()]
    Ws = []
    for rows in seen:
        net.load_state_dict({name: p[1] for name, p in zip(names, rows, strict=True)}, strict=False)
        assert diagonal_rate(net.cell) <= RATE
        Ws.append(net.cell.W.detach().clone())
    assert (Ws[-1] - Ws[0]).norm() > 0.1


def test_its_gradients_are_those_of_differences():
    form = Contracting(RATE, 3, torch.float64)
    parts = [drawn(i, 3, 3).requires_grad_() for i in range(2)] + [drawn(2, 3).requires_grad_()]
    assert torch.autograd.gradcheck(form, parts)


def test_its_class_is_one_of_torch_and_still_of_its_kind():
    for kind in (SimpleCell, LinearCell):
        cell = contracting(kind(2, 4), RATE)
        assert type(cell).__name__ == f"Parametrized{kind.__name__}"
        assert isinstance(cell, kind)


def test_states_are_those_of_a_plain_cell_with_the_same_weights():
    cell = contracting(SimpleCell(2, 4), RATE)
    plain = cell_with(cell.W.detach(), dtype=torch.float32)
    with torch.no_grad():
        plain.U.copy_(cell.U), plain.b.copy_(cell.b)
    x = torch.randn(9, 3, 2)
    torch.testing.assert_close(unroll(cell, x), unroll(plain, x))
    torch.testing.assert_close(cell.to_torch()(x)[0], unroll(plain, x))
    assert contraction_rate(cell) == contraction_rate(plain)


class Doubled(SimpleCell):
    def step(self, h, drive):
        return 2 * super().step(h, drive)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: contracting(GRUCell(1, 2), RATE), "only simple and linear cells"),
        (lambda: contracting(Doubled(1, 2), RATE), "overrides step"),
        (lambda: contracting(SimpleCell(1, 2, torch.sin), RATE), "Lipschitz constant of the activation sin"),
        (lambda: contracting(SimpleCell(1, 2), 1.0), "above 0 and below 1, got 1.0"),
        (lambda: contracting(contracting(SimpleCell(1, 2), RATE), RATE), "has been parametrised before"),
        (lambda: contracting(cell_with(torch.full((2, 2), torch.nan)), RATE), "not finite"),
        (lambda: contracting(SimpleCell(1, 2), "0.9"), "^a contraction needs a rate above 0 and below 1, got '0.9'$"),
        (
            lambda: diagonal_rate(GRUCell(1, 2)),
            r"^a diagonal quadratic norm is known for simple and linear cells only, not for GRUCell\(1, 2.*\)$",
        ),
        (lambda: diagonal_rate(Doubled(1, 2)), "overrides step"),
        (lambda: diagonal_rate(SimpleCell(1, 2), torch.tensor([1.0, 0.0])), "P must be 2 numbers from 1e-100"),
        (lambda: diagonal_rate(SimpleCell(1, 2), torch.ones(3)), "P must be 2 numbers from 1e-100"),
        (lambda: best_diagonal_norm(torch.ones(2, 3)), "must be a square matrix"),
        (lambda: Contracting(0.0, 2, torch.float32), "^rate must be a positive number, got 0.0$"),
        (lambda: Contracting("0.9", 2, torch.float32), "^rate must be a positive number, got '0.9'$"),
        (lambda: Contracting(0.5, 2, torch.float32).right_inverse(torch.ones(3, 3)), r"W must have shape \(2, 2\)"),
    ],
)
def test_bad_input_is_refused(make, message, unchecked):
    with pytest.raises(ValueError, match=message):
        make()
