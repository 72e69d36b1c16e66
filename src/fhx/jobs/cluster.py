"""Jobs on the workers of a Dask cluster."""

import re
import socket
from collections.abc import Callable, Generator
from time import monotonic, sleep
from typing import Any

import fhx
from fhx.jobs.job import do, failed, pickled, read

ADDRESS = r"tcp://([^/\s]+):(\d{1,5})"
"""The form of a scheduler's address: its host and its port."""
ANSWER = 5.0
"""Seconds within which a cluster answers, and has a worker."""
DESERTED = 120.0
"""Seconds that jobs wait for a new worker when a cluster has lost all of them."""
POLL = 0.1
"""Seconds between two looks at a cluster that has no news."""


class ClusterError(RuntimeError):
    """The cluster that was named cannot be used; the message says why."""


def on_cluster(function: Callable, arguments: list, scheduler: str) -> Generator[tuple[int, Any]]:
    if not re.fullmatch(ADDRESS, scheduler):
        raise ClusterError(f"the address of a scheduler is like tcp://10.0.0.1:8786, and not {scheduler!r}")
    try:
        from distributed import Client, KilledWorker
    except ImportError as error:
        raise ClusterError(
            f"for {scheduler} Dask is needed, and {error.name} is missing: pip install 'fhx[cluster]'"
        ) from error
    jobs = pickled(function, arguments)
    try:
        _knock(scheduler)
        client = Client(scheduler, timeout=ANSWER, set_as_default=False)
    except OSError as error:
        raise ClusterError(f"no Dask scheduler answers at {scheduler}: {error}") from error
    with client:
        _check(client, scheduler)
        waiting = {future: index for index, future in enumerate(client.map(do, jobs, pure=False))}
        for future, answer in _arriving(client, list(waiting), scheduler):
            index, status = waiting.pop(future), future.status
            future.release()  # else it is computed again when the worker that has it dies
            if status == "error":
                _, error, _ = answer
                done, result = False, None if isinstance(error, KilledWorker) else error
            else:
                done, result = read(answer)
            if not done:
                failure = failed(arguments, index, result)
                break
            yield index, result
        else:
            return
        for future in [future for future in waiting if future.status == "finished"]:
            done, result = read(future.result())
            if done:
                yield waiting[future], result
        raise failure


def _arriving(client: Any, futures: list, scheduler: str) -> Generator[tuple[Any, Any]]:
    """Futures with what they hold, as they come; a ClusterError when there is nobody to wait for."""
    from distributed import as_completed

    arriving = as_completed(futures, loop=client.loop, with_results=True, raise_errors=False)
    seen = monotonic()
    while not arriving.is_empty():
        if arriving.has_ready():
            future, result = next(arriving)
            if future.cancelled():
                raise ClusterError(f"the cluster at {scheduler} was lost: {result}")
            yield future, result
            seen = monotonic()
            continue
        sleep(POLL)
        try:
            seen = monotonic() if client.nthreads() else seen
        except OSError as error:
            raise ClusterError(f"the cluster at {scheduler} was lost: {error}") from error
        if monotonic() - seen > DESERTED:
            raise ClusterError(f"the cluster at {scheduler} has lost its workers; are there jobs that kill them?")


def _knock(scheduler: str) -> None:
    """Raise an OSError unless a scheduler may be there: it speaks first, and a client would wait for ever for that."""
    host, port = re.fullmatch(ADDRESS, scheduler).groups()
    with socket.create_connection((host.strip("[]"), int(port)), ANSWER) as connection:
        if not connection.recv(1):
            raise OSError("the connection is closed at once")


def _check(client: Any, scheduler: str) -> None:
    """Raise a ClusterError unless there are workers, and all have this version of the package."""

    def version() -> str | None:  # within a function, so that it is sent as code: the package may be missing there
        try:
            import fhx
        except ImportError:
            return None
        return fhx.__version__

    try:
        client.wait_for_workers(1, timeout=ANSWER)
    except TimeoutError as error:
        raise ClusterError(f"the cluster at {scheduler} has no workers") from error
    for worker, there in client.run(version).items():
        if there != fhx.__version__:
            raise ClusterError(
                f"fhx is {there or 'missing'} on the worker {worker} and {fhx.__version__} here: "
                "install the same release on both"
            )
