"""``python -m recurrence.experiments [NAME] [--results DIR]``: list the experiments, or run one."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from recurrence.experiments.runner import experiments, perform
from recurrence.experiments.stored import WrongResult
from recurrence.tasks import DataCorrupt, DataNotFound


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line says; the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m recurrence.experiments", description="List the long runs, or run one; it resumes what is there."
    )
    parser.add_argument("name", nargs="?", help="the experiment to run; without it they are listed")
    parser.add_argument(
        "--results", type=Path, default=Path("results"), help="folder of the results (default: results)"
    )
    given = parser.parse_args(arguments)
    known = experiments()
    if given.name is None:
        for name, module in known.items():
            print(f"{name}: {(module.__doc__ or '').strip().splitlines()[0]}")
        return 0
    if given.name not in known:
        parser.error(f"there is no experiment {given.name!r}; there are {', '.join(known)}")
    try:
        print(perform(given.name, known[given.name], given.results))
    except (WrongResult, DataNotFound, DataCorrupt) as error:
        parser.error(str(error))
    except KeyboardInterrupt:
        print(f"interrupted; what is done is kept in {given.results}, and the same command goes on", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
