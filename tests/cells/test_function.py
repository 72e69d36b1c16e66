"""Plain functions as cells."""

from re import escape

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from random_tensors import draw
from torch.autograd.functional import jacobian as by_autograd

from fhx.cells import SimpleCell
from fhx.cells.function import FunctionCell, as_cell

SIZE = st.integers(1, 4)


def bent(h, x):
    """Of batches: numbers of the state, their sum and the inputs' mixed."""
    return torch.sin(h) * h.sum(-1, keepdim=True) + x.square().sum(-1, keepdim=True)


def test_a_cell_stays_and_a_function_becomes_one():
    cell = SimpleCell(2, 3)
    assert as_cell(cell) is cell
    made = as_cell(bent)
    assert type(made) is FunctionCell
    assert made.f is bent
    assert repr(made) == "FunctionCell(bent)"
    assert repr(as_cell(cell.step)) == "FunctionCell(step)"
    nameless = torch.nn.Tanh()
    assert repr(FunctionCell(nameless)) == "FunctionCell(Tanh())"


@pytest.mark.parametrize("dtype", [torch.float64, torch.int64])
def test_the_step_is_the_function_and_the_drive_the_input(dtype):
    cell, h, x = as_cell(lambda h, x: h + x[..., :1]), draw(4, 3).to(dtype), draw(4, 2).to(dtype)
    assert cell.drive(x) is x
    assert cell.hidden(h) is h
    new = cell.step(h, x)
    assert torch.equal(new, h + x[:, :1])
    assert new.dtype == dtype


@settings(max_examples=15)
@given(SIZE, SIZE, st.sampled_from([(), (1,), (3,), (2, 3), (2, 1, 2)]), st.integers(0, 2**32 - 2))
def test_the_jacobian_is_that_of_autograd_in_every_batch_shape(width, d_in, shape, seed):
    h, x = draw(*shape, width, seed=seed), draw(*shape, d_in, seed=seed + 1)
    found = as_cell(bent).jacobian(h, x)
    assert found.shape == (*shape, width, width)
    assert found.dtype == torch.float64
    rows = zip(h.view(-1, width), x.view(-1, d_in), found.view(-1, width, width), strict=True)
    for state, given_input, one in rows:
        wanted = by_autograd(lambda h, x=given_input: bent(h[None], x[None])[0], state)
        torch.testing.assert_close(one, wanted, rtol=1e-12, atol=1e-12)


def test_the_function_of_a_jacobian_sees_batches_of_one():
    seen = []

    def f(h, x):
        seen.append((h.shape, x.shape))
        return h * x

    as_cell(f).jacobian(draw(5, 3), draw(5, 3))
    assert set(seen) == {((1, 3), (1, 3))}


@pytest.mark.usefixtures("unchecked")
class TestBadInput:
    @pytest.mark.parametrize(
        ("f", "got"),
        [
            (lambda h, x: h[:, :2], "(4, 2), torch.float64"),
            (lambda h, x: h.float(), "(4, 3), torch.float32"),
            (lambda h, x: h.sum(), "(), torch.float64"),
            (lambda h, x: h.tolist(), "list"),
            (lambda h, x: None, "NoneType"),
        ],
    )
    def test_what_is_no_state_like_the_one_before(self, f, got):
        law = f"f(h, x) must return a state like h, (4, 3), torch.float64, but returned {got}"
        for step in (as_cell(f).step, as_cell(f)):
            with pytest.raises(ValueError, match=f"^{escape(law)}$"):
                step(draw(4, 3), draw(4, 2))

    def test_a_function_knows_no_first_state_and_takes_any(self):
        with pytest.raises(ValueError, match=r"^a plain function f\(h, x\) has no initial state of its own: give h0$"):
            as_cell(bent).initial_state(4)
        for shape in ((), (1,), (4, 7)):
            as_cell(bent).check_state(torch.zeros(shape))
