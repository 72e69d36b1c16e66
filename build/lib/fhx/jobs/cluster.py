"""Jobs on the workers of a Dask cluster."""

import re
import socket
from collections.abc import Callable, Generator, Sequence
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, TypeVar

import fhx
from fhx.jobs.job import execute, failure_of, pickled, unpickled

if TYPE_CHECKING:
    from distributed import Client, Future

A = TypeVar("A")
R = TypeVar("R")

ADDRESS = r"tcp://([^/\s]+):(\d{1,5})"
"""The form of a scheduler's address: its host and its port."""
ANSWER_SECONDS = 5.0
"""The time within which a cluster answers, and has a worker."""
DESERTED_SECONDS = 120.0
"""The time that jobs wait for a new worker when a cluster has lost all of them."""
POLL_SECONDS = 0.1
"""The time between two looks at a cluster that has no news."""


class ClusterError(RuntimeError):
    """The cluster cannot be used; the message says why."""


def on_cluster(function: Callable[[A], R], arguments: Sequence[A], scheduler: str) -> Generator[tuple[int, R]]:
    host, port = _host_and_port(scheduler)
    try:
        from distributed import Client, KilledWorker
    except ImportError as missing:
        raise ClusterError(
            f"{scheduler} needs Dask, and {missing.name} is missing: pip install 'fhx[cluster]'"
        ) from missing
    jobs = pickled(function, arguments)
    try:
        _probe(host, port)
        client = Client(scheduler, timeout=ANSWER_SECONDS, set_as_default=False)
    except OSError as error:
        raise ClusterError(f"no Dask scheduler answers at {scheduler}: {error}") from error
    with client:
        _check(client, scheduler)
        waiting = {future: index for index, future in enumerate(client.map(execute, jobs, pure=False))}
        for future, answer in _arriving(client, list(waiting), scheduler):
            index, status = waiting.pop(future), future.status
            future.release()  # else it is computed again when the worker that has it dies
            if status == "error":
                _, raised, _ = answer
                failure = failure_of(arguments, index, None if isinstance(raised, KilledWorker) else raised)
                break
            outcome = unpickled(answer)
            if outcome.error is not None:
                failure = failure_of(arguments, index, outcome.error)
                break
            yield index, outcome.result
        else:
            return
        for future in [future for future in waiting if future.status == "finished"]:
            outcome = unpickled(future.result())
            if outcome.error is None:
                yield waiting[future], outcome.result
        raise failure


def _arriving(client: "Client", futures: "list[Future[Any]]", scheduler: str) -> "Generator[tuple[Future[Any], Any]]":
    """Futures with what they hold, as they come; a ClusterError when there is nobody to wait for."""
    from distributed import as_completed

    arriving = as_completed(futures, loop=client.loop, with_results=True, raise_errors=False)
    seen = monotonic()
    while not arriving.is_empty():
        if arriving.has_ready():
            future, result = next(arriving)
            if future.cancelled():
                raise ClusterError(f"the connection to the cluster at {scheduler} was lost: {result}")
            yield future, result
            seen = monotonic()
            continue
        sleep(POLL_SECONDS)
        try:
            seen = monotonic() if client.nthreads() else seen
        except OSError as error:
            raise ClusterError(f"the connection to the cluster at {scheduler} was lost: {error}") from error
        if monotonic() - seen > DESERTED_SECONDS:
            raise ClusterError(f"the cluster at {scheduler} has lost its workers; are there jobs that kill them?")


def _host_and_port(scheduler: str) -> tuple[str, int]:
    if not (address := re.fullmatch(ADDRESS, scheduler)):
        raise ClusterError(f"a scheduler's address looks like tcp://10.0.0.1:8786, and this is {scheduler!r}")
    return address[1].strip("[]"), int(address[2])


def _probe(host: str, port: int) -> None:
    """Raise an OSError unless there may be a scheduler: it speaks first, and a client would wait for that for ever."""
    with socket.create_connection((host, port), ANSWER_SECONDS) as connection:
        if not connection.recv(1):
            raise OSError("the connection is closed at once")


def _check(client: "Client", scheduler: str) -> None:
    """Raise a ClusterError unless there are workers, and all have this version of the package."""

    def version() -> str | None:  # nested, so that it is sent as code: the package may be missing there
        try:
            import fhx
        except ImportError:
            return None
        return fhx.__version__

    try:
        client.wait_for_workers(1, timeout=ANSWER_SECONDS)
    except TimeoutError as error:
        raise ClusterError(f"the cluster at {scheduler} has no workers") from error
    for worker, there in client.run(version).items():
        if there != fhx.__version__:
            raise ClusterError(
                f"fhx is {there or 'missing'} on the worker {worker} and {fhx.__version__} here: "
                "install the same release on both"
            )
