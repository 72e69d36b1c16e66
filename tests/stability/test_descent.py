"""Two descents side by side: against one written out by hand, for every schedule; what the projection sees."""

from math import sqrt

import pytest
import torch
from random_tensors import DOUBLE, draw
from stable_cells import stable_cell, vector

from fhx.cells import LSTMCell
from fhx.dynamics import unroll
from fhx.stability import contraction_rate, descend, gradient_gap, project, step_sizes, truncated_states


def loss(h):
    return (h.sum(-1) - 1).square().mean() / 2


def by_hand(cell, states, sizes, every_step):
    """The weights before each step and at the end, the losses and the gradients, one vector of weights at a time."""
    names = [name for name, _ in cell.named_parameters()]
    shapes = [parameter.shape for parameter in cell.parameters()]

    def value(weights):
        parts = weights.split([shape.numel() for shape in shapes])
        model = Unrolled(cell, states)
        values = {f"cell.{name}": part.reshape(shape) for name, part, shape in zip(names, parts, shapes, strict=True)}
        run = torch.func.functional_call(model, values, ())
        return loss(cell.hidden(run if every_step else run[-1]))

    weights, seen, losses, slopes = vector(cell), [], [], []
    for size in sizes:
        slope, found = torch.func.grad_and_value(value)(weights)
        seen, losses, slopes = [*seen, weights], [*losses, found], [*slopes, slope]
        weights = (weights - size * slope).detach()
    return [*seen, weights], torch.stack(losses).detach(), slopes


class Unrolled(torch.nn.Module):
    """A run as a module, whose weights can be exchanged."""

    def __init__(self, cell, states):
        super().__init__()
        self.cell, self.states = cell, states

    def forward(self):
        return self.states(self.cell)


@pytest.mark.parametrize("kind", ["linear", "tanh", "lstm"])
@pytest.mark.parametrize("schedule", ["1/t", "constant", "1/sqrt(t)"])
@pytest.mark.parametrize("every_step", [False, True])
def test_equal_to_the_descent_by_hand(kind, schedule, every_step):
    cell, inputs, k, sizes = stable_cell(kind, 0.8, 2, 3, 4), draw(9, 2, 2), 3, step_sizes(schedule, 0.01, 4)
    before = vector(cell)
    done = descend(cell, inputs, loss, k, sizes, every_step=every_step)
    whole = by_hand(cell, lambda cell: unroll(cell, inputs), sizes, every_step)
    cut = by_hand(cell, lambda cell: truncated_states(cell, inputs, k), sizes, every_step)
    wanted = torch.stack([(a - b).norm() for a, b in zip(whole[0], cut[0], strict=True)]).cpu()
    torch.testing.assert_close(done.weights, wanted, rtol=1e-10, atol=1e-14)
    gaps = torch.stack([(a - b).norm() for a, b in zip(whole[2], cut[2], strict=True)]).cpu()
    torch.testing.assert_close(done.gradients, gaps, rtol=1e-10, atol=1e-14)
    torch.testing.assert_close(done.losses, whole[1].cpu(), rtol=1e-11, atol=1e-14)
    torch.testing.assert_close(done.truncated_losses, cut[1].cpu(), rtol=1e-11, atol=1e-14)
    torch.testing.assert_close(vector(done.cell), whole[0][-1], rtol=1e-11, atol=1e-14)
    torch.testing.assert_close(vector(done.truncated), cut[0][-1], rtol=1e-11, atol=1e-14)
    assert torch.equal(vector(cell), before)
    assert done.gradients[0] > 0
    assert done.gradients[0] == gradient_gap(cell, inputs, loss, k, every_step)
    if not every_step:
        assert done.gradients[0] == gradient_gap(cell, inputs, loss, k)
        assert torch.equal(done.gradients, descend(cell, inputs, loss, k, sizes).gradients)
    for numbers in (done.weights, done.gradients, done.losses, done.truncated_losses):
        assert numbers.dtype == torch.float64


def test_step_sizes_by_hand():
    assert step_sizes("1/t", 2.0, 4) == [2, 1, 2 / 3, 0.5]
    assert step_sizes("1/t", 0.0, 2) == [0, 0]
    assert step_sizes("constant", 2.0, 3) == [2, 2, 2]
    assert step_sizes("1/sqrt(t)", 2.0, 4) == [2, 2 / sqrt(2), 2 / sqrt(3), 1]


def test_a_window_as_long_as_the_inputs_changes_nothing():
    cell, inputs = stable_cell("tanh", 0.8, 2, 3), draw(6, 2, 2)
    done = descend(cell, inputs, loss, 6, step_sizes("1/t", 0.5, 5))
    assert done.weights.tolist() == [0.0] * 6
    assert torch.equal(done.losses, done.truncated_losses)
    assert done.losses[-1] < done.losses[0]


def test_the_projection_follows_every_step_of_both():
    cell, inputs, rates = stable_cell("linear", 0.8, 2, 3), draw(9, 2, 2), []

    def clip(model):
        rates.append(contraction_rate(model))
        project(model, 0.8)

    done = descend(cell, inputs, loss, 2, step_sizes("constant", 1.0, 4), clip)
    assert len(rates) == 8
    assert max(rates) > 0.8
    assert max(contraction_rate(done.cell), contraction_rate(done.truncated)) <= 0.8
    assert (descend(cell, inputs, loss, 2, step_sizes("constant", 1.0, 4)).weights[1:] != done.weights[1:]).any()


def test_a_descent_without_steps():
    cell = stable_cell("tanh", 0.8, 2, 3)
    done = descend(cell, draw(5, 1, 2), loss, 2, [])
    assert (done.weights.tolist(), done.losses.tolist()) == ([0.0], [])
    assert torch.equal(vector(done.truncated), vector(cell))


def test_a_parameter_that_the_loss_does_not_reach():
    """The first output of an LSTM at one step does not depend on its recurrent weights."""
    cell = LSTMCell(2, 3, generator=torch.Generator().manual_seed(0), **DOUBLE)
    done = descend(cell, draw(1, 1, 2), loss, 1, [0.1])
    assert torch.equal(done.cell.W, cell.W)
    assert not torch.equal(done.cell.U, cell.U)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda cell: descend(cell, draw(5, 1, 2), loss, 0, [0.1]), "^k must be an integer of at least 1"),
        (
            lambda cell: descend(cell, draw(0, 1, 2), loss, 1, [0.1]),
            "^a loss of the last state needs at least one input$",
        ),
        (lambda cell: gradient_gap(cell, draw(5, 1, 2), loss, 0), "^k must be an integer of at least 1"),
        (
            lambda cell: step_sizes("1/t^2", 1.0, 3),
            r"^schedule must be one of '1/t', 'constant', '1/sqrt\(t\)', got '1/t\^2'",
        ),
        (lambda cell: step_sizes("1/t", -1.0, 3), "^alpha must be a finite number of at least 0, got -1"),
        (lambda cell: step_sizes("1/t", float("inf"), 3), "^alpha must be a finite number"),
        (lambda cell: step_sizes("1/t", 1.0, 0), "^steps must be an integer of at least 1"),
    ],
)
def test_bad_descents(call, words, unchecked):
    with pytest.raises(ValueError, match=words):
        call(stable_cell("tanh", 0.8, 2, 3))
