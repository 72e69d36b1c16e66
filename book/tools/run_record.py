r"""What the notebooks took when they were last run as a whole: the record behind the page "Run times and versions".

Every ``make nbval`` leaves a record in ``_build/run_times.json``. ``make times`` keeps it as
``results/run_times.json``, from which the page is built, if it tells of the book as it is: every notebook, in full,
with the code that is stored now, passed, on the CPU, and two at a time. A record is one JSON object:

``date``, ``device``, ``processor``, ``cores``, ``processes``, ``versions``
    when and on what the run was
``seconds``
    the whole run, from the start to the end
``notebooks``
    for each name ``cells`` (that ran), ``passed``, ``seconds`` and ``cpu_seconds`` of its kernel, and ``code_sha256``
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from fhx._files import write_atomically
from fhx.course.notebooks import is_code, read
from notebook_cells import ROOT, code_sha256

MEASURED, KEPT = "_build/run_times.json", "results/run_times.json"
PROCESSES = 2


def load(path: Path) -> dict | None:
    """The record at ``path``, or None where there is none."""
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None


def save(record: dict, path: Path) -> None:
    write_atomically(path, (json.dumps(record, indent=1) + "\n").encode())


def outdated(record: dict, folder: Path) -> dict[str, str]:
    """The notebooks of ``folder`` that the record does not tell of as they are now, each with the reason."""
    reasons = {}
    for path in sorted(folder.glob("*.ipynb")):
        notebook, measured = read(path), record["notebooks"].get(path.stem)
        if measured is None:
            reasons[path.stem] = "not run yet"
        elif measured["code_sha256"] != code_sha256(notebook):
            reasons[path.stem] = "its code has changed since"
        elif measured["cells"] != sum(is_code(cell) for cell in notebook.cells):
            reasons[path.stem] = "not run to its end"
        elif not measured["passed"]:
            reasons[path.stem] = "failed"
    return reasons


def faults(record: dict, folder: Path) -> list[str]:
    """Why the record cannot stand for the notebooks of ``folder``; empty where it can."""
    found = [f"{name}: {reason}" for name, reason in outdated(record, folder).items()]
    found += [f"{name}: there is no such notebook" for name in record["notebooks"] if not _path(folder, name).is_file()]
    if record["device"] != "cpu":
        found.append(f"it was measured on {record['device']}, and the page is about the CPU")
    if record["processes"] != PROCESSES:
        found.append(f"notebooks ran {record['processes']} at a time, and the page is about {PROCESSES}")
    return found


def _path(folder: Path, name: str) -> Path:
    return folder / f"{name}.ipynb"


def main(arguments: Sequence[str] = (), root: Path = ROOT) -> int:
    """Keep the last record; returns the exit status."""
    record = load(root / MEASURED)
    reasons = ["there is none"] if record is None else faults(record, root / "notebooks")
    if reasons:
        print(f"{MEASURED} is not kept, run 'make nbval' first:", *reasons, sep="\n- ", file=sys.stderr)
        return 1
    save(record, root / KEPT)
    print(f"{KEPT}: {len(record['notebooks'])} notebooks in {record['seconds']:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
