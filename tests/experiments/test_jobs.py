"""Independent jobs: every result once, wherever they run and whatever dies; one clear error for what cannot be."""

import json
import os
import pickle
import re
import socket
import sys
import time
from collections import Counter

import pytest
import small_jobs
from small_jobs import Squares

import fhx
from fhx.experiments import Experiment, runner
from fhx.jobs import ClusterError, JobFailedError, cluster, job, map_unordered, processes
from fhx.tasks import DataNotFoundError

pytestmark = pytest.mark.full  # processes that die and clusters that lose them

SQUARES = [(number, number**2) for number in range(8)]


@pytest.fixture(scope="module")
def two():
    """A cluster of two processes on this machine, each of which is started again when it dies."""
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=":0", silence_logs="CRITICAL"
    ) as made:
        yield made


@pytest.fixture
def empty(monkeypatch):
    """A cluster within this process that has no workers yet; those it is given have four threads."""
    from distributed import LocalCluster

    monkeypatch.setattr(cluster, "ANSWER_SECONDS", 1)
    options = {"threads_per_worker": 4, "protocol": "tcp://", "host": "127.0.0.1", "dashboard_address": ":0"}
    with LocalCluster(n_workers=0, processes=False, silence_logs="CRITICAL", **options) as made:
        yield made


def experiment_of(squares):
    """The squares of eight numbers as an experiment."""
    return Experiment(
        name="squares",
        question="How large are squares?",
        settings={"seeds": [0]},
        points=[{"number": number} for number in range(8)],
        run=squares.run,
    )


def until_failure(results):
    """The results that are handed out before a job fails, and how it fails."""
    got = []
    with pytest.raises(JobFailedError) as caught:
        got.extend(results)  # it keeps what came before the exception
    return sorted(got), caught.value


def test_jobs_run_here_one_by_one(tmp_path):
    squares = Squares(tmp_path)
    results = map_unordered(squares, range(8))
    assert squares.begun == []
    assert next(results) == (0, 0)
    assert squares.begun == [0]
    assert list(results) == SQUARES[1:]
    assert squares.workers == {os.getpid()}


@pytest.mark.parametrize("workers", [1, 2])
def test_no_jobs_have_no_results(workers):
    assert list(map_unordered(small_jobs.fatal, [], workers=workers)) == []


def test_job_that_fails_here_is_named(tmp_path):
    got, failure = until_failure(map_unordered(Squares(tmp_path, wrong=(3,)), range(8)))
    assert got == SQUARES[:3]
    assert str(failure) == "job 4 of 8, 3: ValueError: no square of 3"
    assert type(failure.__cause__) is ValueError


def test_processes_do_every_job_though_one_is_killed(tmp_path):
    squares = Squares(tmp_path, fatal=(3,))
    assert sorted(map_unordered(squares, range(8), workers=2)) == SQUARES
    assert squares.begun == [0, 1, 2, 3, 3, 4, 5, 6, 7]
    assert len(squares.workers - {os.getpid()}) == 3


def test_job_that_kills_its_workers_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(processes, "MAX_DEATHS", 0)
    got, failure = until_failure(map_unordered(small_jobs.fatal, [tmp_path], workers=2))
    assert got == []
    assert str(failure) == f"job 1 of 1, {tmp_path!r}: each worker that started it died"
    assert len(list(tmp_path.iterdir())) == 1


def test_failure_stops_the_processes(tmp_path):
    arguments = [(tmp_path, index, 60) for index in range(3)]
    got, failure = until_failure(map_unordered(small_jobs.second_fails, arguments, workers=2))
    assert got == [(0, 1)]
    assert str(failure).startswith("job 2 of 3, ")
    assert str(failure).endswith(": ValueError: one is wrong")
    assert "in second_fails" in failure.__cause__.__notes__[0]
    assert (tmp_path / "ended 2").exists()


def test_exception_that_cannot_come_back_does_so_by_its_words():
    result, error = job.unpickled(job.execute(pickle.dumps((small_jobs.unpicklable, 3))))
    assert result is None
    assert type(error) is RuntimeError
    assert str(error) == "Unpicklable: 3 is odd"
    assert "in unpicklable" in error.__notes__[0]


def test_missing_data_comes_back_as_it_is():
    result, error = job.unpickled(job.execute(pickle.dumps((small_jobs.missing, 0))))
    assert result is None
    assert type(error) is DataNotFoundError
    assert str(error) == "no chorales"


def test_what_cannot_be_sent_is_named():
    for where in ({"workers": 2}, {"scheduler": "tcp://127.0.0.1:9"}):
        got, failure = until_failure(map_unordered(small_jobs.crowd, [1, lambda: 2], **where))
        assert got == []
        assert str(failure).startswith("job 2 of 2, <function ")


def test_experiment_is_the_same_on_a_cluster_that_loses_a_worker(two, tmp_path, monkeypatch):
    """Interrupted after three points, and then a worker is killed: nothing lost, nothing twice, nothing else."""
    folders = [tmp_path / name for name in ("here", "first", "second")]
    for folder in folders:
        folder.mkdir()
    alone = json.loads(runner.perform(experiment_of(Squares(folders[0])), tmp_path / "alone").read_text())
    written = []

    def interrupted(path, head, entries, write=runner.write):
        write(path, head, entries)
        written.append(entries)
        if len(written) == 3:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(runner, "write", interrupted)
        with pytest.raises(KeyboardInterrupt):
            runner.perform(experiment_of(Squares(folders[1])), tmp_path, scheduler=two.scheduler_address)
    kept = [entry["point"]["number"] for entry in json.loads((tmp_path / "squares.json").read_text())["points"]]
    assert len(kept) == 3
    assert kept == sorted(kept)

    missing = [number for number in range(8) if number not in kept]
    rest = Squares(folders[2], fatal=missing[2:3])
    result = json.loads(runner.perform(experiment_of(rest), tmp_path, scheduler=two.scheduler_address).read_text())
    begun = Counter(rest.begun)
    assert sorted(begun) == missing
    assert begun[missing[2]] > 1
    assert os.getpid() not in rest.workers
    for made in (alone, result):
        for entry in made["points"]:
            assert entry.pop("seconds") >= 0
    assert result == alone


