"""What a stranger does: installs the package in an empty environment, and runs what README, pages and notebooks show.

``make outsider`` builds a wheel and a source archive of the last commit, as for a release. Then, for each Python that
is there and for the lowest, the pinned and the newest versions of all that the package asks for, it makes empty
environments in empty folders and takes the steps of :data:`STEPS`. It prints a table. It takes long, loads what pip
loads, and is no part of ``make test``.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
RELEASE = "99.0.0"
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
VERSIONS = ("lowest", "pinned", "newest")
CHAPTERS = ("01", "03", "07", "10", "12")
"""One of each part."""
CORE = """\
import importlib.util, sys
from fhx.compile import dfa_to_rnn, turing_to_rnn
from fhx.exact import SimpleRNN
from fhx.machines import DFA, palindromes
assert dfa_to_rnn(DFA.from_regex("(a|b)*abb", alphabet="ab")).accepts("aabb")
assert turing_to_rnn(palindromes()).decide("abba", max_steps=100).accepted
assert not importlib.util.find_spec("torch") and "scipy.stats" not in sys.modules
try:
    import fhx.cells
except ImportError as error:
    assert "fhx[torch]" in str(error), error
else:
    raise AssertionError("torch is here")
"""
PLAY = """\
import contextlib, io, re, sys
text, names = open(sys.argv[1], encoding="utf-8").read(), {"__name__": "tour"}
blocks = re.findall(r"^```python\\n(.*?)^```\\n\\n```text\\n(.*?)^```$", text.partition(sys.argv[2])[2], re.M | re.S)
assert blocks
for code, printed in blocks:
    with contextlib.redirect_stdout(io.StringIO()) as said:
        exec(code, names)
    assert said.getvalue() == printed, f"{said.getvalue()!r} is not {printed!r}"
"""


class StepFailedError(RuntimeError):
    """What a command said last."""


def run(*command: str | Path, folder: Path, **environment: str) -> str:
    """What a command prints, in a folder and with nothing of this environment but the folder of data."""
    ours = ("PYTHON", "FHX_", "VIRTUAL_ENV")
    kept = {name: value for name, value in os.environ.items() if name == "FHX_DATA" or not name.startswith(ours)}
    done = subprocess.run([*map(str, command)], cwd=folder, env=kept | environment, capture_output=True, text=True)
    if done.returncode:
        lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        raise StepFailedError(lines[-1] if lines else f"exit status {done.returncode}")
    return done.stdout


class Release:
    """The last commit as it would be released, in a folder: a clone, wheel, source archive and plain notebooks."""

    def __init__(self, folder: Path) -> None:
        self.clone = folder / "clone"
        run("git", "clone", "--quiet", ROOT, self.clone, folder=folder)
        run("git", "tag", f"v{RELEASE}", folder=self.clone)
        run(sys.executable, "-m", "uv", "build", "--quiet", "--out-dir", folder / "dist", folder=self.clone)
        (self.wheel,) = (folder / "dist").glob("*.whl")
        (self.archive,) = (folder / "dist").glob("*.tar.gz")
        package = {"PYTHONPATH": str(self.clone / "src")}
        run(sys.executable, self.clone / "book" / "tools" / "plain.py", folder / "plain", folder=folder, **package)
        self.notebooks = folder / "plain" / "notebooks"

    def constraints(self, versions: str) -> list[str]:
        """What uv is told for ``lowest``, ``pinned`` or ``newest`` versions."""
        return {
            "lowest": ["--resolution", "lowest-direct"],
            "pinned": ["--constraint", str(self.clone / "constraints.txt")],
            "newest": [],
        }[versions]


class Stranger:
    """An empty folder with an empty environment.

    Args:
        folder: the folder, which is made.
        python: the Python of the environment.
        more: words for each ``uv pip install``.
    """

    def __init__(self, folder: Path, python: str, more: Sequence[str]) -> None:
        folder.mkdir(parents=True)
        self.folder, self.more, self.python = folder, list(more), folder / ".venv" / "bin" / "python"
        run(sys.executable, "-m", "uv", "venv", "--quiet", "--python", python, folder=folder)

    def install(self, *what: str) -> None:
        words = ["-m", "uv", "pip", "install", "--quiet", "--python", str(self.python), *self.more, *what]
        run(sys.executable, *words, folder=self.folder)

    def type(self, code: str, *arguments: str | Path) -> str:
        """Run a program that stands in a file here."""
        (self.folder / "typed.py").write_text(code, "utf-8")
        return run(self.python, "typed.py", *arguments, folder=self.folder, OMP_NUM_THREADS="1")


def core(stranger: Stranger, release: Release) -> None:
    """The wheel without an extra: no torch, and a sentence where it is needed."""
    stranger.install(str(release.wheel))
    stranger.type(CORE)
    assert RELEASE in stranger.type("import fhx; print(fhx.__version__)")


def source(stranger: Stranger, release: Release) -> None:
    """The source archive, and stored results in what is built from it."""
    stranger.install(str(release.archive))
    stranger.type(CORE)
    asked = "import fhx, os; print(*sorted(os.listdir(os.path.join(fhx.__path__[0], 'results'))))"
    there = stranger.type(asked)
    assert there.split() == sorted(path.name for path in (release.clone / "results").glob("*.json")), there


def tour(stranger: Stranger, release: Release) -> None:
    """The tour of the README and the page for nets of one's own print what they say."""
    stranger.install(f"{release.wheel}[torch,learn]")
    stranger.type(PLAY, release.clone / "README.md", "## The package alone")
    stranger.type(PLAY, release.clone / "book" / "own_net.md", "# Bring your own net")


