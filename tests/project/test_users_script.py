"""The tour of the README, as a user of the installed package types it: it prints what it says, and it type-checks."""

import re
import subprocess
import sys
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
README = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
TOUR = README.partition("## The package alone")[2].partition("\n## ")[0]


@pytest.fixture(scope="module")
def tour(tmp_path_factory) -> tuple[Path, str]:
    """The tour as one file in an empty folder, and what it is said to print."""
    codes, printed = (re.findall(rf"```{kind}\n(.*?)```", TOUR, re.DOTALL) for kind in ("python", "text"))
    assert len(codes) == len(printed) > 0, "each piece of the tour has its output below it"
    script = tmp_path_factory.mktemp("user") / "tour.py"
    script.write_text("\n".join(codes), "utf-8")
    return script, "".join(printed)


def _python(*arguments: object, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *map(str, arguments)], cwd=folder, capture_output=True, text=True)


def test_the_tour_prints_what_the_readme_says(tour) -> None:
    script, printed = tour
    run = _python("-W", "error", script, folder=script.parent)
    assert (run.stdout, run.stderr) == (printed, "")


@pytest.fixture(scope="module")
def complaints(tour) -> list[str]:
    """What mypy says of the tour and of wrong calls, both in one run: it takes a while."""
    script, _ = tour
    wrong = script.with_name("wrong.py")
    wrong.write_text("\n".join(WRONG), "utf-8")
    run = _python("-m", "mypy", "--strict", "--no-error-summary", script.name, wrong.name, folder=script.parent)
    assert not run.stderr
    return run.stdout.splitlines()


def test_the_tour_type_checks(complaints) -> None:
    assert [line for line in complaints if not line.startswith("wrong.py")] == []


def test_wrong_calls_do_not_type_check(complaints) -> None:
    wrong = [line for line in complaints if line.startswith("wrong.py")]
    assert {int(line.split(":")[1]) for line in wrong} == {3, 4, 5, 6, 9, 10}
    assert any('"str"' in line for line in wrong)