def test_failure_on_a_cluster_hands_out_what_is_done(two, tmp_path):
    """A job fails, and another ends, while nobody asks for results."""
    arguments = [(tmp_path, index, 0.3) for index in range(3)]
    results = map_unordered(small_jobs.second_fails, arguments, scheduler=two.scheduler_address)
    assert next(results)[0] == 0
    while not (tmp_path / "ended 2").exists():
        time.sleep(0.01)
    time.sleep(0.5)  # for the news to come
    got, failure = until_failure(results)
    assert [index for index, _ in got] == [2]
    assert str(failure).startswith("job 2 of 3, ")
    assert "in second_fails" in failure.__cause__.__notes__[0]


def test_cluster_with_another_version_is_refused(two, monkeypatch):
    theirs = re.escape(fhx.__version__)
    monkeypatch.setattr(fhx, "__version__", "9.9")
    with pytest.raises(ClusterError, match=rf"fhx is {theirs} on the worker tcp://127\.0\.0\.1:\d+ and 9\.9 here"):
        list(map_unordered(small_jobs.crowd, [0], scheduler=two.scheduler_address))


def test_point_made_otherwise_is_refused(two, tmp_path, monkeypatch):
    monkeypatch.setattr("torch.__version__", "0")
    with pytest.raises(
        JobFailedError, match=r"WrongResultError: the result is to be made with .*'torch': '0'.* and the worker"
    ):
        runner.perform(experiment_of(Squares(tmp_path)), tmp_path, scheduler=two.scheduler_address)


def test_job_that_kills_workers_of_a_cluster_is_named(two, tmp_path, monkeypatch):
    monkeypatch.setattr(two.scheduler, "allowed_failures", 0)
    got, failure = until_failure(map_unordered(small_jobs.fatal, [tmp_path], scheduler=two.scheduler_address))
    assert got == []
    assert str(failure) == f"job 1 of 1, {tmp_path!r}: each worker that started it died"
    assert len(list(tmp_path.iterdir())) == 1


def test_cluster_without_workers_or_without_the_package_is_refused(empty, monkeypatch):
    with pytest.raises(ClusterError, match="has no workers"):
        list(map_unordered(small_jobs.crowd, [0], scheduler=empty.scheduler_address))
    empty.scale(1)
    monkeypatch.setitem(sys.modules, "fhx", None)
    with pytest.raises(ClusterError, match="fhx is missing on the worker"):
        list(map_unordered(small_jobs.crowd, [0], scheduler=empty.scheduler_address))


def test_process_of_a_cluster_does_one_job_at_a_time(empty):
    empty.scale(1)
    assert sorted(map_unordered(small_jobs.crowd, range(8), scheduler=empty.scheduler_address)) == [
        (i, 1) for i in range(8)
    ]


def test_cluster_that_loses_its_workers_for_good_is_left(empty, monkeypatch):
    monkeypatch.setattr(cluster, "DESERTED_SECONDS", 0.3)
    empty.scale(1)
    results = map_unordered(small_jobs.crowd, range(1000), scheduler=empty.scheduler_address)
    next(results)
    empty.scale(0)
    with pytest.raises(ClusterError, match="has lost its workers"):
        list(results)


def test_cluster_that_is_lost_is_left(empty):
    empty.scale(1)
    results = map_unordered(small_jobs.crowd, range(1000), scheduler=empty.scheduler_address)
    next(results)
    empty.close()
    with pytest.raises(ClusterError, match="was lost"):
        list(results)


def test_without_dask_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ClusterError, match=r"distributed is missing: pip install 'fhx\[cluster\]'"):
        list(map_unordered(small_jobs.crowd, [0], scheduler="tcp://127.0.0.1:8786"))


def test_address_where_nobody_answers_is_refused(monkeypatch):
    monkeypatch.setattr(cluster, "ANSWER_SECONDS", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(ClusterError, match=f"no Dask scheduler answers at {address}: timed out"):
            list(map_unordered(small_jobs.crowd, [0], scheduler=address))
    with pytest.raises(ClusterError, match=f"no Dask scheduler answers at {address}: .*refused"):
        list(map_unordered(small_jobs.crowd, [0], scheduler=address))


@pytest.mark.parametrize("address", ["localhost", "http://localhost:8786", "tcp://localhost", "tcp://:8786x"])
def test_what_is_no_address_is_refused(address):
    with pytest.raises(ClusterError, match="looks like tcp://"):
        list(map_unordered(small_jobs.crowd, [0], scheduler=address))


def test_number_of_workers_is_checked_at_once():
    with pytest.raises(ValueError, match="workers is 0"):
        map_unordered(small_jobs.crowd, [0], workers=0)
    with pytest.raises(ValueError, match="leave out either workers=2 or scheduler=tcp"):
        map_unordered(small_jobs.crowd, [0], workers=2, scheduler="tcp://localhost:8786")
