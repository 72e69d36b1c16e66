"""The affine scan: against the loop, its derivatives, its depth; the states of a linear cell by it."""

import importlib.util
from functools import partial
from re import escape

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.func import functional_call, stack_module_state

import fhx
from fhx.cells import LinearCell, LRUCell, MinGRUCell, SimpleCell
from fhx.dynamics import affine_scan, diagonal_states, linear_states, scan, unroll

DOUBLE = {"dtype": torch.float64, "device": fhx.device()}
LENGTHS = [0, 1, 2, 7, 8, 15, 16, 17, 63, 64, 65, 130]


def rng(seed=0):
    return torch.Generator().manual_seed(seed)


def draw(*shape, seed=1, dtype=torch.float64):
    return torch.randn(shape, generator=rng(seed), dtype=dtype).to(fhx.device())


def loop(A, b, h0=None, reverse=False):
    """The definition, one step after another."""
    h = torch.zeros_like(b.sum(0)) if h0 is None else h0
    A = A.expand(*b.shape[:2], *A.shape[2:])
    times = range(len(b))
    states = dict.fromkeys(times)
    for t in reversed(times) if reverse else times:
        h = (A[t] @ h[..., None])[..., 0] + b[t] if A.ndim == 4 else A[t] * h + b[t]
        states[t] = h
    return torch.stack(list(states.values())) if len(b) else b


def problem(time, batch, d, full, seed=0, scale=0.6, dtype=torch.float64):
    A = scale * draw(time, batch, *([d, d] if full else [d]), seed=seed, dtype=dtype)
    return A, draw(time, batch, d, seed=seed + 1, dtype=dtype), draw(batch, d, seed=seed + 2, dtype=dtype)


@given(
    st.sampled_from(LENGTHS) | st.integers(0, 300),
    st.integers(1, 3),
    st.integers(1, 4),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["each", "one for all times", "one for the batch", "one"]),
    st.integers(0, 2**32),
)
@settings(max_examples=60)
def test_equal_to_the_loop(time, batch, d, full, reverse, given_start, shared, seed):
    A, b, h0 = problem(time, batch, d, full, seed)
    if shared in ("one for all times", "one"):
        A = 0.6 * draw(1, *A.shape[1:], seed=seed)
    if shared in ("one for the batch", "one"):
        A = A[:, :1]
    h0 = h0 if given_start else None
    expected = loop(A, b, h0, reverse)
    scale = expected.abs().max().item() if time else 1.0
    torch.testing.assert_close(affine_scan(A, b, h0, reverse), expected, rtol=0, atol=1e-12 * max(1.0, scale))


@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("dtype", [torch.float32, torch.complex128])
def test_other_numbers(full, dtype):
    A, b, h0 = problem(100, 2, 3, full, dtype=dtype, scale=0.3)
    states = affine_scan(A, b, h0)
    assert states.dtype == dtype
    torch.testing.assert_close(states, loop(A, b, h0))


@pytest.mark.parametrize("reverse", [True, False])
@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("time", [0, 1, 2, 19])
def test_derivatives(time, full, reverse):
    sources = [x.requires_grad_() for x in problem(time, 1, 2, full)]
    scan = partial(affine_scan, reverse=reverse)
    assert torch.autograd.gradcheck(scan, sources)
    if time < 19:
        assert torch.autograd.gradgradcheck(scan, sources)


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
@pytest.mark.parametrize("shape", [(1, 1, 3, 3), (1, 2, 3, 3), (40, 1, 3, 3), (1, 1, 3), (40, 2, 3, 3)])
def test_gradients_are_those_of_the_loop(shape, dtype):
    _, b, h0 = problem(40, 2, 3, True, dtype=dtype)
    sources = [x.requires_grad_() for x in (0.3 * draw(*shape, dtype=dtype), b, h0)]
    weight = draw(40, 2, 3, seed=9, dtype=dtype)
    found, expected = (torch.autograd.grad((f(*sources) * weight).sum().abs(), sources) for f in (affine_scan, loop))
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-11, atol=1e-12)


def test_the_matrices_get_no_gradient_where_they_need_none():
    A, b, h0 = problem(20, 2, 3, True)
    affine_scan(A, b.requires_grad_(), h0).sum().backward()
    assert b.grad is not None
    assert A.grad is None


class Counted(torch.overrides.TorchFunctionMode):
    """How many functions of torch were called."""

    def __init__(self):
        super().__init__()
        self.calls = 0

    def __torch_function__(self, function, types, arguments=(), options=None):
        self.calls += 1
        return function(*arguments, **(options or {}))


