"""What is said of an answer, and the status that follows from what came of it."""

from fhx.exercises.trial import OPEN

__all__ = ["LOOK", "NOBODY", "PRIVATE", "SAID", "STATUSES", "TOO_LATE", "UNREAD"]

PRIVATE = {
    "differs": "On an input that is not shown the value is wrong.",
    "malformed": "On an input that is not shown the value is of another type or shape than what is asked for.",
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

LOOK = "It is right. It uses {}, which the exercise may not allow: a person decides."
SAID = "In the file check had called it right, and the grader does not, so a person will look at it. {}"
UNREAD = "{} calls check in a way that cannot be read off, so a person looks whether an answer is there. {}"
"""What is said where nothing is found that is more than a hole."""
NOBODY = "input() waits for a person, and nobody is there when answers are graded."
TOO_LATE = "The time of the notebook was used up before this was judged, and a person will look at it."
