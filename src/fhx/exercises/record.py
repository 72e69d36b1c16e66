"""An exercise as data: what is asked, on which inputs, and what is right."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fhx.exercises.notes import Notes

__all__ = ["Case", "Exercise", "random_word"]

Case = tuple[Any, ...]
"""One input of an exercise: a value for each of its names."""


def _whole_case(*case: Any) -> Case:
    return case


def _as_it_is(value: Any, *case: Any) -> Any:
    return value


@dataclass(frozen=True, eq=False)
class Exercise:
    """A function for the reader to write, with an oracle that knows the right values by another way than the solution.

    Usually a case is what the function is called with, and its value is compared. Where many answers are right, such as
    the weights of a net, ``arguments`` says what of the case the function gets and ``observe`` what is compared: say,
    what the net puts out on the word of the case.

    Attributes:
        id: chapter and name, ``01-one-step``.
        title: a few words.
        signature: the function's name and parameters, ``one_step(W, U, b, h, x)``.
        inputs: the names of a case's values; none if the function is called once and its value is decided on.
        cases: the stated cases, tried first, simple ones first.
        sample: draws a case from a generator.
        oracle: the right value of a case.
        arguments: maps a case to the function's arguments.
        observe: maps the function's value and the case to what is compared; raises a ValueError for a malformed value.
        tolerance: allowed error of a float, relative to numbers above 1 and absolute below.
        seconds: time limit of one call.
        notes: points, a hint and what else a course needs to know; those of the book have them.
        solution: the code of a right answer, with the imports that it needs; the book's stand in its notebooks.
        parameters: what the statement leaves open, by name. A course shows them below it.
        variant: makes the exercise of one student from a generator of that student's: with other parameters, cases and
            oracle, and all else as it is.
    """

    id: str
    title: str
    signature: str
    inputs: tuple[str, ...]
    cases: tuple[Case, ...]
    sample: Callable[[np.random.Generator], Case]
    oracle: Callable[..., Any]
    arguments: Callable[..., Case] = _whole_case
    observe: Callable[..., Any] = _as_it_is
    tolerance: float = 1e-9
    seconds: float = 2.0
    notes: Notes | None = None
    solution: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    variant: Callable[[np.random.Generator], "Exercise"] | None = None

    @property
    def function(self) -> str:
        """The name of the function to write."""
        return self.signature.partition("(")[0]

    @property
    def is_design(self) -> bool:
        """Whether something is made of the function's value before it is compared, as the outputs of a net are."""
        return self.observe is not _as_it_is

    def all_cases(self, seed: int, random_inputs: int) -> Iterator[Case]:
        """The stated cases, then random ones; no random ones where there is nothing to vary."""
        yield from self.cases
        if not self.inputs:
            return
        generator = np.random.default_rng(seed)
        for _ in range(random_inputs):
            yield self.sample(generator)


def random_word(generator: np.random.Generator, alphabet: str, max_length: int) -> str:
    """A word of uniform length and letters."""
    return "".join(generator.choice(list(alphabet), size=generator.integers(max_length + 1)))
