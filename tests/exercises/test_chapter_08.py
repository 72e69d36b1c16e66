"""Every exercise of chapter 8: a right answer passes, plausible wrong ones fail."""

import copy
from math import comb, exp, expm1, log

import numpy as np
import pytest
import torch
from exercise_laws import ExerciseLaws

from fhx.cells import DeepCell, HighwayCell, SimpleCell, Stack, orthogonal_
from fhx.dynamics import jacobians
from fhx.exercises import chapter_08, check
from fhx.exercises.evaluate_deep import deep_cell

EXERCISES = {exercise.id: exercise for exercise in chapter_08.EXERCISES}


def log_gain(weights, T):
    return T * sum(log(abs(w)) for w in weights)


def smallest_gain(L, T):
    return exp(-3 / (L * T))


def carry_bias(L, T):
    return -log(expm1(1 / (L * T)))


def arms(net):
    control = copy.deepcopy(net)
    control.cell.requires_grad_(False)
    return net, control


def count_paths(L, T):
    return comb(T + L - 2, L - 1), T + L - 2


def stack_jacobian(W1, W2, U2):
    top = np.hstack([W1, np.zeros((len(W1), len(W2)))])
    return np.vstack([top, np.hstack([U2 @ W1, W2])])


@torch.no_grad()
def orthogonal(cell, gain=1.09, bias=0.0):
    orthogonal_(cell, gain, generator=torch.Generator().manual_seed(0))
    for b in cell.layer_biases():
        b.fill_(bias)
    return cell


def hold(cell):
    return orthogonal(cell)


RIGHT = [log_gain, smallest_gain, carry_bias, arms, count_paths, stack_jacobian, hold]
ANSWERS = dict(zip(EXERCISES, RIGHT, strict=True))


@torch.no_grad()
def one_large_matrix(cell):
    orthogonal(cell).W.mul_(3.5)
    return cell


def no_number(cell):
    with torch.no_grad():
        orthogonal(cell).W[0, 0] = torch.nan
    return cell


@torch.no_grad()
def new_weights(net):
    control = copy.deepcopy(net)
    control.cell.requires_grad_(False)
    control.readout.reset_parameters()
    return net, control


def nothing_learns(net):
    control = copy.deepcopy(net)
    return net, control.requires_grad_(False)


def the_same_net(net):
    net.cell.requires_grad_(False)
    return net, net


def shared_readout(net):
    whole, control = arms(net)
    control.readout = whole.readout
    return whole, control


def frozen_twice(net):
    net.cell.requires_grad_(False)
    return net, copy.deepcopy(net)


WRONG = {
    "08-log-gain": [
        lambda weights, T: T * log(sum(map(abs, weights))),
        lambda weights, T: T * log(max(map(abs, weights))) * len(weights),
    ],
    "08-border": [
        lambda L, T: exp(3 / (L * T)),
    ],
    "08-carry": [
        lambda L, T: log(expm1(1 / (L * T))),
    ],
    "08-control": [
        lambda net: (net, copy.deepcopy(net)),
        nothing_learns,
        the_same_net,
        shared_readout,
        frozen_twice,
        new_weights,
        lambda net: arms(net)[::-1],
        lambda net: arms(net)[1],
        lambda net: (net, net.cell),
    ],
    "08-paths": [
        lambda L, T: (L**T, T + L - 2),
        lambda L, T: comb(T + L - 2, L - 1),
    ],
    "08-stack": [
        lambda W1, W2, U2: np.block([[W1, np.zeros((len(W1), len(W2)))], [W2 @ U2, W2]]),
        lambda W1, W2, U2: W2 @ U2,
    ],
    "08-hold": [
        lambda cell: cell,
        lambda cell: orthogonal(cell, 0.9),
        lambda cell: orthogonal(cell, 1.3),
        lambda cell: orthogonal(cell, bias=0.1),
        lambda cell: None,
        lambda cell: orthogonal(DeepCell(1, 32, 8)),
        lambda cell: orthogonal(DeepCell(1, 32, 16, activation="identity")),
        one_large_matrix,
        no_number,
    ],
}


