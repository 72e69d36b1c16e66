"""``python -m benchmarks.grid``: seconds and bytes of every method for all T states, by T, width, batch and rate.

The result, ``results/parallel.json``, is read by ``fhx.experiments.stored("parallel")``. Its points hold
``point``, a case of the grid and its device, and ``result``: what ``benchmarks.isolated.measure`` measured there, or
{"skipped": "too large", "bytes": ...} where it is expected to need more memory than the limit, and {"skipped":
"too long", "seconds": ...} where it is expected to take longer, in proportion to T after the next smaller T.
``machines`` says with what the rows of each device were made. A run replaces the rows of its own device and keeps
those of others.
"""

import argparse
import json
import platform
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from itertools import product
from pathlib import Path

import torch
from tqdm import tqdm

import fhx
from benchmarks.isolated import measure
from benchmarks.methods import EPS, NOISE, Case
from fhx._files import write_atomically
from fhx.experiments.results import read

TIMES, WIDTHS, BATCHES, RATES = (10**2, 10**3, 10**4, 10**5, 10**6), (1, 4, 16, 64), (1, 16), (0.5, 0.9, 0.99)
GRADIENT_WIDTHS = (4, 16)
LOOPS = (("torch.nn.RNN", "tanh"), ("torch.nn.LSTM", "LSTM"), ("unroll", "tanh"), ("unroll", "linear"))
Row = dict[str, dict]


def lines(tiny: bool = False) -> Iterator[list[Case]]:
    """The cases of the grid, those that differ only in T in one list, from the smallest T on."""
    times, widths, batches = ((8, 80), (4,), (2,)) if tiny else (TIMES, WIDTHS, BATCHES)

    def line(*ends: object, **options: str) -> list[Case]:
        net, method, what, D, batch, rate = ends
        return [Case(net, method, what, T, D, batch, rate, **options) for T in times]

    for D, batch in product(widths, batches):
        yield line("LSTM", "torch.nn.LSTM", "states", D, batch, None, dtype="float32")
        for method, net in (*LOOPS, ("scan", "linear"), ("scan", "diagonal")):
            yield line(net, method, "states", D, batch, None)
        rates = RATES if batch == 1 else (0.9,)
        for method, rate in product(("truncation", "jacobi", "quasi-newton", "newton"), rates):
            yield line("tanh", method, "states", D, batch, rate)
        if D in GRADIENT_WIDTHS:
            for method, net in (*LOOPS, ("scan", "diagonal")):
                yield line(net, method, "gradient", D, batch, None)
            for method in ("truncation", "newton"):
                yield line("tanh", method, "gradient", D, batch, 0.9)


def run_line(
    cases: Sequence[Case], measured: Callable[[Case], dict], seconds: float, memory: float
) -> Iterator[tuple[Case, dict]]:
    """Each case with its result: ``measured`` where ``seconds`` and ``memory`` (bytes) are expected to suffice."""
    predicted, last = 0.0, 0
    for case in cases:
        predicted = predicted * case.T / last if last else predicted
        if case.memory() > memory:
            result = {"skipped": "too large", "bytes": case.memory()}
        elif predicted > seconds:
            result = {"skipped": "too long", "seconds": predicted}
        else:
            result = measured(case)
            predicted = result.get("seconds", predicted)
        last = case.T
        yield case, result


def store(path: Path, device: str, machine: dict, rows: list[Row]) -> None:
    """Write the rows of a device, and keep those of others."""
    before = read(path) if path.exists() else {"machines": {}, "points": []}
    kept = [row for row in before["points"] if row["point"]["device"] != device]
    head = {"benchmark": "parallel", "machines": {**before["machines"], device: machine}}
    lines = ",\n  ".join(json.dumps(row) for row in [*kept, *rows])
    start = json.dumps(head, indent=1).removesuffix("}").rstrip()
    write_atomically(path, f'{start},\n "points": [\n  {lines}\n ]\n}}\n'.encode())


def describe(device: torch.device, arguments: argparse.Namespace, began: float) -> dict:
    """What the rows of a device were made with, and how long all of them took."""
    gpu = device.type == "cuda"
    return {
        "name": torch.cuda.get_device_name(device) if gpu else platform.machine(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": {
            "python": platform.python_version(),
            "torch": torch.__version__,
            "fhx": fhx.__version__,
        },
        "threads": 1,
        "clock": "wall" if gpu else "processor time",
        "seed": arguments.seed,
        "limit_seconds": arguments.seconds,
        "limit_bytes": arguments.memory,
        "tolerance": EPS,
        "noise": NOISE,
        "seconds": round(time.perf_counter() - began),
    }


def table(rows: Sequence[Row]) -> str:
    """For each T, width and batch: the fastest loop and the fastest parallel method for a tanh cell's states."""
    texts = [f"{'T':>8} {'D':>3} {'batch':>5}  {'one by one':>24}  {'all at once, at its rate':>34}  ratio"]
    measured = [row for row in rows if row["point"]["net"] == "tanh" and row["point"]["what"] == "states"]
    measured = [row for row in measured if "skipped" not in row["result"] and row["point"]["dtype"] == "float64"]
    best: dict[tuple, dict[bool, Row]] = {}
    for row in sorted(measured, key=lambda row: -row["result"]["seconds"]):
        key = tuple(row["point"][name] for name in ("T", "D", "batch"))
        best.setdefault(key, {})[row["point"]["method"] in dict(LOOPS)] = row
    for (T, D, batch), found in sorted(best.items()):
        loop, other = found.get(True), found.get(False)
        cells = [f"{_brief(row):>{width}}" for row, width in ((loop, 24), (other, 34))]
        ratio = f"{other['result']['seconds'] / loop['result']['seconds']:.2g}" if loop and other else ""
        texts.append(f"{T:8} {D:3} {batch:5}  {cells[0]}  {cells[1]}  {ratio:>5}")
    return "\n".join(texts)


def _brief(row: Row | None) -> str:
    if row is None:
        return "skipped"
    rate = row["point"]["rate"]
    return f"{row['point']['method']}{f' {rate}' if rate else ''} {1e3 * row['result']['seconds']:.3g} ms"


def _rounded(result: dict) -> dict:
    return {key: float(f"{value:.4g}") if isinstance(value, float) else value for key, value in result.items()}


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.grid", description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, default=Path("results/parallel.json"), help="default: %(default)s")
    parser.add_argument("--seconds", type=float, default=1.5, help="limit of a call; default: %(default)s")
    parser.add_argument("--memory", type=float, default=4e9, help="limit of a call in bytes; default: %(default).0e")
    parser.add_argument("--budget", type=float, default=0.05, help="seconds of repeating a call; default: %(default)s")
    parser.add_argument("--seed", type=int, default=0, help="default: %(default)s")
    parser.add_argument("--tiny", action="store_true", help="toy sizes, to try it")
    arguments = parser.parse_args(argv)
    device, began, rows = fhx.device(), time.perf_counter(), []
    whole = list(lines(arguments.tiny))
    with tqdm(whole, unit="line", leave=False) as bar:
        for cases in bar:
            bar.set_description(f"{cases[0].method}, D={cases[0].D}")
            done = run_line(
                cases,
                lambda case: measure(case, arguments.seed, device.type, arguments.budget),
                arguments.seconds,
                arguments.memory,
            )
            rows += [{"point": {"device": device.type, **asdict(p)}, "result": _rounded(r)} for p, r in done]
            store(arguments.json, device.type, describe(device, arguments, began), rows)
    print(table(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
