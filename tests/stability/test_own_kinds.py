"""A kind of cell that the package does not know, in one piece of code: from then on all of stability knows it."""

from math import inf

import numpy as np
import pytest
import torch
from random_tensors import draw
from torch import nn

from fhx.cells import Cell, GRUCell, LinearCell, LSTMCell, SimpleCell, from_torch
from fhx.dynamics import Box, unroll
from fhx.stability import (
    Certificate,
    Constants,
    WithReadout,
    adversarial_gain,
    constants,
    contraction_rate,
    fixed_point,
    invariant_set,
    project,
    register_certificate,
    truncated_states,
    window_for_state_gap,
)
from fhx.stability.certificates import certificate
from fhx.stability.norms import UP, Norm

DOUBLE = {"dtype": torch.float64}


class LeakyCell(Cell):
    """h <- a h + sin(x): as large as 1 / (1 - |a|), and nearer by |a| in every norm."""

    def __init__(self, size, a):
        super().__init__(size, size)
        self.a = nn.Parameter(torch.tensor(a, **DOUBLE))

    def drive(self, x):
        return x.sin()

    def step(self, h, drive):
        return self.a * h + drive


class Unknown(LeakyCell):
    pass


class LeakyCertificate(Certificate):
    cell: LeakyCell
    everywhere = True

    def rate(self, norm: Norm) -> float:
        return abs(self.cell.a.item())  # exact: nothing to round

    def invariant_set(self) -> Box:
        return Box.symmetric([UP / (1 - self.rate(2))] * self.cell.state_width)

    @torch.no_grad()
    def project(self, rate, condition, forget):
        self.cell.a.clamp_(-rate, rate)


register_certificate(LeakyCell, LeakyCertificate)


def test_a_kind_of_ones_own():
    cell = LeakyCell(2, -0.8)
    assert [contraction_rate(cell, norm) for norm in (None, 2, "max", inf)] == [0.8] * 4
    assert invariant_set(cell).high.tolist() == pytest.approx([5, 5])
    assert contraction_rate(WithReadout(cell, nn.Linear(2, 1, **DOUBLE))) == 0.8
    assert fixed_point(cell, torch.ones(2, **DOUBLE)).state.tolist() == pytest.approx([np.sin(1) / 1.8] * 2)
    assert adversarial_gain(cell, starts=4, steps=5).gain == pytest.approx(0.8)
    inputs, k = draw(60, 3, 2), window_for_state_gap(0.8, 5.0, 1e-3)
    gap = (truncated_states(cell, inputs, k) - unroll(cell, inputs)).abs().max().item()
    assert 0 < gap <= 1e-3
    assert contraction_rate(project(cell, 0.5)) == 0.5


def test_what_a_kind_does_not_know_is_refused():
    with pytest.raises(ValueError, match=r"^no constants are known for LeakyCell"):
        constants(LeakyCell(2, 0.5))
    with pytest.raises(ValueError, match="for linear cells, and LeakyCell"):
        fixed_point(LeakyCell(2, 0.5), norm="lyapunov")


def test_a_kind_is_its_subclasses_too_unless_they_have_their_own():
    assert contraction_rate(Unknown(2, 0.5)) == 0.5


@pytest.mark.parametrize("infinity", [inf, float("inf"), torch.inf, np.inf, np.float64("inf")])
def test_infinity_is_the_max_norm(infinity):
    simple, lstm = SimpleCell(2, 3, **DOUBLE), LSTMCell(2, 3, **DOUBLE)
    for cell in (simple, lstm, GRUCell(2, 3, **DOUBLE)):
        assert contraction_rate(cell, infinity) == contraction_rate(cell, "max")
    project(lstm, 0.5)
    assert torch.equal(fixed_point(lstm, norm=infinity).state, fixed_point(lstm, norm="max").state)
    searched = [adversarial_gain(simple, norm, starts=2, steps=2).gain for norm in (infinity, "max")]
    assert searched[0] == searched[1]
    both = WithReadout(simple, nn.Linear(3, 2, **DOUBLE))
    assert both.lipschitz(infinity) == both.lipschitz("max") != both.lipschitz(2)
    assert Constants(0.5, 1, 1, 1, 1, 1, 1, 1, infinity) == Constants(0.5, 1, 1, 1, 1, 1, 1, 1, "max")
    assert contraction_rate(simple, 2.0) == contraction_rate(simple)


@pytest.mark.usefixtures("unchecked")
def test_nets_of_torch_are_converted_first():
    net = nn.LSTM(2, 3, **DOUBLE)
    assert contraction_rate(from_torch(net)) > 0
    for norm in (1, -inf, "inf", "euclid"):
        names = "norm must be one of 2, 'max', 'weighted', 'lyapunov', or inf for 'max', got"
        with pytest.raises(ValueError, match=f"^{names}"):
            contraction_rate(from_torch(net), norm)


@pytest.mark.parametrize("kind", [SimpleCell, LinearCell, LSTMCell, GRUCell])
def test_inputs_are_at_most_one_where_nothing_is_said(kind):
    cell = project(kind(2, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64), 0.5)
    with torch.no_grad():
        cell.b.fill_(0.1)
    boxes = [invariant_set(cell), invariant_set(cell, 1.0)]
    assert torch.equal(boxes[0].high, boxes[1].high)
    assert contraction_rate(cell) == contraction_rate(cell, input_bound=1.0)
    assert certificate(cell).input_bound == 1.0
    if kind is LinearCell:
        assert (invariant_set(cell, 2.0).high > boxes[0].high).any()
