"""What crosses the wall arrives as it was; what is not data does not cross."""

import json
import math
import numbers
from collections import Counter, OrderedDict, defaultdict
from enum import Enum, IntEnum
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fhx.cells import DeepCell, LSTMCell
from fhx.course.grading.wire import LONGEST, WireError, dumps, loads
from fhx.course.grading.wire_types import write_atom
from fhx.dynamics import unroll
from fhx.exact import Matrix
from fhx.exercises import EXERCISES, difference
from fhx.machines import COUNTER_MACHINES, DFA, NAMED, TuringMachine, letter_from_the_end

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.fractions(),
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.integers() | st.text(), inner),
    max_leaves=12,
)


@settings(deadline=None)
@given(PLAIN)
def test_plain_values_arrive_as_they_were(value):
    there = loads(dumps(value))
    assert there == value
    assert repr(there) == repr(value)  # with the types inside


@pytest.mark.parametrize("value", [2**20_000, -(3**50_000), Fraction(1, 7**20_000)], ids=["power", "negative", "ratio"])
def test_numbers_of_any_length_cross(value):
    assert loads(dumps([value])) == [value]


def test_what_is_not_a_number_crosses():
    there = loads(dumps([math.nan, math.inf, -math.inf, np.float64("nan"), torch.tensor([math.nan, 1.0])]))
    assert math.isnan(there[0])
    assert there[1:3] == [math.inf, -math.inf]
    assert math.isnan(there[3])
    assert there[4].isnan().tolist() == [True, False]


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "bool", "uint8"])
def test_arrays_and_tensors_keep_type_and_shape(dtype):
    array = np.arange(6).reshape(1, 2, 3).astype(dtype)
    there = loads(dumps([array, array[0, 1, 2], torch.from_numpy(array), array[:0]]))
    assert [type(part) for part in there] == [np.ndarray, type(array[0, 1, 2]), torch.Tensor, np.ndarray]
    assert [str(part.dtype).removeprefix("torch.") for part in there] == [dtype] * 4
    assert [tuple(part.shape) for part in there] == [(1, 2, 3), (), (1, 2, 3), (0, 2, 3)]
    assert there[0].tolist() == there[2].tolist() == array.tolist()


@pytest.mark.parametrize("value", [{1, 2}, frozenset("ab"), range(3, 9, 2), (1,), {(0, "a"): [1]}])
def test_containers_keep_their_type(value):
    there = loads(dumps(value))
    assert (type(there), there) == (type(value), value)


def test_an_iterator_arrives_as_one():
    assert list(loads(dumps(x * x for x in range(3)))) == [0, 1, 4]
    assert loads(dumps({"a": 1}.keys())) == ("a",)


class Color(IntEnum):
    RED = 3


class Point(NamedTuple):
    x: float
    y: float


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        *((True, True), (Color.RED, 3), (np.float64(0.5), np.float64(0.5)), (np.bool_(True), np.bool_(True))),
        *((np.str_("ab"), "ab"), (Point(1.0, 2.0), (1.0, 2.0)), (torch.Size([2, 3]), (2, 3))),
        *((OrderedDict(a=1), {"a": 1}), (defaultdict(list, a=[1]), {"a": [1]}), (Counter("a"), {"a": 1})),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_subclass_arrives_as_the_plain_type(value, plain):
    there = loads(dumps(value))
    assert (type(there), there) == (type(plain), plain)


def test_machines_cross():
    turing = TuringMachine({("q", "a"): ("q", "a", "R")}, "q", "yes", "no", "_", "ab")
    for machine in (*NAMED.values(), letter_from_the_end(3, "ba"), *COUNTER_MACHINES.values(), turing):
        assert loads(dumps(machine)) == machine


@pytest.mark.parametrize("name", EXERCISES)
def test_inputs_of_every_exercise_are_data_or_functions(name):
    """What is neither arrives as a thing without attributes, and no honest answer could be right."""

    def keep(value):
        assert callable(value), type(value)
        return {"t": "call", "n": 0}

    for case in EXERCISES[name].all_cases(seed=0, random_inputs=3):
        dumps(case, keep)


class Whole:
    """An integer of another library, which Python's own numbers know."""

    def __index__(self):
        return 7


class Ratio:
    numerator, denominator = Whole(), 2


class Real:
    def __float__(self):
        return 0.5


numbers.Integral.register(Whole)
numbers.Rational.register(Ratio)
numbers.Real.register(Real)


def test_numbers_of_other_libraries_arrive_as_pythons():
    Ratio.numerator = 7
    there = loads(dumps([Whole(), Ratio(), Real()]))
    assert there == [7, Fraction(7, 2), 0.5]
    assert [type(part) for part in there] == [int, Fraction, float]


