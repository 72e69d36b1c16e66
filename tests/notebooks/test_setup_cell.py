"""The set-up cell in environments that lack the package: it installs the notebook's version, or stops with a sentence."""

import ast
import subprocess
import sys
import venv
from pathlib import Path
from textwrap import dedent

import pytest
from notebook_cells import SETUP, config

from fhx.course.versions import INSTALL

COMMIT = "5" * 40
# A project that pip can build without a network: its backend is in its own folder.
BACKEND = """
    import zipfile
    def build_wheel(folder, settings=None, metadata=None):
        name = "fhx-0.3-py3-none-any.whl"
        with zipfile.ZipFile(f"{folder}/{name}", "w") as wheel:
            wheel.writestr("fhx/__init__.py", "__version__ = 'new'")
            wheel.writestr("fhx-0.3.dist-info/METADATA", "Metadata-Version: 2.1\\nName: fhx\\nVersion: 0.3\\n"
                           "Provides-Extra: chapters\\n")
            wheel.writestr("fhx-0.3.dist-info/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
            wheel.writestr("fhx-0.3.dist-info/RECORD", "")
        return name
"""
PROJECT = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'


def git(folder: Path, *words: str) -> str:
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    return subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """The address and the commit of a small repository with the package."""
    folder = tmp_path_factory.mktemp("repository")
    (folder / "backend.py").write_text(dedent(BACKEND))
    (folder / "pyproject.toml").write_text(PROJECT)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "all")
    return folder.as_uri().replace("///", "//localhost/"), git(folder, "rev-parse", "HEAD")


class Machine:
    """An environment of its own with pip, and an empty folder with a notebook.

    Attributes:
        folder: where the notebook is.
        packages: where packages are installed.
    """

    def __init__(self, path: Path) -> None:
        self.folder = path / "notebooks"
        self.folder.mkdir()
        venv.create(path / "environment", with_pip=False, symlinks=True)
        (self.packages,) = path.glob("environment/lib/python*/site-packages")
        # pip is that of the tests' environment: to make one anew takes seconds.
        (pip,) = {Path(place) for place in sys.path if (Path(place) / "pip" / "__init__.py").exists()} or {None}
        (self.packages / "pip").symlink_to(pip / "pip")
        self.python = path / "environment" / "bin" / "python"

    def run(self, url: str, revision: str, before: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
        """What the cell says after other code, up to the imports, which need torch; then which package is imported."""
        setup = INSTALL.sub(f'REVISION = "{revision}"', SETUP.format(url=url, branch="main"))
        cell, _, _ = setup.partition("import torch")
        code = f"{before}\n{cell}\nimport fhx; print('imported', fhx.__version__)"
        settings = {"PIP_NO_INDEX": "1", "PIP_RETRIES": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1", **environment}
        command = [self.python, "-c", code]
        return subprocess.run(
            command, cwd=self.folder, env={"PATH": "/usr/bin:/bin", **settings}, capture_output=True, text=True
        )

    def installed(self, version: str, origin: str = "{}") -> None:
        """Put a package of a version there, with what pip has noted of its origin."""
        (self.packages / "fhx").mkdir()
        (self.packages / "fhx" / "__init__.py").write_text(f"__version__ = 'old {version}'")
        (info := self.packages / f"fhx-{version}.dist-info").mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: fhx\nVersion: {version}\n")
        (info / "direct_url.json").write_text(origin)
        (info / "RECORD").write_text(f"fhx/__init__.py,,\nfhx-{version}.dist-info/METADATA,,\n")


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def stopped_with(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 1
    assert done.stdout == ""
    return done.stderr[done.stderr.index("RuntimeError: ") :]


def test_an_empty_environment_gets_the_commit(machine, repository):
    url, commit = repository
    assert machine.run(url, commit).stdout == "imported new\n"
    (noted,) = machine.packages.glob("fhx-*.dist-info/direct_url.json")
    assert commit in noted.read_text()
    assert machine.run("file:///nowhere", commit).stdout == "imported new\n"  # it is there: nothing is fetched


def test_another_version_is_replaced(machine, repository):
    url, commit = repository
    machine.installed("0.2")
    assert machine.run(url, commit).stdout == "imported new\n"


@pytest.mark.parametrize(
    ("version", "origin", "revision"),
    [
        ("0.2", "{}", "v0.2"),
        ("0.1.dev3", '{"vcs_info": {"commit_id": "' + COMMIT + '"}}', COMMIT),
        ("0.1.dev3", '{"dir_info": {"editable": true}}', COMMIT),
        ("0.1.dev3", "{}", "main"),
    ],
)
def test_the_right_one_and_a_clone_stay(machine, version, origin, revision):
    machine.installed(version, origin)
    cell = machine.run("file:///nowhere", revision)
    assert cell.stdout == f"imported old {version}\n"


def test_a_folder_of_that_name_beside_the_notebook_is_not_the_package(machine, repository):
    url, commit = repository
    (machine.folder / "fhx" / "notebooks").mkdir(parents=True)
    assert machine.run(url, commit).stdout == "imported new\n"


def test_offline_it_stops_with_a_sentence(machine):
    url = "https://127.0.0.1:9/nobody"
    said = stopped_with(machine.run(url, COMMIT))
    assert said.startswith(f"RuntimeError: fhx at {COMMIT} is not here: ")
    assert "127.0.0.1" in said


def test_where_nothing_may_be_written_it_stops_with_a_sentence(machine, repository):
    url, commit = repository
    said = stopped_with(machine.run(url, commit, PIP_TARGET="/proc/nowhere"))
    assert "is not here: " in said
    assert "/proc/nowhere" in said


def test_without_pip_it_stops_with_a_sentence(machine):
    (machine.packages / "pip").unlink()
    assert "No module named pip" in stopped_with(machine.run("file:///nowhere", COMMIT))


def test_a_kernel_that_has_the_old_one_is_to_be_started_again(machine, repository):
    url, commit = repository
    machine.installed("0.2")
    assert "restart the kernel" in stopped_with(machine.run(url, commit, "import fhx"))


def test_it_is_python_without_commands_of_ipython():
    """Marimo turns a notebook into a module, in which such a command is an error unless it stands alone."""
    tree = ast.parse(SETUP.format(url=config()["repository"]["url"], branch="main"))
    assert {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names} == {
        *("fhx", "platform", "subprocess", "sys", "torch"),
    }