def chapters(stranger: Stranger, release: Release) -> None:
    """A plain notebook of each part runs from the top, with nothing beside it."""
    stranger.install(f"{release.wheel}[chapters]", "ipykernel>=6.29", "nbclient>=0.10")
    for path in sorted(release.notebooks.glob("*.ipynb")):
        if path.name[:2] in CHAPTERS:
            (stranger.folder / path.name).write_bytes(path.read_bytes())
            jupyter = stranger.python.with_name("jupyter-execute")
            run(jupyter, "--inplace", path.name, folder=stranger.folder, OMP_NUM_THREADS="1")


STEPS = {"core": core, "source": source, "tour": tour, "chapters": chapters}


def rows(
    release: Release,
    folder: Path,
    pythons: Sequence[str],
    versions: Sequence[str],
    steps: Sequence[str],
    pins: Sequence[str],
) -> Iterator[list[str]]:
    """What became of each step, for each Python and each choice of versions."""
    for python in pythons:
        for version in versions:
            row = [python, version]
            for name in steps:
                more = [*release.constraints(version), *pins]
                try:
                    STEPS[name](Stranger(folder / f"{Path(python).name}-{version}-{name}", python, more), release)
                    row.append("ok")
                except (StepFailedError, AssertionError) as error:
                    row.append(re.sub(r"\s+", " ", str(error))[-90:])
                print(f"{python} {version} {name}: {row[-1]}", file=sys.stderr, flush=True)
            yield row


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--python", nargs="+", default=PYTHONS, metavar="PYTHON", help="versions, or paths")
    parser.add_argument("--versions", nargs="+", default=VERSIONS, choices=VERSIONS)
    parser.add_argument("--steps", nargs="+", default=list(STEPS), choices=STEPS)
    parser.add_argument("--pin", nargs="+", default=[], metavar="PACKAGE", help="such as torch==2.13.0, in all cases")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="outsider-") as name:
        folder = Path(name)
        pins = []
        if given.pin:
            (folder / "pins.txt").write_text("\n".join(given.pin))
            pins = ["--constraint", str(folder / "pins.txt")]
        table = list(rows(Release(folder), folder, given.python, given.versions, given.steps, pins))
    print(f"| Python | versions | {' | '.join(given.steps)} |\n|{'---|' * (2 + len(given.steps))}")
    for row in table:
        print(f"| {' | '.join(row)} |")
    return int(any(cell != "ok" for row in table for cell in row[2:]))


if __name__ == "__main__":
    sys.exit(main())
