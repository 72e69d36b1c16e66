"""``make mutants``: are the tests sharp enough? mutmut makes small changes in the functions of a room, one at a time.

A change that makes none of the room's own tests fail has survived. Of each room a random sample of all changes is
tried, or all of them with ``--sample 0``; the figures go to ``results/mutants.json``. ``survivors.yml`` gives
the reason why each survivor is left: its keys are the changed lines, as the result shows them. Code outside
functions is not changed.
"""

import argparse
import json
import os
import platform
import random
import shutil
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path

import yaml
from scipy.stats import binomtest

ROOT = Path(__file__).parents[1]
ROOMS = ("machines", "exact", "compile", "cells", "dynamics", "stability")
SETTINGS = """
[tool.mutmut]
source_paths = ["src/"]
only_mutate = ["src/fhx/{room}/*"]
pytest_add_cli_args_test_selection = ["tests/{room}"]
pytest_add_cli_args = {options}
process_isolation = "forkserver"
forkserver_warmup = "import"
preload_modules_file = "preload.txt"
timeout_multiplier = 4
timeout_constant = 4
"""
LEFT_OUT = (
    "dynamics/test_scan.py::test_compiled_states_and_gradients",  # torch.compile cannot read one of several functions
    "cells/test_cells.py::test_annotated_shapes_are_checked_in_tests",  # shapes are not, since that would take minutes
)
OPTIONS = ["-p", "no:cacheprovider", "-p", "_hypothesis_pytestplugin", "--hypothesis-profile", "mutants"]
OPTIONS += [f"--deselect=tests/{test}" for test in LEFT_OUT]
ENVIRONMENT = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "FHX_UNCHECKED": "1"}
ENVIRONMENT |= {"OMP_NUM_THREADS": "1", "TQDM_DISABLE": "1"}
PRELOAD = ("torch.func", "scipy.stats", "scipy.optimize", "sklearn.linear_model", "matplotlib.pyplot")
PRELOAD += ("aalpy", "automata.fa.dfa", "hypothesis.strategies", "jaxtyping", "beartype", "yaml", "numpy.testing")
"""Imported once for all mutants. The package is not: what it makes when it is imported is made by the mutant then."""
FAILED, LATE = {1, 3}, {-24, 24, 36, 152}
"""Exit codes: a test failed, or the tests took four times as long as they should, which counts as noticed too."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="make mutants", description=__doc__)
    parser.add_argument("rooms", nargs="*", default=ROOMS, metavar="room", help="default: all")
    parser.add_argument("--sample", type=int, default=150, help="changes tried of a room, 0: all; default: %(default)s")
    parser.add_argument("--seed", type=int, default=0, help="of the sample; default: %(default)s")
    parser.add_argument("--again", action="store_true", help="only survivors of the last run: are they noticed now?")
    parser.add_argument("--processes", type=int, default=1, help="default: %(default)s")
    parser.add_argument("--json", type=Path, default=ROOT / "results" / "mutants.json", help="default: %(default)s")
    parser.add_argument("--folder", type=Path, default=ROOT / "_build" / "mutants", help="copies; default: %(default)s")
    arguments = parser.parse_args()
    rows = json.loads(arguments.json.read_text()) if arguments.json.exists() else {}
    for room in arguments.rooms:
        folder = arguments.folder / room
        if arguments.again:
            try_again(folder, room, rows[room])
        else:
            rows[room] = judge(folder, room, arguments.sample, arguments.seed, arguments.processes)
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        arguments.json.write_text(
            json.dumps({name: rows[name] for name in ROOMS if name in rows}, indent=1, ensure_ascii=False) + "\n"
        )
        report(room, rows[room])
    weak = [room for room in arguments.rooms if rows[room]["killed"] < 0.9 * rows[room]["tried"]]
    if weak:
        print(f"fewer than 90 % killed: {', '.join(weak)}", file=sys.stderr)
    return bool(weak)


def report(room: str, row: dict) -> None:
    reasons = yaml.safe_load((Path(__file__).parent / "survivors.yml").read_text())
    low, high = row["interval"]
    print(f"{room}: {row['killed']} of {row['tried']} killed ({low:.1%} to {high:.1%}), of {row['mutants']} mutants")
    for survivor in row["survivors"]:
        reason = "noticed since" if "since" in survivor else reasons.get(survivor["change"], "no reason given")
        print(f"  {survivor['name']}", f"    {survivor['change']}", f"    {reason}", sep="\n")


def try_again(folder: Path, room: str, row: dict) -> None:
    """Give the survivors that the room's tests notice by now the date, ``since``."""
    make(folder, room)
    for survivor in row["survivors"]:
        if "since" not in survivor:
            unchanged = change(folder, survivor["name"]) == survivor["change"]
            if unchanged and alone(folder, survivor["name"], callers(folder, survivor["name"]) or [f"tests/{room}"]):
                survivor["since"] = datetime.now(UTC).isoformat(timespec="seconds")


