"""What holds for the exercises of every chapter. ``conftest.py`` gives each law its cases."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from fhx.exercises import Exercise, check


class ExerciseLaws:
    """A right answer passes, plausible wrong ones differ, a hole is not answered yet, and a record fits together."""

    exercises: ClassVar[Sequence[Exercise]]
    answers: ClassVar[Mapping[str, Callable[..., Any]]]
    wrong: ClassVar[Mapping[str, Sequence[Callable[..., Any]]]]

    def test_the_right_answer_passes(self, exercise, seed):
        result = check(exercise, self.answers[exercise.id], seed=seed, random_inputs=40)
        assert result, result

    def test_plausible_wrong_answers_fail(self, exercise, number):
        result = check(exercise, self.wrong[exercise.id][number])
        assert result.status == "differs", result
        assert any(label == "yours" for label, _ in result.lines)

    def test_a_hole_is_not_answered_yet(self, exercise):
        result = check(exercise, lambda *case: ...)
        assert result.status == "not answered yet"
        assert not result

    def test_records_fit_together(self, exercise):
        assert exercise.id[:2] == type(self).__name__[-2:]
        assert exercise.function == self.answers[exercise.id].__name__
        assert self.wrong[exercise.id]
        for case in exercise.all_cases(seed=1, random_inputs=5):
            assert len(case) == len(exercise.inputs)
        again = [[repr(case) for case in exercise.all_cases(7, 5)] for _ in range(2)]
        assert again[0] == again[1]
