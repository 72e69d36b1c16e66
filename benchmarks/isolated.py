"""Seconds and bytes of one call, on the CPU in a process of its own, whose memory nothing else has touched.

Seconds are processor time there, which stands still while other processes run, and wall time on a GPU. Bytes are
what the peak of the memory rises by in the first call, inputs and weights not counted: of the process's resident
memory, pages that the system counts, so that below a megabyte or so it says little; on a GPU, of torch's allocations.
"""

import resource
import statistics
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from multiprocessing import get_context

import torch

from benchmarks.methods import Case, Outcome, prepare

PAGES = 1 if sys.platform == "darwin" else 1024  # bytes in the unit of ru_maxrss
CHECKED = 1000  # as many steps as a run is compared with that of ``unroll``
CALLS = 15


def measure(case: Case, seed: int, device: str, budget: float) -> dict:
    """A row of the grid: the median ``seconds`` of as many calls as ``budget`` seconds allow after the first, or of the
    first; their ``spread`` (between the quartiles, over the median; None for one call), ``bytes``, ``sweeps`` (the
    length of the window for truncation), ``converged``, and ``error``, the distance from the run of ``unroll`` where
    that is short. Where memory did not suffice it is {"skipped": "too large"}.
    """
    if torch.device(device).type == "cuda":
        try:
            return call(case, seed, device, budget)
        except torch.cuda.OutOfMemoryError:
            torch.cuda.empty_cache()
            return {"skipped": "too large"}
    result = in_new_process(call, case, seed, device, budget)
    return {"skipped": "too large"} if result is None else result


def in_new_process(function: Callable[..., dict], *arguments: object) -> dict | None:
    """What a function returns in a new process; None if the system kills it, as it does when memory runs out."""
    context = get_context("forkserver")
    context.set_forkserver_preload(["benchmarks.methods", "fhx.experiments.results"])
    with ProcessPoolExecutor(1, mp_context=context) as process:
        try:
            return process.submit(function, *arguments).result()
        except BrokenProcessPool:
            return None


def call(case: Case, seed: int, device: str, budget: float) -> dict:
    """``measure`` in this process."""
    torch.set_num_threads(1)
    there = torch.device(device)
    gpu = there.type == "cuda"
    clock, peak = (_wall, torch.cuda.max_memory_allocated) if gpu else (time.process_time, _resident)
    prepare(replace(case, T=min(case.T, 50)), seed, there)()  # libraries are loaded and kernels chosen
    way = prepare(case, seed, there)
    if gpu:
        torch.cuda.reset_peak_memory_stats()
    before = peak()
    outcome, first = _timed(way, clock)
    result = {"bytes": max(0, peak() - before), "sweeps": outcome.sweeps, "converged": outcome.converged}
    result["error"] = _error(case, seed, there, outcome)
    del outcome
    times = []
    while len(times) < CALLS and sum(times) + first <= budget:
        times.append(_timed(way, clock)[1])
    times = times or [first]
    seconds, spread = statistics.median(times), None
    if len(times) > 1:
        low, _, high = statistics.quantiles(times, n=4, method="inclusive")
        spread = (high - low) / seconds
    return {"seconds": seconds, "spread": spread, "calls": len(times), **result}


def _timed(way: Callable[[], Outcome], clock: Callable[[], float]) -> tuple[Outcome, float]:
    start = clock()
    outcome = way()
    return outcome, clock() - start


def _error(case: Case, seed: int, device: torch.device, outcome: Outcome) -> float | None:
    """The largest difference from the states of ``unroll``; for gradients, relative to the largest number."""
    if case.net == "LSTM" or case.method == "unroll" or case.T > CHECKED:
        return None
    right = prepare(replace(case, method="unroll"), seed, device)().tensor
    scale = right.abs().max() if case.what == "gradient" else 1
    return float((outcome.tensor - right).abs().max() / scale)


def _wall() -> float:
    torch.cuda.synchronize()
    return time.perf_counter()


def _resident() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * PAGES
