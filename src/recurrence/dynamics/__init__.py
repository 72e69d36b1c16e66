"""Dynamics: what happens when a cell is repeated."""

from recurrence.dynamics.realisation import Realisation
from recurrence.dynamics.unrolling import unroll

__all__ = ["Realisation", "unroll"]
