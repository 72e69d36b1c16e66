"""The forms of the answers in a class, read by another process, since a file may be made to break whoever reads it."""

import json
import os
import resource
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from fhx._files import write_atomically
from fhx.course.grading.forms import Form, form_of
from fhx.course.grading.notebook import Notebook, read_notebook
from fhx.course.grading.records import Graded
from fhx.course.notebooks import NotebookError

__all__ = ["forms_in", "main", "read_forms"]

SECONDS, MEMORY = 90.0, 4 * 2**30
"""Of a file: how long it may take, and bytes while it is read."""
LONGEST_LINE = 8 * 2**20
"""Bytes of what is said of a file."""


Forms = dict[str, Form]
"""By exercise."""


def read_forms(
    batch: Sequence[Graded],
    paths: Mapping[str, Path],
    functions: Mapping[str, str],
    out: Path,
    seen: Callable[[], object] = lambda: None,
) -> dict[str, Forms]:
    """The forms of all answers, by student; those of a file that nobody can read are missing.

    What was read is kept in the folder ``forms``.

    Args:
        batch: the submissions, whose keys say which forms are old.
        paths: where their files are, by student.
        functions: their names, by exercise.
        out: the folder of the grades.
        seen: called for each.
    """
    found, todo = dict[str, Forms](), list[Graded]()
    for graded in batch:
        if (known := _kept(out, graded)) is not None:
            found[graded.student] = known
            seen()
        elif graded.student in paths:
            todo.append(graded)
    for graded, record in zip(todo, _read([paths[one.student] for one in todo], functions), strict=True):
        kept = {"key": graded.key, "forms": record}
        write_atomically(_place(out, graded), (json.dumps(kept) + "\n").encode())
        found[graded.student] = _forms(record)
        seen()
    return found


def _place(out: Path, graded: Graded) -> Path:
    return out / "forms" / f"{graded.folder}.json"


def _kept(out: Path, graded: Graded) -> Forms | None:
    with suppress(OSError, ValueError, TypeError, KeyError):
        record = json.loads(_place(out, graded).read_text("utf-8"))
        return _forms(record["forms"]) if record["key"] == graded.key else None
    return None


def _forms(record: dict[str, Any]) -> Forms:
    return {name: Form(tuple(parts), tuple(size)) for name, (parts, size) in record.items()}


def _read(paths: Sequence[Path], functions: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """What a process says of each file; of one at which it ends or stays, nothing."""
    done = 0
    while done < len(paths):
        for record in _read_in_one(paths[done:], functions):
            done += 1
            yield record
        if done < len(paths):
            done += 1
            yield {}


def _read_in_one(paths: Sequence[Path], functions: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    with tempfile.TemporaryDirectory(prefix="rc-") as folder, tempfile.TemporaryFile() as tasks:
        tasks.write("".join(json.dumps([str(path.absolute()), dict(functions)]) + "\n" for path in paths).encode())
        tasks.seek(0)
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "fhx.course.grading.form_reader"],
            cwd=folder,
            stdin=tasks,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
        )
        assert process.stdout is not None
        try:
            yield from map(json.loads, _lines(process.stdout.fileno()))
        finally:
            process.kill()
            process.wait()
            process.stdout.close()


def _lines(file: int) -> Iterator[bytes]:
    """The lines of a pipe, as long as each comes in time and is not too long."""
    parts, size, end = list[bytes](), 0, time.monotonic() + SECONDS
    while select.select([file], [], [], max(0.0, end - time.monotonic()))[0] and (part := os.read(file, 2**16)):
        first, *others = part.split(b"\n")
        parts.append(first)
        size += len(first)
        if size > LONGEST_LINE:
            return
        if others:
            yield b"".join(parts)
            yield from others[:-1]
            parts, size, end = [others[-1]], len(others[-1]), time.monotonic() + SECONDS


def forms_in(notebook: Notebook, functions: Mapping[str, str]) -> Forms:
    """The forms of the answers in a notebook; holes have none."""
    found: Forms = {}
    for name, function in functions.items():
        for way in notebook.ways(name, function)[:1]:
            if notebook.is_filled(way):
                given = way.expression if way.expression.isidentifier() else "answer"
                sources = [cell.python for cell in way.cells if cell.source]
                form = form_of(given, sources if given == way.expression else [*sources, f"answer = {way.expression}"])
                found |= {name: form} if form else {}
    return found


def main() -> None:
    """Read paths and names of functions, a line each, and write the forms of each."""
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, resource.getrlimit(resource.RLIMIT_DATA)[1]))
    for line in sys.stdin:
        path, functions = json.loads(line)
        found: Forms = {}
        with suppress(NotebookError, OSError, ValueError, RecursionError, MemoryError):
            found = forms_in(read_notebook(Path(path)), functions)
        print(json.dumps({name: [form.parts, form.size] for name, form in found.items()}), flush=True)


if __name__ == "__main__":
    main()
