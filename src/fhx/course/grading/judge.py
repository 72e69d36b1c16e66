"""One submission: what each of its answers deserves."""

import sys
import time
import traceback
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fhx.course.grading.answer import Answer, random_cases
from fhx.course.grading.cells import Cell
from fhx.course.grading.kernel import LATE, Kernel, Lost
from fhx.course.grading.launcher import Launcher, NoKernelError
from fhx.course.grading.marks import FAILED, LONGEST, Mark, Task, marked, writable
from fhx.course.grading.notebook import READING, Notebook, Way, read_notebook
from fhx.course.grading.partial import Tally, tally
from fhx.course.grading.sentences import LOOK, NOBODY, PRIVATE, SAID, STATUSES, TOO_LATE, UNREAD
from fhx.course.grading.uses import uses_in
from fhx.course.grading.wire import decode
from fhx.course.notebooks import NotebookError
from fhx.exercises import Exercise
from fhx.exercises.record import Case
from fhx.exercises.show import show
from fhx.exercises.time_limit import TooSlowError, time_limit
from fhx.exercises.trial import OPEN, Outcome, is_about_the_answer, sentence, shown, try_case

__all__ = ["grade_file"]

ANSWER = "_answer_that_is_checked"
"""The name of the value of an expression that was given to ``check``."""
RESTARTS = 2
"""As many kernels more has an answer that loses them, where the other cases count."""


def grade_file(path: Path, task: Task, launcher: Launcher | None = None) -> list[Mark]:
    """The marks of a submission, in the order of the exercises. Nothing that it does is raised.

    Their texts are short, and can be written to a file.

    Args:
        path: of the notebook.
        task: what to grade by.
        launcher: makes the kernels; None: one for this submission alone.
    """
    if launcher is None:
        with task.launcher() as own:
            return grade_file(path, task, own)
    began = time.monotonic()
    try:
        notebook = read_notebook(path, min(READING, task.limits.total))
    except NotebookError as error:
        return [marked(exercise, "invalid file", sentence(str(error))) for exercise in task.exercises]
    if not any(notebook.is_about(exercise.id, exercise.function) for exercise in task.exercises):
        none = f"The notebook has no function of chapter {task.chapter}. Is it of another chapter?"
        return [marked(exercise, "look at this", none) for exercise in task.exercises]
    grader = _Grader(notebook, task, launcher, time.monotonic() - began)
    return [_written(grader.mark(exercise)) for exercise in task.exercises]


def _written(found: Mark) -> Mark:
    lines = tuple((name, writable(text)) for name, text in found.lines)
    inside, remarks = writable(found.inside[-LONGEST:]), tuple(map(writable, found.remarks))
    return replace(found, message=writable(found.message), lines=lines, remarks=remarks, inside=inside)


@dataclass(frozen=True)
class _Attempt:
    """What came of an answer in one way.

    Attributes:
        way: which.
        outcome: of the first case that failed, or that it passed.
        is_private: whether that case is.
        failures: what cells stopped with, by their numbers.
        tally: on how many cases it is right, if that counts.
    """

    way: Way
    outcome: Outcome
    is_private: bool
    failures: dict[int, str]
    tally: Tally | None = None