@pytest.mark.usefixtures("unchecked")  # its looks at shapes would count
@pytest.mark.parametrize("full", [True, False])
def test_the_number_of_operations_grows_like_the_logarithm(full):
    counts = []
    for time in (200, 200 * 8, 200 * 64):
        A, b, h0 = problem(time, 1, 2, full)
        with Counted() as count:
            affine_scan(A, b, h0)
        counts.append(count.calls)
    assert counts[2] - counts[1] == counts[1] - counts[0] < 250
    assert counts[2] < 200 * 8


def test_one_state_at_the_end_of_the_range_of_floats_leaves_those_before_it_alone():
    A, b = torch.full((200, 1, 1), 1e5, **DOUBLE), torch.ones(200, 1, 1, **DOUBLE)
    expected = loop(A, b)
    finite = expected.isfinite()
    states = affine_scan(A, b)
    assert 50 < finite.sum() < 70
    torch.testing.assert_close(states[finite], expected[finite])
    assert not states[~finite].isfinite().any()


@pytest.mark.parametrize(
    ("A", "b", "h0"),
    [
        ((5, 2, 3), (5, 2), None),
        ((5, 2, 4), (5, 2, 3), None),
        ((5, 2, 3, 4), (5, 2, 3), None),
        ((4, 2, 3), (5, 2, 3), None),
        ((5, 3, 3), (5, 2, 3), None),
        ((5, 4, 3, 3), (5, 2, 3), None),
        ((2, 3), (5, 2, 3), None),
        ((5, 2, 3, 3, 1), (5, 2, 3), None),
        ((5, 2, 3), (5, 2, 3), (3,)),
        ((5, 2, 3), (5, 2, 3), (3, 2)),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_shapes_that_do_not_fit(A, b, h0):
    law = (
        f"A must have shape (time, batch, d, d) or, diagonal, (time, batch, d), with (time, batch, d) = {b} as in b, "
        f"got {A}"
    )
    if len(b) != 3:
        law = f"b must have shape (time, batch, d), got {b}"
    elif h0 is not None:
        law = f"h0 must have shape (batch, d) = (2, 3), got {h0}"
    with pytest.raises(ValueError, match=f"^{escape(law)}$"):
        affine_scan(draw(*A), draw(*b), None if h0 is None else draw(*h0))


@pytest.mark.usefixtures("unchecked")
def test_dtypes_that_do_not_fit():
    A, b, h0 = problem(5, 2, 3, False)
    with pytest.raises(ValueError, match=r"^A must have the dtype of b, torch\.float64, got torch\.float32$"):
        affine_scan(A.float(), b, h0)
    with pytest.raises(ValueError, match=r"^h0 must have the dtype of b, torch\.float64, got torch\.float32$"):
        affine_scan(A, b, h0.float())


def linear(diagonal, seed=0):
    cell = LinearCell(2, 3, generator=rng(seed), **DOUBLE)
    if diagonal:
        with torch.no_grad():
            cell.W.copy_(cell.W.diagonal().diag())
    return cell


@pytest.mark.parametrize("diagonal", [True, False])
@pytest.mark.parametrize("time", [0, 1, 100])
def test_linear_states_are_those_of_unroll(diagonal, time):
    cell, inputs, h0 = linear(diagonal), draw(time, 4, 2).requires_grad_(), draw(3).requires_grad_()
    weight, sources = draw(time, 4, 3, seed=4), [inputs, h0, *cell.parameters()]
    for start in (h0, None):
        torch.testing.assert_close(
            linear_states(cell, inputs, start), unroll(cell, inputs, start), rtol=1e-13, atol=1e-14
        )
    if not time:
        return
    found, expected = (
        torch.autograd.grad((states(cell, inputs, h0) * weight).sum(), sources) for states in (linear_states, unroll)
    )
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-11, atol=1e-12)


def test_a_diagonal_matrix_is_recognised():
    seen = []
    for diagonal in (True, False):
        with Products() as products:
            linear_states(linear(diagonal), draw(100, 4, 2))
        seen.append(products.calls)
    assert seen[0] == 0 < seen[1]


class Products(Counted):
    """How many matrices were multiplied."""

    def __torch_function__(self, function, types, arguments=(), options=None):
        self.calls += "matmul" in str(function)
        return function(*arguments, **(options or {}))


@pytest.mark.usefixtures("unchecked")
def test_other_cells_are_no_scan():
    with pytest.raises(
        TypeError, match=r"^one scan makes the states of a LinearCell only, got SimpleCell; use unroll$"
    ):
        linear_states(SimpleCell(2, 3, **DOUBLE), draw(5, 1, 2))
    own = type("Own", (LinearCell,), {"step": lambda self, h, drive: h.tanh() + drive})
    law = r"^Own overrides step of LinearCell, and one scan makes the states of that class only; use unroll$"
    with pytest.raises(ValueError, match=law):
        linear_states(own(2, 3, **DOUBLE), draw(5, 1, 2))
    with pytest.raises(ValueError, match=r"^RNN\(2, 3\) is a net of torch: fhx\.cells\.from_torch makes a cell of it$"):
        linear_states(nn.RNN(2, 3), draw(5, 1, 2))


@pytest.mark.usefixtures("unchecked")
def test_inputs_that_do_not_fit():
    with pytest.raises(ValueError, match="inputs must have shape"):
        linear_states(linear(False), draw(5, 2))
    with pytest.raises(ValueError, match="like the cell's parameters"):
        linear_states(linear(False), draw(5, 1, 2), draw(3).float())


@pytest.fixture
def compiler(monkeypatch):
    """The module with a backend of ``torch.compile`` of one's own: kernels take a minute to make.

    It is loaded once more by itself, without the checks of shapes, which are not to be compiled.
    """
    real = torch.compile

    def choose(backend):
        spec = importlib.util.spec_from_file_location("scan_to_compile", scan.__file__)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        monkeypatch.setattr(torch, "compile", partial(real, backend=backend))
        return module

    return choose


@pytest.mark.full
def test_compiled_states_and_gradients(compiler):
    traced = []

    def backend(graph, examples):
        traced.append(graph)
        return graph.forward

    compiled = compiler(backend).linear_states
    for diagonal in (True, False):
        cell, inputs = linear(diagonal), draw(100, 4, 2).requires_grad_()
        weight, sources = draw(100, 4, 3, seed=4), [inputs, *cell.parameters()]
        states = compiled(cell, inputs, compiled=True)
        torch.testing.assert_close(states, unroll(cell, inputs), rtol=1e-13, atol=1e-14)
        found = torch.autograd.grad((states * weight).sum(), sources)
        expected = torch.autograd.grad((unroll(cell, inputs) * weight).sum(), sources)
        for one, other in zip(found, expected, strict=True):
            torch.testing.assert_close(one, other, rtol=1e-11, atol=1e-12)
    graphs = len(traced)
    assert graphs >= 4
    for time in (129, 200, 511):  # no graph for each length
        compiled(cell, draw(time, 4, 2), compiled=True)
    assert len(traced) == graphs


def test_no_compiler_is_one_clear_error(compiler):
    def broken(graph, examples):
        raise OSError("no compiler")

    compiled = compiler(broken).linear_states
    with pytest.raises(RuntimeError, match=r"compiled=True needs torch\.compile and a C\+\+ compiler"):
        compiled(linear(True), draw(100, 4, 2), compiled=True)


@given(st.integers(1, 40), st.integers(1, 3), st.sampled_from(["minGRU", "LRU"]), st.integers(0, 999))
def test_nets_side_by_side_scan_as_each_alone(time, many, kind, seed):
    """``vmap`` over the weights of diagonal cells: states and gradients."""
    made = {"minGRU": MinGRUCell, "LRU": LRUCell}[kind]
    cells = [made(3, 4, generator=rng(seed + k), dtype=torch.float64) for k in range(many)]
    inputs = draw(many, time, 2, 3, seed=seed).cpu()
    weights, _ = stack_module_state(cells)

    def total(own, x):
        return functional_call(_States(cells[0]), {f"cell.{name}": w for name, w in own.items()}, (x,)).square().sum()

    found = torch.vmap(torch.func.grad(total))({name: w.detach() for name, w in weights.items()}, inputs)
    for k, cell in enumerate(cells):
        alone = torch.autograd.grad(diagonal_states(cell, inputs[k]).square().sum(), list(cell.parameters()))
        for (name, _), gradient in zip(cell.named_parameters(), alone, strict=True):
            torch.testing.assert_close(found[name][k], gradient)


class _States(nn.Module):
    def __init__(self, cell):
        super().__init__()
        self.cell = cell

    def forward(self, x):
        return diagonal_states(self.cell, x)
