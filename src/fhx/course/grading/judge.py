"""One submission: what each of its answers deserves."""

import time
import traceback
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from fhx.course.grading.answer import Answer, random_cases
from fhx.course.grading.cells import Cell
from fhx.course.grading.kernel import LATE, Kernel, Lost, NoKernelError
from fhx.course.grading.marks import FAILED, LONGEST, Mark, Task, marked, writable
from fhx.course.grading.notebook import Notebook, read_notebook
from fhx.course.grading.uses import known_uses, package_uses
from fhx.course.grading.wire import decode, dumps
from fhx.course.notebooks import NotebookError
from fhx.exercises import Exercise
from fhx.exercises.record import Case
from fhx.exercises.trial import OPEN, Outcome, sentence, shown, try_case

__all__ = ["grade_file"]

PRIVATE = {
    "differs": "On an input that is not shown the value is wrong.",
    "unread": "On an input that is not shown the value cannot be read.",
    "raised": "On an input that is not shown it stops with an error.",
    "no name": "On an input that is not shown it stops with an error.",
    "too slow": "On an input that is not shown it gives no value in time.",
    "crashed": "On an input that is not shown it crashes.",
    OPEN: "On an input that is not shown a hole is left.",
}
"""What a student is told about a private case: the kind of failure."""
STATUSES = {"passed": "ok", "too slow": "timeout", "crashed": "crashed", OPEN: "not attempted"}
"""Of marks, by what came of the cases; for all else it is ``wrong``."""

SOUND = dumps([1, -2.5, True, None, "x", (Fraction(1, 3), {"a": {2}})])
"""A kernel that cannot repeat this was tampered with, and another one takes its place."""
LOOK = "It is right. It uses {}, which the exercise may not allow: a person decides."
TOO_LATE = "The time of the notebook was used up before this was judged, and a person will look at it."


def grade_file(path: Path, task: Task, scratch: Path | None = None) -> list[Mark]:
    """The marks of a submission, in the order of the exercises. Nothing that it does is raised.

    Their texts are short, and can be written to a file.

    Args:
        path: of the notebook.
        task: what to grade by.
        scratch: where temporary files go; by default where the system has them.
    """
    try:
        notebook = read_notebook(path)
    except NotebookError as error:
        return [marked(exercise, "invalid file", sentence(str(error))) for exercise in task.exercises]
    names = [exercise.function for exercise in task.exercises]
    if not any(notebook.definitions(name) or notebook.broken(name) for name in names):
        none = f"The notebook has no function of chapter {task.chapter}. Is it of another chapter?"
        return [marked(exercise, "look at this", none) for exercise in task.exercises]
    with _Grader(notebook, task, scratch) as grader:
        return [_written(grader.mark(exercise)) for exercise in task.exercises]


def _written(found: Mark) -> Mark:
    lines = tuple((name, writable(text)) for name, text in found.lines)
    inside, remarks = writable(found.inside[-LONGEST:]), tuple(map(writable, found.remarks))
    return replace(found, message=writable(found.message), lines=lines, remarks=remarks, inside=inside)


