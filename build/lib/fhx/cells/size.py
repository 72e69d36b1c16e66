"""How many parameters a cell has, and how wide a cell a budget of parameters allows."""

from collections.abc import Callable
from typing import Any

from torch import nn

from fhx._checks import positive


def parameter_count(make: Callable[..., nn.Module], input_size: int, state_size: int, **options: Any) -> int:
    """The number of parameters of ``make(input_size, state_size, **options)``.

    It is made on the meta device, where tensors have a shape and no numbers.

    Args:
        make: a kind of cell, or ``functools.partial(Stack.repeat, SimpleCell)`` for a stack of ``depth`` cells.
        input_size: width of the input.
        state_size: width of the hidden part of the state, of a stack that of every layer.
        options: as for the cell.

    Raises:
        ValueError: a size is not a positive integer, or what the cell raises.
        TypeError: an option that the cell does not have, or a missing one.
    """
    placed = {name: value for name, value in options.items() if name != "generator"} | {"device": "meta"}
    return sum(parameter.numel() for parameter in make(input_size, state_size, **placed).parameters())


def width_for(budget: int, make: Callable[..., nn.Module], input_size: int, **options: Any) -> int:
    """The largest ``state_size`` with at most ``budget`` parameters.

    Args:
        budget: a number of parameters.
        make, input_size, options: as for ``parameter_count``.

    Raises:
        ValueError: even the smallest ``state_size`` has more parameters, or what ``parameter_count`` raises.
        TypeError: see ``parameter_count``.
    """
    budget = positive("budget", budget)

    def count(d: int) -> int:
        return parameter_count(make, input_size, d, **options)

    try:
        count(1)
        low = 1
    except ValueError:  # a layer norm needs two units
        low = 2
    if count(low) > budget:
        name = getattr(make, "__name__", repr(make))
        raise ValueError(f"{name} has at least {count(low)} parameters, more than the budget of {budget}")
    high = 2 * low
    while count(high) <= budget:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if count(middle) <= budget else (low, middle)
    return low
