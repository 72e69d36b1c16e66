"""The checker of annotated shapes: an int is a float, as it is for a type checker."""

from collections.abc import Callable
from typing import Any

from beartype import BeartypeConf, beartype

typed = beartype(conf=BeartypeConf(is_pep484_tower=True))


def checked(function: Callable) -> Callable:
    """A function with checks of its parameters and of what it returns.

    jaxtyping checks a call by two functions, one with the parameters and then one with these and the value that is
    returned. What the first has seen is not looked at again: that would be half of the work. A function within another
    one is not checked, since its checks would be made anew at every call.
    """
    if "<locals>" in function.__qualname__:
        return function
    returned = function.__annotations__.get("return", Any)
    if returned is not Any:
        function.__annotations__ = {"return": returned}
    return typed(function)
