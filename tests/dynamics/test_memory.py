"""Moments of units with a memory, against the sums that they are, differentiated by autograd."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from random_tensors import DOUBLE

from fhx.dynamics import memory_moments

REMEDIES = ("none", "exponential", "normalized", "both")
decays = st.floats(0.01, 0.98)


def weights_of_the_past(parameter, remedy, terms):
    """What multiplies the inputs 0, 1, ... steps back in the state, as a function of the learned parameter."""
    a = torch.exp(-torch.exp(parameter)) if remedy in ("exponential", "both") else parameter
    scale = (1 - a**2).sqrt() if remedy in ("normalized", "both") else 1
    return scale * a ** torch.arange(terms, **DOUBLE)


@given(decays, st.sampled_from(REMEDIES))
def test_the_sums(decay, remedy):
    a = torch.tensor(decay, **DOUBLE)
    parameter = (-a.log()).log() if remedy in ("exponential", "both") else a
    terms = 3000  # 0.98^6000 is below 1e-52
    each = parameter.expand(terms).clone().requires_grad_()  # one for each weight, and so the slope of each
    weights = weights_of_the_past(each, remedy, terms)
    (slopes,) = torch.autograd.grad(weights.sum(), each)
    found = memory_moments(a, remedy)
    torch.testing.assert_close(found.state, weights.detach().square().sum(), rtol=1e-9, atol=0)
    torch.testing.assert_close(found.sensitivity, slopes.square().sum(), rtol=1e-9, atol=0)


@given(st.floats(0.5, 1 - 1e-9))
def test_what_a_long_memory_costs(decay):
    """The cube, the first power, the square and nothing."""
    a = torch.tensor(decay, **DOUBLE)
    memory = 1 / (1 - a)
    limits = {"none": (3, 1 / 4), "exponential": (1, 1 / 4), "normalized": (2, 1 / 4), "both": (0, 1 / 4)}
    for remedy, (power, factor) in limits.items():
        ratio = (memory_moments(a, remedy).sensitivity / memory**power / factor).item()
        assert abs(ratio - 1) < 5 * (1 - decay)
    assert memory_moments(a, "both").sensitivity <= 1 / 4


@pytest.mark.usefixtures("unchecked")
def test_bad_input():
    for decay in (0.0, 1.0, -0.5, float("nan")):
        with pytest.raises(ValueError, match="every decay must lie between 0 and 1"):
            memory_moments(torch.tensor([0.5, decay]))
    with pytest.raises(ValueError, match="remedy"):
        memory_moments(torch.tensor(0.5), "a prayer")
