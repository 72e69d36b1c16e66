"""What a version says of the exercises beside their tasks: points and time, and for instructors how to mark them."""

from collections.abc import Sequence
from dataclasses import replace

from fhx.course.chapters import Assigned
from fhx.exercises import Exercise, Mistake, check

__all__ = ["effort", "notes", "overview", "totals"]


def effort(exercise: Exercise) -> str:
    """Points, difficulty and minutes in a line."""
    of = exercise.notes
    return f"*{_count(of.points, 'point')} · {of.difficulty} · about {_count(of.minutes, 'minute')}*"


def totals(assigned: Sequence[Assigned]) -> str:
    """How many exercises there are, and how much they are together."""
    points = sum(one.exercise.notes.points for one in assigned)
    minutes = sum(one.exercise.notes.minutes for one in assigned)
    return f"{_count(len(assigned), 'exercise')} with {_count(points, 'point')} in all, for about {minutes} minutes"


def overview(assigned: Sequence[Assigned]) -> str:
    """A row for each exercise."""
    rows = [
        f"| {one.number} | {one.exercise.title} | `{one.exercise.id}` "
        f"| {one.exercise.notes.points} | {one.exercise.notes.difficulty} | {one.exercise.notes.minutes} |"
        for one in assigned
    ]
    head = ["| exercise | title | name in `check` | points | difficulty | minutes |", "|---|---|---|---:|---|---:|"]
    return "\n".join(head + rows)


def notes(exercise: Exercise) -> str:
    """What an instructor wants to know of an exercise; its mistakes are run, so that what ``check`` says is current."""
    of = exercise.notes
    parts = ["#### For instructors", effort(exercise), f"**It teaches:** {of.teaches}"]
    if of.looks_for:
        parts.append("**A marker looks for:**\n\n" + "\n".join(f"- {one}" for one in of.looks_for))
    parts.append(f"**Hint**, which `check` folds below a failure: {of.hint}")
    parts.append("**Common mistakes**, and what `check` says of each:")
    parts += [_mistake(number, one, exercise) for number, one in enumerate(of.mistakes, start=1)]
    return "\n\n".join(parts)


def _mistake(number: int, mistake: Mistake, exercise: Exercise) -> str:
    names: dict[str, object] = {}
    exec(compile(mistake.code, f"<mistake {number} of {exercise.id}>", "exec"), names)
    said = check(replace(exercise, notes=None), names[exercise.function])
    return f"{number}\\. {mistake.says}\n\n```python\n{mistake.code.strip()}\n```\n\n```text\n{said}\n```"


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"
