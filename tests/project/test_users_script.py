"""The tour of the README, as a user of the installed package types it: it prints what it says, and it type-checks."""

import re
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

pytestmark = pytest.mark.full

WRONG = [
    "from fhx.exact import SimpleRNN",
    "from fhx.machines import DFA",
    "SimpleRNN([['a']], [[1]], [0], [0], 'relu')",
    "SimpleRNN([[1]], [[1]], [0], [0], 'tanh')",
    "DFA({'q'}, 'a', {('q', 'a'): 'q'}, 'q', ['q'])",
    "DFA(['q'], {'a'}, {('q', 'a'): 'q'}, 'q', ['q'])",
    "from fhx.cells import SimpleCell",
    "from fhx.stability import contraction_rate",
    "contraction_rate(SimpleCell(2, 3, 'nope'))",
    "contraction_rate(SimpleCell(2, 3), 'bogus')",
]
ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")
# What `mypy --strict` asks of a user's file; what it asks of the package besides is in pyproject.toml.
STRICT = """# mypy: disallow-any-generics, disallow-subclassing-any, disallow-untyped-calls, disallow-untyped-defs
# mypy: disallow-incomplete-defs, check-untyped-defs, disallow-untyped-decorators, warn-unused-ignores, warn-return-any
# mypy: strict-equality, extra-checks
"""
TOUR = README.partition("## The package alone")[2].partition("\n## ")[0]


@pytest.fixture(scope="module")
def tour(tmp_path_factory) -> tuple[Path, str]:
    """The tour as one file in an empty folder, and what it is said to print."""
    codes, printed = (re.findall(rf"```{kind}\n(.*?)```", TOUR, re.DOTALL) for kind in ("python", "text"))
    assert len(codes) == len(printed) > 0, "each piece of the tour has its output below it"
    script = tmp_path_factory.mktemp("user") / "tour.py"
    script.write_text(STRICT + "\n".join(codes), "utf-8")
    return script, "".join(printed)


def _python(*arguments: object, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *map(str, arguments)], cwd=folder, capture_output=True, text=True)


def test_the_tour_prints_what_the_readme_says(tour) -> None:
    script, printed = tour
    run = _python("-W", "error", script, folder=script.parent)
    assert (run.stdout, run.stderr) == (printed, "")


@pytest.fixture(scope="module")
def complaints(tour) -> list[str]:
    """What mypy says of the tour and of wrong calls; what it has read of the package and of torch for `make lint`, it
    does not read again."""
    script, _ = tour
    wrong = script.with_name("wrong.py")
    wrong.write_text(STRICT + "\n".join(WRONG), "utf-8")
    run = _python("-m", "mypy", "--no-error-summary", script, wrong, folder=ROOT)
    assert not run.stderr
    return [re.sub(r"^\S*/(?=(tour|wrong)\.py:)", "", line) for line in run.stdout.splitlines()]


def test_the_tour_type_checks(complaints) -> None:
    assert [line for line in complaints if not line.startswith("wrong.py")] == []


def test_the_package_says_that_it_is_typed() -> None:
    assert (files("fhx") / "py.typed").is_file()


def test_wrong_calls_do_not_type_check(complaints) -> None:
    wrong = [line for line in complaints if line.startswith("wrong.py")]
    first = STRICT.count("\n")
    assert {int(line.split(":")[1]) - first for line in wrong} == {3, 4, 5, 6, 9, 10}
    assert any('"str"' in line for line in wrong)
