"""Runs by sweeps: against unroll and the truncated model, in fractions and floats; their verdict; gradients."""

import sys
from fractions import Fraction
from functools import partial
from itertools import pairwise
from math import inf, isfinite
from operator import mul

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.autograd.functional import jacobian

import fhx
from fhx.cells import DeepCell, GRUCell, HighwayCell, LinearCell, LSTMCell, ResidualCell, SimpleCell, Stack
from fhx.dynamics import ParallelRun, jacobi_sweeps, lyapunov_spectrum, parallel_unroll, trajectory, unroll
from fhx.dynamics.jacobians import spans
from fhx.dynamics.parallel import _assessed
from fhx.dynamics.trajectory import TrajectoryMap
from fhx.exact import SimpleRNN
from fhx.stability import truncated_states

DOUBLE = {"dtype": torch.float64, "device": fhx.device()}
METHODS = ["jacobi", "newton", "quasi-newton"]


def rng(seed=0):
    return torch.Generator().manual_seed(seed)


def draw(*shape, seed=1, dtype=torch.float64):
    return torch.randn(shape, generator=rng(seed), dtype=dtype).to(fhx.device())


def stack(d_in, d, **options):
    return Stack([LSTMCell(d_in, d, **options), GRUCell(d, d, **options)])


LAYERED = [partial(kind, depth=2) for kind in (DeepCell, ResidualCell, HighwayCell)]
KINDS = [SimpleCell, LinearCell, LSTMCell, GRUCell, *LAYERED, stack]


def contracting(kind, seed=0):
    """A cell whose weights are small enough that its steps contract."""
    cell = kind(2, 3, generator=rng(seed), **DOUBLE)
    with torch.no_grad():
        for W in cell.layer_matrices():
            W.mul_(0.5)
    return cell


def scalar(w):
    """h = tanh(w h + x)."""
    cell = SimpleCell(1, 1, **DOUBLE)
    with torch.no_grad():
        cell.W.fill_(w), cell.U.fill_(1), cell.b.zero_()
    return cell


def cubic(h, x):
    return h - 0.3 * h**3 + x


def error(run, expected):
    return (run.states - expected).abs().max().item()


# Jacobi's sweeps and the truncated model

fractions = st.fractions(-2, 2, max_denominator=6)


@pytest.mark.claim("E9")
@given(st.data(), st.integers(1, 2), st.integers(0, 5), st.integers(0, 6), st.sampled_from(["relu", "slu"]))
@settings(max_examples=40)
def test_sweeps_are_truncation_in_fractions(data, d, time, k, activation):
    def numbers(*shape):
        if not shape:
            return data.draw(fractions)
        return [numbers(*shape[1:]) for _ in range(shape[0])]

    net = SimpleRNN(numbers(d, d), numbers(d, 1), numbers(d), numbers(d), activation)
    inputs = [(data.draw(fractions),) for _ in range(time)]
    zero = (Fraction(0),) * d

    W, U = net.W.dense(), net.U.dense()

    def f(h, x):
        pre = [sum(map(mul, (*W[i], *U[i]), (*h, *x)), net.b[i]) for i in range(d)]
        return tuple(max(a, 0) if activation == "relu" else min(max(a, 0), 1) for a in pre)

    def window(t):
        """The state at t of the model that is cut to its last k inputs, by the exact net itself."""
        first = max(0, t - k)
        run = SimpleRNN(net.W, net.U, net.b, zero if first else net.h0, activation)
        return tuple([run.h0, *run.reference_states(inputs[first:t])][-1])

    swept = list(jacobi_sweeps(f, net.h0, inputs, k, zero))
    assert len(swept) == k
    if k:
        assert swept[-1] == [window(t) for t in range(1, time + 1)]


def test_a_trajectory_by_hand():
    swept = list(jacobi_sweeps(lambda h, x: Fraction(1, 2) * h + x, Fraction(8), [Fraction(1)] * 3, 3, Fraction(0)))
    assert swept == [[5, 1, 1], [5, Fraction(7, 2), Fraction(3, 2)], [5, Fraction(7, 2), Fraction(11, 4)]]


