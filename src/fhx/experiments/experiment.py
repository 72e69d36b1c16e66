"""The record of an experiment."""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from attrs import field, frozen

from fhx.experiments.protocol import Evidence

Point = Mapping[str, Any]
"""One place of an experiment's grid: what is asked, as an object of JSON."""
Result = dict[str, Any]
"""What came out there, an object of JSON too."""


def _as_json(value: Mapping[str, Any]) -> dict[str, Any]:
    return json.loads(json.dumps(value))


def _all_as_json(values: Iterable[Point]) -> tuple[dict[str, Any], ...]:
    return tuple(map(_as_json, values))


@frozen(kw_only=True, eq=False)
class Experiment:
    """A long run as one value: what is asked, what is tried, and how one point of it is computed.

    Settings and points are kept as JSON has them, so that they are what a result file holds.

    Attributes:
        name: of its module or package in ``fhx.experiments``, and of its result, ``results/NAME.json``.
        question: what it is to answer, in one sentence.
        settings: what all points have in common, the seeds among it.
        points: what is to be run, in the order in which the result lists it; all different.
        run: from a point to its result. It depends on the point alone, and is a function of a module, so that it can
            be sent to another process.
        trains: whether nets are trained, so that a verdict needs evidence.
        evidence: from the stored result to what a verdict rests on (:mod:`fhx.experiments.protocol`), by the name of
            what is compared, a task for example; None where none is stated.

    Raises:
        TypeError: settings or a point hold something that JSON cannot.
        ValueError: the name is not an identifier, the question is not one, or a point occurs twice. All broken laws
            are reported at once.
    """

    name: str
    question: str
    settings: dict[str, Any] = field(converter=_as_json, repr=False)
    points: tuple[dict[str, Any], ...] = field(converter=_all_as_json, repr=False)
    run: Callable[[Point], Result] = field(repr=False)
    trains: bool = field(default=True, repr=False)
    evidence: Callable[[Mapping[str, Any]], Mapping[str, Evidence]] | None = field(default=None, repr=False)

    def __attrs_post_init__(self) -> None:
        laws = []
        if not self.name.isidentifier():
            laws.append(f"the name {self.name!r} is not an identifier")
        if not self.question.endswith("?"):
            laws.append(f"the question {self.question!r} does not end with a question mark")
        keys = [point_key(point) for point in self.points]
        laws += [f"the point {key} occurs twice" for key in dict.fromkeys(keys) if keys.count(key) > 1]
        if laws:
            raise ValueError("; ".join(laws))


def point_key(point: Point) -> str:
    """The same text for equal points."""
    return json.dumps(point, sort_keys=True)
