"""One function, many arguments, results in the order in which they come."""

from collections.abc import Callable, Generator, Iterable, Sequence
from typing import TypeVar

from fhx.jobs.cluster import on_cluster
from fhx.jobs.job import failure_of
from fhx.jobs.processes import in_processes

A = TypeVar("A")
R = TypeVar("R")


def map_unordered(
    function: Callable[[A], R], arguments: Iterable[A], *, workers: int = 1, scheduler: str | None = None
) -> Generator[tuple[int, R]]:
    """Call a function with each of the arguments, and yield the results as they come.

    With one worker the jobs run in this process, one after the other. With more, each worker is a new process of this
    machine whose torch has one thread. With a scheduler, the jobs run on the workers of that Dask cluster, however
    many there are. Since jobs set what a process has only one of, such as torch's default type, a process of the
    cluster runs one job at a time, so its workers are best started by ``dask worker --nworkers N --nthreads 1``.

    A job whose worker dies is started again by another one, up to three times. Nothing starts before the first result
    is asked for. When the iterator is closed, or a job fails, the processes are stopped, after the ``finally`` clauses
    of what they are running; on a cluster, jobs that have not started are cancelled.

    Args:
        function: what to call. Unless the jobs run in this process, it, its arguments and its results can be pickled,
            and it is in a module that the workers can import.
        arguments: one per job.
        workers: the number of processes of this machine.
        scheduler: the address of a running cluster, such as ``tcp://10.0.0.1:8786``.

    Yields:
        The index of an argument and the function's value there; each index once, in the order in which they come.

    Raises:
        ValueError: there is no worker, or both workers and a scheduler are given.
        JobFailedError: a job raised an exception, or all its workers died. The results that are already there are
            yielded first.
        ClusterError: the address is malformed, Dask is missing here, nothing answers within seconds, the cluster has
            no workers or another version of this package, or the connection to it is lost.
    """
    if workers < 1:
        raise ValueError(f"workers is {workers}, and jobs need at least one")
    if scheduler is not None and workers != 1:
        raise ValueError(f"a cluster has its own workers: leave out either workers={workers} or scheduler={scheduler}")
    arguments = list(arguments)
    if scheduler is not None:
        return on_cluster(function, arguments, scheduler)
    return _one_by_one(function, arguments) if workers == 1 else in_processes(function, arguments, workers)


def _one_by_one(function: Callable[[A], R], arguments: Sequence[A]) -> Generator[tuple[int, R]]:
    for index, argument in enumerate(arguments):
        try:
            result = function(argument)
        except Exception as error:
            raise failure_of(arguments, index, error) from error
        yield index, result
