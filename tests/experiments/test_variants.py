"""Gates that start open: what is kept falls by a factor e in a time up to the horizon, and other cells stay."""

import pytest
import torch

from fhx.cells import DeepLSTMCell, GRUCell, LSTMCell, SimpleCell
from fhx.experiments.variants import open_gates

UNITS = 64


@pytest.mark.parametrize(
    "make", [LSTMCell, GRUCell, lambda d, n: DeepLSTMCell(d, n, 1), lambda d, n: DeepLSTMCell(d, n, 3)]
)
@pytest.mark.parametrize("steps", [10, 100])
def test_memories_last_up_to_the_horizon(make, steps):
    torch.manual_seed(0)
    cell = make(2, UNITS)
    open_gates(cell, steps)
    with torch.no_grad():
        for name, p in cell.named_parameters():
            if name[0] in "WU":
                p.zero_()
        h = torch.ones(1, cell.state_width)
        if isinstance(cell, DeepLSTMCell):  # nothing is written: tanh of the candidate's bias
            (cell.b_upper[-1] if cell.depth > 1 else cell.b)[2 * UNITS :] = 0
        elif isinstance(cell, LSTMCell):
            cell.b_z.zero_()
        else:
            cell.b_n.zero_()
            cell.b_m.zero_()
        kept = cell(h, torch.zeros(1, 2))[0, -UNITS:]
    times = 1 / (1 - kept)  # of 1 the share 1 - 1 / (1 + u) is kept, for a time u
    assert times.min() >= 2
    assert times.max() <= steps
    assert times.max() > 0.8 * steps


def test_a_cell_without_gates_stays_and_draws_nothing():
    cell = SimpleCell(2, 3)
    before, state = [p.clone() for p in cell.parameters()], torch.get_rng_state()
    open_gates(cell, 10)
    assert all(torch.equal(a, b) for a, b in zip(before, cell.parameters(), strict=True))
    assert torch.equal(state, torch.get_rng_state())
