"""The command takes nothing from the folder in which it is typed, which may be one of submissions."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from submitted import code, solutions, text

from fhx.course.grading.namespaces import isolation_problem

IMPORTED = """
import importlib, json, sys
from fhx.course.main import COMMANDS
graders = [f"fhx.course.grading.{name}" for name in ("judge", "worker", "forking", "summary", "wire_tensors")]
for name in (*COMMANDS.values(), *graders):
    importlib.import_module(name)
names = {name.partition(".")[0] for name in sys.modules} | set(sys.stdlib_module_names)
print(json.dumps(sorted(name for name in names if name.isidentifier())))
"""
SETTINGS = "axes.facecolor: 123456\nbackend: module://hostile\nsavefig.facecolor: 123456\nfigure.facecolor: 123456\n"


@pytest.mark.alone
def test_no_file_of_the_present_folder_is_run(tmp_path):
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "MPL"))}
    made = subprocess.run([sys.executable, "-P", "-c", IMPORTED], capture_output=True, check=True, env=environment)
    names = json.loads(made.stdout)
    assert {"select", "json", "torch", "matplotlib", "tqdm", "fhx", "numpy"} <= set(names)
    for name in [*names, "sitecustomize", "usercustomize", "hostile", "pandas"]:
        source = f"open({str(tmp_path / 'run')!r}, 'a').write({name!r})\n"
        (tmp_path / f"{name}.py").write_text(source)
    (tmp_path / "matplotlibrc").write_text(SETTINGS)
    (tmp_path / "in").mkdir()
    for name in ("ana", "ben"):
        (tmp_path / "in" / f"{name}.ipynb").write_text(text([code(solutions()["03-hat"])]))
    (tmp_path / "roster.csv").write_text("Email address\nana@uni.example\n")
    command = [str(Path(sys.executable).parent / "fhx-course")]
    words = ["grade", "in", "--chapter", "3", "--only", "03-hat", "--seed", "a seed of a test", "--out", "out"]
    words += ["--workers", "2", *(["--without-isolation"] if isolation_problem() else [])]
    for arguments in (words, ["export", "out", "--moodle", "roster.csv", "--out", "moodle.csv"]):
        done = subprocess.run([*command, *arguments], cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert "matplotlib" not in done.stderr
    assert not (tmp_path / "run").exists()
    page = (tmp_path / "out" / "summary.html").read_text("utf-8")
    assert "123456" not in page
    assert "2 of 2" in page
    assert (tmp_path / "moodle.csv").read_text("utf-8").splitlines()[1].startswith("ana@uni.example,3,")
