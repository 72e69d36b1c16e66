"""Random cells that contract, and their step as a function of state, input and one vector of weights."""

import torch
from random_tensors import DEVICE, DOUBLE, draw, rng
from torch.func import functional_call

from fhx.cells import LinearCell, LSTMCell, SimpleCell
from fhx.stability import contraction_rate, lstm_bounds

KINDS = ["linear", "tanh", "sigmoid", "lstm"]


def uniform(*shape, seed=1):
    """Between -1 and 1."""
    return (2 * torch.rand(shape, generator=rng(seed), dtype=torch.float64) - 1).to(DEVICE)


@torch.no_grad()
def stable_cell(kind, rate=0.8, d_in=1, d=2, seed=0, size=1.0):
    """A cell with random weights and biases, the recurrent ones scaled until the certificate is at most the rate."""
    if kind == "lstm":
        cell = LSTMCell(d_in, d, generator=rng(seed), **DOUBLE)
        forget = torch.tensor(rate / 2, dtype=torch.float64).logit() - 0.1
        for parameter, one in zip(cell.parameters(), (1, 2, 3), strict=True):
            parameter.copy_(size * uniform(*parameter.shape, seed=seed + one))
        cell.U_f.mul_(0.05 / size / d_in)
        cell.b_f.copy_(forget)
    elif kind == "linear":
        cell = LinearCell(d_in, d, generator=rng(seed), **DOUBLE)
    else:
        cell = SimpleCell(d_in, d, kind, generator=rng(seed), **DOUBLE)
    if kind != "lstm":
        for parameter, one in zip(cell.parameters(), (1, 2, 3), strict=True):
            parameter.copy_(size * draw(*parameter.shape, seed=seed + one))
        cell.W.mul_(rate / contraction_rate(cell))
        cell.W.mul_(1 - 1e-12)
    while (lstm_bounds(cell).rate if kind == "lstm" else contraction_rate(cell)) > rate:  # the one of the constants
        cell.W.mul_(0.9)
    return cell


def vector(cell):
    """(W, U, b) as one vector."""
    return torch.cat([parameter.detach().flatten() for parameter in cell.parameters()])


def step_of(cell):
    """f(h, x, weights) with the weights as one vector."""
    names = [name for name, _ in cell.named_parameters()]
    shapes = [parameter.shape for parameter in cell.parameters()]

    def step(h, x, weights):
        parts = weights.split([shape.numel() for shape in shapes])
        values = {name: part.reshape(shape) for name, part, shape in zip(names, parts, shapes, strict=True)}
        return functional_call(cell, values, (h, x))

    return step


@torch.no_grad()
def moved(cell, other, share):
    """The cell with weights between the two."""
    between = type(cell)(cell.input_size, cell.state_size, **DOUBLE)
    if isinstance(cell, SimpleCell):
        between.activation = cell.activation
    for target, a, b in zip(between.parameters(), cell.parameters(), other.parameters(), strict=True):
        target.copy_(a + share * (b - a))
    return between
