"""What holds for the exercises of every chapter. ``conftest.py`` gives each law its cases."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from fhx.exercises import Exercise, check


class ExerciseLaws:
    """A right answer passes, wrong ones that the notes do not list differ, and a record fits together."""

    exercises: ClassVar[Sequence[Exercise]]
    answers: ClassVar[Mapping[str, Callable[..., Any]]]
    wrong: ClassVar[Mapping[str, Sequence[Callable[..., Any]]]]

    def test_the_right_answer_passes(self, exercise, seed):
        result = check(exercise, self.answers[exercise.id], seed=seed, random_inputs=40)
        assert result, result

    def test_plausible_wrong_answers_fail(self, exercise, number):
        result = check(exercise, self.wrong[exercise.id][number])
        assert result.status in ("differs", "malformed"), result
        assert any(label == "yours" for label, _ in result.lines)

    def test_records_fit_together(self, exercise):
        assert set(self.wrong) <= {one.id for one in self.exercises}
        assert exercise.id[:2] == type(self).__name__[-2:]
        assert exercise.function == self.answers[exercise.id].__name__
        for case in exercise.all_cases(seed=1, random_inputs=5):
            assert len(case) == len(exercise.inputs)
        again = [[repr(case) for case in exercise.all_cases(7, 5)] for _ in range(2)]
        assert again[0] == again[1]
