"""Modules made under seeds of torch's global generator, which is left as it was."""

import torch
from torch import nn

from fhx.experiments.seeding import per_seed


def test_each_module_is_that_of_its_seed_and_the_generator_is_put_back():
    torch.manual_seed(3)
    expected = nn.Linear(2, 2).weight
    state = torch.get_rng_state()
    first, second = per_seed(lambda: nn.Linear(2, 2), [3, 4])
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.equal(first.weight, expected)
    assert not torch.equal(second.weight, expected)
