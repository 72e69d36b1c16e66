"""The checker of annotated shapes: an int is a float, as it is for a type checker."""

from collections.abc import Callable
from functools import wraps
from itertools import count
from types import FunctionType
from typing import Any

import jaxtyping
from beartype import BeartypeConf, beartype

CALLS = 1000
"""Of each function in each process: those of a loop are alike, and to look at all is half of the work of many tests."""

typed = beartype(conf=BeartypeConf(is_pep484_tower=True))
jaxtyped = jaxtyping.jaxtyped


def checked(function: Callable) -> Callable:
    """A function with checks of its parameters and of what it returns.

    jaxtyping checks a call by two functions, one with the parameters and then one with these and the value that is
    returned. What the first has seen is not looked at again: that would be half of the work.
    """
    returned = function.__annotations__.get("return", Any)
    if returned is not Any:
        function.__annotations__ = {"return": returned}
    return typed(function)


def check_modules(names: list[str], calls: float = CALLS) -> None:
    """Check the functions of modules that are not imported yet, the first calls of each of them."""
    jaxtyping.jaxtyped = lambda *, typechecker: lambda made: checked_at_first(made, typechecker, calls)
    jaxtyping.install_import_hook(names, f"{__name__}.checked")


def checked_at_first(made: Any, typechecker: Callable, calls: float = CALLS) -> Any:
    """A function whose first calls are checked, or a class that checks what it is made of.

    A function within another one is not checked, since its checks would be made anew at every call of the other.
    """
    if not isinstance(made, FunctionType):
        return jaxtyped(made, typechecker=typechecker)
    if "<locals>" in made.__qualname__:
        return made
    strict, so_far = jaxtyped(made, typechecker=typechecker), count()

    @wraps(made)
    def call(*args: Any, **kwargs: Any) -> Any:
        return (strict if next(so_far) < calls else made)(*args, **kwargs)

    call.checked = strict  # type: ignore[attr-defined]  # for whoever asks whether it is
    return call
