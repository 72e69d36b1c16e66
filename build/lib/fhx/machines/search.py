"""Breadth-first order, by which states are numbered wherever nothing else orders them."""

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

__all__ = ["breadth_first"]

T = TypeVar("T", bound=Hashable)


def breadth_first(start: T, successors: Callable[[T], Iterable[T]]) -> tuple[T, ...]:
    """All that can be reached from the start, itself first, near before far and then in the order of successors."""
    found = {start}
    order = [start]
    for state in order:  # grows while it is read
        for successor in successors(state):
            if successor not in found:
                found.add(successor)
                order.append(successor)
    return tuple(order)
