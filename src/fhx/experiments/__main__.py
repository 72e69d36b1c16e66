"""``python -m fhx.experiments [NAME]``: list the experiments, run one, or print verdicts or perplexities of results."""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from fhx.experiments import language_models
from fhx.experiments.catalog import EXPERIMENTS
from fhx.experiments.experiment import Experiment, Point
from fhx.experiments.protocol import judge
from fhx.experiments.results import WrongResultError, read, shipped
from fhx.experiments.runner import perform
from fhx.jobs import ClusterError, JobFailedError
from fhx.tasks import DataCorruptError, DataNotFoundError

EXPECTED = (WrongResultError, DataNotFoundError, DataCorruptError, type(None))
"""Causes of a failed job that need no traceback; None is the death of its workers."""


def verdicts(experiment: Experiment, folder: Path) -> list[str]:
    """A line for each statement of the experiment: settled or not, its interval, and the rules that hold and do not.

    Args:
        experiment: of the catalogue.
        folder: of the results; where it has none, the package's own result is judged.

    Raises:
        WrongResultError: a file is not the result of the experiment, or not all of it.
    """
    if not experiment.trains:
        return [f"{experiment.name}: nothing is trained"]
    if experiment.evidence is None:
        return [f"{experiment.name}: {judge(None)}"]
    path = folder / f"{experiment.name}.json"
    found = read(path := path if path.is_file() else shipped() / path.name)
    if [entry["point"] for entry in found["points"]] != list(experiment.points):
        raise WrongResultError(
            f"{path} has other points than the experiment; make all of them by: "
            f"python -m fhx.experiments {experiment.name} --results {path.parent}"
        )
    lines = list[str]()
    for part, one in experiment.evidence(found).items():
        verdict, name = judge(one), part.removesuffix(f": {one.statements[0]}" if one.statements else "")
        told = [verdict.of(statement) for statement in verdict.leads] or [str(verdict)]
        lines += [f"{experiment.name}, {name}: {each}" for each in told]
    return lines


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


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line says; the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m fhx.experiments", description="List the long runs with their questions, or run or resume one."
    )
    parser.add_argument("name", nargs="?", help="the experiment to run; without it they are listed")
    parser.add_argument(
        "--results", type=Path, default=Path("results"), help="folder of the results (default: results)"
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
    if given.verdicts:
        chosen = EXPERIMENTS.values() if given.name is None else (EXPERIMENTS[given.name],)
        try:
            print(*(line for experiment in chosen for line in verdicts(experiment, given.results)), sep="\n")
        except WrongResultError as error:
            parser.error(str(error))
        return 0
    if given.perplexities:
        path = given.results / f"{language_models.EXPERIMENT.name}.json"
        try:
            found = read(path if path.is_file() else shipped() / path.name)
        except WrongResultError as error:
            parser.error(str(error))
        print(*(f"{name}  {value:.1f}" for name, value in language_models.perplexities(found).items()), sep="\n")
        return 0
    if given.name is None:
        for name, experiment in EXPERIMENTS.items():
            print(f"{name}: {experiment.question}")
        return 0
    kept, experiment = f"what is done is kept in {given.results}, and the same command goes on", EXPERIMENTS[given.name]
    try:
        only = having(experiment, given.only) if given.only else None
    except ValueError as error:
        parser.error(str(error))
    try:
        print(perform(experiment, given.results, workers=given.workers, scheduler=given.scheduler, only=only))
    except (WrongResultError, ClusterError) as error:
        parser.error(str(error))
    except JobFailedError as error:
        if not isinstance(error.__cause__, EXPECTED):
            raise
        parser.error(f"{error}; {kept}")
    except KeyboardInterrupt:
        print(f"interrupted; {kept}", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
