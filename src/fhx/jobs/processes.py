"""Jobs in processes of this machine."""

import signal
import sys
from collections import Counter, deque
from collections.abc import Callable, Generator
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from typing import Any

import torch

from fhx.jobs.job import do, failed, pickled, read

DEATHS = 3
"""How often the worker of a job may die before the job is held to be the cause; Dask's default too."""
CLEAN_UP = 5.0
"""Seconds that a process has for the ``finally`` clauses of its job when it is stopped."""


def in_processes(function: Callable, arguments: list, workers: int) -> Generator[tuple[int, Any]]:
    jobs = pickled(function, arguments)
    waiting, deaths, failure = deque(range(len(jobs))), Counter(), None
    idle: list[_Process] = []
    busy: dict[Connection, tuple[_Process, int]] = {}
    try:
        while waiting or busy:
            while waiting and len(busy) < workers:
                process, index = idle.pop() if idle else _Process(), waiting.popleft()
                busy[process.connection] = process, index
                process.begin(jobs[index])
            answered = wait(list(busy), 0 if failure else None)
            if not answered:
                break
            for connection in answered:
                process, index = busy.pop(connection)
                answer = process.answer()
                if answer is None:
                    process.end()
                    deaths[index] += 1
                    if deaths[index] <= DEATHS:
                        waiting.append(index)
                    else:
                        failure = failure or failed(arguments, index, None)
                    continue
                idle.append(process)
                done, result = read(answer)
                if done:
                    yield index, result
                else:
                    failure = failure or failed(arguments, index, result)
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
    """A process of this machine that does one job at a time."""

    def __init__(self) -> None:
        context = get_context("spawn")
        self.connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()

    def begin(self, job: bytes) -> None:
        """Give it a job; if it is dead already, that shows when its answer is read."""
        with suppress(BrokenPipeError):
            self.connection.send_bytes(job)

    def answer(self) -> bytes | None:
        """What has become of its job; None if the process has died."""
        try:
            return self.connection.recv_bytes()
        except (EOFError, OSError):
            return None

    def terminate(self) -> None:
        """Ask it to end."""
        self._process.terminate()

    def end(self) -> None:
        """See to it that it has ended."""
        self._process.join(CLEAN_UP)
        self._process.kill()
        self._process.join()
        self._process.close()
        self.connection.close()


def _serve(connection: Connection) -> None:
    """Do jobs until there are no more; an interrupt of the terminal is the business of the process that gave them."""
    signal.signal(signal.SIGINT, lambda *_: None)  # SIG_IGN would be inherited by what a job starts
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    torch.set_num_threads(1)
    with suppress(EOFError, BrokenPipeError):
        while True:
            connection.send_bytes(do(connection.recv_bytes()))
