"""``python -m fhx.experiments [NAME]``: list the experiments, run one, or print verdicts or perplexities of results."""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryFile

from fhx._version import shipped
from fhx.experiments import language_models
from fhx.experiments.catalog import EXPERIMENTS
from fhx.experiments.experiment import Experiment, Point
from fhx.experiments.protocol import judge, told
from fhx.experiments.results import WrongResultError, read
from fhx.experiments.runner import perform
from fhx.jobs import ClusterError, JobFailedError
from fhx.tasks import DataCorruptError, DataNotFoundError

RESULTS = Path("results")
"""The folder of results, unless another one is given."""
EXPECTED = (WrongResultError, DataNotFoundError, DataCorruptError, type(None))
"""Causes of a failed job that need no traceback; None is the death of its workers."""


def _file(name: str, folder: Path | None) -> Path:
    """The result of an experiment in a folder; where none is given, one in "results", or else the package's own."""
    path = (folder or RESULTS) / f"{name}.json"
    if path.is_file():
        return path
    if folder is not None:
        raise WrongResultError(f"there is no {path}; without --results those of the package are read")
    return shipped() / path.name


def verdicts(experiment: Experiment, folder: Path | None = None) -> list[str]:
    """A line for each statement of the experiment: settled or not, its interval, and the rules that do not hold.

    Args:
        experiment: of the catalogue.
        folder: of the results; None for "results", and where that has none, for those of the package.

    Raises:
        WrongResultError: there is no file, or it is not the result of the experiment, or not all of it.
    """
    if not experiment.trains:
        return [f"{experiment.name}: nothing is trained"]
    if experiment.evidence is None:
        return [f"{experiment.name}: {judge(None)}"]
    found = read(path := _file(experiment.name, folder))
    if [entry["point"] for entry in found["points"]] != list(experiment.points):
        raise WrongResultError(
            f"{path} has other rows than the experiment, which is judged as a whole; make all of them by: "
            f"python -m fhx.experiments {experiment.name} --results {path.parent}"
        )
    return [f"{experiment.name}, {line}" for line in told(experiment.evidence(found))[:-1]]


def having(experiment: Experiment, conditions: Sequence[str]) -> Callable[[Point], bool]:
    """Which points of an experiment have all these values.

    Args:
        experiment: of the catalogue.
        conditions: as ``KEY=VALUE``; a point has a value that is written so, and ``None`` for a key that it lacks.

    Raises:
        ValueError: a condition is none, no point has its key or its value, or none has all.
    """
    wanted = dict[str, str]()
    for condition in conditions:
        key, is_one, value = condition.partition("=")
        if not is_one:
            raise ValueError(f"{condition!r} is not KEY=VALUE")
        values = {str(point.get(key)) for point in experiment.points}
        if values == {"None"}:
            keys = sorted({key for point in experiment.points for key in point})
            raise ValueError(f"no point of {experiment.name} has {key!r}; there are {', '.join(keys)}")
        if value not in values:
            there = ", ".join(map(repr, sorted(values)))
            raise ValueError(f"no point of {experiment.name} has {condition}; there are {there}")
        wanted[key] = value

    def has(point: Point) -> bool:
        return all(str(point.get(key)) == value for key, value in wanted.items())

    if not any(map(has, experiment.points)):
        raise ValueError(f"no point of {experiment.name} has {' and '.join(conditions)}")
    return has


def _kept(experiment: Experiment, folder: Path, only: Callable[[Point], bool] | None) -> str:
    """What a run that was stopped leaves in a folder, of the points that it was to run."""
    path = folder / f"{experiment.name}.json"
    done = [entry["point"] for entry in read(path)["points"]] if path.is_file() else []
    wanted = [point for point in experiment.points if only is None or only(point)]
    finished = sum(point in done for point in wanted)
    return f"{finished} of {len(wanted)} points are finished and kept in {folder}; the same command goes on"


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line says; the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m fhx.experiments", description="List the long runs with their questions, or run or resume one."
    )
    parser.add_argument("name", nargs="?", help="the experiment to run; without it they are listed")
    parser.add_argument(
        "--results",
        type=Path,
        help=f"folder of the results (default: {RESULTS}, or, to read what that lacks, the package's own)",
    )
    parser.add_argument(
        "--only",
        nargs="+",
        metavar="KEY=VALUE",
        help="run only the points that have these values, such as task=chorales net=LSTM, or None; with --results in a "
        "new folder that repeats one row of a table",
    )
    parser.add_argument(
        "--verdicts", action="store_true", help="what the rules of the protocol say of the stored results, or of one"
    )
    parser.add_argument(
        "--perplexities",
        action="store_true",
        help="the test perplexity of every model of the whole vocabulary of WikiText-2, counted and published ones too",
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
        parser.error(f"--workers is {given.workers}, and there must be at least one")
    if given.name is not None and given.name not in EXPERIMENTS:
        parser.error(f"there is no experiment {given.name!r}; there are {', '.join(EXPERIMENTS)}")
    if given.only and (given.verdicts or given.perplexities or given.name is None):
        parser.error("--only chooses points to run; it needs the name of an experiment, and nothing else to print")
    if given.perplexities and given.name not in (None, language_models.EXPERIMENT.name):
        parser.error(f"--perplexities are those of {language_models.EXPERIMENT.name}, not of {given.name}")
    if given.verdicts:
        chosen = [EXPERIMENTS[name] for name in ([given.name] if given.name else EXPERIMENTS)]
        if given.results and not given.name:  # those that the folder has
            chosen = [one for one in chosen if (given.results / f"{one.name}.json").is_file()]
            if not chosen:
                parser.error(f"there is no result in {given.results}")
        try:
            print(*(line for experiment in chosen for line in verdicts(experiment, given.results)), sep="\n")
        except WrongResultError as error:
            parser.error(str(error))
        return 0
    if given.perplexities:
        try:
            found = read(_file(language_models.EXPERIMENT.name, given.results))
        except WrongResultError as error:
            parser.error(str(error))
        print(*(f"{name}  {value:.1f}" for name, value in language_models.perplexities(found).items()), sep="\n")
        return 0
    if given.name is None:
        for name, experiment in EXPERIMENTS.items():
            print(f"{name}: {experiment.question}")
        return 0
    folder, experiment = given.results or RESULTS, EXPERIMENTS[given.name]
    try:
        only = having(experiment, given.only) if given.only else None
    except ValueError as error:
        parser.error(str(error))
    try:  # before hours are spent
        folder.mkdir(parents=True, exist_ok=True)
        TemporaryFile(dir=folder).close()
    except OSError as error:
        parser.error(f"nothing can be written to {folder}: {error}")
    try:
        print(perform(experiment, folder, workers=given.workers, scheduler=given.scheduler, only=only))
    except (WrongResultError, ClusterError) as error:
        parser.error(str(error))
    except JobFailedError as error:
        if not isinstance(error.__cause__, EXPECTED):
            raise
        parser.error(f"{error}; {_kept(experiment, folder, only)}")
    except KeyboardInterrupt:
        print(f"interrupted; {_kept(experiment, folder, only)}", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
