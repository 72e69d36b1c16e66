"""Grading on a Dask cluster that loses a worker half-way: the same marks, nothing lost, nothing twice."""

import time
from pathlib import Path

import psutil
import pytest
from hostile import COUNT, HAT, LIMITS, instead, light
from submitted import text

from fhx.course.grading.batch import grade_all
from fhx.course.grading.command import grade_folder
from fhx.course.grading.marks import Task
from fhx.course.grading.submissions import find_submissions

pytestmark = pytest.mark.alone

TASK = Task(3, seed="a seed of a test", random_inputs=2, limits=LIMITS)
WRONG = {HAT: instead("hats(n)", "return 1")}
OPEN = {COUNT: instead("count_states(W, U, b, h0)", "return ...")}
STUDENTS = {"ana": {}, "ben": WRONG, "cleo": OPEN, "dan": WRONG | OPEN}


@pytest.fixture
def cluster():
    """Two processes of this machine, each of which is started again when it dies."""
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=":0", silence_logs="CRITICAL"
    ) as made:
        yield made


def wait_for_kernel(process: psutil.Process) -> None:
    deadline = time.monotonic() + 60
    while not any("bwrap" in child.name() for child in process.children(recursive=True)):
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.filterwarnings("default")  # those of sockets of a worker that was killed
def test_marks_are_those_of_one_machine(isolated, cluster, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # the cluster has not, and cannot open these paths
    folder, there = Path("submissions"), Path("there")
    for name, changed in STUDENTS.items():
        (folder / name).mkdir(parents=True)
        (folder / name / "homework.ipynb").write_text(text(light(changed)))
    beginning = grade_all(find_submissions(folder), TASK, there, scheduler=cluster.scheduler_address)
    graded = [next(beginning)]
    victim = psutil.Process(next(iter(cluster.workers.values())).pid)
    wait_for_kernel(victim)
    crew = [victim, *victim.children(recursive=True)]
    victim.kill()
    graded += beginning

    assert sorted(one.student for one in graded) == sorted(STUDENTS)
    assert {path.stem for path in (there / "records").iterdir()} == set(STUDENTS)
    gone, alive = psutil.wait_procs(crew, timeout=10)
    assert len(gone) == len(crew), alive
    here = {one.student: one.marks for one in grade_folder(folder, TASK, Path("here"), workers=2)}
    assert {one.student: one.marks for one in graded} == here
