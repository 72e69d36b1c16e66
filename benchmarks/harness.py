"""Two ways to do one thing, timed side by side in one process.

A file of this folder with a function ``pairs(tiny, seed)`` adds rows: it yields ``Pair`` objects (of toy size if
``tiny``).

The two sides of a pair take turns, in the order A B, B A, A B, ..., each turn repeating its side until it lasts long
enough to be timed. A row's times are medians over the rounds, and its ratio is the median of the rounds' own ratios: a
machine that is busy for a while slows both sides of a round, and a round that was interrupted is outvoted.
Time is the processor time of this process, which stands still while other processes run; on a GPU, and for pairs that
say so, it is wall time.
"""

import gc
import importlib
import json
import pkgutil
import platform
import statistics
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Literal

import torch

import fhx
from fhx._files import write_atomically

Side = Callable[[], object]


@dataclass(frozen=True)
class Pair:
    """``ours`` and ``other`` do the same; where both return tensors these must be equal up to rounding. Without another
    side there is a limit in seconds instead.

    ``target`` is the largest ratio of times, ours / other, that is good enough; without another side, the largest time
    in seconds. None: it is only reported.
    ``clock`` is "cpu", processor time summed over threads, or "wall", for sides that wait or use several cores.
    """

    name: str
    measures: str
    ours: Side
    other: Side | None = None
    target: float | None = None
    clock: Literal["cpu", "wall"] = "cpu"


@dataclass(frozen=True)
class Row:
    """A measured pair: medians in seconds, ratio = ours / other; ``met`` is None without a target. Without another side
    ``other`` and ``ratio`` are None, and the target is in seconds.
    """

    name: str
    measures: str
    ours: float
    other: float | None
    ratio: float | None
    target: float | None
    met: bool | None


def find(package: str, only: str = "") -> Iterator[Callable[..., Iterable[Pair]]]:
    """Every ``pairs`` function of the package's modules, by file name, that has ``only`` in its module's name."""
    for name in sorted(info.name for info in pkgutil.iter_modules(importlib.import_module(package).__path__)):
        if name != "__main__" and only in name:
            module = importlib.import_module(f"{package}.{name}")
            if hasattr(module, "pairs"):
                yield module.pairs


def measure(pair: Pair, rounds: int, turn: float) -> Row:
    """Time one pair over ``rounds`` rounds of two turns, each of about ``turn`` seconds or of one call if that is
    longer.

    Raises:
        ValueError: the two sides return different tensors, so that comparing their times means nothing.
    """
    _compare(pair)
    on_cpu = pair.clock == "cpu" and not torch.cuda.is_available()
    seconds = partial(_seconds, time.process_time if on_cpu else time.perf_counter)
    sides = [side for side in (pair.ours, pair.other) if side is not None]
    turns = [(side, max(1, round(turn / max(seconds(side, 1), 1e-6))), []) for side in sides]
    collecting = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        for k in range(rounds):
            for side, repeats, times in turns if k % 2 == 0 else reversed(turns):
                times.append(seconds(side, repeats))
    finally:
        if collecting:
            gc.enable()
    ours, *others = [times for _, _, times in turns]
    time_of_ours, time_of_other, ratio = statistics.median(ours), None, None
    if others:
        time_of_other = statistics.median(others[0])
        ratio = statistics.median(a / b for a, b in zip(ours, others[0], strict=True))
    judged = time_of_ours if ratio is None else ratio
    met = None if pair.target is None else judged <= pair.target
    return Row(pair.name, pair.measures, time_of_ours, time_of_other, ratio, pair.target, met)


def _seconds(clock: Callable[[], float], side: Side, repeats: int) -> float:
    """The mean time of one call, the accelerator's work included."""
    _wait()
    start = clock()
    for _ in range(repeats):
        side()
    _wait()
    return (clock() - start) / repeats


def _wait() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def _compare(pair: Pair) -> None:
    """Run each side once, which also warms it up, and compare what they return."""
    ours, other = pair.ours(), pair.other and pair.other()
    if isinstance(ours, torch.Tensor) and isinstance(other, torch.Tensor):
        try:
            torch.testing.assert_close(ours, other, rtol=1e-3, atol=1e-4)
        except AssertionError as error:
            raise ValueError(f"{pair.name}: the two sides do not compute the same. {error}") from None


def table(rows: Iterable[Row]) -> str:
    """The rows as text: name, ours, other, ratio, target (in seconds where nothing is compared), met."""
    cells = [("name", "ours", "other", "ratio", "target", "met")]
    for row in rows:
        alone = row.ratio is None
        target = "" if row.target is None else f"<= {row.target:.3g}{' s' if alone else ''}"
        met = {None: "", True: "yes", False: "NO"}[row.met]
        times = ("" if seconds is None else f"{1e3 * seconds:.3f} ms" for seconds in (row.ours, row.other))
        cells.append((row.name, *times, "" if alone else f"{row.ratio:.2f}", target, met))
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = []
    for name, *numbers in cells:
        texts = [text.rjust(width) for text, width in zip(numbers, widths[1:], strict=True)]
        lines.append("  ".join([name.ljust(widths[0]), *texts]))
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])


def save(path: Path, rows: Iterable[Row], *, seed: int, rounds: int, turn: float) -> None:
    """Write the rows and what they were measured with as JSON."""
    device = fhx.device()
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else platform.machine()
    record = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "device": {"type": device.type, "name": name, "threads": torch.get_num_threads()},
        "versions": {
            "python": platform.python_version(),
            "torch": torch.__version__,
            "fhx": fhx.__version__,
        },
        "seed": seed,
        "rounds": rounds,
        "turn_seconds": turn,
        "rows": [asdict(row) for row in rows],
    }
    write_atomically(path, (json.dumps(record, indent=1) + "\n").encode())