class _Grader:
    """A notebook with the kernel that it has at the moment."""

    def __init__(self, notebook: Notebook, task: Task, scratch: Path | None) -> None:
        self._notebook, self._task, self._scratch = notebook, task, scratch
        self._kernel: Kernel | None = None
        self._bad: dict[int, Lost] = {}
        self._is_whole = False  # all cells have run in the kernel
        self._is_own = True  # nothing but the present answer has
        self._end = time.monotonic() + task.limits.total

    def __enter__(self) -> "_Grader":
        return self

    def __exit__(self, *_: object) -> None:
        self._drop()

    def mark(self, exercise: Exercise) -> Mark:
        """The mark of an exercise; a failure of the grader is one that a person has to look at."""
        try:
            return self._mark(exercise)
        except NoKernelError as error:
            inside = str(error)
        except Exception:
            inside = traceback.format_exc()
        self._drop()
        return marked(exercise, "look at this", FAILED, inside=inside)

    def _mark(self, exercise: Exercise) -> Mark:
        name = exercise.function
        made = self._notebook.definitions(name)
        if not self._notebook.has_answer(name) and (broken := self._notebook.broken(name)):
            return marked(exercise, "wrong", f"Its cell is not Python. {broken.error}.")
        if not made:
            return marked(exercise, "not attempted", f"There is no function {name} in the notebook.")
        outcome, is_private = self._outcome(exercise)
        if outcome.status == "late":
            return marked(exercise, "look at this", TOO_LATE)
        status = STATUSES.get(outcome.status, "wrong")
        if lost := self._maker_lost(outcome):
            status = STATUSES[lost.status]
            outcome = replace(outcome, message=f"It needs {outcome.name}, which is not there.", lines=())
        more: dict[str, Any] = {"message": outcome.message, "lines": outcome.lines}
        if is_private:
            status = "wrong" if status == "not attempted" else status
            text = "\n".join(f"{name}: {value}" for name, value in outcome.lines)
            more = {"message": PRIVATE[outcome.status], "inside": f"{outcome.message}\n{text}"}
        more["remarks"] = tuple(self._remarks(name, len(made), outcome))
        news = tuple(sorted(self._uses(exercise) - known_uses().get(exercise.id, frozenset())))
        found = marked(exercise, status, **more, uses=news)
        if status == "ok" and news:
            return replace(found, status="look at this", message=LOOK.format(", ".join(news)))
        return found

    def _maker_lost(self, outcome: Outcome) -> Lost | None:
        """How the cell was lost that would have made the missing name."""
        makers = (lost for n, lost in self._bad.items() if outcome.name in self._notebook.cells[n].makes)
        return next(makers, None) if outcome.status == "no name" else None

    def _remarks(self, name: str, times: int, outcome: Outcome) -> Iterator[str]:
        if times > 1:
            yield f"{name} is defined in {times} cells, and the last one counts."
        if outcome.status not in ("passed", OPEN):
            for cell in self._notebook.slice(name):
                if cell.source and (lost := self._bad.get(cell.number)):
                    yield f"{cell.called} was left out: {lost.reason}."

    def _uses(self, exercise: Exercise) -> set[str]:
        try:
            return package_uses(exercise.function, [cell.python for cell in self._notebook.cells])
        except Exception as error:
            return {f"something that cannot be followed ({type(error).__name__})"}

    def _outcome(self, exercise: Exercise) -> tuple[Outcome, bool]:
        """The outcome of the first case that failed, and whether that case is private.

        A kernel in which other answers were tried is blamed on them: then it is tried again in one of its own. And a
        name that is missing may be made in a way that cannot be seen: then all cells are run.
        """
        outcome, is_private = self._cases(exercise, whole=False)
        if outcome.status in ("too slow", "crashed", "unread") and not self._is_own and not self._is_late():
            self._drop()
            outcome, is_private = self._cases(exercise, whole=False)
        if outcome.status == "no name" and not self._is_whole and self._notebook.may_make(outcome.name):
            outcome, is_private = self._cases(exercise, whole=True)
        return outcome, is_private

    def _cases(self, exercise: Exercise, whole: bool) -> tuple[Outcome, bool]:
        is_private = False
        shown_case: Case | None = None
        self._is_own = True
        try:
            answer = Answer(exercise, self._prepared(exercise, whole), self._task.limits.slack)
            for number, case in enumerate(self._all_cases(exercise)):
                is_private = number >= len(exercise.cases)
                shown_case = None if is_private else case
                self._keep_time()
                if (outcome := try_case(exercise, case, answer)).status != "passed":
                    return outcome, is_private
        except Lost as lost:
            self._drop()
            lines = () if shown_case is None else shown(exercise, shown_case)
            return Outcome(lost.status, sentence(lost.reason), lines), is_private
        return Outcome("passed"), False

    def _all_cases(self, exercise: Exercise) -> Iterator[Case]:
        yield from exercise.cases
        for case in self._task.private.get(exercise.id, ()):
            yield tuple(decode(value) for value in case)
        yield from random_cases(exercise, self._task.seed, self._task.random_inputs)

    def _prepared(self, exercise: Exercise, whole: bool) -> Kernel:
        """A kernel in which the cells have run that an answer needs, or all of them.

        A cell that loops or crashes is left out from then on, unless it is the answer's own.
        """
        self._keep_time()
        own = self._notebook.definitions(exercise.function)[-1]
        if own.number in self._bad:
            raise self._bad[own.number]
        if self._is_whole and self._kernel is not None:
            return self._kernel
        cells = self._notebook.to_run if whole else self._notebook.slice(exercise.function)
        while True:
            kernel = self._fresh()
            try:
                for cell in cells:
                    if cell.number not in self._bad and not cell.error:
                        self._run(kernel, cell)
            except Lost as lost:
                self._drop()
                if lost is self._bad.get(own.number) or self._is_late():
                    raise
                continue
            self._is_whole = whole
            return kernel

    def _run(self, kernel: Kernel, cell: Cell) -> None:
        self._keep_time()
        try:
            for source in [cell.source] if cell.source else cell.basics:
                if kernel.run(source, self._task.limits.cell) == "ModuleNotFoundError":
                    for statement in cell.statements():  # a package of the student's machine, and names after it
                        kernel.run(statement, self._task.limits.cell)
        except Lost as lost:
            if self._is_own:  # another answer may have left something behind that ended the kernel
                self._bad[cell.number] = lost
            self._is_own = True
            raise

    def _is_late(self) -> bool:
        return time.monotonic() > self._end

    def _keep_time(self) -> None:
        if self._is_late():
            raise Lost("late", LATE)

    def _fresh(self) -> Kernel:
        """A kernel without names; it may have had others."""
        self._is_whole = False
        with suppress(Lost):
            if self._kernel is not None and self._kernel.ask("fresh", [SOUND], self._task.limits.cell) == SOUND:
                self._is_own = False
                return self._kernel
        self._drop()
        hidden = [Path(path) for path in self._task.hidden]
        self._kernel = Kernel(self._task.limits, self._task.isolated, hidden, self._end, self._scratch)
        self._is_own = True
        return self._kernel

    def _drop(self) -> None:
        if self._kernel is not None:
            self._kernel.close()
            self._kernel = None
