"""The grader: answers run in a sandbox, and are compared outside of it."""

__all__: list[str] = []