@pytest.mark.claim("E9")
@given(st.sampled_from(KINDS), st.integers(0, 9), st.integers(1, 9), st.integers(1, 2), st.integers(0, 2**32))
@settings(max_examples=40)
def test_sweeps_are_truncation_for_every_cell(kind, time, k, batch, seed):
    cell, inputs = kind(2, 3, generator=rng(seed), **DOUBLE), draw(time, batch, 2, seed=seed)
    h0 = 3 * draw(batch, cell.state_width, seed=seed + 1)
    run = parallel_unroll(cell, inputs, "jacobi", h0, tolerance=0, max_sweeps=k)
    torch.testing.assert_close(run.states, truncated_states(cell, inputs, k, h0), rtol=1e-12, atol=1e-12)
    assert run.sweeps == len(run.residuals) <= k
    if run.sweeps < k:
        assert not any(run.residuals[-1:])


# Every method: the states of the run


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", KINDS)
def test_the_states_are_those_of_unroll(kind, method):
    cell, inputs = contracting(kind), draw(60, 3, 2)
    for h0 in (None, draw(cell.state_width, seed=3), draw(3, cell.state_width, seed=3)):
        run = parallel_unroll(cell, inputs, method, h0)
        assert run.converged
        assert run.sweeps == len(run.residuals) <= 60
        assert run.correction <= 1e-10
        assert error(run, unroll(cell, inputs, h0)) <= 1e-10


@given(st.sampled_from(KINDS), st.sampled_from(METHODS), st.integers(1, 9), st.integers(0, 2**32))
@settings(max_examples=40)
def test_after_i_sweeps_the_first_i_states_are_exact(kind, method, sweeps, seed):
    cell, inputs = kind(2, 3, generator=rng(seed), **DOUBLE), draw(9, 2, 2, seed=seed)
    with torch.no_grad():
        for W in cell.layer_matrices():
            W.mul_(4)
    run = parallel_unroll(cell, inputs, method, tolerance=0, max_sweeps=sweeps)
    expected = unroll(cell, inputs)
    torch.testing.assert_close(run.states[: run.sweeps], expected[: run.sweeps], rtol=1e-13, atol=1e-13)
    if sweeps == 9:
        torch.testing.assert_close(run.states, expected, rtol=1e-13, atol=1e-13)


def test_one_newton_sweep_is_enough_for_a_linear_cell():
    cell, inputs = LinearCell(2, 3, generator=rng(), **DOUBLE), draw(200, 2, 2)
    assert parallel_unroll(cell, inputs).sweeps == 1
    assert parallel_unroll(cell, inputs, "quasi-newton").sweeps > 5
    with torch.no_grad():
        cell.W.copy_(cell.W.diagonal().diag())
    assert parallel_unroll(cell, inputs, "quasi-newton").sweeps == 1


def test_newton_squares_the_error_and_jacobi_shrinks_it_by_the_rate():
    cell, inputs = scalar(0.9), torch.full((200, 1, 1), 0.1, **DOUBLE)
    newton, jacobi = (parallel_unroll(cell, inputs, method).residuals for method in ("newton", "jacobi"))
    slope = 0.9 * (1 - unroll(cell, inputs)[-1].item() ** 2)
    assert 0.5 < slope < 0.9
    assert jacobi[-1] / jacobi[-2] == pytest.approx(slope, rel=1e-4)
    large = [r for r in newton if r > 1e-14]
    assert len(large) > 2
    assert all(after < 4 * before**2 for before, after in pairwise(large))


@pytest.mark.parametrize("method", METHODS)
def test_a_plain_function(method):
    inputs, h0 = draw(50, 2, 1), torch.zeros(1, **DOUBLE)

    def f(h, x):
        return 0.5 * torch.sin(h) + x

    run = parallel_unroll(f, inputs, method, h0)
    assert run.converged
    assert error(run, unroll(f, inputs, h0)) <= 1e-10


