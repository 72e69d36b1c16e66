"""What a version adds to the tasks: points and time, and for instructors how to mark."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from fhx.course.chapters import Assigned
from fhx.exercises import Exercise, Mistake, Notes, check

__all__ = ["below_statement", "effort", "notes", "overview", "totals"]


def effort(of: Notes) -> str:
    """Points, difficulty and minutes on one line."""
    return f"*{_count(of.points, 'point')} · {of.difficulty} · about {_count(of.minutes, 'minute')}*"


def below_statement(assigned: Assigned) -> str:
    """The same and, where the statement leaves something open, its values."""
    values = [f"`{name} = {value!r}`" for name, value in assigned.exercise.parameters.items()]
    return "\n\n".join([effort(assigned.notes), *([f"**Your values:** {', '.join(values)}"] if values else [])])


def totals(assigned: Sequence[Assigned]) -> str:
    """A sentence on how many exercises there are, with their points and minutes in all; without a full stop."""
    points = sum(one.notes.points for one in assigned)
    minutes = sum(one.notes.minutes for one in assigned)
    verb = "There is" if len(assigned) == 1 else "There are"
    return (
        f"{verb} {_count(len(assigned), 'exercise')} with {_count(points, 'point')} in all, for about {minutes} minutes"
    )


def overview(assigned: Sequence[Assigned]) -> str:
    """A table with a row for each exercise."""
    rows = [
        f"| {one.number} | {one.exercise.title} | `{one.exercise.id}` "
        f"| {one.notes.points} | {one.notes.difficulty} | {one.notes.minutes} |"
        for one in assigned
    ]
    head = ["| exercise | title | name in `check` | points | difficulty | minutes |", "|---|---|---|---:|---|---:|"]
    return "\n".join(head + rows)


def notes(assigned: Assigned) -> str:
    """What an instructor wants to know about an exercise; its mistakes are run, so that nothing is out of date."""
    of = assigned.notes
    parts = ["#### For instructors", effort(of), f"**It teaches:** {of.teaches}"]
    if assigned.exercise.variant:
        parts.append("It has variants: where these are used, each student has other values.")
    if of.looks_for:
        parts.append("**A marker looks for:**\n\n" + "\n".join(f"- {one}" for one in of.looks_for))
    if of.hint:
        parts.append(f"**Hint**, which `check` folds below a failure: {of.hint}")
    if of.mistakes:
        parts.append("**Common mistakes**, and what `check` says about each:")
    parts += [_mistake(number, one, assigned.exercise) for number, one in enumerate(of.mistakes, start=1)]
    return "\n\n".join(parts)


def _mistake(number: int, mistake: Mistake, exercise: Exercise) -> str:
    names: dict[str, Any] = {}
    exec(compile(mistake.code, f"<mistake {number} of {exercise.id}>", "exec"), names)
    said = check(replace(exercise, notes=None), names[exercise.function])
    return f"{number}\\. {mistake.says}\n\n```python\n{mistake.code.strip()}\n```\n\n```text\n{said}\n```"


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"
