"""The commands on the page for those who teach, run in a folder that is laid out as the page says."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fhx.course.grading.namespaces import isolation_problem

ROOT = Path(__file__).parents[2]
BLOCKS = re.findall(r"^```bash\n(.*?)^```$", (ROOT / "book" / "teaching.md").read_text("utf-8"), re.M | re.S)
COMMANDS = [block for block in BLOCKS if block.startswith("fhx-course")]
LEFT = {"SOLUTIONS=0 make book\n"}  # which test_without_solutions.py does


def run(line: str, clone: Path) -> str:
    """What a line prints that is typed in the clone."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = os.environ | {"PATH": path, "TQDM_DISABLE": "1"}
    done = subprocess.run(["bash", "-ec", line], cwd=clone, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, (line, done.stdout, done.stderr)
    return done.stdout


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone with its notebooks, and beside it an instructor's exercises and a list of students."""
    (tmp_path / "clone").mkdir()
    (tmp_path / "clone" / "notebooks").symlink_to(ROOT / "notebooks")
    shutil.copytree(ROOT / "book" / "samples" / "own", tmp_path / "my")
    (tmp_path / "students.csv").write_text("student\nada\nben\n")
    return tmp_path / "clone"


def hand_in(beside: Path, chapter: str) -> None:
    """The student version is handed in as it was handed out, or was made before."""
    made = sorted((beside / "dist").glob(f"{chapter.zfill(2)}-*-student.ipynb"))
    (beside / "submissions").mkdir()
    shutil.copy(made[0], beside / "submissions" / "ada.ipynb")


def test_every_command_is_one_that_is_run():
    assert set(BLOCKS) == {*COMMANDS, *LEFT}
    assert sum(block.count("fhx-course") for block in COMMANDS) >= 6


@pytest.mark.alone
@pytest.mark.parametrize("block", COMMANDS, ids=lambda block: " ".join(block.split()[1:3]))
def test_a_block_does_what_it_says(block: str, clone: Path):
    if problem := isolation_problem():
        pytest.skip(problem)
    for line in block.replace("\\\n", " ").splitlines():
        graded = re.search(r"fhx-course grade .*--chapter (\d+)", line)
        if graded:
            hand_in(clone.parent, graded[1])
            assert "1 submissions graded" in run(line, clone)
            assert (clone.parent / "grades" / "students" / "ada" / "feedback.html").is_file()
        else:
            made = run(line, clone).split()
            assert made
            assert all((clone / name).is_file() for name in made)
