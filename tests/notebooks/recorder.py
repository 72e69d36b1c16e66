"""A pytest plugin for the nbval run: what each notebook took, as a record in ``_build/run_times.json``.

nbval makes a test of each code cell and ends a notebook's kernel behind its last one. There the worker that ran it adds
the kernel's CPU seconds and the hash of the code to the report of that cell. The reports travel to the process that
started the workers, which adds the seconds up and writes.
"""

import importlib.metadata
import os
import platform
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter

import pytest

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "book" / "tools"))

from notebook_cells import code_sha256  # noqa: E402
from run_record import KEPT, MEASURED, load, outdated, save  # noqa: E402

PROPERTIES = ("cpu_seconds", "code_sha256")
cpu_before = pytest.StashKey[float]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--run-record", default=MEASURED, help="where the record goes (%(default)s)")


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):  # the process that starts the workers, or the only one
        config.pluginmanager.register(Recorder(config))


def ended_children() -> float:
    """CPU seconds of the processes that this one started and that have ended."""
    times = os.times()
    return times.children_user + times.children_system


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    item.parent.stash.setdefault(cpu_before, ended_children())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    try:
        yield
    finally:
        if nextitem is None or nextitem.parent is not item.parent:
            values = round(ended_children() - item.parent.stash[cpu_before], 2), code_sha256(item.parent.nb)
            item.user_properties += zip(PROPERTIES, values, strict=True)


class Recorder:
    """Adds the reports up and writes the record when all have come."""

    def __init__(self, config: pytest.Config):
        self.config = config
        self.path = config.rootpath / config.getoption("run_record")
        self.began = perf_counter()
        self.notebooks: dict[str, dict] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        name = Path(report.nodeid.partition("::")[0]).stem
        fresh = {"cells": 0, "passed": True, "seconds": 0.0, "cpu_seconds": 0.0, "code_sha256": ""}
        notebook = self.notebooks.setdefault(name, fresh)
        notebook["cells"] += report.when == "call"
        notebook["passed"] &= not report.failed
        notebook["seconds"] = round(notebook["seconds"] + report.duration, 2)
        if report.when == "teardown":
            notebook |= dict(report.user_properties)

    def pytest_sessionfinish(self) -> None:
        import fhx

        device = fhx.device()
        record = {
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
            "device": device.type,
            "processor": processor(),
            "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
            "processes": getattr(self.config.option, "numprocesses", None) or 1,
            "versions": {"python": platform.python_version()}
            | {name: importlib.metadata.version(name) for name in ("torch", "numpy")}
            | {"fhx": fhx.__version__},
            "seconds": round(perf_counter() - self.began, 1),
            "notebooks": dict(sorted(self.notebooks.items())),
        }
        save(record, self.path)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        total, seconds = len(self.notebooks), perf_counter() - self.began
        terminalreporter.write_line(f"{total} notebooks in {seconds:.0f} s; 'make times' keeps the record for the book")
        old = outdated(load(ROOT / KEPT) or {"notebooks": {}}, ROOT / "notebooks")
        if old:
            terminalreporter.write_line(f"{KEPT} is older than {', '.join(old)}")


def processor() -> str:
    """What the processor calls itself."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine())
