"""The stored result of a long run, and what it is said to show."""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fhx._version import shipped


class WrongResultError(ValueError):
    """What was found is not the result of an experiment, or one that was made otherwise."""


def stored(name: str) -> dict[str, Any]:
    """The result of the experiment ``name``, as ``python -m fhx.experiments NAME`` has written it.

    The file ``NAME.json`` is looked for in the folder that the environment variable ``FHX_RESULTS`` names, in
    a folder ``results`` of the current folder or of one above it, and in the package itself, which carries the results
    of its version.

    Returns:
        ``experiment``, ``settings``, ``device``, ``versions`` and ``points``, a list of ``point`` (what was asked),
        ``result`` (what came out) and ``seconds``.

    Raises:
        FileNotFoundError: it cannot be found; the message says where it was looked for and how to make it.
        WrongResultError: what was found is not a result.
    """
    for folder in (*_folders(), shipped()):
        if (path := folder / f"{name}.json").is_file():
            return read(path)
    raise FileNotFoundError(
        f"there is no result {name}.json. It was looked for in\n"
        f"- FHX_RESULTS: {os.environ.get('FHX_RESULTS') or 'not set'}\n"
        f"- the folder results of {Path.cwd()} and of those above it\n"
        f"- the package: {shipped()}\n"
        f"To make it, run: python -m fhx.experiments {name}"
    )


def verified(sentences: Mapping[str, object]) -> str:
    """A line for each sentence about a stored run, to be printed, if all of them hold.

    Args:
        sentences: each with its truth, such as a comparison of numbers of a :func:`stored` result.

    Raises:
        AssertionError: a sentence does not hold; the message has all that do not.
        ValueError: there are no sentences.
    """
    if not sentences:
        raise ValueError("there is nothing to verify: give a dict of sentences, each with its truth")
    if wrong := [sentence for sentence, holds in sentences.items() if not holds]:
        raise AssertionError(f"these do not hold: {'; '.join(wrong)}")
    return "\n".join(f"{sentence}: True" for sentence in sentences)


def read(path: Path) -> dict[str, Any]:
    """The result in a file.

    Raises:
        WrongResultError: the file is not the result of an experiment.
    """
    try:
        result = json.loads(path.read_bytes())
        if not all({"point", "result"} <= entry.keys() for entry in result["points"]):
            raise ValueError("a point without its result")
    except (ValueError, TypeError, KeyError, AttributeError) as error:  # errors of JSON and unicode are ValueErrors
        raise WrongResultError(
            f"{path} is not the result of an experiment ({type(error).__name__}: {error})"
        ) from error
    return result


def _folders() -> Iterator[Path]:
    if value := os.environ.get("FHX_RESULTS"):
        yield Path(value).expanduser()
    here = Path.cwd()
    yield from (folder / "results" for folder in (here, *here.parents))
