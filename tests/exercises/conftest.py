"""Puts the laws of exercises on the path of these tests, and gives each of them its cases."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
pytest.register_assert_rewrite("exercise_laws")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test of ``ExerciseLaws`` names what it wants: an exercise, one with a seed, or a wrong answer to one."""
    laws = metafunc.cls
    if laws is None or not hasattr(laws, "exercises"):
        return
    wanted = set(metafunc.fixturenames)
    if {"exercise", "seed"} <= wanted:
        cases = [(one, seed) for one in laws.exercises for seed in range(3 if one.inputs else 1)]
        metafunc.parametrize(("exercise", "seed"), cases, ids=[f"{one.id}-{seed}" for one, seed in cases])
    elif {"exercise", "number"} <= wanted:
        cases = [(one, n) for one in laws.exercises for n in range(len(laws.wrong.get(one.id, ())))]
        metafunc.parametrize(("exercise", "number"), cases, ids=[f"{one.id}-{n}" for one, n in cases])
    elif "exercise" in wanted:
        metafunc.parametrize("exercise", laws.exercises, ids=[one.id for one in laws.exercises])
