"""Randomness has one rule: seeds are ints, generators torch's, and nobody draws from or seeds a global generator."""

import ast
import re
from importlib import import_module
from inspect import getmembers, isclass, isfunction, signature
from pathlib import Path

import numpy as np
import pytest
import torch
from package_rooms import ROOMS

import fhx
from fhx.approximation import ShallowCell, exponential_sum, fold, imitate
from fhx.cells import LSTMCell, from_torch, parameter_count
from fhx.compile import dfa_to_rnn
from fhx.dynamics import Box
from fhx.machines import DFA, NAMED, word_sample
from fhx.stability import adversarial_gain, definite_net
from fhx.tasks import adding, digits, formal_language, teacher_recurrence, word_problem

SOURCES = sorted(Path(fhx.__file__).parent.rglob("*.py"))
PUT_BACK = {"training/ensemble.py", "experiments/seeding.py"}
SEEDS = {"seed": (int, "int"), "generator": (torch.Generator, torch.Generator | None)}  # "int" where annotations wait
EMPTY, ONE = torch.Generator(), torch.ones(1, 1)
LAST = DFA("ab", "ab", {(state, symbol): symbol for state in "ab" for symbol in "ab"}, "a", "b")
CALLS = [
    lambda: fold(ShallowCell(ONE, ONE / 2, ONE, ONE[0], ONE[0])),
    lambda: exponential_sum(0.5 ** torch.arange(8.0), 1).realization(),
    lambda: imitate(lambda h, x: h / 2, Box([-1.0], [1.0]), units=4, samples=50),
    lambda: from_torch(LSTMCell(2, 3, generator=EMPTY).to_torch()),
    lambda: parameter_count(LSTMCell, 2, 3),
    lambda: dfa_to_rnn(NAMED["parity"]).to_torch(),
    lambda: definite_net(LAST, 0.5),
    lambda: adversarial_gain(LSTMCell(1, 2, generator=EMPTY), starts=2, steps=2),
    lambda: word_sample("ab", 2, 5, 9, seed=3),
    lambda: (
        adding(5, (4, 4, 4)),
        digits(),
        formal_language("parity"),
        word_problem("Z2", 5),
        teacher_recurrence(2, 5),
    ),
]


def states():
    """Not Python's: the runtime checks of types in tests draw from it."""
    return torch.get_rng_state().tolist(), str(np.random.get_state())


def signatures():
    """All public functions, and methods of public classes, by name."""
    for room in ROOMS:
        module = import_module(f"fhx.{room}")
        for name in module.__all__:
            value = getattr(module, name)
            for what, call in [(name, value), *(getmembers(value, isfunction) if isclass(value) else ())]:
                if isfunction(call) and (what == "__init__" or not what.startswith("_")):
                    yield f"{room}.{name}.{what}", signature(call)


def test_a_seed_is_an_int_and_a_generator_is_of_torch():
    found = [
        (where, parameter.name, parameter.annotation)
        for where, each in signatures()
        for parameter in each.parameters.values()
        if parameter.name in SEEDS or "rng" in parameter.name
    ]
    assert len(found) > 25
    assert [it for it in found if it[2] not in SEEDS.get(it[1], ())] == []


@pytest.mark.parametrize("path", SOURCES, ids=str)
def test_no_global_generator_is_named(path):
    where = path.relative_to(Path(fhx.__file__).parent).as_posix()
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    named = {ast.unparse(node) for node in nodes if isinstance(node, ast.Attribute)}
    wrong = {
        name
        for name in named
        if re.fullmatch(r"torch\.(\w+\.)*(manual_seed(_all)?|seed(_all)?|set_rng_state(_all)?)", name)
        or (name.startswith("np.random.") and not name.startswith(("np.random.Generator", "np.random.default_rng")))
        or (name.startswith("random.") and name != "random.Random")
    }
    assert wrong == ({"torch.manual_seed"} if where in PUT_BACK else set())


@pytest.mark.parametrize("call", CALLS)
def test_the_global_generators_stay_where_they_are(call):
    before = states()
    call()
    assert states() == before
