"""What a room exports says what it is given: each parameter is named in its docstring, each property has one."""

import inspect
import re
from collections.abc import Iterator
from importlib import import_module

import pytest
from package_rooms import ROOMS


def unnamed(thing: object) -> list[str]:
    """The parameters of a function, or of a class's constructor, that its docstring does not name."""
    said = inspect.getdoc(thing) or ""
    names = [name for name in inspect.signature(thing).parameters if not name.startswith("_")]
    return [name for name in names if not re.search(rf"\b{name}\b", said)]


def silent_properties(kind: type) -> Iterator[str]:
    for name, value in inspect.getmembers_static(kind):
        if not name.startswith("_") and isinstance(value, property) and not inspect.getdoc(value):
            yield f"{kind.__name__}.{name}"


def exported(room: str) -> Iterator[tuple[str, object]]:
    module = import_module(f"fhx.{room}")
    for name in getattr(module, "__all__", ()):
        thing = getattr(module, name)
        if inspect.isclass(thing) or inspect.isroutine(thing):
            yield name, thing


@pytest.mark.parametrize("room", ROOMS)
def test_each_parameter_is_named_in_its_docstring(room):
    own = {name: thing for name, thing in exported(room) if inspect.isroutine(thing) or "__init__" in vars(thing)}
    assert {name: missing for name, thing in own.items() if (missing := unnamed(thing))} == {}


@pytest.mark.parametrize("room", ROOMS)
def test_each_property_has_a_docstring(room):
    assert [name for _, kind in exported(room) if inspect.isclass(kind) for name in silent_properties(kind)] == []
