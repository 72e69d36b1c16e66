"""The output of a kernel whose output nobody reads."""

import io
from typing import Any

__all__ = ["Silent"]


class Silent(io.TextIOBase):
    """What a kernel prints to, in place of a stream that sends it on: millions of lines cost a second or two.

    IPython wants to put a function of its own in the place of ``write``, and would keep all that is printed.
    """

    encoding, errors = "utf-8", "strict"
    write = staticmethod(len)

    def __init__(self, *_: Any, **__: Any) -> None:
        super().__init__()

    @property
    def buffer(self) -> io.BytesIO:
        return io.BytesIO()

    def __setattr__(self, name: str, value: Any) -> None:
        if name != "write":
            super().__setattr__(name, value)