class TestChapter08(ExerciseLaws):
    exercises, answers, wrong = chapter_08.EXERCISES, ANSWERS, WRONG


MALFORMED = {
    3: "The bias of layer 1 is not 0.",
    5: "Expected the cell that the function was given, a DeepCell(1, 32, 16), got an object of type DeepCell.",
    6: "The cell must stay a plain tanh cell.",
    7: "The matrix of layer 1 has the norm 3.82, and it must be between 0.5 and 3.",
    8: "The matrix of layer 1 has the norm nan, and it must be between 0.5 and 3.",
}


ARMS = [
    "Training changes the cell of the control.",
    "Training does not change the readout of the control.",
    "Training the control changes the net to train as a whole: they share weights.",
    "Training the control changes the net to train as a whole: they share weights.",
    "Training does not change the cell of the net to train as a whole.",
    "The control does not start with the weights of the given one.",
    "Training changes the cell of the control.",
]


@pytest.mark.parametrize("number", range(len(ARMS)))
def test_what_an_arm_lacks_is_said(number):
    assert check("08-control", WRONG["08-control"][number]).message == ARMS[number]


@pytest.mark.parametrize("number", MALFORMED)
def test_what_is_wrong_is_said_in_a_sentence(number):
    assert check("08-hold", WRONG["08-hold"][number]).message == MALFORMED[number]


def test_a_gradient_that_does_not_hold_is_shown_by_its_logarithm():
    message = check("08-hold", WRONG["08-hold"][1]).message
    assert message.startswith("On one sequence the logarithm of the gradient's norm changes by -")


def test_the_same_matrix_in_two_layers_is_no_answer():
    def identity(cell):
        orthogonal(cell)
        with torch.no_grad():
            for W in cell.layer_matrices()[1:]:
                W.copy_(torch.eye(32))
        return cell

    assert check("08-hold", identity).message == "The matrices of layers 2 and 3 are equal."


def test_a_matrix_left_open_is_a_hole():
    def half_done(cell):
        with torch.no_grad():
            for W in cell.layer_matrices():
                W[:] = ...
        return cell

    assert check("08-hold", half_done).status == "not answered yet"


def test_a_matrix_may_be_a_tensor():
    assert check("08-stack", lambda *parts: torch.as_tensor(stack_jacobian(*parts)))
    assert not check("08-stack", lambda *parts: torch.as_tensor(stack_jacobian(*parts)).T)


# What the texts say about these exercises holds


def test_a_highway_with_this_bias_keeps_the_share():
    L, T = 4, 25
    cell = HighwayCell(1, 3, L, carry_bias=carry_bias(L, T), dtype=torch.float64)
    with torch.no_grad():
        for W in cell.layer_matrices():
            W.zero_()
        cell.U.zero_()
    J = jacobians(cell, torch.zeros(T, 1, 1, dtype=torch.float64))[:, 0]
    assert torch.linalg.multi_dot(list(J))[0, 0].item() == pytest.approx(np.exp(-1))


def test_the_jacobian_is_that_of_the_packages_stack():
    generator = torch.Generator().manual_seed(0)
    options = {"activation": "identity", "generator": generator, "dtype": torch.float64}
    low, high = SimpleCell(1, 2, **options), SimpleCell(2, 3, **options)
    J = jacobians(Stack([low, high]), torch.zeros(1, 1, 1, dtype=torch.float64))[0, 0]
    ours = stack_jacobian(*(W.detach().numpy() for W in (low.W, high.W, high.U)))
    np.testing.assert_allclose(J.detach().numpy(), ours)


def test_the_given_cell_is_the_same_every_time():
    assert torch.equal(deep_cell().W, deep_cell().W)
    assert any(b.any() for b in deep_cell().layer_biases())
