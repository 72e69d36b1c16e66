"""Where students' code cannot be kept apart, the reason is told, and what helps."""

import os
import shutil
from pathlib import Path

import pytest

from fhx._version import shipped
from fhx.course.grading import namespaces, users
from fhx.course.grading.launcher import USER, Launcher, Limits, NoKernelError
from fhx.course.grading.namespaces import isolation_problem
from fhx.course.grading.users import guard_problem, guard_user, spare_user


@pytest.fixture
def refused(tmp_path, monkeypatch):
    """A bubblewrap that is refused its namespaces, and no settings of the system that say why."""
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(namespaces, "SETTINGS", tmp_path / "sys")
    return tmp_path / "sys"


def test_a_kernel_sees_the_results_that_cells_of_the_book_read():
    assert {shipped(), *shipped().parents} & {*namespaces.mounts()}


@pytest.mark.parametrize("system", ["darwin", "win32"])
def test_other_systems_are_told_where_to_go(monkeypatch, system):
    monkeypatch.setattr("sys.platform", system)
    assert isolation_problem() == "it takes Linux; on Windows work inside WSL, on a Mac in a virtual machine"


def test_the_package_is_named(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert isolation_problem() == "bubblewrap is missing; install Debian's or Fedora's package 'bubblewrap'"


@pytest.mark.parametrize(
    ("name", "value", "setting"),
    [
        ("kernel/apparmor_restrict_unprivileged_userns", "1", "kernel.apparmor_restrict_unprivileged_userns=0"),
        ("kernel/unprivileged_userns_clone", "0", "kernel.unprivileged_userns_clone=1"),
        ("user/max_user_namespaces", "0", "user.max_user_namespaces=10000"),
    ],
)
def test_the_setting_that_forbids_it_is_named(refused, monkeypatch, name, value, setting):
    monkeypatch.setattr(os, "getuid", lambda: 1000)
    (refused / name).parent.mkdir(parents=True)
    (refused / name).write_text(f"{value}\n")
    told = isolation_problem()
    assert "setting up uid map: Permission denied" in told
    assert told.endswith(f"sudo sysctl -w {setting}")
    (refused / name).write_text(setting.partition("=")[2] + "\n")
    assert "sysctl" not in isolation_problem()


@pytest.mark.parametrize("user", [0, 1000])
def test_a_container_is_thought_of_last(refused, monkeypatch, user):
    monkeypatch.setattr(os, "getuid", lambda: user)
    assert "in a container, start it with --privileged" in isolation_problem()


def test_a_program_that_cannot_be_run(tmp_path, monkeypatch):
    (tmp_path / "bwrap").write_bytes(b"no program")
    (tmp_path / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert isolation_problem().startswith("bubblewrap does not run")


def test_users_are_nobodys_and_different(tmp_path, monkeypatch):
    monkeypatch.setattr(users, "MAP", tmp_path / "map")
    for rows, most in (("0 0 4294967295\n", 2**32 - 2), ("0 100000 65536\n", 65_533), ("", 65_533)):
        (tmp_path / "map").write_text(rows)
        found = [spare_user(number) for number in range(users.KERNELS)]
        assert len(set(found)) == len(found)
        assert 20_000 <= min(found) <= max(found) <= most
        assert guard_user() not in found
        assert 18_000 <= guard_user() <= most
    (tmp_path / "map").unlink()
    assert 20_000 <= spare_user() < 60_000


def test_becoming_another_user_takes_root_and_a_python_for_all(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "getuid", lambda: 1000)
    assert guard_problem() == "it takes root"
    monkeypatch.setattr(os, "getuid", lambda: 0)
    closed = tmp_path / "closed" / "python"
    closed.mkdir(parents=True)
    monkeypatch.setattr(users, "mounts", lambda: [closed])
    for path in (closed, closed.parent):
        path.chmod(0o700)
        assert guard_problem() == (
            f"Python and the package must be readable to every user, and {closed} is not; install them in /opt"
        )
        with pytest.raises(NoKernelError, match="cannot become another user here: Python"):
            Launcher(Limits(), USER)
        path.chmod(0o755)
    monkeypatch.setattr(users, "mounts", lambda: [Path("/usr")])
    assert guard_problem() is None
    monkeypatch.setattr(users, "refusals", lambda network: None)
    assert guard_problem() == "the system calls of this processor are not known here"
    monkeypatch.setattr("sys.platform", "darwin")
    assert guard_problem() == "it takes Linux"