@pytest.mark.parametrize("method", METHODS)
def test_single_precision(method):
    cell, inputs = SimpleCell(2, 3, generator=rng(), device=DOUBLE["device"]), draw(60, 2, 2, dtype=torch.float32)
    run = parallel_unroll(cell, inputs, method)
    assert run.converged
    assert run.states.dtype == torch.float32
    assert error(run, unroll(cell, inputs)) <= 1e-4
    assert not parallel_unroll(cell, inputs, method, tolerance=1e-10).converged  # rounding alone is larger


@pytest.mark.parametrize("method", METHODS)
def test_no_inputs_give_no_states(method):
    run = parallel_unroll(SimpleCell(2, 3, **DOUBLE), draw(0, 4, 2), method)
    assert run.states.shape == (0, 4, 3)
    assert (run.sweeps, run.residuals, run.converged, run.correction) == (0, [], True, 0.0)


@pytest.mark.parametrize("method", METHODS)
def test_no_sequences_are_done_at_once(method):
    run = parallel_unroll(SimpleCell(2, 3, **DOUBLE), draw(5, 0, 2), method)
    assert run.states.shape == (5, 0, 3)
    assert (run.sweeps, run.residuals, run.converged, run.correction) == (1, [0.0], True, 0.0)


def test_jacobians_a_few_times_at_once(monkeypatch):
    cell, inputs = contracting(LSTMCell), draw(50, 2, 2).requires_grad_()
    weight, runs, gradients = draw(50, 2, 6, seed=3), [], []
    module = sys.modules[spans.__module__]
    for chunk in (module.CHUNK, 7 * 2 * 36, 1):  # all times, 7 and 1
        monkeypatch.setattr(module, "CHUNK", chunk)
        for method in METHODS:
            runs.append(parallel_unroll(cell, inputs, method))
            gradients.append(torch.autograd.grad((runs[-1].states * weight).sum(), inputs)[0])
    assert len({run.sweeps for run in runs}) == 3
    for run, gradient in zip(runs, gradients, strict=True):
        torch.testing.assert_close(run.states, runs[0].states, rtol=0, atol=1e-10)
        torch.testing.assert_close(gradient, gradients[0], rtol=1e-9, atol=1e-10)


def test_the_quasi_newton_method_uses_the_diagonal_alone(monkeypatch):
    seen = []
    real = trajectory.scan
    monkeypatch.setattr(
        trajectory, "scan", lambda A, *rest, **options: seen.append(A.ndim) or real(A, *rest, **options)
    )
    run = parallel_unroll(contracting(SimpleCell), draw(20, 2, 2), "quasi-newton", tolerance=0, max_sweeps=4)
    assert seen[: run.sweeps] == [3] * 4
    assert set(seen[run.sweeps :]) == {4}  # the verdict is about the true Jacobians


# Convergence and what only looks like it


@pytest.mark.claim("E9")
def test_plain_newton_overflows_where_the_exponent_is_negative():
    """Along the zeros it starts from every step stretches by 2.97, along the run by 0.025."""
    cell, inputs = scalar(3), torch.full((1000, 1, 1), 0.1, **DOUBLE)
    assert lyapunov_spectrum(cell, inputs).item() < -3.6
    with pytest.raises(OverflowError):
        pow(2.97, 1000)
    plain = parallel_unroll(cell, inputs, damping=False)
    assert not plain.converged
    assert plain.residuals == [inf]
    damped = parallel_unroll(cell, inputs)
    assert damped.converged
    assert damped.sweeps < 8
    assert error(damped, unroll(cell, inputs)) < 1e-12


@pytest.mark.parametrize("method", ["newton", "quasi-newton"])
def test_a_polynomial_step_leaves_the_range_of_floats_on_the_way(method):
    inputs, h0 = 0.5 * draw(300, 1, 1, seed=0), torch.zeros(1, **DOUBLE)
    assert lyapunov_spectrum(cubic, inputs, h0=h0).item() < -0.5
    assert parallel_unroll(cubic, inputs, method, h0, damping=False).residuals[-1] == inf
    run = parallel_unroll(cubic, inputs, method, h0)
    assert inf in run.residuals
    assert run.converged
    assert run.sweeps < parallel_unroll(cubic, inputs, "jacobi", h0).sweeps / 2
    assert error(run, unroll(cubic, inputs, h0)) < 1e-12


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("damping", [True, False])
def test_a_run_that_overflows_has_not_converged(method, damping):
    cell, inputs = LinearCell(1, 1, **DOUBLE), torch.ones(400, 1, 1, **DOUBLE)
    with torch.no_grad():
        cell.W.fill_(10)
    run = parallel_unroll(cell, inputs, method, max_sweeps=3, damping=damping)
    assert not run.converged


