"""The workflows keep GitHub's schema, run pinned actions, and call what exists."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PINNED = re.compile(r"uses: [\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+(\.\d+)*")
TARGETS = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
every_workflow = pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)


def steps(path: Path) -> list[dict]:
    """All steps of a workflow."""
    return [
        step
        for job in yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"].values()
        for step in job.get("steps", ())
    ]


def unpinned(text: str) -> list[str]:
    """The ``uses:`` that do not name a full commit and, in a comment, its version."""
    used = re.findall(r"uses:[^\n]*", text)
    return [line for line in used if not PINNED.fullmatch(line) and not line.startswith("uses: ./")]


def validate(path: Path, schema: str = "vendor.github-workflows") -> subprocess.CompletedProcess[str]:
    """Check one file against a schema that check-jsonschema carries; no network."""
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, str(path)]
    return subprocess.run(command, capture_output=True, text=True)


@every_workflow
def test_workflow_keeps_the_schema(path: Path) -> None:
    done = validate(path)
    assert done.returncode == 0, done.stdout + done.stderr


FORMS = {
    ".github/dependabot.yml": "vendor.dependabot",
    ".github/ISSUE_TEMPLATE/config.yml": "vendor.github-issue-config",
    ".github/ISSUE_TEMPLATE/bug.yml": "vendor.github-issue-forms",
    ".github/ISSUE_TEMPLATE/mistake.yml": "vendor.github-issue-forms",
    "CITATION.cff": "vendor.citation-file-format",
}


@pytest.mark.parametrize("name", FORMS)
def test_other_files_of_the_repository_keep_theirs(name: str) -> None:
    done = validate(ROOT / name, FORMS[name])
    assert done.returncode == 0, done.stdout + done.stderr


def test_workflows_have_no_known_weakness() -> None:
    """Zizmor's audits: credentials that stay, triggers that run what others wrote, templates in scripts, and more."""
    command = [Path(sys.executable).with_name("zizmor"), "--offline", "--no-progress", "--color=never", ".github"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_every_hook_calls_what_is_there() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"][0]["hooks"]
    entries = [hook["entry"].split() for hook in hooks]
    assert {name for name, *_ in entries} <= {
        f".venv/bin/{Path(path).name}" for path in Path(sys.executable).parent.iterdir()
    }
    assert [
        word for _, *words in entries for word in words if word.endswith(".py") and not (ROOT / word).exists()
    ] == []


def test_schema_is_really_checked(tmp_path: Path) -> None:
    broken = tmp_path / "broken.yml"
    broken.write_text(WORKFLOWS[0].read_text(encoding="utf-8").replace("runs-on:", "run-on:"), encoding="utf-8")
    assert validate(broken).returncode != 0


@every_workflow
def test_actions_are_pinned_to_a_commit_and_say_its_version(path: Path) -> None:
    assert unpinned(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "line", ["uses: a/b@v4", "uses: a/b@main", f"uses: a/b@{'0' * 39} # v1", f"uses: a/b@{'0' * 40}"]
)
def test_unpinned_action_is_found(line: str) -> None:
    assert unpinned(f"      - {line}\n") == [line]


def test_one_action_has_one_pin() -> None:
    pins: dict[str, set[str]] = {}
    for path in WORKFLOWS:
        for step in steps(path):
            if "uses" in step:
                action, _, commit = step["uses"].partition("@")
                pins.setdefault(action, set()).add(commit)
    assert {action: commits for action, commits in pins.items() if len(commits) > 1} == {}


@every_workflow
def test_make_targets_exist(path: Path) -> None:
    commands = "\n".join(step.get("run", "") for step in steps(path))
    assert set(re.findall(r"\bmake ([a-z]+)", commands)) <= TARGETS


@every_workflow
def test_scripts_exist(path: Path) -> None:
    commands = "\n".join(step.get("run", "") for step in steps(path))
    assert [
        name
        for name in re.findall(r"\b(?:bash|python3?) ([\w./-]+\.(?:sh|py))\b", commands)
        if not (ROOT / name).exists()
    ] == []


@every_workflow
def test_jobs_end_and_hold_few_rights(path: Path) -> None:
    workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    own = {name: job for name, job in workflow["jobs"].items() if "uses" not in job}
    assert [name for name, job in own.items() if not 1 <= job.get("timeout-minutes", 0) <= 90] == []


def test_ci_run_calls_both_commands_and_stops_at_the_first_failure(tmp_path: Path) -> None:
    """With a ``make`` that only says what it was asked for."""
    fake = tmp_path / "make"
    fake.write_text('#!/bin/sh\necho "make $*"\n[ "$1" != "$FAILS" ]\n', encoding="utf-8")
    fake.chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"

    def run(fails: str) -> tuple[int, list[str]]:
        environment = os.environ | {"PATH": path, "FAILS": fails}
        done = subprocess.run(
            ["bash", ROOT / ".ci" / "run"], env=environment, cwd=tmp_path, capture_output=True, text=True
        )
        return done.returncode, done.stdout.splitlines()

    assert run("nothing") == (0, ["make test", "make book"])
    assert run("test") == (1, ["make test"])
    assert run("book") == (1, ["make test", "make book"])
