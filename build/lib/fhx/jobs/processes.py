"""Jobs in processes of this machine.

A worker that is killed costs only the job it was running, where the pools of the standard library lose what the others
run too; and a worker that is stopped unwinds its job first, where those of Dask run it in a thread that cannot be
interrupted. Both matter here: a job may run for minutes, or own sandboxes that must not outlive it.
"""

import signal
import sys
from collections import Counter, deque
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from typing import TypeVar

from fhx.jobs.job import JobFailedError, execute, failure_of, pickled, unpickled

A = TypeVar("A")
R = TypeVar("R")

MAX_DEATHS = 3
"""How often a job's worker may die and the job be started again; Dask's default too."""
CLEAN_UP_SECONDS = 5.0
"""The time that a process has for the ``finally`` clauses of its job when it is stopped."""


def in_processes(function: Callable[[A], R], arguments: Sequence[A], workers: int) -> Generator[tuple[int, R]]:
    jobs = pickled(function, arguments)
    waiting, deaths = deque(range(len(jobs))), Counter[int]()
    failure: JobFailedError | None = None
    idle: list[_Process] = []
    busy: dict[Connection, tuple[_Process, int]] = {}
    try:
        while waiting or busy:
            while waiting and len(busy) < workers:
                process, index = idle.pop() if idle else _Process(), waiting.popleft()
                busy[process.connection] = process, index
                process.send(jobs[index])
            ready = wait(busy, 0 if failure else None)
            if not ready:
                break
            for connection in [connection for connection in busy if connection in ready]:
                process, index = busy.pop(connection)
                answer = process.receive()
                if answer is None:
                    process.end()
                    deaths[index] += 1
                    if deaths[index] <= MAX_DEATHS:
                        waiting.append(index)
                    else:
                        failure = failure or failure_of(arguments, index, None)
                    continue
                idle.append(process)
                outcome = unpickled(answer)
                if outcome.error is None:
                    yield index, outcome.result
                else:
                    failure = failure or failure_of(arguments, index, outcome.error)
            if failure:
                waiting.clear()
    finally:
        crew = [*idle, *(process for process, _ in busy.values())]
        for process in crew:
            process.terminate()
        for process in crew:
            process.end()
    if failure:
        raise failure


class _Process:
    """A process of this machine that runs one job at a time."""

    def __init__(self) -> None:
        context = get_context("spawn")
        self.connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()

    def send(self, job: bytes) -> None:
        """Give it a job; if it is dead already, that shows when its answer is received."""
        with suppress(BrokenPipeError):
            self.connection.send_bytes(job)

    def receive(self) -> bytes | None:
        """The answer to its job; None if the process has died."""
        try:
            return self.connection.recv_bytes()
        except (EOFError, OSError):
            return None

    def terminate(self) -> None:
        """Ask it to end."""
        self._process.terminate()

    def end(self) -> None:
        """Make sure that it has ended."""
        self._process.join(CLEAN_UP_SECONDS)
        self._process.kill()
        self._process.join()
        self._process.close()
        self.connection.close()


def _serve(connection: Connection) -> None:
    """Run jobs until there are no more; an interrupt from the terminal is left to the process that sent them."""
    signal.signal(signal.SIGINT, lambda *_: None)  # SIG_IGN would be inherited by what a job starts
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with suppress(ModuleNotFoundError):
        import torch  # jobs need not be about tensors

        torch.set_num_threads(1)
    with suppress(EOFError, BrokenPipeError):
        while True:
            connection.send_bytes(execute(connection.recv_bytes()))