def test_matrices_cross():
    matrix = Matrix.of([[1, 0], [Fraction(1, 3), -2]])
    assert loads(dumps(matrix)) == matrix


class State(Enum):
    A = 1
    B = 2


def test_states_that_are_not_data_can_be_told_from_one_another():
    dfa = DFA(State, "x", {(State.A, "x"): State.B, (State.B, "x"): State.A}, State.A, {State.B})
    there = loads(dumps(dfa, write_atom))
    assert [there.accepts("x" * n) for n in range(4)] == [False, True, False, True]
    assert repr(there.start) == repr(State.A)
    assert type(there.start).__name__ == "State"
    assert there.start != loads(dumps(State.B, write_atom))
    with pytest.raises(WireError, match="type State"):
        dumps(State.A)


@pytest.mark.parametrize(("kind", "value"), [(3, "x"), ("A", 3), ("A" * 2_000, "x"), ("A", "x" * 2_000)])
def test_an_object_has_a_short_text(kind, value):
    with pytest.raises(WireError, match="has no text"):
        loads(json.dumps({"t": "atom", "class": kind, "v": value}))


def test_cells_cross_with_their_parameters():
    for cell in (LSTMCell(2, 3, dtype=torch.float64), DeepCell(1, 4, 3, width=5, activation="relu")):
        there = loads(dumps(cell))
        assert type(there) is type(cell)
        inputs = torch.ones(3, 1, cell.input_size, dtype=cell.W.dtype)
        assert torch.equal(unroll(there, inputs), unroll(cell, inputs))


@pytest.mark.parametrize("name", EXERCISES)
def test_every_argument_and_right_value_crosses(name):
    exercise = EXERCISES[name]
    things = []

    def keep(value):
        things.append(value)
        return {"t": "thing", "n": len(things) - 1}

    for case in exercise.all_cases(0, 2):
        for value in exercise.arguments(*case):
            there = loads(dumps(value, keep), lambda tag, number: things[number])
            assert type(there) is type(value)
        right = exercise.oracle(*case)
        assert difference(loads(dumps(right)), right) is None


class Equal(int):
    """Says that it is equal to everything."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = int.__hash__


def test_an_object_that_is_equal_to_everything_becomes_a_number():
    there = loads(dumps([Equal(3)]))[0]
    assert type(there) is int
    assert there != 4


@pytest.mark.parametrize("value", [object(), Equal, print, {1: [Equal]}, open, 1j, b"x"])
def test_what_is_not_data_does_not_cross(value):
    with pytest.raises(WireError, match="of type"):
        dumps(value)


def nested(depth):
    return json.dumps(0).join(("[" * depth, "]" * depth))


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "{",
            "{}",
            '{"t": 1}',
            '{"t": "system", "v": "ls"}',
            '{"t": "fraction", "v": "1/0"}',
            '"' + "x" * LONGEST + '"',
        ),
        *('{"t": "dfa", "v": {}}', '{"t": "set", "v": [[1]]}', '{"t": "int", "v": 3}', '{"t": "range", "v": [0, 1e9]}'),
        *('{"t": "range", "v": [0, 1000000000, 1]}', '{"t": "call", "n": 0}', '{"t": "function", "n": 0}'),
        *(
            '{"t": "array", "dtype": "object", "shape": [1000000000], "v": []}',
            '{"t": "tensor", "dtype": "q", "shape": [], "v": []}',
            '{"t": "decimal", "v": "1e999999999"}',
            f'{{"t": "decimal", "v": [0, {[1] * 50_000}, -49999]}}',
            dumps(LSTMCell(1, 1)).replace('"state_size": 1', '"state_size": 1, "device": "meta"'),
        ),
        '{"t": "array", "dtype": "float64", "shape": [2], "v": ["__import__", 1]}',
        '{"t": "cell", "class": "Stack", "options": {}, "v": {}}',
        '{"t": "cell", "class": "LSTMCell", "options": {"input_size": 1, "state_size": 100000}, "v": {}}',
        *(nested(100), nested(100_000)),
    ],
    ids=lambda text: text[:40],
)
def test_other_texts_are_refused(text):
    with pytest.raises(WireError):
        loads(text)


def test_an_unknown_tag_is_named():
    with pytest.raises(WireError, match=r"^'os\.system' is not a type of value$"):
        loads('{"t": "os.system", "v": "ls"}')


def test_a_forged_machine_is_checked_again():
    text = dumps(DFA([0], "a", {(0, "a"): 0}, 0, [])).replace('"start": 0', '"start": 5')
    with pytest.raises(WireError, match="malformed dfa"):
        loads(text)
