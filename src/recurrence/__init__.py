"""Recurrence: what a net that repeats one step can compute, learn and forget."""

__version__ = "0.1.0"
