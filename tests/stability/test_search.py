"""The search from below: never above a certificate, and at the supremum where that is known."""

import contraction_cells as zoo
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fhx.cells import LinearCell, ResidualCell
from fhx.dynamics import Box
from fhx.stability import adversarial_gain, contraction_rate, invariant_set, lyapunov_norm
from fhx.stability.certificates import certificate
from fhx.stability.search import _ascend, _measures

SIZES = {"max": torch.inf, 2: 2}


@settings(max_examples=15)
@given(zoo.cells(most=2.0), st.sampled_from([0.0, 1.0]), st.sampled_from([2, "max"]), st.integers(0, 2**32))
def test_it_never_beats_a_certificate(cell, bound, norm, seed):
    cell = cell()
    rate = contraction_rate(cell, norm, bound)
    found = adversarial_gain(cell, norm, bound, starts=6, steps=10, seed=seed)
    assert found.infinitesimal <= rate * (1 + 1e-12)
    assert found.gain <= rate + 1e-12 * (1 + found.h.abs().max())


@pytest.mark.parametrize("kind", zoo.KINDS)
@pytest.mark.parametrize("norm", [2, "max"])
def test_what_it_returns_is_a_pair_of_the_set_with_that_gain(kind, norm):
    cell = zoo.make(kind, 3, 0.5, 1.0, 2)
    found = adversarial_gain(cell, norm, 0.7, starts=6, steps=15)
    with torch.no_grad():
        after = cell(found.h, found.x) - cell(found.other, found.x)
    size = torch.linalg.vector_norm(torch.stack([after, found.h - found.other]), SIZES[norm], dim=-1)
    assert (size[0] / size[1]).item() == pytest.approx(found.gain, rel=1e-9)
    assert invariant_set(cell, 0.7).contains(torch.stack([found.h, found.other])).all()
    assert found.x.abs().max() <= 0.7
    assert found.gain == pytest.approx(found.infinitesimal, rel=0.05)


def test_it_finds_the_supremum_of_simple_and_linear_cells():
    for kind in ("tanh", "linear", "relu"):
        cell = zoo.make(kind, 3, 0.7, 0.3, 1)
        for norm in (2, "max"):
            rate = contraction_rate(cell, norm, 2.0)
            assert adversarial_gain(cell, norm, 2.0, starts=16, steps=60).gain >= 0.97 * rate


def test_it_comes_near_the_certificate_of_an_lstm():
    """With open gates that read nothing, what the certificate takes for the worst is there, at 0."""
    cell = zoo.make("lstm", 2, 0.2, 0.0, 3)
    with torch.no_grad():
        for gate in (cell.W_i, cell.W_f, cell.W_o, cell.U):
            gate.zero_()
        cell.b_i.fill_(30.0)
        cell.b_o.fill_(30.0)
    rate = contraction_rate(cell, "max", 1.0)
    for norm, certified in (("max", rate), ("weighted", contraction_rate(cell))):
        found = adversarial_gain(cell, norm, starts=32, steps=100)
        assert 0.95 * certified <= found.infinitesimal <= certified
        assert 0.95 * certified <= found.gain <= certified * (1 + 1e-9)  # a pair has rounding errors of its own


def test_a_linear_cell_in_its_own_norm():
    cell = LinearCell(1, 2, dtype=torch.float64)
    with torch.no_grad():
        cell.W.copy_(torch.tensor([[0.5, 4.0], [0.0, 0.5]]))
    rate = contraction_rate(cell, "lyapunov")
    found = adversarial_gain(cell, "lyapunov", starts=2, steps=2)
    assert found.gain == pytest.approx(rate, rel=1e-9)
    assert found.infinitesimal == pytest.approx(rate, rel=1e-9)
    assert found.gain < 1 < adversarial_gain(cell, 2, starts=2, steps=2).gain


def test_the_search_that_is_made_unless_told_otherwise():
    cell = zoo.make("tanh", 2, 1.0, 0.3, 0)

    def found(*arguments, **options):
        search = adversarial_gain(cell, *arguments, **options)
        return [search.gain, search.infinitesimal, *search.h.tolist(), *search.other.tolist(), *search.x.tolist()]

    assert found(steps=1) == found(2, 1.0, starts=32, steps=1, seed=0)
    assert found(starts=1) == found(starts=1, steps=100)
    assert len(found(starts=1, steps=1)) == 8


