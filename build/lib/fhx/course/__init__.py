"""For those who assign chapters: versions for students and instructors, and a grader, by the command ``fhx-course``.

It works on a clone of the book and needs the extra ``course``: ``pip install 'fhx[course]'``.
"""

__all__ = ["CourseError"]


class CourseError(RuntimeError):
    """What was asked for cannot be made; the message says why, in words for who typed the command."""
