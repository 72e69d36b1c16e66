"""Running an experiment: point by point, each written down as soon as it is finished, wherever it ran."""

import json
import platform
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from threading import Event, Thread
from time import perf_counter
from typing import Any, NoReturn

import torch
from tqdm import tqdm

import fhx
from fhx._files import write_atomically
from fhx._version import commit_of_package, release_of
from fhx.experiments.experiment import Experiment, Point, Result, point_key
from fhx.experiments.results import WrongResultError, read
from fhx.jobs import map_unordered

REDRAW_SECONDS = 5.0
"""The time after which the clock of a bar goes on, on a terminal: a point may take hours."""


def header(experiment: Experiment) -> dict[str, Any]:
    """What all points of a result have in common: settings (seeds among them), device and versions."""
    return {"experiment": experiment.name, "settings": {**experiment.settings, "dtype": "float32"}, **_environment()}


def perform(
    experiment: Experiment,
    folder: Path,
    *,
    workers: int = 1,
    scheduler: str | None = None,
    only: Callable[[Point], bool] | None = None,
) -> Path:
    """Run the points of an experiment that ``folder/NAME.json`` lacks, and write it anew after each of them.

    ``only`` says which of them; None for all.

    A point runs in float32 and on one thread, so that its numbers do not depend on the number of cores; nor do they
    depend on where it runs, which ``workers`` and ``scheduler`` say as in :func:`fhx.jobs.map_unordered`. The file has
    the points in the order of the experiment; those that the experiment no longer has are left out.

    Raises:
        WrongResultError: the file is unreadable, or was made with other settings, versions or on another device.
        JobFailedError: a point raised an exception; a WrongResultError if its worker has other versions or another
            device.
        ClusterError: the cluster of the scheduler cannot be used.
        ValueError: there is no worker, or both workers and a scheduler are given.
    """
    path, head = folder / f"{experiment.name}.json", header(experiment)
    points = {point_key(point): point for point in experiment.points}
    done = {point_key(entry["point"]): entry for entry in (_resume(path, head) if path.exists() else [])}
    missing = [point for key, point in points.items() if key not in done and (only is None or only(point))]
    compute = partial(_entry, experiment.run, _environment())
    finished = map_unordered(compute, missing, workers=workers, scheduler=scheduler)
    total = sum(key in done for key in points) + len(missing)
    bar = tqdm(total=total, initial=total - len(missing), desc=experiment.name, unit="point")
    with closing(finished), bar, _redrawn(bar):
        for _, entry in finished:
            done[point_key(entry["point"])] = entry
            write(path, head, [done[key] for key in points if key in done])
            bar.update()
    write(path, head, [done[key] for key in points if key in done])
    return path


def write(path: Path, head: dict[str, Any], entries: list[dict[str, Any]]) -> None:
    """Put a result in its place, one line per point."""
    start = json.dumps(head, indent=1).removesuffix("\n}")
    lines = ",\n  ".join(json.dumps(entry, separators=(",", ":")) for entry in entries)
    write_atomically(path, f'{start},\n "points": [\n  {lines}\n ]\n}}\n'.encode())


def _environment() -> dict[str, Any]:
    """What a result depends on apart from its settings: the device and the versions of this process."""
    versions = {
        "python": platform.python_version(),
        "torch": str(torch.__version__),
        "fhx": release_of(fhx.__version__),
    }
    return {"device": str(fhx.device()), "versions": versions}


def _entry(run: Callable[[Point], Result], expected: dict[str, Any], point: Point) -> dict[str, Any]:
    """A point with its result, the seconds it took and the commit of the code, made in the environment of the process
    that writes it down."""
    if expected != _environment():
        raise WrongResultError(f"the result is to be made with {expected}, and the worker has {_environment()}")
    with _float32_on_one_thread():
        began = perf_counter()
        result = run(point)
        seconds = round(perf_counter() - began, 1)
        return {"point": point, "result": _rounded(result), "seconds": seconds, "commit": commit_of_package()}


def _resume(path: Path, head: dict[str, Any]) -> list[dict[str, Any]]:
    stored = read(path)
    for part, value in head.items():
        if stored.get(part) != value:
            raise WrongResultError(
                f"{path} was made with {part} {stored.get(part)}, and this run has {value}: "
                "delete it to start anew, or choose another folder by --results"
            )
    return stored["points"]


def _rounded(value: object) -> object:
    """Six significant digits, which is what float32 holds."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    return [_rounded(item) for item in value] if isinstance(value, list | tuple) else value


@contextmanager
def _redrawn(bar: "tqdm[NoReturn]") -> Iterator[None]:
    """Let the clock of a bar on a terminal go on while nothing comes: its run is alive."""
    over = Event()

    def redraw() -> None:
        while not over.wait(REDRAW_SECONDS):
            bar.refresh()

    thread = Thread(target=redraw, daemon=True)
    if not bar.disable and sys.stderr.isatty():
        thread.start()
    try:
        yield
    finally:
        over.set()
        if thread.is_alive():
            thread.join()


@contextmanager
def _float32_on_one_thread() -> Iterator[None]:
    """Set torch's defaults so, and put them back afterwards.

    Numbers below 1e-38, which vanishing gradients are full of, become zero: with them a step takes twice as long.
    """
    dtype, threads = torch.get_default_dtype(), torch.get_num_threads()
    torch.set_default_dtype(torch.float32)
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(False)
        torch.set_default_dtype(dtype)
        torch.set_num_threads(threads)
