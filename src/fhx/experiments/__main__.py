"""``python -m fhx.experiments [NAME]``: list the experiments, or run one, here or on more machines."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from fhx.experiments.runner import experiments, perform
from fhx.experiments.stored import WrongResult
from fhx.jobs import ClusterError, JobFailedError
from fhx.tasks import DataCorruptError, DataNotFoundError

EXPECTED = (WrongResult, DataNotFoundError, DataCorruptError, type(None))
"""Causes of a failed job that need no traceback; None is the death of its workers."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line says; the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m fhx.experiments", description="List the long runs, or run one; it resumes what is there."
    )
    parser.add_argument("name", nargs="?", help="the experiment to run; without it they are listed")
    parser.add_argument(
        "--results", type=Path, default=Path("results"), help="folder of the results (default: results)"
    )
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--workers", type=int, default=1, metavar="N", help="processes to share the points (default: 1)")
    group.add_argument(
        "--scheduler",
        metavar="tcp://HOST:PORT",
        help="a running Dask cluster to do so; start its workers by: dask worker HOST:PORT --nworkers N --nthreads 1",
    )
    given = parser.parse_args(arguments)
    if given.workers < 1:
        parser.error(f"--workers is {given.workers}, and there must be one at least")
    known = experiments()
    if given.name is None:
        for name, module in known.items():
            print(f"{name}: {(module.__doc__ or '').strip().splitlines()[0]}")
        return 0
    if given.name not in known:
        parser.error(f"there is no experiment {given.name!r}; there are {', '.join(known)}")
    try:
        experiment, where = known[given.name], {"workers": given.workers, "scheduler": given.scheduler}
        print(perform(given.name, experiment, given.results, **where))
    except (WrongResult, ClusterError) as error:
        parser.error(str(error))
    except JobFailedError as error:
        if not isinstance(error.__cause__, EXPECTED):
            raise
        parser.error(f"{error}; what is done is kept in {given.results}, and the same command goes on")
    except KeyboardInterrupt:
        print(f"interrupted; what is done is kept in {given.results}, and the same command goes on", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
