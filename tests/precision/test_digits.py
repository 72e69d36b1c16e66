"""What a type holds: the digit that is lost is the one that is predicted."""

import pytest
import torch
from precision_runs import BACK, BASES, FLOATS

from fhx.compile import turing_to_rnn
from fhx.precision import first_wrong_step, lossy_length, significand_bits


def test_the_bits_of_the_types():
    assert [significand_bits(dtype) for dtype in FLOATS] == [8, 11, 24, 53]
    with pytest.raises(TypeError):
        significand_bits(torch.int32)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("base", BASES)
def test_a_lossy_word_is_wrong(base, dtype):
    net, n = turing_to_rnn(BACK, base), lossy_length(base, dtype)
    digit = torch.tensor(1 - 1 / base, dtype=dtype)
    for stack in (digit, 1 - torch.finfo(dtype).eps * digit, torch.ones_like(digit)):
        assert stack + digit * base ** (1 - n) == stack < stack + digit * base ** (3 - n)
    assert first_wrong_step(net, "a" * n, dtype, 3 * n) is not None
