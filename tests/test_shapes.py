"""The checker of the package under test sees wrong shapes and types, of what is taken and of what is returned."""

import os
from types import SimpleNamespace
from typing import Literal

import pytest
import torch
from jaxtyping import Float, TypeCheckError
from shapes import checked, jaxtyped
from torch import Tensor

from fhx.cells import SimpleCell
from fhx.stability.gates import Range

GIVEN = torch.ones(2, 3)


@jaxtyped(typechecker=checked)
def turned(x: Float[Tensor, "a b"], scale: float = 1.0, *, answer: object = None) -> Float[Tensor, "b a"]:
    return x.T * scale if answer is None else answer.value


@jaxtyped(typechecker=checked)
def counted(items: list[int] | dict[str, int] | tuple[Tensor, ...]) -> int:
    return len(items)


@jaxtyped(typechecker=checked)
def named(name: Literal["rows", "sum"] | bool) -> Literal["rows", True]:
    return name


def right(value: object = GIVEN.T) -> SimpleNamespace:
    return SimpleNamespace(value=value)


@pytest.fixture(autouse=True)
def _a_right_call():
    """Its like is not looked at again."""
    assert turned(GIVEN).shape == turned(GIVEN, 2, answer=right()).shape == (3, 2)  # an int is a float


def test_what_is_right_passes():
    assert turned(GIVEN, 2, answer=right()) is not None
    assert turned(GIVEN.T).shape == (2, 3)


@pytest.mark.parametrize("wrong", [(GIVEN[0],), (GIVEN.int(),), (GIVEN, "1")], ids=["shape", "kind", "type"])
def test_a_wrong_argument_is_seen(wrong):
    for _ in range(2):
        with pytest.raises(TypeCheckError, match="parameters of"):
            turned(*wrong)


@pytest.mark.parametrize("wrong", [GIVEN, GIVEN.T[0], GIVEN.T.int(), 1.0], ids=["sides", "shape", "kind", "type"])
def test_a_wrong_answer_is_seen_also_by_the_sizes_of_the_arguments(wrong):
    for _ in range(2):
        with pytest.raises(TypeCheckError, match="return value of"):
            turned(GIVEN, 2, answer=right(wrong))


@pytest.mark.parametrize("size", [2, 1000])
@pytest.mark.parametrize(("of", "fine", "wrong"), [(list, 1, "1"), (tuple, GIVEN, 1)], ids=["list", "tuple"])
def test_wrong_items_are_seen_after_right_ones(of, fine, wrong, size):
    assert counted(of([fine] * size)) == size
    with pytest.raises(TypeCheckError, match="parameters of"):
        counted(of([wrong] * size))


def test_a_wrong_dict_is_seen_after_a_right_one():
    assert counted({"a": 1}) == 1
    with pytest.raises(TypeCheckError, match="parameters of"):
        counted({"a": "1"})


@pytest.mark.parametrize("wrong", ["columns", "sum", False])
def test_a_wrong_word_is_seen_after_a_right_one(wrong):
    assert [named("rows"), named(True)] == ["rows", True]
    with pytest.raises(TypeCheckError):
        named(wrong)


hooked = pytest.mark.skipif("FHX_UNCHECKED" in os.environ, reason="the package is imported without checks")
SIDES = torch.zeros(2), torch.ones(2)


@hooked
@pytest.mark.parametrize(
    ("call", "like", "other"),
    [
        (turned, (GIVEN + 1,), (torch.ones(5, 4),)),
        (SimpleCell(1, 2), (SIDES[0], SIDES[1][:1]), (GIVEN[:, :2], GIVEN[:, :1])),
        (Range, SIDES, (GIVEN[0], GIVEN[1])),
    ],
    ids=["a function", "a method of the package", "a dataclass of the package"],
)
def test_a_call_whose_like_has_passed_is_not_looked_at(monkeypatch, call, like, other):
    call(*like)
    looked = []
    monkeypatch.setattr(type(Float[Tensor, "a b"]), "__instancecheck__", lambda *_: looked.append(1) or True)
    call(*like)
    assert not looked
    call(*other)
    assert looked


@hooked
@pytest.mark.parametrize(
    "call", [lambda: SimpleCell(1, 2)(SIDES[0], SIDES[1][:1].int()), lambda: Range(SIDES[0], GIVEN[0])]
)
def test_the_package_is_checked(call):
    SimpleCell(1, 2)(SIDES[0], SIDES[1][:1])
    Range(*SIDES)
    with pytest.raises(TypeCheckError):
        call()


def test_a_function_within_another_is_left_as_it_is():
    def within(x: Float[Tensor, "a b"]) -> None:
        pass

    assert jaxtyped(typechecker=checked)(within) is within
