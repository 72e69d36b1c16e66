"""nbval, called as ``make test`` calls it, passes what holds and fails what does not."""

import xml.etree.ElementTree as ElementTree

import pytest
from nbval_run import Nbval, write

CHECKED = {"tags": ["nbval-check-output"]}
CASES = {
    "equal": ("print(1 + 1)", "2\n", CHECKED, True),
    "altered": ("print(1 + 1)", "3\n", CHECKED, False),
    "altered_unmarked": ("print(1 + 1)", "3\n", {}, True),
    "raises": ("raise ValueError('oh')", "", {}, False),
    "another_device": ("print('5 of 5 on cpu in 1.5 s')", "5 of 5 on cuda:0 in 12 s\n", CHECKED, True),
    "another_count": ("print('4 of 5 on cpu in 1.5 s')", "5 of 5 on cuda:0 in 12 s\n", CHECKED, False),
    "silent_bar": ("from tqdm import tqdm\nfor _ in tqdm([1]):\n    print(1)", "1\n", CHECKED, True),
    "warns": ("import warnings\nwarnings.warn('old', DeprecationWarning)\nprint(1)", "1\n", {}, True),
}


@pytest.fixture(scope="module")
def passed(nbval: Nbval, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bool]:
    """Whether each case passed, all run by one call of pytest."""
    folder = tmp_path_factory.mktemp("nbval")
    for name, (*cell, _) in CASES.items():
        write(folder, name, cell)
    report = folder / "report.xml"
    run = nbval(folder, f"--junitxml={report}")
    assert report.exists(), run.stdout + run.stderr
    cells = ElementTree.parse(report).iter("testcase")
    return {cell.get("classname", "").rsplit(".ipynb", 1)[0].rsplit(".", 1)[-1]: len(cell) == 0 for cell in cells}


@pytest.mark.parametrize("name", CASES)
def test_case(passed: dict[str, bool], name: str) -> None:
    assert passed[name] == CASES[name][-1]
