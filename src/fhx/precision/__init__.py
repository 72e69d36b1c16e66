"""What is left of an exact net in floating-point numbers: how long it is right, how wrong it gets, what it becomes."""

from fhx._extras import needs

with needs("torch"):
    from fhx.precision.automaton import float_net_to_dfa
    from fhx.precision.certificates import Bounds, certified_steps, error_bounds
    from fhx.precision.digits import lossy_length, significand_bits
    from fhx.precision.heights import exact_height, stack_height
    from fhx.precision.wrong_steps import first_wrong_step

__all__ = [
    "Bounds",
    "certified_steps",
    "error_bounds",
    "exact_height",
    "first_wrong_step",
    "float_net_to_dfa",
    "lossy_length",
    "significand_bits",
    "stack_height",
]
