"""Modules whose weights are not drawn."""

import pytest
import torch
from torch import nn

from fhx._modules import undrawn
from fhx.cells import DeepCell


@pytest.mark.parametrize(("make", "sizes"), [(nn.Linear, (2, 3)), (nn.LSTM, (2, 3, 2)), (DeepCell, (2, 3, 4))])
def test_it_has_the_shapes_that_a_drawn_one_has_and_nothing_was_drawn(make, sizes):
    drawn, before = make(*sizes, dtype=torch.float64), torch.get_rng_state()
    empty = undrawn(make, *sizes, dtype=torch.float64)
    assert torch.equal(torch.get_rng_state(), before)
    kinds = [[(n, p.shape, p.dtype, p.device) for n, p in m.named_parameters()] for m in (drawn, empty)]
    assert kinds[0] == kinds[1]
    empty.load_state_dict(drawn.state_dict())
    assert str(empty) == str(drawn)


def test_it_is_on_the_device_that_is_asked_for():
    assert undrawn(nn.Linear, 2, 3).weight.device == torch.empty(1).device
    assert undrawn(nn.Linear, 2, 3, device=torch.device("meta")).weight.is_meta
