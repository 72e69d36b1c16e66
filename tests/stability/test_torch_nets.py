"""What takes a cell says of a net of torch how it becomes one, wherever it is given."""

import pytest
import torch
from torch import nn

from fhx.cells import from_torch
from fhx.dynamics import (
    Realization,
    finite_time_exponents,
    gradient_norms,
    jacobians,
    linear_states,
    lyapunov_estimate,
    lyapunov_spectrum,
    parallel_unroll,
    unroll,
)
from fhx.stability import (
    Projected,
    Translated,
    WithReadout,
    adversarial_gain,
    constants,
    contraction_rate,
    descend,
    fixed_point,
    gradient_gap,
    gru_bounds,
    invariant_set,
    lstm_bounds,
    project,
    truncated_states,
)

INPUTS, H0 = torch.zeros(5, 1, 2), torch.zeros(3)
TAKES_A_CELL = {
    "unroll": lambda net: unroll(net, INPUTS),
    "unroll from h0": lambda net: unroll(net, INPUTS, H0),
    "jacobians": lambda net: jacobians(net, INPUTS, H0),
    "gradient_norms": lambda net: gradient_norms(net, INPUTS, torch.linalg.vector_norm, H0),
    "lyapunov_spectrum": lambda net: lyapunov_spectrum(net, INPUTS),
    "lyapunov_estimate": lambda net: lyapunov_estimate(net, INPUTS),
    "finite_time_exponents": lambda net: finite_time_exponents(net, INPUTS),
    "parallel_unroll": lambda net: parallel_unroll(net, INPUTS, h0=H0),
    "linear_states": lambda net: linear_states(net, INPUTS),
    "Realization": lambda net: Realization(net, nn.Identity()),
    "Realization from h0": lambda net: Realization(net, nn.Identity(), H0),
    "truncated_states": lambda net: truncated_states(net, INPUTS, 2),
    "descend": lambda net: descend(net, INPUTS, torch.sum, 2, [0.1]),
    "gradient_gap": lambda net: gradient_gap(net, INPUTS, torch.sum, 2),
    "contraction_rate": contraction_rate,
    "invariant_set": invariant_set,
    "adversarial_gain": adversarial_gain,
    "fixed_point": fixed_point,
    "constants": constants,
    "lstm_bounds": lstm_bounds,
    "gru_bounds": gru_bounds,
    "project": lambda net: project(net, 0.5),
    "Projected": lambda net: Projected([net], 0.5),
    "Translated": lambda net: Translated(net, H0),
    "WithReadout": lambda net: WithReadout(net, nn.Linear(3, 1)),
}


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("net", [nn.LSTM(2, 3), nn.RNN(2, 3), nn.GRUCell(2, 3), nn.RNNCell(2, 3)], ids=str)
@pytest.mark.parametrize("use", TAKES_A_CELL.values(), ids=TAKES_A_CELL)
def test_a_net_of_torch_is_sent_to_from_torch(use, net):
    with pytest.raises(ValueError, match=r"\(2, 3\) is a net of torch: fhx\.cells\.from_torch makes a cell of it$"):
        use(net)


def test_a_cell_of_torch_becomes_a_cell():
    assert unroll(from_torch(nn.RNNCell(2, 3)), INPUTS).shape == (5, 1, 3)
