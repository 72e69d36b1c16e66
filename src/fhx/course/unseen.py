"""The seed, kept out of the list of processes, which every user of a machine can read.

A command that gets it as a word becomes a new one at once: the same program in the same process, which finds ``***`` in
its words and the seed in a pipe.
"""

import json
import os
import select
import sys
from collections.abc import Iterator, Sequence

from fhx.course import CourseError

__all__ = ["hidden", "restored", "words_of_command"]

SECRET = "--seed"
HANDED = "--seed-fd"
"""Before all other words: the number of the pipe."""
STARS = "***"


def words_of_command() -> list[str]:
    """The words after the name of the command that was started, seeds among them.

    Raises:
        CourseError: a seed does not fit into a pipe, or there is no pipe.
    """
    words = sys.argv[1:]
    if words[:1] == [HANDED]:
        return restored(words[2:], _received("".join(words[1:2])))
    stars, seeds = hidden(words)
    if not seeds or sys.platform == "win32" or not sys.executable or sys.orig_argv[-len(words) :] != words:
        return words
    content = json.dumps(seeds).encode()
    if len(content) > select.PIPE_BUF:
        raise CourseError(f"a seed has at most {select.PIPE_BUF // 12} letters")
    source, target = os.pipe()
    os.write(target, content)
    os.close(target)
    os.set_inheritable(source, True)
    begun = sys.orig_argv[1 : -len(words)]
    os.execv(sys.executable, [sys.executable, *begun, HANDED, str(source), *stars])


def hidden(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """The words with stars in the places of seeds, and the seeds."""
    stars, seeds = list(words), list[str]()
    for place, option in _places(words):
        seeds.append(words[place].removeprefix(option))
        stars[place] = option + STARS
    return stars, seeds


def restored(words: Sequence[str], seeds: Sequence[str]) -> list[str]:
    """The words with the seeds in their places, in the order of :func:`hidden`."""
    found = list(words)
    for (place, option), seed in zip(_places(words), seeds, strict=True):
        found[place] = option + seed
    return found


def _places(words: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Where a seed stands, and what is before it in that word; argparse takes the beginning of an option for all."""
    place = 0
    while place < len(words):
        name, equals, _ = words[place].partition("=")
        if len(name) > 2 and SECRET.startswith(name):
            if equals:
                yield place, name + equals
            elif place + 1 < len(words):
                place += 1
                yield place, ""
        place += 1


def _received(number: str) -> list[str]:
    try:
        with os.fdopen(int(number), "rb") as pipe:
            return json.loads(pipe.read())
    except (OSError, ValueError) as error:
        raise CourseError(f"{HANDED} is for the command itself: {error}") from error
