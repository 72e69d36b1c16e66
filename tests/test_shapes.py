"""The checker of the package under test sees wrong shapes and types, of what is taken and of what is returned."""

import pytest
import torch
from jaxtyping import Float, TypeCheckError, jaxtyped
from shapes import checked
from torch import Tensor

GIVEN = torch.ones(2, 3)


@jaxtyped(typechecker=checked)
def turned(x: Float[Tensor, "a b"], scale: float = 1.0, *, answer: object = None) -> Float[Tensor, "b a"]:
    return x.T * scale if answer is None else answer


def test_what_is_right_passes():
    assert turned(GIVEN, 2, answer=None).shape == (3, 2)  # an int is a float


@pytest.mark.parametrize("wrong", [(GIVEN[0],), (GIVEN.int(),), (GIVEN, "1")], ids=["shape", "kind", "type"])
def test_a_wrong_argument_is_seen(wrong):
    with pytest.raises(TypeCheckError, match="parameters of"):
        turned(*wrong)


@pytest.mark.parametrize("wrong", [GIVEN, GIVEN.T[0], GIVEN.T.int(), 1.0], ids=["sides", "shape", "kind", "type"])
def test_a_wrong_answer_is_seen_also_by_the_sizes_of_the_arguments(wrong):
    with pytest.raises(TypeCheckError, match="return value of"):
        turned(GIVEN, answer=wrong)


def test_a_function_within_another_is_left_as_it_is():
    def within(x: Float[Tensor, "a b"]) -> None:
        pass

    assert checked(within) is within