def judge(folder: Path, room: str, sample: int, seed: int, processes: int) -> dict:
    """Try a sample of the mutants of a room in a copy of the project."""
    make(folder, room)
    names = sorted(verdicts(folder))
    tried = random.Random(seed).sample(names, min(sample or len(names), len(names)))
    tests = {name: callers(folder, name) for name in tried}
    mutmut(folder, "--max-children", str(processes), *(name for name in tried if tests[name]))
    return settle(folder, room, tried) | {"seed": seed}


def settle(folder: Path, room: str, tried: Sequence[str]) -> dict:
    """What is known of the mutants that were tried, and those put to a process of their own of which it is not."""
    codes, tests = verdicts(folder), {name: callers(folder, name) for name in tried}
    missing = [name for name in tried if tests[name] and codes[name] is None]
    if missing:
        raise RuntimeError(f"mutmut did not try {len(missing)} of {len(tried)} changes of {room}, {missing[0]} for one")
    for name in tried:  # tests that cannot be imported, or none that notices it of those seen to call the function
        if codes[name] not in FAILED | LATE:
            codes[name] = alone(folder, name, (codes[name] and tests[name]) or [f"tests/{room}"])
    left = [name for name in sorted(tried) if codes[name] not in FAILED | LATE]
    killed = len(tried) - len(left)
    interval = binomtest(killed, len(tried)).proportion_ci(0.95)
    return {
        "mutants": len(codes),
        "tried": len(tried),
        "killed": killed,
        "by time": sum(codes[name] in LATE for name in tried),
        "interval": [round(interval.low, 4), round(interval.high, 4)],
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": {"python": platform.python_version(), **{name: version(name) for name in ("mutmut", "torch")}},
        "survivors": [{"name": name, "change": change(folder, name)} for name in left],
    }


def make(folder: Path, room: str) -> None:
    """A copy of the project with all mutants of a room and the times of its tests."""
    shutil.rmtree(folder, ignore_errors=True)
    for part in ("src", "tests"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    for file in ("README.md", "pyproject.toml"):
        shutil.copy(ROOT / file, folder)
    with (folder / "pyproject.toml").open("a") as file:
        file.write(SETTINGS.format(room=room, options=json.dumps(OPTIONS)))
    (folder / "preload.txt").write_text("\n".join(PRELOAD))
    mutmut(folder, "no such mutant", check=False)


def callers(folder: Path, name: str) -> list[str]:
    """The tests that were seen to call the function of a mutant; what is called before the tests run is not seen."""
    seen = json.loads((folder / "mutants" / "mutmut-stats.json").read_text())["tests_by_mangled_function_name"]
    return seen.get(name.rpartition("__mutmut_")[0], [])


def mutmut(folder: Path, *arguments: str, check: bool = True) -> None:
    """mutmut's output goes to a file beside the copy, since it is a film of one line."""
    environment = {**os.environ, **ENVIRONMENT}
    command = [sys.executable, "-c", "from mutmut.__main__ import cli; cli()", "run", *arguments]
    log = folder.parent / f"{folder.name}.log"
    with log.open("w") as out:
        done = subprocess.run(command, cwd=folder, env=environment, stdout=out, stderr=subprocess.STDOUT, check=False)
    if check and done.returncode:
        raise RuntimeError(f"mutmut failed; its last words are in {log}")


def alone(folder: Path, name: str, tests: Sequence[str]) -> int:
    """The exit code, 0, 1 or late, of tests that pass without it, in a process of their own with one mutant."""
    if attempt(folder, "", tuple(tests)):
        raise RuntimeError(f"without the mutant {name} some of its tests fail: {', '.join(tests)}")
    return attempt(folder, name, tuple(tests))


@cache
def attempt(folder: Path, name: str, tests: tuple[str, ...]) -> int:
    environment = {**os.environ, **ENVIRONMENT, "PYTHONPATH": "src", "MUTANT_UNDER_TEST": name}
    command = [sys.executable, "-m", "pytest", "-x", "-q", *OPTIONS, *tests]
    try:
        done = subprocess.run(
            command, cwd=folder / "mutants", env=environment, capture_output=True, check=False, timeout=1200
        )
    except subprocess.TimeoutExpired:
        return min(LATE)
    return int(done.returncode != 0)


def verdicts(folder: Path) -> dict[str, int | None]:
    """The exit code of the tests by mutant, None where it was not tried."""
    found = {}
    for file in sorted((folder / "mutants" / "src").rglob("*.meta")):
        found |= json.loads(file.read_text()).get("exit_code_by_key", {})
    return found


def change(folder: Path, name: str) -> str:
    """The changed lines, before and after, on one line."""
    command = [sys.executable, "-c", "from mutmut.__main__ import cli; cli()", "show", name]
    shown = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout.splitlines()
    lines = [line for line in shown if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    before, after = (" ".join(line[1:].strip() for line in lines if line[0] == sign) for sign in "-+")
    return f"{before} -> {after}"


if __name__ == "__main__":
    sys.exit(main())
