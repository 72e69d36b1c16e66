"""Cells with a diagonal step: sums over the past, written out, and one scan for all states."""

from math import pi

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from random_tensors import DOUBLE, rng

from fhx.cells import DiagonalCell, LRUCell, MinGRUCell, RGLRUCell, SimpleCell
from fhx.dynamics import diagonal_states, unroll

MAKERS = {"minGRU": MinGRUCell, "RG-LRU": RGLRUCell, "LRU": LRUCell}
SIZES = st.tuples(st.integers(1, 4), st.integers(1, 3).map(lambda n: 2 * n), st.integers(0, 40), st.integers(1, 3))


def drawn(name: str, sizes: tuple[int, int, int, int], seed: int):
    """A cell, inputs and a first state."""
    d_in, d, time, batch = sizes
    generator = rng(seed)
    cell = MAKERS[name](d_in, d, generator=generator, **DOUBLE)
    x = torch.randn(time, batch, d_in, generator=generator, dtype=torch.float64).to(cell.initial_state().device)
    return cell, x, torch.randn(batch, d, generator=generator, dtype=torch.float64).to(x.device)


@pytest.mark.parametrize("name", MAKERS)
@given(sizes=SIZES, seed=st.integers(0, 2**32))
def test_one_scan_makes_the_states_of_unroll(name, sizes, seed):
    cell, x, h0 = drawn(name, sizes, seed)
    torch.testing.assert_close(diagonal_states(cell, x, h0), unroll(cell, x, h0), rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("name", MAKERS)
def test_gradients_of_the_scan_are_those_of_unroll(name):
    cell, x, h0 = drawn(name, (3, 4, 50, 2), 1)
    sources = [x.requires_grad_(), h0.requires_grad_(), *cell.parameters()]
    weight = torch.randn(50, 2, 4, dtype=torch.float64, device=x.device)
    one, other = (
        torch.autograd.grad((states(cell, x, h0) * weight).sum(), sources) for states in (diagonal_states, unroll)
    )
    torch.testing.assert_close(one, other)


@given(sizes=SIZES, seed=st.integers(0, 2**32))
def test_a_min_gru_is_a_weighted_sum_of_its_candidates(sizes, seed):
    r"""Candidate s has the weight z_s times the product of 1 - z_r over s < r <= t."""
    cell, x, _ = drawn("minGRU", sizes, seed)
    d = cell.state_size
    z = torch.sigmoid(x @ cell.U[:d].T + cell.b[:d])
    n = x @ cell.U[d:].T + cell.b[d:]
    for t, h in enumerate(unroll(cell, x)):
        wanted = sum(z[s] * n[s] * (1 - z[s + 1 : t + 1]).prod(0) for s in range(t + 1))
        torch.testing.assert_close(h, wanted)


@given(sizes=SIZES, seed=st.integers(0, 2**32))
def test_an_lru_is_a_sum_of_powers(sizes, seed):
    r"""h_t is the sum of lambda^(t - s) gamma B x_s, in complex numbers."""
    cell, x, _ = drawn("LRU", sizes, seed)
    n = cell.state_size // 2
    turn = torch.exp(torch.complex(-cell.nu.exp(), cell.theta.exp()))
    B = torch.complex(cell.B[:n], cell.B[n:])
    written = (1 - turn.abs() ** 2).sqrt() * (x.to(B.dtype) @ B.T)
    for t, h in enumerate(unroll(cell, x)):
        wanted = sum(turn ** (t - s) * written[s] for s in range(t + 1))
        torch.testing.assert_close(h, torch.cat((wanted.real, wanted.imag), -1))


@given(sizes=SIZES, seed=st.integers(0, 2**32))
def test_an_rg_lru_keeps_the_variance(sizes, seed):
    """Step by step from its equations; and what is written makes up for what is forgotten."""
    cell, x, h = drawn("RG-LRU", sizes, seed)
    d = cell.state_size
    for one, state in zip(x, unroll(cell, x, h), strict=True):
        r = torch.sigmoid(one @ cell.U[:d].T + cell.b[:d])
        i = torch.sigmoid(one @ cell.U[d:].T + cell.b[d:])
        a = torch.sigmoid(cell.Lambda) ** (8 * r)
        h = a * h + torch.sqrt(1 - a**2) * i * (one @ cell.V.T)
        torch.testing.assert_close(state, h)
        assert ((a > 0) & (a < 1)).all()


def test_starts_are_those_of_the_sources():
    cell = LRUCell(3, 2000, smallest=0.5, largest=0.9, angle=1.0, generator=rng(0), **DOUBLE)
    size, angle = (-cell.nu.exp()).exp(), cell.theta.exp()
    assert 0.5 <= size.min() < 0.51
    assert 0.89 < size.max() <= 0.9
    assert size.square().mean().item() == pytest.approx((0.25 + 0.81) / 2, abs=0.02)
    assert angle.min() < 0.01 < 0.99 < angle.max() <= 1
    assert cell.B.var().item() == pytest.approx(1 / 6, rel=0.1)
    kept = RGLRUCell(3, 2000, generator=rng(0), **DOUBLE).Lambda.sigmoid() ** 8
    assert 0.9 <= kept.min() < 0.901
    assert 0.998 < kept.max() <= 0.999


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"state_size": 3}, "state_size must be even, two for each complex number, got 3"),
        ({"state_size": 4, "largest": 1.0}, "0 <= smallest < largest < 1"),
        ({"state_size": 4, "angle": 3 * pi}, "0 < angle <= 2 pi"),
        ({"state_size": 0}, "state_size must be an integer of at least 1"),
        ({"state_size": 4, "dtype": torch.int64}, "real floating-point"),
    ],
)
def test_an_lru_that_cannot_be_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        LRUCell(2, **options)


def test_a_scan_is_for_diagonal_cells_with_their_own_step():
    class Louder(DiagonalCell):
        def factors(self, x):
            return x, x

        def step(self, h, drive):
            return 2 * super().step(h, drive)

    x = torch.zeros(3, 1, 2, dtype=torch.float64)
    with pytest.raises(TypeError, match="SimpleCell"):
        diagonal_states(SimpleCell(2, 3, **DOUBLE), x)
    with pytest.raises(ValueError, match="Louder has a step of its own"):
        diagonal_states(Louder(2, 2), x)