@pytest.mark.parametrize("starts", [1, 6])
def test_half_of_all_starts_are_corners(monkeypatch, starts):
    begun = []

    def ascend(gain, start, *arguments):
        begun.append(start)
        return _ascend(gain, start, *arguments)

    monkeypatch.setattr("fhx.stability.search._ascend", ascend)
    adversarial_gain(zoo.make("tanh", 2, 1.0, 0.3, 0), input_bound=0.5, starts=starts, steps=1)
    corner = torch.tensor([1.0, 1.0, 0.5, 0.5], dtype=torch.float64)
    ends = [(start.abs() == corner).tolist() for start in begun[0]]
    assert ends[::2] == [[True] * 4] * len(ends[::2])
    assert ends[1::2] == [[False] * 4] * (starts // 2)


def test_a_path_of_shrinking_steps_stays_in_the_box():
    """Up the slope, every coordinate by parts of its own radius, to the face; a slope of nan or 0 leads nowhere."""
    box = Box([-1.0, -10.0, -1.0], [1.0, 10.0, 1.0])
    start = torch.tensor([[-1.0, -10.0, 0.5], [0.9, -10.0, -0.5]], dtype=torch.float64)
    steps = [10**-0.5, 10**-1.5, 10**-2.5]
    best, gains = _ascend(lambda point: point[:, 0] + point[:, 1] + point[:, 2].clamp(max=-3), start, box, 3)
    wanted = torch.tensor([[-1 + sum(steps), -10 + 10 * sum(steps), 0.5], [1.0, -10 + 10 * sum(steps), -0.5]])
    torch.testing.assert_close(best, wanted.double())
    torch.testing.assert_close(gains, wanted.double()[:, :2].sum(1) - 3)
    still, gains = _ascend(lambda point: 0 * point[:, 0].sqrt(), start.abs() * -1, box, 2)
    assert gains.isnan().all()
    assert torch.equal(still, -start.abs())


def test_the_best_of_a_path_is_not_its_end():
    box, start = Box([-1.0], [1.0]), torch.tensor([[0.0]], dtype=torch.float64)
    best, gains = _ascend(lambda point: -(point[:, 0] - 0.3).abs(), start, box, 2)
    assert best.item() == pytest.approx(min(10**-0.5, 10**-0.5 - 10**-2.5, key=lambda end: abs(end - 0.3)))
    assert gains.item() == -abs(best.item() - 0.3)
    worse = _ascend(lambda point: -point[:, 0].abs(), start, box, 2)
    assert [number.item() for number in worse] == [0, 0]


@pytest.mark.parametrize("norm", [2, "max", "lyapunov"])
def test_sizes_gains_and_what_is_stretched_most(norm):
    cell = LinearCell(1, 3, dtype=torch.float64)
    with torch.no_grad():
        cell.W.copy_(torch.tensor([[0.5, 2.0, 0.0], [0.0, -0.5, 1.0], [0.1, 0.0, 0.3]]))
    v, J = (torch.randn(*shape, 3, generator=torch.Generator().manual_seed(1)).double() for shape in ((5,), (5, 3)))
    size, operator, stretch = _measures(certificate(cell), norm)
    P = lyapunov_norm(cell.W) if norm == "lyapunov" else torch.eye(3, dtype=torch.float64)
    lengths = v.abs().amax(1) if norm == "max" else torch.einsum("bi,ij,bj->b", v, P, v).sqrt()
    torch.testing.assert_close(size(v), lengths)
    gains = (size((J @ v[:, :, None])[..., 0]) / size(v)).tolist()
    assert all(gain <= most for gain, most in zip(gains, operator(J).tolist(), strict=True))
    along = stretch(J)
    assert along.shape == (5, 3)
    torch.testing.assert_close(size((J @ along[:, :, None])[..., 0]), operator(J) * size(along))


def test_a_seed_decides_and_the_cell_stays():
    cell = zoo.make("gru", 3, 1.0, 1.0, 0, torch.float32)
    before = [p.detach().clone() for p in cell.parameters()]
    state = torch.random.get_rng_state()
    first, again = (adversarial_gain(cell, starts=4, steps=5, seed=7) for _ in range(2))
    assert first.gain == again.gain
    assert torch.equal(first.h, again.h)
    assert adversarial_gain(cell, starts=4, steps=5, seed=8).gain != first.gain
    assert torch.equal(torch.random.get_rng_state(), state)
    assert all(torch.equal(p, q) and p.requires_grad for p, q in zip(cell.parameters(), before, strict=True))


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda c: adversarial_gain(c, starts=0), "^starts must be an integer of at least 1, got 0"),
        (lambda c: adversarial_gain(c, steps=0), "^steps must be an integer of at least 1, got 0"),
        (
            lambda c: adversarial_gain(c, 3),
            "^norm must be one of 2, 'max', 'weighted', 'lyapunov', or inf for 'max', got 3",
        ),
        (lambda c: adversarial_gain(c, "lyapunov"), "for linear cells"),
        (lambda c: adversarial_gain(c, input_bound=-1.0), "^input_bound must be"),
        (lambda c: adversarial_gain(ResidualCell(1, 2, depth=1)), "no contraction is certified for ResidualCell"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call(zoo.make("lstm", 2, 1.0, 0.0, 0))
