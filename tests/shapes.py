"""The checker of annotated shapes: an int is a float, as it is for a type checker.

Every call is checked, but calls of one kind once: to look at all took longer than the calls themselves.
"""

from collections.abc import Callable, Collection, Hashable
from contextlib import suppress
from dataclasses import is_dataclass
from functools import cache, wraps
from types import FunctionType
from typing import Any

import jaxtyping
import numpy as np
import torch
from beartype import BeartypeConf, beartype

typed = beartype(conf=BeartypeConf(is_pep484_tower=True))
in_full = jaxtyping.jaxtyped
LONG = 10  # of a longer list some items are looked at, others each time


def checked(function: Callable) -> Callable:
    """A function with checks of its parameters and of what it returns.

    jaxtyping checks a call by two functions, one with the parameters and then one with these and the value that is
    returned. What the first has seen is not looked at again: that would be half of the work.
    """
    returned = function.__annotations__.get("return", Any)
    if returned is not Any:
        function.__annotations__ = {"return": returned}
    return typed(function)


def jaxtyped(*, typechecker: Callable) -> Callable:
    """What decorates each function and class of the package: it stands in for jaxtyping's own, which knows no memory.

    A function within another one is not checked, since its checks would be made anew at every call.
    """

    def decorated(made: Any) -> Any:
        if isinstance(made, FunctionType):
            return made if "<locals>" in made.__qualname__ else once_each(made, typechecker)
        if not isinstance(made, type):
            return in_full(made, typechecker=typechecker)
        if is_dataclass(made) and "__init__" in vars(made):
            made.__init__ = once_each(made.__init__, typechecker)  # type: ignore[misc]
        return made

    return decorated


def once_each(made: Callable, typechecker: Callable) -> Callable:
    """A function of whose calls those are checked whose like has not passed yet."""
    passed: set[Hashable] = set()
    answers: list[Any] = []

    @wraps(made)
    def given(*_: Any, **__: Any) -> Any:
        return answers[-1]

    whole, afterwards = (in_full(function, typechecker=typechecker) for function in (made, given))

    def has(key: Hashable) -> bool:
        try:
            return key in passed
        except TypeError:
            return False

    def add(key: Hashable) -> None:
        with suppress(TypeError):
            passed.add(key)

    @wraps(made)
    def call(*args: Any, **kwargs: Any) -> Any:
        if jaxtyping.config.jaxtyping_disable:
            return made(*args, **kwargs)
        taken = tuple([kind(value) for value in args]), tuple([(name, kind(value)) for name, value in kwargs.items()])
        if not has(taken):
            answer = whole(*args, **kwargs)
            add(taken)
        else:
            answer = made(*args, **kwargs)
            if has((taken, kind(answer))):
                return answer
            answers.append(answer)
            try:
                afterwards(*args, **kwargs)
            finally:
                answers.pop()
        add((taken, kind(answer)))
        return answer

    return call


def kind(value: Any) -> Hashable:
    """What a check can tell values apart by; a list, which no set holds, where that is not known."""
    return KINDS[sort(type(value))](value)


KINDS: dict[str, Callable[[Any], Any]] = {
    "array": lambda value: (type(value), value.dtype, value.shape),
    "items": lambda value: (type(value), *map(kind, value)) if len(value) <= LONG else [],
    "word": lambda value: (type(value), value),
    "class": lambda value: value,
    "other items": lambda value: [],
    "other": type,
}


@cache
def sort(of: type) -> str:
    """Which of them tells values of a type apart."""
    sorts = {"array": (torch.Tensor, np.ndarray), "items": (tuple, list), "word": (str, bool), "class": type}
    for name, types in sorts.items():
        if issubclass(of, types):
            return name
    return "other items" if issubclass(of, Collection) and not issubclass(of, torch.nn.Module) else "other"