def test_a_small_residual_is_not_enough():
    """h = tanh(2 h) from 1e-20 leaves zero after 66 steps; the zeros have a residual of 2e-20."""
    cell, inputs, h0 = scalar(2), torch.zeros(100, 1, 1, **DOUBLE), torch.tensor([1e-20], **DOUBLE)
    expected = unroll(cell, inputs, h0)
    run = parallel_unroll(cell, inputs, "jacobi", h0, max_sweeps=5)
    assert run.residuals[-1] < 1e-18
    assert error(run, expected) > 0.9
    assert run.correction > 1e9
    assert not run.converged
    exact = parallel_unroll(cell, inputs, "jacobi", h0)
    assert torch.equal(exact.states, expected)
    assert exact.correction == 0
    assert exact.conditioning > 1e18  # rounding of the size of 1e-16 would decide where the run goes
    assert not exact.converged


@pytest.mark.parametrize("method", METHODS)
def test_the_conditioning_is_the_gain_of_the_recurrence(method):
    """Of a scalar linear recurrence it lies between w^(T-1) and 1 + w + ... + w^(T-1)."""
    cell = LinearCell(1, 1, **DOUBLE)
    with torch.no_grad():
        cell.W.fill_(2), cell.U.fill_(1e-9), cell.b.zero_()
    run = parallel_unroll(cell, draw(20, 1, 1), method)
    assert 2**17 < run.conditioning < 2**20
    assert run.converged
    assert not parallel_unroll(cell, draw(60, 1, 1), method).converged
    with torch.no_grad():
        cell.W.zero_()
    assert parallel_unroll(cell, draw(20, 1, 1), method).conditioning == 1


def test_the_verdict_is_the_same_each_time_and_leaves_the_generator_alone():
    cell, inputs = contracting(SimpleCell), draw(60, 3, 2)
    before = torch.get_rng_state()
    one, other = parallel_unroll(cell, inputs), parallel_unroll(cell, inputs)
    assert one.conditioning == other.conditioning
    assert torch.equal(torch.get_rng_state(), before)


# By dense matrices: every sequence is a system of its own, whose matrix has N's blocks below the diagonal


def dense(cell, inputs, states, scale=1.0, diagonal=False):
    """I - s N of each sequence, (batch, time width, time width); N from autograd, one step at a time."""
    time, batch, width = states.shape
    systems = torch.eye(time * width, **DOUBLE).repeat(batch, 1, 1)
    for b in range(batch):
        for t in range(1, time):
            J = jacobian(lambda h, x=inputs[t, b]: cell(h, x), states[t - 1, b]).detach()
            rows, columns = slice(t * width, (t + 1) * width), slice((t - 1) * width, t * width)
            systems[b, rows, columns] -= scale * (J.diagonal().diag() if diagonal else J)
    return systems


def solved(systems, source):
    """The solution, in the source's shape (time, batch, width)."""
    right = source.transpose(0, 1).reshape(len(systems), -1, 1)
    return torch.linalg.solve(systems, right).view(source.shape[1], source.shape[0], -1).transpose(0, 1)