class _Grader:
    """A notebook, each of whose answers is tried in a kernel of its own.

    Args:
        notebook: what was handed in.
        task: what to grade by.
        launcher: makes the kernels.
        spent: seconds of its time that it has taken to read it.
    """

    def __init__(self, notebook: Notebook, task: Task, launcher: Launcher, spent: float = 0.0) -> None:
        self._notebook, self._task, self._launcher = notebook, task, launcher
        self._bad: dict[int, Lost] = {}
        with suppress(NoKernelError):  # which each exercise will meet again
            launcher.ready()  # in nobody's time
        self._end = time.monotonic() + task.limits.total - spent

    def mark(self, exercise: Exercise) -> Mark:
        """The mark of an exercise; a failure of the grader is one that a person has to look at."""
        try:
            return self._mark(exercise)
        except NoKernelError as error:
            inside = str(error)
        except Exception:
            inside = traceback.format_exc()
        return marked(exercise, "look at this", FAILED, inside=inside)

    def _mark(self, exercise: Exercise) -> Mark:
        """What it deserves; a person decides where ``check`` had called it right, or may have had another answer."""
        found = self._judged(exercise)
        if found.status not in ("ok", "look at this") and self._notebook.was_right(exercise.title):
            return replace(found, status="look at this", points=None, message=SAID.format(found.message))
        if found.status == "not attempted" and (cell := self._notebook.unread_check(exercise.id, exercise.function)):
            return replace(found, status="look at this", points=None, message=UNREAD.format(cell.called, found.message))
        return found

    def _judged(self, exercise: Exercise) -> Mark:
        name, notebook = exercise.function, self._notebook
        try:
            self._keep_time()
            with time_limit(min(READING, max(0.1, self._end - time.monotonic())), "cpu"):
                ways = notebook.ways(exercise.id, name)
        except (TooSlowError, Lost):
            return marked(exercise, "look at this", TOO_LATE)
        if not any(map(notebook.is_filled, ways)) and (broken := notebook.broken(name)):
            return marked(exercise, "wrong", f"Its cell is not Python. {broken.error}.")
        if not ways:
            return marked(exercise, "not attempted", f"There is no function {name} in the notebook.")
        tried = self._tried(exercise, ways)
        outcome = tried.outcome
        if outcome.status == "late":
            return marked(exercise, "look at this", TOO_LATE)
        status = STATUSES.get(outcome.status, "wrong")
        if lost := self._maker_lost(outcome):
            status = STATUSES[lost.status]
            outcome = replace(outcome, message=f"It needs {outcome.name}, which is not there.", lines=())
        more: dict[str, Any] = {"message": outcome.message, "lines": outcome.lines}
        if tried.is_private:
            status = "wrong" if status == "not attempted" else status
            text = "\n".join(f"{name}: {value}" for name, value in outcome.lines)
            more = {"message": PRIVATE[outcome.status], "inside": f"{outcome.message}\n{text}"}
        more["remarks"] = tuple(self._remarks(exercise, replace(tried, outcome=outcome)))
        news = tuple(sorted(uses_in(tried.way.cells, tried.way.expression, exercise)))
        found = marked(
            exercise, status, **more, uses=news, is_hinted=is_about_the_answer(outcome.status, outcome.lines)
        )
        if tried.tally and found.points == 0 and status != "not attempted":
            found = replace(found, points=tried.tally.points(found.most))
            found = replace(found, remarks=(tried.tally.told(found.most), *found.remarks))
        if status == "ok" and news:
            return replace(found, status="look at this", message=LOOK.format(", ".join(news)))
        return found

    def _maker_lost(self, outcome: Outcome) -> Lost | None:
        """How the cell was lost that would have made the missing name."""
        makers = (lost for n, lost in self._bad.items() if outcome.name in self._notebook.cells[n].makes)
        return next(makers, None) if outcome.status == "no name" else None

    def _remarks(self, exercise: Exercise, tried: _Attempt) -> Iterator[str]:
        """What a student should know of the way, and of cells that did not run to their end."""
        times = len(self._notebook.definitions(exercise.function))
        if tried.way.words:
            yield f"To get this, these were run: {tried.way.words}."
        elif times > 1:
            yield f"{exercise.function} is defined in {times} cells, and the last one above its check counts."
        if tried.outcome.status in ("passed", OPEN):
            return
        for cell in tried.way.cells:
            if cell.source and (lost := self._bad.get(cell.number)):
                yield f"{cell.called} was left out: {lost.reason}."
            elif cell.source and cell.error and not tried.way.words:
                yield f"{cell.called} is not Python ({cell.error}); what stands above the error was run."
            elif (failure := tried.failures.get(cell.number)) and not tried.way.words:
                yield f"{cell.called} stopped with an error: {failure}"
        here = f"{sys.version_info[0]}.{sys.version_info[1]}"
        if self._notebook.python not in ("", here):
            yield f"The notebook ran with Python {self._notebook.python}, and Python {here} grades it."

    def _tried(self, exercise: Exercise, ways: Sequence[Way]) -> _Attempt:
        """The first way that leads to a right answer; else the first that leads to one that can be judged.

        If points are given for single cases, it is of these the one that is right on most.

        Of holes only the first is run, which says what is open in it.
        """
        tried: list[_Attempt] = []
        for way in ways:
            if tried and not self._notebook.is_filled(way):
                continue
            attempt = self._attempt(exercise, way)
            if attempt.outcome.status in ("passed", "late"):
                return attempt
            tried.append(attempt)
        judged = [one for one in tried if one.outcome.status not in ("no name", OPEN)]
        return max(judged, key=lambda one: one.tally.right if one.tally else 0, default=tried[0])

    def _attempt(self, exercise: Exercise, way: Way) -> _Attempt:
        """Run the cells of a way in a kernel, and try the cases there: all, or up to the first that fails."""
        failures, found = dict[int, str](), dict[int, Outcome]()
        cases = list(self._all_cases(exercise))
        with closing(self._outcomes(exercise, way, cases, failures)) as outcomes:
            for number, outcome in outcomes:
                if outcome.status == "late":
                    return _Attempt(way, outcome, False, failures)
                found.setdefault(number, outcome)
                if outcome.status != "passed" and not self._task.partial:
                    break
        failed = ((number, outcome) for number, outcome in found.items() if outcome.status != "passed")
        number, outcome = next(failed, (-1, Outcome("passed")))
        count = None
        if self._task.partial and outcome.status != "passed" and len(cases) > len(exercise.cases):
            rights = [number in found and found[number].status == "passed" for number in range(len(cases))]
            count = tally(rights, [show(exercise.oracle(*case)) for case in cases[len(exercise.cases) :]])
        return _Attempt(way, outcome, number >= len(exercise.cases), failures, count)

    def _outcomes(
        self, exercise: Exercise, way: Way, cases: Sequence[Case], failures: dict[int, str]
    ) -> Generator[tuple[int, Outcome]]:
        """What comes of the cases by their numbers, -1 if it does not come to any.

        Nothing but this answer ever runs in the kernel. If it is lost there is another one, ``RESTARTS`` times.
        """
        number = -1
        for _ in range(1 + RESTARTS):
            try:
                with closing(self._prepared(way, failures)) as kernel:
                    name = way.expression if way.expression.isidentifier() else ANSWER
                    answer = Answer(exercise, kernel, self._task.limits.slack, name)
                    while number + 1 < len(cases):
                        number += 1
                        self._keep_time()
                        yield number, try_case(exercise, cases[number], answer)
                return
            except Lost as lost:
                lines = shown(exercise, cases[number]) if 0 <= number < len(exercise.cases) else ()
                yield number, Outcome(lost.status, sentence(lost.reason), lines)
                if number < 0:
                    return

    def _all_cases(self, exercise: Exercise) -> Iterator[Case]:
        yield from exercise.cases
        for case in self._task.private.get(exercise.id, ()):
            yield tuple(decode(value) for value in case)
        yield from random_cases(exercise, self._task.seed, self._task.random_inputs)

    def _prepared(self, way: Way, failures: dict[int, str]) -> Kernel:
        """A kernel in which the cells have run.

        A cell that loops or crashes is left out from then on, unless it is the answer's own.
        """
        while True:
            self._keep_time()
            if way.own in self._bad:
                raise self._bad[way.own]
            failures.clear()
            kernel = Kernel(self._launcher, self._end)
            try:
                for cell in way.cells:
                    if cell.number not in self._bad:
                        self._run(kernel, cell, failures)
                if not way.expression.isidentifier():
                    kernel.run(f"{ANSWER} = ({way.expression})", self._task.limits.cell)
            except Lost:
                kernel.close()
                if self._is_late():
                    raise
            except BaseException:
                kernel.close()
                raise
            else:
                return kernel

    def _run(self, kernel: Kernel, cell: Cell, failures: dict[int, str]) -> None:
        try:
            for source in filter(None, [cell.to_run] if cell.source else cell.basics):
                self._keep_time()
                error = kernel.run(source, self._task.limits.cell)
                if error and error[0] == "ModuleNotFoundError":
                    for statement in cell.statements():  # a package of the student's machine, and names after it
                        kernel.run(statement, self._task.limits.cell)
                if error and cell.source:
                    failures[cell.number] = NOBODY if error[0] == "StdinNotImplementedError" else ": ".join(error)
        except Lost as lost:
            self._bad[cell.number] = lost
            raise

    def _is_late(self) -> bool:
        return time.monotonic() > self._end

    def _keep_time(self) -> None:
        if self._is_late():
            raise Lost("late", LATE)
