"""Running an experiment: point by point, each written down as soon as it is finished, wherever it was run."""

import json
import platform
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from time import perf_counter
from types import ModuleType

import torch
from tqdm import tqdm

import fhx
from fhx._files import write_atomically
from fhx.experiments.stored import WrongResult, read
from fhx.jobs import map_unordered


def experiments() -> dict[str, ModuleType]:
    """The experiments by name: the modules of this package that have ``points`` and ``run``."""
    package = Path(__file__).parent
    names = sorted(module.name for module in iter_modules([str(package)]) if module.name != "__main__")
    modules = {name: import_module(f"fhx.experiments.{name}") for name in names}
    return {name: module for name, module in modules.items() if hasattr(module, "points") and hasattr(module, "run")}


def header(name: str, experiment: ModuleType) -> dict:
    """What all points of a result have in common: settings (seeds among them), device and versions."""
    return {"experiment": name, "settings": {**experiment.SETTINGS, "dtype": "float32"}, **_maker()}


def perform(name: str, experiment: ModuleType, folder: Path, *, workers: int = 1, scheduler: str | None = None) -> Path:
    """Run the points of an experiment that ``folder/NAME.json`` lacks, and write it anew after each of them.

    A point runs in float32 and on one thread, so that its numbers do not depend on the number of cores; nor do they
    depend on where it runs, which ``workers`` and ``scheduler`` say as in :func:`fhx.jobs.map_unordered`. What is
    written is in the order of ``points()``; a point that is there no more is left out.

    Raises:
        WrongResult: the file is unreadable, or was made with other settings, versions or on another device.
        JobFailedError: a point raised an exception, a WrongResult if its worker has other versions or another device.
        ClusterError: the cluster of the scheduler cannot be used.
        ValueError: there is no worker, or both workers and a scheduler are asked for.
    """
    path, head = folder / f"{name}.json", header(name, experiment)
    points = {_key(point): point for point in json.loads(json.dumps(experiment.points()))}
    done = {_key(entry["point"]): entry for entry in (_resume(path, head) if path.exists() else [])}
    missing = [point for key, point in points.items() if key not in done]
    finished = map_unordered(partial(_entry, experiment.run, _maker()), missing, workers=workers, scheduler=scheduler)
    with closing(finished), tqdm(total=len(points), initial=len(points) - len(missing), desc=name, unit="point") as bar:
        for _, entry in finished:
            done[_key(entry["point"])] = entry
            write(path, head, [done[key] for key in points if key in done])
            bar.update()
    write(path, head, [done[key] for key in points])
    return path


def write(path: Path, head: dict, entries: list[dict]) -> None:
    """Put a result in its place, one line a point."""
    start = json.dumps(head, indent=1).removesuffix("\n}")
    lines = ",\n  ".join(json.dumps(entry) for entry in entries)
    write_atomically(path, f'{start},\n "points": [\n  {lines}\n ]\n}}\n'.encode())


def _maker() -> dict:
    """What a result depends on apart from its settings: the device and the versions of this process."""
    versions = {"python": platform.python_version(), "torch": torch.__version__, "fhx": fhx.__version__}
    return {"device": str(fhx.device()), "versions": versions}


def _entry(run: Callable[[dict], dict], maker: dict, point: dict) -> dict:
    """A point with its result and the seconds it took, made by a process that is like the one that writes it down."""
    if maker != _maker():
        raise WrongResult(f"the result is to be made with {maker}, and the worker has {_maker()}")
    with _float32_on_one_thread():
        began = perf_counter()
        result = run(point)
        return {"point": point, "result": _rounded(result), "seconds": round(perf_counter() - began, 1)}


def _resume(path: Path, head: dict) -> list[dict]:
    stored = read(path)
    for part, value in json.loads(json.dumps(head)).items():
        if stored.get(part) != value:
            raise WrongResult(
                f"{path} was made with {part} {stored.get(part)}, and this run has {value}: "
                "delete it to start anew, or choose another folder by --results"
            )
    return stored["points"]


def _key(point: dict) -> str:
    return json.dumps(point, sort_keys=True)


def _rounded(value: object) -> object:
    """Six significant digits, which is what float32 holds."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    return [_rounded(item) for item in value] if isinstance(value, list | tuple) else value


@contextmanager
def _float32_on_one_thread() -> Iterator[None]:
    """Torch's defaults set so, and put back afterwards.

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