@given(st.sampled_from([SimpleCell, LSTMCell, stack]), st.integers(1, 6), st.integers(1, 3), st.integers(0, 2**32))
@settings(max_examples=8)
def test_what_is_carried_and_pulled_back_solves_the_dense_system(kind, time, batch, seed):
    cell, inputs = kind(2, 3, generator=rng(seed), **DOUBLE), draw(time, batch, 2, seed=seed)
    h0, states, source = (
        draw(*n, batch, cell.state_width, seed=seed + i) for i, n in enumerate([(), (time,), (time,)])
    )
    problem = TrajectoryMap.of(cell, inputs, h0)
    image = torch.stack([cell(h, x) for h, x in zip([h0, *states[:-1]], inputs, strict=True)])
    torch.testing.assert_close(problem.image(states), image, rtol=1e-12, atol=1e-12)
    assert torch.equal(problem.before(states), torch.cat([h0[None], states[:-1]]))
    assert torch.equal(problem.zeros(), torch.zeros_like(states))
    for options in ({}, {"scale": 0.25}, {"diagonal": True}, {"scale": -2.0, "diagonal": True}):
        wanted = solved(dense(cell, inputs, states, **options), source)
        found = source + problem.carried(states, source, **options)
        torch.testing.assert_close(found, wanted, rtol=1e-10, atol=1e-10)
    wanted = solved(dense(cell, inputs, states).mT, source)
    torch.testing.assert_close(problem.pulled_back(states, source), wanted, rtol=1e-10, atol=1e-10)


@given(
    st.sampled_from([SimpleCell, GRUCell]),
    st.integers(1, 6),
    st.sampled_from(["float32", "float64"]),
    st.integers(0, 2**32),
)
@settings(max_examples=15)
def test_the_verdict_is_the_definition(kind, time, dtype, seed):
    """Signs of two probes from the seed zero; states far from those of the run, some of them large."""
    cell, inputs = kind(2, 3, generator=rng(seed), **DOUBLE), draw(time, 2, 2, seed=seed)
    states = draw(time, 2, 3, seed=seed) * 10 ** draw(time, 2, 3, seed=seed + 1)
    problem, dtype = TrajectoryMap.of(cell, inputs, None), getattr(torch, dtype)
    systems, image = dense(cell, inputs, states), problem.image(states).detach()
    probes, generator = [], rng(0)
    for _ in range(2):
        signs = 2.0 * torch.randint(0, 2, states.shape, generator=generator) - 1
        probes.append(signs.to(states) * torch.finfo(dtype).eps * (1 + states.abs()))
    errors = [solved(systems, probe).abs().max().item() for probe in probes]
    gains = [error / probe.abs().max().item() for error, probe in zip(errors, probes, strict=True)]
    wanted = (solved(systems, image - states).abs().max().item(), max(gains), max(errors))
    if dtype == torch.float32:
        cell, inputs, states, image = cell.float(), inputs.float(), states.float(), image.float()
    found = _assessed(TrajectoryMap.of(cell, inputs, None), states, image)
    assert found == pytest.approx(wanted, rel=1e-3 if dtype == torch.float32 else 1e-10)


@pytest.mark.parametrize("batch", [2, 5])
@pytest.mark.parametrize(("room", "lengths"), [(3, [3, 3, 1]), (0.5, [1] * 7), (7, [7]), (100, [7])])
def test_as_many_jacobians_at_once_as_there_is_room_for(monkeypatch, batch, room, lengths):
    cell, seen = contracting(SimpleCell), []
    monkeypatch.setattr(cell, "jacobian", lambda h, drive: seen.append(len(h)) or SimpleCell.jacobian(cell, h, drive))
    problem = TrajectoryMap.of(cell, draw(7, batch, 2), None)
    monkeypatch.setattr(sys.modules[spans.__module__], "CHUNK", int(room * batch * 3 * 3))
    problem.carried(problem.zeros(), problem.zeros())
    problem.pulled_back(problem.zeros(), problem.zeros())
    assert seen == [*lengths, *reversed(lengths)]


def test_a_detached_map_has_the_same_numbers_and_no_gradient():
    inputs, h0 = draw(4, 2, 2).requires_grad_(), draw(2, 3).requires_grad_()
    problem = TrajectoryMap.of(contracting(SimpleCell), inputs, h0)
    other = problem.detached()
    assert other.cell is problem.cell
    assert torch.equal(other.h0, h0)
    assert torch.equal(other.drives, problem.drives)
    assert not other.h0.requires_grad
    assert not other.drives.requires_grad


