"""Jobs that processes and clusters can import."""

import os
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import torch


@dataclass(frozen=True)
class Squares:
    """Squares: called with a number, or with a point of an experiment that has one. It notes what it was asked."""

    notes: Path
    fatal: Sequence[int] = ()  # kills the worker that first begins it
    wrong: Sequence[int] = ()  # raises a ValueError

    def run(self, point: dict) -> dict:
        return {"third": self(point["number"]) / 3, "dtype": str(torch.get_default_dtype())}

    def __call__(self, number: int) -> int:
        first = number not in self.begun
        (self.notes / f"{number} {uuid4().hex} {os.getpid()}").touch()
        time.sleep(0.05)
        if number in self.fatal and first:
            os.kill(os.getpid(), signal.SIGKILL)
        if number in self.wrong:
            raise ValueError(f"no square of {number}")
        return number**2

    @property
    def begun(self) -> list[int]:
        """The numbers that were begun, once for each time."""
        return sorted(int(note.name.split()[0]) for note in self.notes.iterdir())

    @property
    def workers(self) -> set[int]:
        """The processes that began any."""
        return {int(note.name.split()[-1]) for note in self.notes.iterdir()}


def second_fails(argument: tuple[Path, int, float]) -> int:
    """Job 0 ends at once, 1 fails as soon as 2 has begun, and 2 takes that many seconds."""
    folder, index, seconds = argument
    (folder / f"begun {index}").touch()
    if index == 1:
        while not (folder / "begun 2").exists():
            time.sleep(0.01)
        raise ValueError("one is wrong")
    try:
        time.sleep(seconds if index == 2 else 0)
    finally:
        (folder / f"ended {index}").touch()
    return torch.get_num_threads()


def fatal(notes: Path) -> None:
    """The end of the process, each time; it is noted."""
    (notes / uuid4().hex).touch()
    os.kill(os.getpid(), signal.SIGKILL)


class Unpicklable(Exception):
    """An exception that cannot be made again from what it holds."""

    def __init__(self, number: int, reason: str) -> None:
        super().__init__(f"{number} is {reason}")


def unpicklable(number: int) -> None:
    raise Unpicklable(number, "odd")


def missing(_: object) -> None:
    from fhx.tasks import DataNotFoundError  # here, as processes that do other jobs would take long to import it

    raise DataNotFoundError("no chorales")


_inside: list[int] = []


def crowd(who: int) -> int:
    """How many are in this function at once, in this process, one of them after having entered."""
    _inside.append(who)
    time.sleep(0.05)
    most = len(_inside)
    _inside.remove(who)
    return most
