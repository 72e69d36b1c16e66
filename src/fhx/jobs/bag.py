"""A bag of jobs: one function, many arguments."""

from collections.abc import Callable, Collection, Generator
from typing import Any

from fhx.jobs.cluster import on_cluster
from fhx.jobs.job import failed
from fhx.jobs.processes import in_processes


def run(
    function: Callable[[Any], Any], arguments: Collection, *, workers: int = 1, scheduler: str | None = None
) -> Generator[tuple[int, Any]]:
    """Call a function with each of the arguments; the results as they come.

    With one worker the jobs run here, one after the other. With more, each worker is a new process of this machine
    whose torch has one thread. With a scheduler, the jobs run on the workers of that Dask cluster, of which there may
    be any number; as jobs set what a process has only one of, such as torch's default type, a process of the cluster
    does one job at a time, so its workers are best started by ``dask worker --nworkers N --nthreads 1``.

    A job whose worker dies is begun again by another one, up to three times. Nothing starts before the first result
    is asked for; when the iterator is closed, or a job fails, the processes are stopped, and what has not begun on a
    cluster never will.

    Args:
        function: what to call; unless the jobs run here, it and its arguments and results can be pickled, and it is in
            a module that the workers can import.
        arguments: one for each job.
        workers: how many processes of this machine.
        scheduler: the address of a running cluster, such as ``tcp://10.0.0.1:8786``.

    Yields:
        The index of an argument and the function's value there, each index once, in the order in which they come.

    Raises:
        ValueError: there is no worker, or both workers and a scheduler are asked for.
        JobFailed: a job raised an exception, or all its workers died. The results that are there are handed out first.
        ClusterError: the address is none, Dask is missing here, nothing answers within seconds, the cluster has no
            workers or another version of this package, or it is lost.
    """
    if workers < 1:
        raise ValueError(f"jobs need a worker at least, and workers is {workers}")
    if scheduler is not None and workers != 1:
        raise ValueError(f"a cluster has its own workers: leave out either workers={workers} or scheduler={scheduler}")
    arguments = list(arguments)
    if scheduler is not None:
        return on_cluster(function, arguments, scheduler)
    return here(function, arguments) if workers == 1 else in_processes(function, arguments, workers)


def here(function: Callable, arguments: list) -> Generator[tuple[int, Any]]:
    for index, argument in enumerate(arguments):
        try:
            result = function(argument)
        except Exception as error:
            raise failed(arguments, index, error) from error
        yield index, result
