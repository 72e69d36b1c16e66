"""What a compiler is given, checked before it starts."""

__all__ = ["check_kind"]


def check_kind(value: object, kind: type, compiler: str) -> None:
    """Raise a TypeError that says what a compiler needs, unless the value is of that kind."""
    if not isinstance(value, kind):
        raise TypeError(f"{compiler} needs a {kind.__name__}, not the {type(value).__name__} {value!r}")