# Gradients


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", KINDS)
def test_gradients_are_those_of_back_propagation_through_time(kind, method):
    cell, inputs = contracting(kind), draw(60, 3, 2).requires_grad_()
    h0, weight = draw(cell.state_width, seed=3).requires_grad_(), draw(60, 3, cell.state_width, seed=4)
    sources = [inputs, h0, *cell.parameters()]
    run = parallel_unroll(cell, inputs, method, h0, tolerance=1e-12)
    found = torch.autograd.grad((run.states * weight).sum(), sources, materialize_grads=True, allow_unused=True)
    states = unroll(cell, inputs, h0)
    expected = torch.autograd.grad((states * weight).sum(), sources, materialize_grads=True, allow_unused=True)
    for one, other in zip(found, expected, strict=True):
        assert (one - other).norm() <= 1e-9 * other.norm()


def test_gradients_of_a_plain_function():
    w, inputs = torch.tensor(0.7, requires_grad=True, **DOUBLE), draw(50, 2, 1).requires_grad_()
    h0 = draw(2, 1, seed=3).requires_grad_()

    def f(h, x):
        return torch.sin(w * h) + x

    def loss(states):
        return states.square().sum()

    sources = [w, inputs, h0]
    found = torch.autograd.grad(loss(parallel_unroll(f, inputs, h0=h0).states), sources)
    expected = torch.autograd.grad(loss(unroll(f, inputs, h0)), sources)
    for one, other in zip(found, expected, strict=True):
        assert (one - other).norm() <= 1e-9 * other.norm()


def test_no_wrong_gradient_from_a_run_that_has_not_converged():
    cell, inputs = scalar(0.9), draw(100, 1, 1)
    run = parallel_unroll(cell, inputs, "jacobi", max_sweeps=5)
    assert run.correction == pytest.approx(error(run, unroll(cell, inputs)), rel=0.5)
    assert isfinite(run.conditioning)
    law = (
        "no gradient flows through a parallel_unroll that has not converged: its states are not those of the run; "
        "give it more sweeps or a larger tolerance, or use unroll"
    )
    with pytest.raises(RuntimeError, match=f"^{law}$"):
        run.states.sum().backward()


def test_no_graph_where_none_is_asked_for():
    cell, inputs = contracting(SimpleCell), draw(20, 1, 2)
    with torch.no_grad():
        assert not parallel_unroll(cell, inputs).states.requires_grad
    assert parallel_unroll(cell, inputs).states.requires_grad
    assert not parallel_unroll(cell.requires_grad_(False), inputs).states.requires_grad


# Bad input


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"method": "picard"}, "method must be one of 'jacobi', 'newton', 'quasi-newton', got 'picard'"),
        ({"tolerance": -1e-9}, "tolerance must not be negative"),
        ({"tolerance": float("nan")}, "tolerance must not be negative"),
        ({"max_sweeps": 0}, "max_sweeps must be an integer of at least 1, got 0"),
        ({"max_sweeps": 2.5}, "max_sweeps must be an integer of at least 1"),
        ({"h0": torch.zeros(3, 1, **DOUBLE)}, "state_width = 3"),
        ({"h0": torch.zeros(3, 3, **DOUBLE)}, "h0 must"),
        ({"inputs": torch.zeros(5, 2, **DOUBLE)}, "inputs must have shape"),
        ({"inputs": torch.zeros(5, 1, 2)}, "like the cell's parameters"),
        ({"cell": lambda h, x: h}, "give h0"),
        ({"cell": lambda h, x: h, "h0": torch.zeros(3, dtype=torch.int64)}, "real dtype"),
        ({"cell": lambda h, x: h[:1], "h0": torch.zeros(3, **DOUBLE)}, "must return a state like h"),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_what_does_not_fit(options, named):
    options = {"cell": SimpleCell(2, 3, **DOUBLE), "inputs": draw(5, 2, 2), **options}
    with pytest.raises(ValueError, match=named):
        parallel_unroll(**options)


def test_a_run_is_frozen():
    run = parallel_unroll(contracting(SimpleCell), draw(5, 1, 2))
    assert isinstance(run, ParallelRun)
    with pytest.raises(AttributeError):
        run.converged = False
